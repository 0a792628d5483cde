package keygen

import "github.com/gormshard/sharding/internal/registry"

// Registry knows the generator types by name, without regard to case: Register
// adds one, New makes a generator of one, Types lists them. It belongs to one
// plugin or kernel; there is no registry of the process. It is safe for
// concurrent use.
type Registry = registry.Registry[Props, Generator]

// NewRegistry returns a registry that knows GENE_SNOWFLAKE, NANOID, SEGMENT,
// SNOWFLAKE and UUID. The generators of a registry that have the same configured
// workerId make no key twice among them, so that one registry is to serve all
// configurations of a process that follow one another.
func NewRegistry() *Registry {
	c := new(configured)
	return registry.New("key generator", map[string]func(Props) (Generator, error){
		"GENE_SNOWFLAKE": c.newGeneSnowflake,
		"NANOID":         newNanoID,
		"SEGMENT":        newSegment,
		"SNOWFLAKE":      c.newSnowflake,
		"UUID":           newUUID,
	})
}
