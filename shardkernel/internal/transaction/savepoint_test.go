package transaction

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
)

// step is one savepoint statement: + sets, < goes back to, - releases.
func step(t *testing.T, tx *Tx, s string) error {
	t.Helper()
	name := s[1:]
	switch s[0] {
	case '+':
		return tx.Savepoint(t.Context(), name)
	case '<':
		return tx.RollbackTo(t.Context(), name)
	case '-':
		return tx.Release(t.Context(), name)
	}
	t.Fatalf("step %q", s)
	return nil
}

func TestLiveSavepointsAreSetOnBranchesOpenedLater(t *testing.T) {
	for _, test := range []struct {
		name  string
		steps string
		want  string
	}{
		{"none", "", ""},
		{"in order", "+a +b +c", "a b c"},
		{"the same name replaces", "+a +b +a", "b a"},
		{"the same name by another case", "+a +b +A", "b A"},
		{"the same name by quotes", "+a +b +`a`", "b `a`"},
		{"going back drops the later ones", "+a +b +c <a", "a"},
		{"going back keeps the one gone to", "+a +b <b <b", "a b"},
		{"release drops the later ones", "+a +b +c -b", "a"},
		{"quotes stay", "+`a ``b` +c", "`a ``b` c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			tx := c.begin()
			c.must(t, tx, "S", "ds0")
			var sent []string
			for _, s := range split(test.steps) {
				if err := step(t, tx, s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				sent = append(sent, map[byte]string{'+': "SAVEPOINT ", '<': "ROLLBACK TO SAVEPOINT ", '-': "RELEASE SAVEPOINT "}[s[0]]+s[1:])
			}
			c.must(t, tx, "S", "ds1")
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			want := []string{"BEGIN"}
			for _, n := range split(test.want) {
				want = append(want, "SAVEPOINT "+n)
			}
			c.want(t, "ds0", append(append([]string{"BEGIN", "S"}, sent...), "ROLLBACK")...)
			c.want(t, "ds1", append(want, "S", "ROLLBACK")...)
		})
	}
}

// split cuts at spaces outside of back quotes.
func split(s string) []string {
	quoted := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '`' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

func TestASavepointBeforeTheFirstBranchIsKept(t *testing.T) {
	c := newCluster(t)
	tx := c.begin()
	if err := tx.Savepoint(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := tx.RollbackTo(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c.must(t, tx, "S", "ds0")
	if err := tx.RollbackTo(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	c.want(t, "ds0", "BEGIN", "SAVEPOINT a", "S", "ROLLBACK TO SAVEPOINT a", "COMMIT")
}

func TestAnUnknownSavepointIsTheServersError(t *testing.T) {
	unknown := &mysql.MySQLError{Number: 1305, Message: "SAVEPOINT x does not exist"}
	for _, sources := range [][]string{nil, {"ds0"}, {"ds0", "ds1"}} {
		c := newCluster(t)
		c.fakes["ds0"].On("ROLLBACK TO SAVEPOINT x", fakedb.Answer{Err: unknown})
		c.fakes["ds0"].On("RELEASE SAVEPOINT x", fakedb.Answer{Err: unknown})
		tx := c.begin()
		for _, s := range sources {
			c.must(t, tx, "S", s)
		}
		for _, s := range []string{"<x", "-x"} {
			err := step(t, tx, s)
			if got := (*mysql.MySQLError)(nil); !errors.As(err, &got) || got.Number != unknown.Number || got.Message != unknown.Message {
				t.Errorf("%v, %s: got %v", sources, s, err)
			}
			if sources != nil && err != error(unknown) {
				t.Errorf("%v, %s: got %v, want the driver's error itself", sources, s, err)
			}
		}
		// The transaction goes on.
		c.must(t, tx, "S", "ds0")
		if err := tx.Commit(); err != nil {
			t.Errorf("%v: %v", sources, err)
		}
	}
}

func TestASavepointThatFailsOnAPartLeavesOnlyRollback(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds1"].On("SAVEPOINT a", fakedb.Answer{Err: errors.New("no memory")})
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	c.must(t, tx, "S", "ds1")
	if err := tx.Savepoint(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "ds1: no memory") {
		t.Errorf("got %v", err)
	}
	if err := tx.Commit(); err == nil || !strings.Contains(err.Error(), "only ROLLBACK is left") {
		t.Errorf("Commit: got %v, want a refusal", err)
	}
}

func TestASavepointThatFailsOnTheOnlyBranchIsNotKept(t *testing.T) {
	c := newCluster(t)
	no := errors.New("no memory")
	c.fakes["ds0"].On("SAVEPOINT a", fakedb.Answer{Err: no})
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	if err := tx.Savepoint(t.Context(), "a"); err != no {
		t.Errorf("got %v, want the driver's error itself", err)
	}
	c.must(t, tx, "S", "ds1")
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds1", "BEGIN", "S", "COMMIT")
}

func TestABranchThatCannotSetTheLiveSavepointsIsNotOpened(t *testing.T) {
	c := newCluster(t)
	c.fakes["ds0"].On("SAVEPOINT a", fakedb.Answer{Err: errors.New("no memory")})
	tx := c.begin()
	if err := tx.Savepoint(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := c.exec(t, tx, "S", "ds0"); err == nil || err.Error() != "ds0: no memory" {
		t.Errorf("got %v", err)
	}
	c.must(t, tx, "S", "ds1")
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0", "BEGIN", "SAVEPOINT a", "ROLLBACK")
}

func TestTheNameOfTheStatementsOwnSavepointIsRefused(t *testing.T) {
	c := newCluster(t)
	tx := c.begin()
	c.must(t, tx, "S", "ds0")
	for _, name := range []string{"_sharding_stmt", "`_Sharding_Stmt`"} {
		if err := tx.Savepoint(t.Context(), name); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	c.want(t, "ds0", "BEGIN", "S", "ROLLBACK")
}
