package transaction

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func definition(sources ...string) *plan.Execution {
	ex := &plan.Execution{DDL: true}
	for _, s := range sources {
		ex.Units = append(ex.Units, plan.Unit{DataSource: s, Table: "t", SQL: "ALTER"})
	}
	return ex
}

func TestDDLTakesPartInATransactionOnlyOnItsOneDataSource(t *testing.T) {
	for _, test := range []struct {
		name     string
		branches []string
		ddl      []string
		inside   bool
		refused  bool
	}{
		{"begun nowhere, one node", nil, []string{"ds0"}, false, false},
		{"begun nowhere, several", nil, []string{"ds0", "ds1"}, false, false},
		{"begun there", []string{"ds0"}, []string{"ds0"}, true, false},
		{"begun there, several tables", []string{"ds0"}, []string{"ds0", "ds0"}, false, true},
		{"begun elsewhere", []string{"ds1"}, []string{"ds0"}, false, true},
		{"begun there and elsewhere", []string{"ds0", "ds1"}, []string{"ds0"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			tx := c.begin()
			for _, s := range test.branches {
				c.must(t, tx, "S", s)
			}
			inside, err := tx.Define(definition(test.ddl...))
			if inside != test.inside || errors.Is(err, fault.ErrUnsupported) != test.refused {
				t.Errorf("inside %t, %v", inside, err)
			}
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The server has committed: nothing could be undone together with another data
// source, or over several tables.
func TestAfterDDLATransactionStaysOnItsDataSource(t *testing.T) {
	c := newCluster(t)
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	if inside, err := tx.Define(definition("ds0")); !inside || err != nil {
		t.Fatalf("inside %t, %v", inside, err)
	}
	c.must(t, tx, "S", "ds0")
	if err := c.exec(t, tx, "S", "ds1"); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("a further data source: %v", err)
	}
	if err := c.exec(t, tx, "S", "ds0", "ds0"); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("several units: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// What was written before a DDL statement may be stored for good when its connection
// is lost: neither end of the transaction says that it went as asked.
func TestADDLStatementInDoubtIsNeitherCommittedNorRolledBack(t *testing.T) {
	for name, end := range map[string]func(*Tx) error{"commit": (*Tx).Commit, "rollback": (*Tx).Rollback} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.fakes["ds0"].On("ALTER", fakedb.Answer{Err: mysql.ErrInvalidConn, Break: true})
			tx := c.begin()
			c.must(t, tx, "S", "ds0")
			if tx.Committed() {
				t.Error("committed before the DDL statement")
			}
			ddl := definition("ds0")
			if inside, err := tx.Define(ddl); !inside || err != nil {
				t.Fatalf("inside %t, %v", inside, err)
			}
			if _, err := c.Exec(t.Context(), ddl, tx); !errors.Is(err, mysql.ErrInvalidConn) {
				t.Errorf("the statement: %v", err)
			}
			if !tx.Committed() {
				t.Error("what is written from now on counts as part of a transaction")
			}
			if err := c.exec(t, tx, "S", "ds0"); err == nil {
				t.Error("a statement behind it ran")
			}
			if err := end(tx); err == nil {
				t.Error("no error")
			}
			c.want(t, "ds0", "BEGIN", "S", "ALTER")
		})
	}
}
