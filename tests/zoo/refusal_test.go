//go:build unix

package zoo_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/gormshard/sharding"
)

// refusal is what the plugin refuses on sharded tables, where plain GORM answers.
type refusal struct {
	// what names the assertion, as handed to way.refused.
	what string
	// reason is a part of the error.
	reason string
}

// refusalList is the one list of refusals of this package.
type refusalList struct {
	mu  sync.Mutex
	met map[string]bool
	of  []refusal
}

// refusals holds everything that the same assertions cannot show of tables sharded
// by their owners. A line that is answered, or not met by a run of all tests,
// turns the suite red.
var refusals = refusalList{met: map[string]bool{}, of: []refusal{
	{what: "Association.Delete of a has-many by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Replace of a has-many by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Clear of a has-many by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Append of a has-one by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Delete of a has-one by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Clear of a has-one by the sharding column", reason: "rows that have NULL in it belong to no node"},
	{what: "Association.Clear of a polymorphic has-many by the sharding column", reason: "rows that have NULL in it belong to no node"},
}}

// refused reports whether err is the refusal that the list announces for what, so
// that the assertions on its result have nothing to hold. what is a phrase that no
// other assertion has, such as "Association.Replace of a has-many". Any other error
// fails the test at once, and so does a result where the list has a refusal. On
// tables that are not sharded nothing is refused.
func (w *way) refused(err error, what string) bool {
	w.t.Helper()
	listed := refusals.find(what)
	switch {
	case !w.sharded() || listed == nil:
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		return false
	case err == nil:
		w.t.Fatalf("%s is answered now: take it out of the list of refusals", what)
	case !isRefusal(err) || !strings.Contains(err.Error(), listed.reason):
		w.t.Fatalf("%s: %v; the list of refusals has %q", what, err, listed.reason)
	}
	return true
}

func (l *refusalList) find(what string) *refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.of {
		if l.of[i].what == what {
			l.met[what] = true
			return &l.of[i]
		}
	}
	return nil
}

// unmet returns an error that names the refusals that no test asked for.
func (l *refusalList) unmet() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, r := range l.of {
		if !l.met[r.what] {
			errs = append(errs, fmt.Errorf("the list of refusals has %q, which no test has met", r.what))
		}
	}
	return errors.Join(errs...)
}

// isRefusal reports whether the plugin, not a server, gave the error.
func isRefusal(err error) bool {
	for _, class := range []error{
		sharding.ErrUnsupported, sharding.ErrNoShardingKey, sharding.ErrShardingKeyUpdate, sharding.ErrNoDataNode, sharding.ErrUnknownTable,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}
