package algorithm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/nearest"
)

// Registry knows the algorithm types by name, without regard to case. It
// belongs to one plugin or kernel; there is no registry of the process. It is
// safe for concurrent use.
type Registry struct {
	mu        sync.RWMutex
	factories map[string]Factory // by upper-case type name
}

// NewRegistry returns a registry that knows INLINE, MOD and HASH_MOD.
func NewRegistry() *Registry {
	return &Registry{factories: map[string]Factory{
		"INLINE":   newInline,
		"MOD":      newMod,
		"HASH_MOD": newHashMod,
	}}
}

// Register adds an algorithm type. A name that is taken, built-in ones
// included, is an error: the same configuration must not change its nodes.
func (r *Registry) Register(typeName string, f Factory) error {
	key := strings.ToUpper(strings.TrimSpace(typeName))
	switch {
	case key == "":
		return errors.New("algorithm type without a name")
	case f == nil:
		return fmt.Errorf("algorithm type %q: the factory is nil", typeName)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.factories[key]; taken {
		return fmt.Errorf("algorithm type %q is registered already", typeName)
	}
	r.factories[key] = f
	return nil
}

// New makes an algorithm of a type. The error names the unknown type and what
// it may have been meant for, or the property that is wrong.
func (r *Registry) New(typeName string, props Props) (Algorithm, error) {
	r.mu.RLock()
	f, ok := r.factories[strings.ToUpper(strings.TrimSpace(typeName))]
	r.mu.RUnlock()
	if !ok {
		return nil, fmt.Errorf("no algorithm type %q%s", typeName, suggest(typeName, r.Types()))
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

// suggest ends a message about an unknown name.
func suggest(name string, known []string) string {
	if hint := nearest.Hint(name, known); hint != "" {
		return "; " + hint
	}
	return "; known: " + strings.Join(known, ", ")
}
