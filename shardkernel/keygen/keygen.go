// Package keygen holds the key generators: the interface an application
// implements to bring its own, the built-in ones, and the registry.
package keygen

import "context"

// Generator makes key values. It must be safe for concurrent use and never
// return the same value twice, over all processes that write to the table. One
// that needs a database for that implements Stored as well.
type Generator interface {
	// Next returns a new key: an int64, a uint64 or a string.
	Next(ctx context.Context) (any, error)
}

// Props are the properties of a generator as configured.
type Props map[string]any

// Factory makes a generator from its properties. Its error names the property
// that is missing, unknown or wrong.
type Factory = func(props Props) (Generator, error)
