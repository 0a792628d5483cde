package shardkernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// startParallel bounds the tables and nodes that are read at the same time when
// the kernel starts.
const startParallel = 16

// node is an actual table.
type node struct{ source, table string }

func (n node) String() string { return n.source + "." + n.table }

// LoadTables reads the columns of every sharded and broadcast table, several at
// the same time, but for those whose nodes, and the columns that their rules name, are
// the same as under a kernel before, which may be nil. A table that does not exist yet is no error.
func (k *Kernel) LoadTables(ctx context.Context, before *Kernel) error {
	names := k.rules.Broadcast()
	for _, t := range k.rules.Tables() {
		names = append(names, t.Name)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return k.sameNodes(before, name) && k.sameColumns(before, name) })
	return parallel(len(names), func(i int) error {
		_, err := k.columnsOf(ctx, names[i])
		return err
	})
}

// CheckTables makes sure that every sharded and broadcast table is defined alike
// on all its nodes, or exists on none. Every difference is reported, as errors
// that match fault.ErrSchemaDrift joined. Tables whose nodes are the same as under a
// kernel before, which may be nil, are left out.
func (k *Kernel) CheckTables(ctx context.Context, before *Kernel) error {
	var errs []error
	for _, t := range k.rules.Tables() {
		if k.sameNodes(before, t.Name) {
			continue
		}
		nodes := make([]node, len(t.Nodes))
		for i, n := range t.Nodes {
			nodes[i] = node{n.DataSource, n.Table}
		}
		errs = append(errs, k.compare(ctx, nodes, nil))
	}
	for _, name := range k.rules.Broadcast() {
		if k.sameNodes(before, name) {
			continue
		}
		nodes := make([]node, len(k.rules.DataSources))
		for i, source := range k.rules.DataSources {
			nodes[i] = node{source, name}
		}
		errs = append(errs, k.compare(ctx, nodes, nil))
	}
	return errors.Join(errs...)
}

// compare reads how the actual tables are defined and reports the first that is
// not as the first node's: in the columns, keys and constraints of these names,
// and in the order of the columns that they share, or in anything where there are
// no names.
func (k *Kernel) compare(ctx context.Context, nodes []node, names []string) error {
	definitions := make([][]string, len(nodes))
	err := parallel(len(nodes), func(i int) (err error) {
		definitions[i], err = k.definition(ctx, nodes[i], k.namesAt(ctx, nodes[i]))
		return err
	})
	if err != nil {
		return err
	}
	for i := 1; i < len(nodes); i++ {
		what := difference(of(definitions[0], names), of(definitions[i], names))
		if what == "" && names != nil && !sameOrder(definitions[0], definitions[i]) {
			what = "its columns stand in another order"
		}
		if what != "" {
			return fmt.Errorf("sharding: %w: %s against %s: %s", fault.ErrSchemaDrift, nodes[i], nodes[0], what)
		}
	}
	return nil
}

// definition reads how an actual table is defined, nil where there is none.
func (k *Kernel) definition(ctx context.Context, n node, names *nodeNames) ([]string, error) {
	s, err := k.source(ctx, n.source)
	if err != nil {
		return nil, err
	}
	lines, err := metadata.Definition(ctx, s.control, s.Dialect, n.table, names)
	switch {
	case errors.Is(err, metadata.ErrNoTable):
		return nil, nil
	case err != nil:
		return nil, &fault.NodeError{DataSource: n.source, Table: n.table, Err: err}
	}
	return lines, names.err
}

// difference tells what the second definition has other than the first; nil is
// that of a table that does not exist.
func difference(a, b []string) string {
	switch {
	case a == nil && b == nil:
		return ""
	case b == nil:
		return "the table does not exist"
	case a == nil:
		return "the table exists"
	}
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b):
			return fmt.Sprintf("lacks %q", a[i])
		case i >= len(a):
			return fmt.Sprintf("has %q", b[i])
		case a[i] != b[i]:
			return fmt.Sprintf("has %q in the place of %q", b[i], a[i])
		}
	}
	return ""
}

// of returns the lines of a definition that are about one of the names, all where
// there are none.
func of(definition, names []string) []string {
	if names == nil || definition == nil {
		return definition
	}
	lines := []string{}
	for _, line := range definition {
		name, _ := defined(line)
		if slices.ContainsFunc(names, func(n string) bool { return n == name || rule.Shortened(n) == name }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// defined returns the name, in lower case, of what a line of a definition defines,
// and whether that is a column; no name for the table's options.
func defined(line string) (name string, column bool) {
	if strings.HasPrefix(line, "PRIMARY KEY") {
		return parse.PrimaryKey, false
	}
	if strings.HasPrefix(line, ")") {
		return "", false
	}
	_, rest, ok := strings.Cut(line, "`")
	if !ok {
		return "", false
	}
	end := 0
	for end < len(rest) && (rest[end] != '`' || strings.HasPrefix(rest[end:], "``")) {
		if rest[end] == '`' {
			end++
		}
		end++
	}
	return strings.ToLower(strings.ReplaceAll(rest[:end], "``", "`")), strings.HasPrefix(line, "`")
}

// sameOrder reports whether the columns that both definitions have stand in the
// same order.
func sameOrder(a, b []string) bool {
	columns := func(definition []string) (names []string) {
		for _, line := range definition {
			if name, column := defined(line); column {
				names = append(names, name)
			}
		}
		return names
	}
	first, second := columns(a), columns(b)
	shared := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(others, name) })
	}
	return slices.Equal(shared(first, second), shared(second, first))
}

// parallel runs work for the numbers below n, startParallel of them at the same
// time, and returns their errors joined.
func parallel(n int, work func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, startParallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = work(i)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
