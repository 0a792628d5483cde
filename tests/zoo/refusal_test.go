//go:build unix

package zoo_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding"
)

// refusal is what the plugin refuses where plain GORM answers.
type refusal struct {
	// what names the assertion, as handed to way.refused.
	what string
	// reason is a part of the error.
	reason string
	// on are the placements that refuse it; nil stands for sharded and bound.
	on []placement
	// sqlite is whether SQLite alone refuses it.
	sqlite bool
}

// applies reports whether a way refuses it.
func (r *refusal) applies(w *way) bool {
	if r.sqlite && !w.variant.sqlite {
		return false
	}
	if r.on == nil {
		return w.sharded()
	}
	return slices.Contains(r.on, w.placement)
}

// refusalList is the one list of refusals of this package.
type refusalList struct {
	mu  sync.Mutex
	met map[*refusal]bool
	of  []refusal
}

// refusals holds everything that the same assertions cannot show of every
// placement. A line that is answered, or not met by a run of all tests, turns the
// suite red.
var refusals = refusalList{met: map[*refusal]bool{}, of: []refusal{
	// A row would have to move to another node.
	{what: "`Update` of the sharding column", reason: "sharding column would change"},
	{what: "`Save` that moves a row", reason: "sharding column would change"},
	// No node knows how many rows the others change, or which come first.
	{what: "`Order().Limit().Update`", reason: "UPDATE with LIMIT"},
	{what: "`Order().Limit().Update`", reason: "UPDATE with LIMIT", on: []placement{broadcast}},
	{what: "`Order().Limit().Update` of an owner", reason: "UPDATE with LIMIT", on: []placement{broadcast}},
	// Writes do not gather rows of other nodes.
	{what: "`Update` with a subquery of the owner", reason: "subquery on orders", on: []placement{sharded}},
	{what: "`Update` where a subquery of the owner", reason: "subquery on orders", on: []placement{sharded}},
	{what: "`Delete` where a subquery of the owner", reason: "subquery on users", on: []placement{sharded}},
	{what: "`Exec` of `INSERT … SELECT` by owner", reason: "by which rows are spread over the tables in another way", on: []placement{sharded}},
	{what: "`Exec` of `INSERT … SELECT` by owner", reason: "select a value for id that is never NULL or 0", on: []placement{bound, broadcast}},
	{what: "`Exec` of an UPDATE with a JOIN by owner", reason: "multi-table UPDATE", on: []placement{sharded}},
	{what: "has many: `G[T].Set(Association{OpUpdate})`", reason: "subquery on users", on: []placement{sharded}},
	{what: "has many: `G[T].Set(Association{OpDelete})`", reason: "subquery on users", on: []placement{sharded}},
	{what: "many to many: `G[T].Set(Association{OpUnlink})`", reason: "subquery on users", on: []placement{sharded}},
	{what: "belongs to: `G[T].Set(Association{OpUpdate})`", reason: "rows are not in every data source"},
	// An upsert does not tell which rows the first data source has numbered.
	{what: "`OnConflict` on a unique column", reason: "which row gets which number", on: []placement{broadcast}},
	// SQLite skips the row, and tells nothing of it.
	{what: "`OnConflict{DoNothing}`", reason: "RETURNING of an insert that skipped rows", sqlite: true},
	// A SQLite database cannot be given the rows of the others.
	{what: "`Joins(self)`", reason: "LEFT JOIN with users", sqlite: true},
	{what: "a subquery as value", reason: "subquery on users", sqlite: true},
	{what: "a subquery in `IN`, of another column", reason: "subquery on orders", sqlite: true},
	{what: "a grouped subquery as table", reason: "derived table", sqlite: true},
	{what: "a subquery in `Having`", reason: "subquery on orders", sqlite: true},
	{what: "a join on other columns", reason: "join of users and orders", sqlite: true},
	{what: "`Association().Find`, `Count`", reason: "join of users and user_friends", sqlite: true},
	{what: "`Joins` with nested `Preload`", reason: "LEFT JOIN with users", sqlite: true},
	{what: "a window function", reason: "window function", sqlite: true},
	{what: "`G[T].Preload` with `LimitPerRecord`", reason: "window function", sqlite: true},
	{what: "`UNION` by `Raw`", reason: "UNION over several nodes", sqlite: true},
	// An owner would become NULL.
	{what: "has many: `Association().Delete`, `Clear`", reason: "rows that have NULL in it belong to no node"},
	{what: "has many: `G[T].Set(Association{OpUnlink})`", reason: "rows that have NULL in it belong to no node"},
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
// fails the test at once, and so does a result where the list has a refusal.
func (w *way) refused(err error, what string) bool {
	w.t.Helper()
	listed := refusals.find(what, w)
	switch {
	case listed == nil:
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

func (l *refusalList) find(what string, w *way) *refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.of {
		if r := &l.of[i]; r.what == what && r.applies(w) {
			l.met[r] = true
			return r
		}
	}
	return nil
}

// unmet returns an error that names the refusals that no test asked for.
func (l *refusalList) unmet() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for i := range l.of {
		// A short run asks SQLite for a part of the features.
		if r := &l.of[i]; !l.met[r] && (long() || !r.sqlite) {
			errs = append(errs, fmt.Errorf("the list of refusals has %q, %q, which no test has met", r.what, r.reason))
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
