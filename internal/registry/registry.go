// Package registry names the types that a configuration may ask for: sharding
// algorithms and key generators.
package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/nearest"
)

// Registry makes things of type T from properties P by the name of their type,
// without regard to case. It is safe for concurrent use.
type Registry[P, T any] struct {
	what string // what T is, for messages

	mu        sync.RWMutex
	factories map[string]func(P) (T, error) // by upper-case type name
}

// New returns a registry that knows the built-in types, which are given by their
// upper-case names.
func New[P, T any](what string, builtIn map[string]func(P) (T, error)) *Registry[P, T] {
	return &Registry[P, T]{what: what, factories: maps.Clone(builtIn)}
}

// Register adds a type. A name that is taken, a built-in one too, is an error:
// the same configuration must not change its meaning.
func (r *Registry[P, T]) Register(typeName string, factory func(P) (T, error)) error {
	key := normal(typeName)
	switch {
	case key == "":
		return fmt.Errorf("%s type without a name", r.what)
	case factory == nil:
		return fmt.Errorf("%s type %q: the factory is nil", r.what, typeName)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.factories[key]; taken {
		return fmt.Errorf("%s type %q is registered already", r.what, typeName)
	}
	r.factories[key] = factory
	return nil
}

// New makes a thing of a type. The error names the unknown type and what it may
// have been meant for, or the property that is wrong.
func (r *Registry[P, T]) New(typeName string, props P) (T, error) {
	r.mu.RLock()
	factory, ok := r.factories[normal(typeName)]
	r.mu.RUnlock()
	if !ok {
		var none T
		return none, fmt.Errorf("no %s type %q; %s", r.what, typeName, nearest.HintOrList(typeName, r.Types()))
	}
	return factory(props)
}

// Types returns the known type names in alphabetical order, upper case.
func (r *Registry[P, T]) Types() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.factories))
}

func normal(typeName string) string { return strings.ToUpper(strings.TrimSpace(typeName)) }
