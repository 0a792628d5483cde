package shardkernel

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// uniqueKeys asks for the columns of the unique keys of a table.
const uniqueKeys = "SELECT index_name, LOWER(column_name) FROM information_schema.statistics " +
	"WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index"

// warnUnique tells, once for a table, which of its unique keys each node checks
// for itself alone: rows that are equal in such a key may be on different nodes
// (semantics row 50). What cannot be read is no reason to fail a statement.
func (k *Kernel) warnUnique(ctx context.Context, t *rule.Table, node rule.Node) {
	if k.warn == nil || len(t.Nodes) < 2 {
		return
	}
	if _, told := k.unique.LoadOrStore(t.Name, true); told {
		return
	}
	for name, columns := range k.uniqueKeys(ctx, node) {
		if generated := t.Key != nil && slices.Equal(columns, []string{t.Key.Column}); generated || together(t, columns) {
			continue
		}
		k.warn(ctx, "sharding: unique key "+name+" ("+strings.Join(columns, ", ")+") of table "+t.Name+" does not hold the sharding columns: each node checks it for itself, so that two nodes may hold the same key; "+
			"add the sharding columns to it, or generate its values")
	}
}

// together reports whether rows that are equal in the columns are on one node.
func together(t *rule.Table, columns []string) bool {
	for _, s := range []*rule.Strategy{t.Database, t.Tables} {
		if s == nil || len(s.Targets) < 2 {
			continue
		}
		if len(s.Columns) == 0 { // a hint
			return false
		}
		for _, c := range s.Columns {
			if !slices.Contains(columns, c) {
				return false
			}
		}
	}
	return true
}

func (k *Kernel) uniqueKeys(ctx context.Context, node rule.Node) map[string][]string {
	control, d, err := k.controlPool(node.DataSource)
	if err != nil || !d.IsMySQL() {
		return nil
	}
	rows, err := control.QueryContext(ctx, uniqueKeys, node.Table)
	if err != nil {
		return nil
	}
	defer rows.Close()
	keys := map[string][]string{}
	for rows.Next() {
		var name, column string
		if rows.Scan(&name, &column) != nil {
			return nil
		}
		keys[name] = append(keys[name], column)
	}
	if rows.Err() != nil {
		return nil
	}
	return keys
}
