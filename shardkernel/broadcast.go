package shardkernel

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/internal/broadcast"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

type (
	// BroadcastReport is what a check of broadcast tables found.
	BroadcastReport = broadcast.Report
	// BroadcastTable is what was found of one broadcast table.
	BroadcastTable = broadcast.Table
	// BroadcastCopy is a broadcast table in one data source.
	BroadcastCopy = broadcast.Copy
	// BroadcastDifference is a row that is not alike in all data sources.
	BroadcastDifference = broadcast.Difference
	// BroadcastKind says what is the matter with a row.
	BroadcastKind = broadcast.Kind
)

// The kinds of differences between the copies of a broadcast table.
const (
	BroadcastMissing   = broadcast.Missing
	BroadcastExtra     = broadcast.Extra
	BroadcastDifferent = broadcast.Different
)

// CheckBroadcast compares the copies of the named broadcast tables, or of all of
// them, one table after the other. It uses a control connection of each data
// source, for one check at a time: another one waits.
func (k *Kernel) CheckBroadcast(ctx context.Context, names []string) (*BroadcastReport, error) {
	names, err := k.broadcastNames(ctx, names)
	if err != nil {
		return nil, err
	}
	select {
	case k.comparing <- struct{}{}:
		defer func() { <-k.comparing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	report := &BroadcastReport{Tables: make([]BroadcastTable, len(names))}
	for i, name := range names {
		report.Tables[i].Name = name
		if err := k.compareCopies(ctx, &report.Tables[i]); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// broadcastNames returns the names as the configuration has them; all where none
// is given.
func (k *Kernel) broadcastNames(ctx context.Context, names []string) ([]string, error) {
	if k.dialect == dialect.SQLite {
		return nil, fault.Unsupported("CheckBroadcast", "SQLite computes no checksums", "compare the databases by other means")
	}
	all := k.rules.Broadcast()
	if len(names) == 0 {
		return all, nil
	}
	settings, err := k.settings(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(all, func(known string) bool {
			return name == known || settings.LowerCaseTableNames != 0 && strings.EqualFold(name, known)
		})
		if at < 0 {
			return nil, &fault.RouteError{Class: fault.ErrUnknownTable, Table: name, Reason: "it is no broadcast table", Remedy: nearest.Hint(name, all)}
		}
		out[i] = all[at]
	}
	return out, nil
}

// shape is what decides whether rows of two copies can be compared.
type shape struct {
	definition []string // nil when there is no such table
	columns    []value.Column
	key        []string
}

// compareCopies compares the copies of one table: their definitions, then their
// rows.
func (k *Kernel) compareCopies(ctx context.Context, t *BroadcastTable) error {
	sources := k.rules.DataSources
	shapes := make([]shape, len(sources))
	err := parallel(len(sources), func(i int) (err error) {
		shapes[i], err = k.shapeOf(ctx, node{sources[i], t.Name})
		return err
	})
	if err != nil {
		return err
	}
	var first *shape
	var present []broadcast.Source
	for i, name := range sources {
		s := &shapes[i]
		t.Copies = append(t.Copies, BroadcastCopy{DataSource: name, Exists: s.definition != nil})
		if what := difference(shapes[0].definition, s.definition); what != "" {
			t.Structure = append(t.Structure, name+": "+what)
		}
		switch {
		case s.definition == nil:
			continue
		case first == nil:
			first = s
		case !slices.Equal(first.key, s.key):
			t.NotCompared = "they have another primary key in " + name
		case !sameColumns(first.columns, s.columns):
			t.NotCompared = "they have other columns in " + name
		}
		present = append(present, broadcast.Source{Name: name, DB: k.sources[name].control})
	}
	if first == nil || t.NotCompared != "" {
		return nil
	}
	t.Key = first.key
	return broadcast.Compare(ctx, t, first.columns, present, k.differences)
}

func (k *Kernel) shapeOf(ctx context.Context, n node) (s shape, err error) {
	src, err := k.source(ctx, n.source)
	if err != nil {
		return s, err
	}
	if s.definition, err = k.definition(ctx, n, k.namesAt(ctx, n)); err != nil || s.definition == nil {
		return s, err
	}
	if s.key, err = metadata.PrimaryKey(ctx, src.control, n.table); err != nil {
		return s, &fault.NodeError{DataSource: n.source, Table: n.table, Err: err}
	}
	columns, err := metadata.NewReader(k.controlPool)(ctx, n.source, n.table)
	if err != nil {
		return s, err
	}
	s.columns = columns.Columns
	return s, nil
}

// sameColumns reports whether rows with these columns can be compared, whatever
// the order of the columns is.
func sameColumns(a, b []value.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		at := slices.IndexFunc(b, func(c value.Column) bool { return c.Name == a[i].Name })
		if at < 0 || a[i].Type != b[at].Type || a[i].Collation != b[at].Collation || a[i].Generated != b[at].Generated {
			return false
		}
	}
	return true
}
