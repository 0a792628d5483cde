package transaction

import (
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// Define prepares the transaction for a DDL statement, before and after which
// servers commit what is open on the connection. inside tells whether the
// statement is to run on the transaction's connection, as it would without
// sharding: where the transaction has touched no data source but the
// statement's. A transaction that has touched none does not take part. With any
// other the statement is refused: the servers would commit a part of what was
// written.
func (t *Tx) Define(ex *plan.Execution) (inside bool, err error) {
	switch {
	case t.done || t.rollbackOnly():
		return false, t.usable()
	case t.opts.ReadOnly && len(ex.Units) > 1:
		return false, fault.Unsupported("DDL in a read-only transaction", "", "use another transaction, or none")
	case t.opts.ReadOnly:
		return true, nil
	case len(t.branches) == 0:
		return false, nil
	case len(t.branches) == 1 && len(ex.Units) == 1 && ex.Units[0].DataSource == t.branches[0].source:
		t.committed = true
		return true, nil
	}
	return false, fault.Unsupported("DDL in a transaction that has begun", "the servers commit at DDL, so that what was written could not be rolled back on all data sources alike",
		"send it before or after the transaction")
}
