package merge

import (
	"database/sql/driver"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/memory"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestRowsOfASubqueryBecomeJSON(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	for name, c := range map[string]struct {
		how   plan.CarriedColumn
		value driver.Value
		want  string
	}{
		"NULL":            {plan.CarriedText, nil, `[[null]]`},
		"a text":          {plan.CarriedText, text(`a"\ü` + "\n"), `[["a\"\\ü\n"]]`},
		"a comment":       {plan.CarriedText, text("/*~0~*/"), `[["/\u002a~0~\u002a/"]]`},
		"a number":        {plan.CarriedNumber, int64(math.MinInt64), `[["-9223372036854775808"]]`},
		"a big number":    {plan.CarriedNumber, uint64(math.MaxUint64), `[["18446744073709551615"]]`},
		"decimals":        {plan.CarriedNumber, text("1.50"), `[["1.50"]]`},
		"bytes":           {plan.CarriedBytes, []byte{0, 255}, `[["00ff"]]`},
		"a date":          {plan.CarriedDate, day, `[["2026-01-02"]]`},
		"a date and time": {plan.CarriedMoment, day.Add(6 * time.Millisecond), `[["2026-01-02 03:04:05.006000"]]`},
	} {
		cursor := cursor("a VARCHAR", row(c.value))
		found, err := ReadFound(cursor, []plan.CarriedColumn{c.how}, 0, Limits{})
		if err != nil || found.JSON != c.want || found.Rows != 1 || cursor.closed != 1 {
			t.Errorf("%s: %s, %v, want %s", name, found.JSON, err, c.want)
		}
	}
}

func TestASubquerysValueThatJSONCannotCarryIsRefused(t *testing.T) {
	for _, v := range []driver.Value{time.Time{}, 1.5, text("\xff")} {
		cursor := cursor("a VARCHAR", row(v))
		if _, err := ReadFound(cursor, []plan.CarriedColumn{plan.CarriedMoment}, 0, Limits{}); !errors.Is(err, fault.ErrUnsupported) || cursor.closed != 1 {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func TestRowsOfASubqueryAreLimited(t *testing.T) {
	rows := func() *fake { return cursor("a INT", row(int64(1)), row(int64(2)), row(int64(3))) }
	budget := memory.NewBudget(1 << 10)
	number := []plan.CarriedColumn{plan.CarriedNumber}
	if _, err := ReadFound(rows(), number, 0, Limits{MaxRows: 2, Budget: budget}); !errors.Is(err, fault.ErrTooManyRows) || budget.Used() != 0 {
		t.Errorf("%v, %d bytes in use", err, budget.Used())
	}
	found, err := ReadFound(rows(), number, 2, Limits{Budget: budget})
	if err != nil || found.JSON != `[["1"],["2"]]` || len(found.First) != 2 || !found.All() || budget.Used() == 0 {
		t.Errorf("%+v, %v", found, err)
	}
	found.Release()
	if found.Release(); budget.Used() != 0 {
		t.Errorf("%d bytes in use", budget.Used())
	}
	broken := rows()
	broken.err = errors.New("cut")
	if _, err := ReadFound(broken, number, 0, Limits{}); err == nil || broken.closed != 1 {
		t.Errorf("a cut stream: %v", err)
	}
}
