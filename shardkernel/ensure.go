package shardkernel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// EnsureTables makes the actual tables of time-sharded tables that hold the time
// from from on and before to, where they are missing, like the newest that is
// there, and returns those that it has made. A zero to is the end of what is
// configured. Without names it is about all time-sharded tables.
func (k *Kernel) EnsureTables(ctx context.Context, from, to time.Time, names []string) (made []string, err error) {
	if !k.dialect.IsMySQL() {
		return nil, fault.Unsupported("EnsureTables", "only MySQL and MariaDB tell how a table is defined", "send CREATE TABLE, which goes to every configured node")
	}
	if !to.IsZero() && !from.Before(to) {
		return nil, fault.Unsupported("EnsureTables", "the time does not end after it begins", "give the earlier time first")
	}
	tables, err := k.timeSharded(names)
	if err != nil {
		return nil, err
	}
	wanted := make([]*wantedTables, len(tables))
	for i, t := range tables {
		if wanted[i], err = k.wanted(ctx, t, from, to); err != nil {
			return nil, err
		}
	}
	wanted = parentsFirst(wanted)
	defer k.meta.Clear()
	made, err = k.makeTables(ctx, wanted)
	if err != nil {
		return made, err
	}
	var errs []error
	for _, w := range wanted {
		errs = append(errs, k.compare(ctx, append([]node{w.newest}, w.held...), nil))
	}
	return made, errors.Join(errs...)
}

