//go:build unix

package orders_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// byNote cannot be merged, which shows when rows have come: some notes are longer
// than servers sort by.
const byNote = "SELECT id, note FROM t_ent_order WHERE id > ? ORDER BY note, id"

// TestRowsThatCannotBeMergedAreGathered compares queries that are sent in another
// form when their rows have shown that the merge would not be exact.
func TestRowsThatCannotBeMergedAreGathered(t *testing.T) {
	compare(t, []query{
		{sql: byNote, args: []any{0}},
		{sql: "SELECT id FROM t_ent_order ORDER BY note DESC, id LIMIT 7 OFFSET 3"},
		{sql: "SELECT * FROM t_ent_order WHERE region_id < ? ORDER BY note, id", args: []any{3}},
		{sql: "SELECT note, COUNT(*) AS n, MIN(id) FROM t_ent_order GROUP BY note ORDER BY note DESC", folded: []int{0}},
		{sql: "SELECT o.id, d.address FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id AND d.ent_id = o.ent_id ORDER BY o.note, o.id"},
		{sql: "SELECT id FROM t_ent_order WHERE region_id IN (SELECT id FROM t_region) ORDER BY note, id LIMIT ?", args: []any{20}},
		{sql: "(SELECT id, note FROM t_ent_order) UNION ALL (SELECT id, product FROM t_ent_order_item) ORDER BY note, id"},
		{sql: "SELECT id /* one? */, note FROM t_ent_order ORDER BY note, id"},
	})
}

// TestExecutableCommentsAreReadAsTheServerReadsThem compares one that MariaDB reads, by
// which the statement is routed, and one that no server does.
func TestExecutableCommentsAreReadAsTheServerReadsThem(t *testing.T) {
	compare(t, []query{
		{sql: "SELECT /*!50000 id */ FROM t_ent_order /*M! WHERE ent_id = 1 */"},
		{sql: "SELECT id /*!99999 , ent_id */ FROM t_ent_order WHERE ent_id IN (1, 2) ORDER BY id"},
	})
}

// TestAnotherFormNeedsNoOtherConnection has pools of one connection: what the first
// form held is given back before the second takes any.
func TestAnotherFormNeedsNoOtherConnection(t *testing.T) {
	c := sampleCluster(t)
	cfg := alone(c.config())
	a := c.open(t, cfg, nil)
	want := ask(t.Context(), throughGORM(c.openSingle(t, nil)), byNote, []any{100})
	for range 3 {
		got := ask(t.Context(), throughGORM(a.DB), byNote, []any{100})
		if d := (&query{sql: byNote}).differ(want, got, answer{}, nil); d != "" || len(got.rows) == 0 {
			t.Error(d)
		}
		checkIdle(t, a.plugin, cfg)
	}
	units := a.trace.take()
	first, second := 0, 0
	for _, u := range units {
		switch {
		case strings.Contains(u.SQL, "WEIGHT_STRING"):
			first++
		case strings.Contains(u.SQL, "JSON_TABLE"):
			second++
		}
	}
	if first != 3*databases || second != 3 {
		t.Errorf("%d units were merged and %d gathered, want %d and 3", first, second, 3*databases)
	}
	var note string
	if err := a.Raw("SELECT note FROM t_ent_order ORDER BY note DESC, id LIMIT 1").Row().Scan(&note); err != nil || note == "" {
		t.Errorf("%q, %v", note, err)
	}
}

// TestATransactionAnswersInAnotherForm reads what it has written itself.
func TestATransactionAnswersInAnotherForm(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	a := c.open(t, alone(c.config()), nil)
	single := c.openSingle(t, nil)
	long := strings.Repeat("n", 1100)
	read := func(db *gorm.DB) (got answer) {
		err := db.Transaction(func(tx *gorm.DB) error {
			for i, note := range []string{long + "b", "short", long + "a", "a"} {
				err := tx.Exec("INSERT INTO t_ent_order (id, ent_id, note) VALUES (?, ?, ?)", 9001+i, 1+i, note).Error
				if err != nil {
					return err
				}
			}
			got = ask(t.Context(), throughGORM(tx), byNote, []any{9000})
			// The transaction goes on.
			return errors.Join(got.err, tx.Exec("UPDATE t_ent_order SET name = 'x' WHERE ent_id = 1").Error, gorm.ErrInvalidTransaction)
		})
		if !errors.Is(err, gorm.ErrInvalidTransaction) {
			t.Error(err)
		}
		return got
	}
	want, got := read(single), read(a.DB)
	if d := (&query{sql: byNote}).differ(want, got, answer{}, nil); d != "" || len(got.rows) != 4 {
		t.Errorf("%d rows: %s", len(got.rows), d)
	}
}

// TestWithoutAnotherFormTheRefusalStays sends nothing twice, and holds nothing.
func TestWithoutAnotherFormTheRefusalStays(t *testing.T) {
	c := sampleCluster(t)
	off := false
	none := alone(c.config())
	none.Props.Gather = &off
	for _, test := range []struct {
		name, sql string
		cfg       *config.Config
	}{
		{"gathering is switched off", "SELECT id FROM t_ent_order ORDER BY note, id", none},
		{"it locks rows", "SELECT id FROM t_ent_order ORDER BY note, id FOR UPDATE", alone(c.config())},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := c.open(t, test.cfg, nil)
			err := a.Transaction(func(tx *gorm.DB) error {
				got := ask(t.Context(), throughGORM(tx), test.sql, nil)
				if !errors.Is(got.err, sharding.ErrUnsupported) || !strings.Contains(got.err.Error(), "max_sort_length") {
					t.Error(got.err)
				}
				return nil
			})
			if units := a.trace.take(); err != nil || len(units) != databases {
				t.Errorf("%d units were sent, %v", len(units), err)
			}
			checkIdle(t, a.plugin, test.cfg)
		})
	}
}

// TestAFunctionThatWritesIsCalledInOneForm calls a function of the user's, which
// writes a row for each row that is read: another form would write them once more.
func TestAFunctionThatWritesIsCalledInOneForm(t *testing.T) {
	c := sampleCluster(t)
	logged := func() (n int) {
		for i := range databases {
			var rows int
			if err := c.pool(t, i).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM calls").Scan(&rows); err != nil {
				t.Error(err)
			}
			n += rows
		}
		return n
	}
	for i := range databases {
		node := c.pool(t, i)
		for _, ddl := range []string{
			"CREATE TABLE calls (id bigint)",
			"CREATE FUNCTION called(x bigint) RETURNS bigint MODIFIES SQL DATA BEGIN INSERT INTO calls VALUES (x); RETURN x; END",
		} {
			if _, err := node.ExecContext(t.Context(), ddl); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _, _ = node.Exec("DROP TABLE calls"); _, _ = node.Exec("DROP FUNCTION called") })
	}
	a := c.open(t, alone(c.config()), nil)
	got := ask(t.Context(), throughGORM(a.DB), "SELECT id, called(id) FROM t_ent_order WHERE id > 0 ORDER BY note, id", nil)
	if !errors.Is(got.err, sharding.ErrUnsupported) {
		t.Error(got.err)
	}
	var orders int64
	if err := a.Table("t_ent_order").Where("id > 0").Count(&orders).Error; err != nil {
		t.Fatal(err)
	}
	if n := int64(logged()); n == 0 || n > orders {
		t.Errorf("%d calls for %d rows", n, orders)
	}
	// A function of the server's is none of the user's.
	if got = ask(t.Context(), throughGORM(a.DB), "SELECT ABS(id), UPPER(name) FROM t_ent_order ORDER BY note, id", nil); got.err != nil {
		t.Error(got.err)
	}
}
