package config

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// YAML returns the configuration as a document in its long form, in a stable
// order, without what is left at its default. Of each DSN it shows no more than
// DSN.String does, so what is read back has the same rules and other data
// sources.
func (c *Config) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(c.Expand()); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
