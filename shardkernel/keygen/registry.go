package keygen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/nearest"
)

// Registry knows the generator types by name, without regard to case. It
// belongs to one plugin or kernel; there is no registry of the process. It is
// safe for concurrent use.
type Registry struct {
	mu        sync.RWMutex
	factories map[string]Factory // by upper-case type name
}

// NewRegistry returns a registry that knows SNOWFLAKE and UUID.
func NewRegistry() *Registry {
	return &Registry{factories: map[string]Factory{
		"SNOWFLAKE": newSnowflake,
		"UUID":      newUUID,
	}}
}

// Register adds a generator type. A name that is taken, built-in ones included,
// is an error.
func (r *Registry) Register(typeName string, f Factory) error {
	key := strings.ToUpper(strings.TrimSpace(typeName))
	switch {
	case key == "":
		return errors.New("key generator type without a name")
	case f == nil:
		return fmt.Errorf("key generator type %q: the factory is nil", typeName)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.factories[key]; taken {
		return fmt.Errorf("key generator type %q is registered already", typeName)
	}
	r.factories[key] = f
	return nil
}

// New makes a generator of a type. The error names the unknown type and what it
// may have been meant for, or the property that is wrong.
func (r *Registry) New(typeName string, props Props) (Generator, error) {
	r.mu.RLock()
	f, ok := r.factories[strings.ToUpper(strings.TrimSpace(typeName))]
	r.mu.RUnlock()
	if !ok {
		types := r.Types()
		hint := nearest.Hint(typeName, types)
		if hint == "" {
			hint = "known: " + strings.Join(types, ", ")
		}
		return nil, fmt.Errorf("no key generator type %q; %s", typeName, hint)
	}
	return f(props)
}

// Types returns the known type names in alphabetical order, upper case.
func (r *Registry) Types() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.factories))
	for name := range r.factories {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
