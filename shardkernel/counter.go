package shardkernel

import (
	"context"

	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// warnCounter tells, once for a table, that each node counts an AUTO_INCREMENT
// column for itself, so that an INSERT has to give it. A table of one node counts
// as one database does.
func (k *Kernel) warnCounter(ctx context.Context, t *rule.Table, table *value.Table) {
	if k.warn == nil || len(t.Nodes) < 2 {
		return
	}
	for i := range table.Columns {
		c := &table.Columns[i]
		if !c.AutoIncrement || t.Key != nil && t.Key.Column == c.Name {
			continue
		}
		if _, told := k.counters.LoadOrStore(t.Name, true); !told {
			k.warn(ctx, "sharding: AUTO_INCREMENT column "+c.Name+" of table "+t.Name+" has no keyGenerate: each node counts for itself, and an INSERT that leaves the column out is refused; "+
				"add keyGenerate: {column: "+c.Name+", …} to "+t.Path+", or drop AUTO_INCREMENT and give the values")
		}
	}
}
