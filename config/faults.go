package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
)

// faults collects the errors found in a configuration, in the order found.
type faults struct {
	list []*fault.ConfigError
}

func (f *faults) add(path, reason, remedy string) {
	f.list = append(f.list, &fault.ConfigError{Path: path, Reason: reason, Remedy: remedy})
}

// wrap adds an error, or each of several that are joined.
func (f *faults) wrap(path string, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // a wrapper around them has words of its own
		for _, one := range joined.Unwrap() {
			f.wrap(path, one)
		}
		return
	}
	f.list = append(f.list, &fault.ConfigError{Path: path, Err: err})
}

// covers reports whether a fault was found at the path or above it, which makes
// a further one at the path its consequence.
func (f *faults) covers(path string) bool {
	return slices.ContainsFunc(f.list, func(known *fault.ConfigError) bool { return within(path, known.Path) })
}

// touches reports whether a fault was found at the path, above or below it.
func (f *faults) touches(path string) bool {
	return f.covers(path) || slices.ContainsFunc(f.list, func(known *fault.ConfigError) bool { return within(known.Path, path) })
}

// within reports whether a path is another one or lies below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// err returns all faults as one error, nil when there is none.
func (f *faults) err() error {
	errs := make([]error, len(f.list))
	for i, one := range f.list {
		errs[i] = one
	}
	return errors.Join(errs...)
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
