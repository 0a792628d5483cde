package algorithm

import "github.com/gormshard/sharding/internal/registry"

// Registry knows the algorithm types by name, without regard to case: Register
// adds one, New makes an algorithm of one, Types lists them. It belongs to one
// plugin or kernel; there is no registry of the process. It is safe for
// concurrent use.
type Registry = registry.Registry[Props, Algorithm]

// NewRegistry returns a registry that knows the built-in types: INLINE, MOD,
// HASH_MOD, VOLUME_RANGE, BOUNDARY_RANGE, AUTO_INTERVAL, INTERVAL, SLOT_RANGE,
// CONSISTENT_HASH and THRESHOLD of one column, COMPLEX_INLINE, GENE and THRESHOLD
// of several, HINT_INLINE of hints.
func NewRegistry() *Registry {
	return registry.New("algorithm", map[string]func(Props) (Algorithm, error){
		"INLINE":          newInline,
		"MOD":             newMod,
		"HASH_MOD":        newHashMod,
		"VOLUME_RANGE":    newVolumeRange,
		"BOUNDARY_RANGE":  newBoundaryRange,
		"AUTO_INTERVAL":   newAutoInterval,
		"INTERVAL":        newInterval,
		"SLOT_RANGE":      newSlotRange,
		"CONSISTENT_HASH": newConsistentHash,
		"COMPLEX_INLINE":  newComplexInline,
		"GENE":            newGene,
		"HINT_INLINE":     newHintInline,
		"THRESHOLD":       newThreshold,
	})
}
