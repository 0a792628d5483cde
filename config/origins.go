package config

import "github.com/gormshard/sharding/internal/fault"

// origins says where the parts of a configuration come from that was made of
// another form: the path there by the path here.
type origins map[string]string

// find returns where a path comes from, and the part of it that says so; empty for
// what comes from nowhere else.
func (o origins) find(path string) (there, from string) {
	for here, origin := range o {
		if len(here) > len(from) && within(path, here) {
			there, from = origin, here
		}
	}
	return there, from
}

// back returns faults at the places they come from: one that several parts have
// because they were made of the same place is told once.
func (o origins) back(list []*fault.ConfigError) []*fault.ConfigError {
	var out []*fault.ConfigError
	told := map[string]string{} // the part by the place it was made of
	for _, f := range list {
		there, from := o.find(f.Path)
		if from == "" {
			out = append(out, f)
			continue
		}
		if first, ok := told[there]; !ok || first == from {
			told[there] = from
			out = append(out, &fault.ConfigError{Path: there, Reason: f.Reason, Remedy: f.Remedy, Err: f.Err})
		}
	}
	return out
}
