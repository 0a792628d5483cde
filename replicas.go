package sharding

import (
	"maps"
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/readwrite"
)

// ReplicaState is what is known of a replica.
type ReplicaState = readwrite.State

// LagUnknown is the lag of a replica that does not tell.
const LagUnknown = readwrite.LagUnknown

// Replicas returns the state of every replica, in the order of the groups' names
// and of their replicas. It is empty without groups, and before the plugin is in
// use.
func (p *Plugin) Replicas() []ReplicaState {
	groups := p.groups()
	var states []ReplicaState
	for _, name := range slices.SortedFunc(maps.Keys(groups), nearest.Compare) {
		states = append(states, groups[name].States()...)
	}
	return states
}

// PrimaryOnly sends all reads of the named groups, or of all groups, to their
// primaries from now on, or with false no longer, until a reload changes what the
// configuration says of it. Statements that have been sent are not touched. It fails
// with a ConfigError for a name that is no group, having changed nothing.
func (p *Plugin) PrimaryOnly(on bool, names ...string) error {
	return p.switching(func(groups map[string]*readwrite.Group) error {
		if len(names) == 0 {
			names = slices.Collect(maps.Keys(groups))
		}
		for _, name := range names {
			if _, ok := groups[name]; !ok {
				return noSuch("group", name, slices.Sorted(maps.Keys(groups)))
			}
		}
		for _, name := range names {
			groups[name].PrimaryOnly(on)
		}
		return nil
	})
}

// DisableReplica keeps reads away from a replica from now on, or with false no
// longer; reloads change nothing about it. Statements that have been sent are not
// touched. It fails with a ConfigError for a name that is no replica.
func (p *Plugin) DisableReplica(name string, off bool) error {
	return p.switching(func(groups map[string]*readwrite.Group) error {
		var names []string
		for _, group := range groups {
			if group.Disable(name, off) {
				return nil
			}
			for _, s := range group.States() {
				names = append(names, s.Replica)
			}
		}
		slices.Sort(names)
		return noSuch("replica", name, names)
	})
}

// switching calls do with the groups in force, none before the plugin is in use. No
// reload takes over how they are switched meanwhile.
func (p *Plugin) switching(do func(map[string]*readwrite.Group) error) error {
	e, err := p.running()
	if err != nil {
		return do(nil)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return do(e.current.sources.groups)
}

func noSuch(kind, name string, known []string) error {
	return &fault.ConfigError{Path: "readwriteSplitting.groups", Reason: "no " + kind + " " + name, Remedy: nearest.HintOrList(name, known)}
}

func (p *Plugin) groups() map[string]*readwrite.Group {
	e, err := p.running()
	if err != nil {
		return nil
	}
	return e.generation().sources.groups
}
