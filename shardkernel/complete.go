package shardkernel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// complete prepares a CREATE TABLE of a table that some nodes have, such as those
// that were there before others were configured: the others get it like it is
// there. A node that has what is newer than the rest would hide from a migrator,
// which asks one node, that the rest is to be altered, and its columns could stand
// in another order. differs is the error to give in the end where the table that is
// there is not what the statement defines.
func (k *Kernel) complete(ctx context.Context, ex *plan.Execution, branches execute.Branches) (differs, err error) {
	if ex.Trial == nil || !k.dialect.IsMySQL() {
		return nil, nil
	}
	nodes := unitNodes(ex)
	there, err := k.present(ctx, nodes)
	if err != nil {
		return nil, err
	}
	has, lacks := slices.Index(there, true), slices.Index(there, false)
	if has < 0 || lacks < 0 {
		return nil, nil
	}
	model, err := k.original(ctx, nodes[has])
	if err != nil {
		return nil, err
	}
	what, err := k.tried(ctx, ex, lacks, &model, branches)
	if err != nil {
		return nil, err
	}
	var made []string
	for i := range ex.Units {
		if there[i] {
			continue
		}
		u := &ex.Units[i]
		if u.SQL, err = k.like(ctx, &model, nodes[i], ex.Constraints); err != nil {
			return nil, err
		}
		u.Args = nil
		made = append(made, nodes[i].String())
	}
	if what == "" {
		return nil, nil
	}
	return fmt.Errorf("sharding: %w: %s, which was there, %s of the statement; the table was made like that on %s: "+
		"run the migration again, which alters all nodes, or send ALTER TABLE", fault.ErrSchemaDrift, model, what, strings.Join(made, ", ")), nil
}

func unitNodes(ex *plan.Execution) []node {
	nodes := make([]node, len(ex.Units))
	for i := range ex.Units {
		nodes[i] = node{ex.Units[i].DataSource, ex.Units[i].Table}
	}
	return nodes
}

// tried makes the table of a unit under a name of its own for a moment, and tells
// what it has that the original does not have, or has otherwise. The order of columns,
// and what the original has besides, is no difference.
func (k *Kernel) tried(ctx context.Context, ex *plan.Execution, unit int, o *original, branches execute.Branches) (what string, err error) {
	u := ex.Units[unit]
	at := node{u.DataSource, "_sharding_" + strings.ToLower(rand.Text()[:16])}
	send := func(ctx context.Context, sql string, args []any) error {
		one := &plan.Execution{Kind: ex.Kind, Write: true, DDL: true, Units: []plan.Unit{{DataSource: u.DataSource, Table: at.table, SQL: sql, Args: args}}}
		_, err := k.executor.Exec(ctx, one, branches)
		return err
	}
	drop := func() error {
		return send(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+quoteName(at.table), nil)
	}
	// A server that denies DROP says so of a table that is not there as well, and
	// nothing has been made yet that would stay.
	if err := drop(); err != nil {
		return "", &fault.NodeError{DataSource: u.DataSource, Table: u.Table, Err: fmt.Errorf("a table is made beside it for a moment, and is to be dropped: %w", err)}
	}
	if err := send(ctx, ex.Trial(unit, at.table), u.Args); err != nil {
		if server := (*mysql.MySQLError)(nil); !errors.As(err, &server) {
			_ = drop() // nobody knows whether it was made
		}
		return "", &fault.NodesError{Nodes: []*fault.NodeError{{DataSource: u.DataSource, Table: u.Table, Err: err}}}
	}
	defer func() {
		if e := drop(); e != nil {
			err = errors.Join(err, &fault.NodeError{DataSource: u.DataSource, Table: at.table, Err: e})
		}
	}()
	// The longer the table's name, the shorter the names that are not cut.
	names, there := k.namesAt(ctx, at), k.namesAt(ctx, o.node)
	names.logical, names.known, there.known = there.logical, ex.Constraints, ex.Constraints
	want, err := k.definition(ctx, at, names)
	if err != nil {
		return "", err
	}
	got, err := k.definition(ctx, o.node, there)
	if err != nil {
		return "", err
	}
	return lacking(want, got, ex.Lenient), nil
}

// lacking tells which column, key or constraint the second definition lacks of the
// first, or has otherwise; only which column where others do not count. The key that
// a server makes for a foreign key is none that was asked for.
func lacking(want, got []string, columns bool) string {
	for _, line := range want {
		name, column := defined(line)
		own := strings.Contains(line, "KEY `"+name+"` ") && slices.ContainsFunc(want, func(l string) bool { return strings.HasPrefix(l, "CONSTRAINT `"+name+"` FOREIGN KEY") })
		if strings.HasPrefix(line, ")") || slices.Contains(got, line) || columns && !column || own {
			continue
		}
		for _, other := range got {
			if n, c := defined(other); n == name && c == column && !strings.HasPrefix(other, ")") {
				return fmt.Sprintf("has %q in the place of %q", other, line)
			}
		}
		return fmt.Sprintf("lacks %q", line)
	}
	return ""
}
