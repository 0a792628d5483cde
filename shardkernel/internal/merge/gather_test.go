package merge

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
)

func rowsOf(rows ...string) *fake {
	c := cursor("r TEXT")
	for _, r := range rows {
		c.rows = append(c.rows, row(text(r)))
	}
	return c
}

func TestRowsOfAllCursorsBecomeOneArray(t *testing.T) {
	for name, stop := range map[string]func(){"in turn": nil, "at the same time": func() {}} {
		budget := memory.NewBudget(1000)
		g := NewGathering(Limits{Budget: budget}, 1000, stop)
		cursors := []*fake{rowsOf("[1]", `["a"]`), rowsOf(), rowsOf("[null]")}
		got := g.JSON("t", []driver.Rows{cursors[0], cursors[1], cursors[2]})
		var rows [][]any
		if err := errors.Join(g.Failed(), json.Unmarshal([]byte(got), &rows)); err != nil || len(rows) != 3 {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if got := g.JSON("t", []driver.Rows{rowsOf()}); got != "[]" {
			t.Errorf("%s: no rows are %s", name, got)
		}
		for i, c := range cursors {
			if c.closed != 1 {
				t.Errorf("%s: cursor %d was closed %d times", name, i, c.closed)
			}
		}
		if budget.Used() == 0 {
			t.Errorf("%s: the rows are not counted", name)
		}
		g.Release()
		g.Release()
		if n := budget.Used(); n != 0 {
			t.Errorf("%s: %d bytes are left", name, n)
		}
	}
}

func TestGatheringFailsOnce(t *testing.T) {
	broken := rowsOf("[1]")
	broken.err = errors.New("cut")
	for name, c := range map[string]struct {
		limits Limits
		most   int64
		cursor *fake
		class  error
		text   string
	}{
		"rows":    {Limits{MaxRows: 2}, 1000, rowsOf("[1]", "[2]", "[3]"), fault.ErrTooManyRows, "rows of t_order"},
		"bytes":   {Limits{MaxBytes: 6}, 1000, rowsOf("[1]", "[2]", "[3]"), fault.ErrTooManyRows, "props.maxMergeBytes"},
		"process": {Limits{Budget: memory.NewBudget(6)}, 1000, rowsOf("[1]", "[2]"), fault.ErrTooManyRows, "of this process"},
		"packet":  {Limits{}, 6, rowsOf("[1]", "[2]"), fault.ErrTooManyRows, "max_allowed_packet"},
		"value":   {Limits{}, 1000, rowsOf("[1]", "=day"), fault.ErrUnsupported, "column day of t_order"},
		"type":    {Limits{}, 1000, rowsOf(">name"), fault.ErrSchemaDrift, "column name of t_order"},
		"length":  {Limits{}, 1000, cursor("r TEXT", row(nil)), fault.ErrUnsupported, "max_allowed_packet"},
		"cursor":  {Limits{}, 1000, broken, broken.err, "cut"},
	} {
		stopped := 0
		g := NewGathering(c.limits, c.most, func() { stopped++ })
		g.JSON("t_order", []driver.Rows{c.cursor})
		err := g.Failed()
		g.Fail(errors.New("later"))
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.text) || g.Failed() != err {
			t.Errorf("%s: %v, then %v", name, err, g.Failed())
		}
		if stopped != 1 || c.cursor.closed != 1 {
			t.Errorf("%s: stopped %d times, closed %d times", name, stopped, c.cursor.closed)
		}
		g.Release()
		if b := c.limits.Budget; b != nil && b.Used() != 0 {
			t.Errorf("%s: %d bytes are left", name, b.Used())
		}
	}
}

func TestAHeaderIsGivenToRowsOfItsTypes(t *testing.T) {
	for name, c := range map[string]struct {
		header, rows string
		fits         bool
	}{
		"same":              {"a INT, b VARCHAR", "a INT, b VARCHAR", true},
		"wider":             {"a TINYINT, b CHAR, c BLOB", "x BIGINT, y LONGTEXT, z VARBINARY", true},
		"unsigned":          {"a INT", "a UNSIGNED INT", false},
		"text for bytes":    {"a VARBINARY", "a VARCHAR", false},
		"number for text":   {"a VARCHAR", "a INT", false},
		"one column":        {"a INT, b INT", "a INT", false},
		"a DOUBLE":          {"a DECIMAL", "a DOUBLE", false},
		"another INT, none": {"a YEAR", "a INT", false},
	} {
		asked := cursor(c.header)
		header, err := ReadHeader(asked)
		if err != nil || asked.closed != 1 {
			t.Errorf("%s: %v, closed %d times", name, err, asked.closed)
			continue
		}
		given := cursor(c.rows)
		rows, err := header.Give(given)
		if fits := err == nil; fits != c.fits || !fits && (!errors.Is(err, fault.ErrSchemaDrift) || given.closed != 1) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if got := strings.Join(rows.Columns(), ", "); got != strings.Join(asked.names, ", ") {
				t.Errorf("%s: columns %s", name, got)
			}
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAFloatThatThePlanWidensIsRefused(t *testing.T) {
	header, err := ReadHeader(cursor("a DOUBLE"))
	if err != nil {
		t.Fatal(err)
	}
	given := cursor("a FLOAT")
	if _, err := header.Give(given); !errors.Is(err, fault.ErrUnsupported) || given.closed != 1 {
		t.Errorf("%v, closed %d times", err, given.closed)
	}
}
