package driver

import (
	"context"

	"github.com/gormshard/sharding/hint"
	"github.com/gormshard/sharding/shardkernel"
)

// Hints returns what a context tells of its statements, nil when it tells
// nothing.
func Hints(ctx context.Context) *shardkernel.Hints {
	h := hint.FromContext(ctx)
	if h == nil {
		return nil
	}
	out := &shardkernel.Hints{
		Direct:       h.Direct,
		DataSource:   h.DataSource,
		SkipSharding: h.SkipSharding,
		AllowScatter: h.AllowScatter,
		AuditOff:     h.AuditOff,
		Audits:       h.Audits,
	}
	if h.Session != nil {
		out.Session = h.Session
	}
	switch h.Reads {
	case hint.ReadsPrimary:
		out.Reads = shardkernel.ReadsPrimary
	case hint.ReadsReplica:
		out.Reads = shardkernel.ReadsReplica
	}
	for _, t := range h.Tables {
		if t.Name == hint.AllTables {
			t.Name = shardkernel.AllTables
		}
		out.Tables = append(out.Tables, shardkernel.TableHint{
			Logical: t.Name, Database: t.Database, Table: t.Table, HasActual: t.HasActual, Actual: t.Actual,
		})
	}
	return out
}