// timeSharded returns the tables of these names, or all that are sharded by time.
func (k *Kernel) timeSharded(names []string) ([]*rule.Table, error) {
	var tables []*rule.Table
	if len(names) == 0 {
		for _, t := range k.rules.Tables() {
			if strategy, _ := stepping(t); strategy != nil {
				tables = append(tables, t)
			}
		}
		return tables, nil
	}
	for _, name := range names {
		t, ok := k.rules.Table(name)
		if !ok {
			return nil, &fault.RouteError{Class: fault.ErrUnknownTable, Table: name, Reason: "it is no sharded table"}
		}
		if strategy, _ := stepping(t); strategy == nil {
			return nil, fault.Unsupported("EnsureTables of "+t.Name, "it is not sharded by steps of time", "use a standard strategy with INTERVAL or AUTO_INTERVAL, or send CREATE TABLE, which goes to every configured node")
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// stepping returns the strategy of a table that goes by steps of time, nil where
// none does.
func stepping(t *rule.Table) (*rule.Strategy, algorithm.Stepper) {
	for _, s := range []*rule.Strategy{t.Tables, t.Database} {
		if s == nil {
			continue
		}
		stepper, ok := s.Sharder.(algorithm.Stepper)
		if !ok {
			continue
		}
		if _, _, err := stepper.Steps(time.Time{}, time.Time{}); err == nil {
			return s, stepper
		}
	}
	return nil, nil
}

// wantedTables are the actual tables of a logical one that are to be made.
type wantedTables struct {
	table   *rule.Table
	held    []node // those that hold the time
	missing []node // of them
	newest  node   // of all that are there
	model   original
	parents []string // tables that its foreign keys reference
}

// wanted finds what is missing of a table.
func (k *Kernel) wanted(ctx context.Context, t *rule.Table, from, to time.Time) (*wantedTables, error) {
	strategy, stepper := stepping(t)
	targets, missing, err := stepper.Steps(from, to)
	switch {
	case err != nil:
		return nil, fault.Unsupported("EnsureTables of "+t.Name, err.Error(), "end the time earlier, or change the algorithm "+strategy.Algorithm)
	case len(missing) > 0:
		return nil, &fault.RouteError{
			Class: fault.ErrNoDataNode, Table: t.Name, Reason: "no configured node ends in " + strings.Join(missing, ", "),
			Remedy: "add the nodes to " + t.Path + ".actualDataNodes, and start with that configuration",
		}
	}
	order, _, err := stepper.Steps(time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	step := func(n *rule.Node) int {
		target := n.Source
		if strategy == t.Tables {
			target = n.Target
		}
		return target
	}
	there, err := k.existing(ctx, t)
	if err != nil {
		return nil, err
	}
	w := &wantedTables{table: t}
	age := -1
	for i := range t.Nodes {
		n := &t.Nodes[i]
		named := node{n.DataSource, n.Table}
		if at := slices.Index(order, step(n)); there[i] && at > age {
			age, w.newest = at, named
		}
		if !slices.Contains(targets, step(n)) {
			continue
		}
		w.held = append(w.held, named)
		if !there[i] {
			w.missing = append(w.missing, named)
		}
	}
	if len(w.missing) == 0 {
		return w, nil
	}
	if age < 0 {
		return nil, &fault.RouteError{
			Class: fault.ErrUnknownTable, Table: t.Name, Reason: "no node has the table, so that there is none to make others like",
			Remedy: "create it by CREATE TABLE or GORM's AutoMigrate, which make it on every configured node",
		}
	}
	if w.model, err = k.original(ctx, w.newest); err != nil {
		return nil, err
	}
	for _, name := range parse.DefinitionNames(w.model.text, k.dialect) {
		if name.Role == parse.CatalogReferenced {
			w.parents = append(w.parents, k.namesAt(ctx, w.newest).Table(name.Name))
		}
	}
	return w, nil
}

// existing tells which nodes of a table have it.
func (k *Kernel) existing(ctx context.Context, t *rule.Table) ([]bool, error) {
	nodes := make([]node, len(t.Nodes))
	for i, n := range t.Nodes {
		nodes[i] = node{n.DataSource, n.Table}
	}
	return k.present(ctx, nodes)
}

// parentsFirst puts tables behind those that their foreign keys reference.
func parentsFirst(tables []*wantedTables) []*wantedTables {
	out := make([]*wantedTables, 0, len(tables))
	seen := map[string]bool{}
	var add func(w *wantedTables)
	add = func(w *wantedTables) {
		if seen[w.table.Name] {
			return
		}
		seen[w.table.Name] = true
		for _, parent := range w.parents {
			if i := slices.IndexFunc(tables, func(other *wantedTables) bool { return other.table.Name == parent }); i >= 0 {
				add(tables[i])
			}
		}
		out = append(out, w)
	}
	for _, w := range tables {
		add(w)
	}
	return out
}

// makeTables sends the definitions: data sources at the same time, the tables of
// one in turn.
func (k *Kernel) makeTables(ctx context.Context, wanted []*wantedTables) (made []string, err error) {
	type creation struct {
		node
		text string
	}
	bySource := map[string][]creation{}
	for _, w := range wanted {
		for _, n := range w.missing {
			text, err := k.like(ctx, &w.model, n, nil)
			if err != nil {
				return nil, err
			}
			bySource[n.source] = append(bySource[n.source], creation{n, text})
		}
	}
	var mu sync.Mutex
	var done []node
	failed := &fault.NodesError{}
	_ = parallel(len(k.rules.DataSources), func(i int) error {
		source := k.rules.DataSources[i]
		for _, c := range bySource[source] {
			_, err := k.sources[source].control.ExecContext(ctx, c.text)
			mu.Lock()
			switch {
			case err == nil:
				done = append(done, c.node)
			case !dialect.AlreadyDefined(err, false): // else another process has just made it
				failed.Nodes = append(failed.Nodes, &fault.NodeError{DataSource: c.source, Table: c.table, Err: err})
			}
			mu.Unlock()
			if err != nil && !dialect.AlreadyDefined(err, false) {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(done, func(a, b node) int { return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.table, b.table)) })
	for _, n := range done {
		made = append(made, n.String())
	}
	if len(failed.Nodes) == 0 {
		return made, nil
	}
	slices.SortFunc(failed.Nodes, func(a, b *fault.NodeError) int { return cmp.Compare(a.DataSource, b.DataSource) })
	if failed.Done = made; len(made) > 0 {
		failed.Class = fault.ErrPartialDDL
	}
	return made, failed
}
