//go:build unix

package orders_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/rowtext"
)

// query is one statement and what its answer may leave open.
type query struct {
	sql  string
	args []any
	// ties is the ORDER BY list of a query over t_ent_order whose order leaves
	// rows open; its first column is the id. Rows that it does not tell apart may
	// come in any order, and LIMIT may cut anywhere among them.
	ties string
	// folded are the columns of which a group of equal texts may show any one.
	folded []int
	// sequence is set where something else than ORDER BY promises an order.
	sequence bool
	// open allows a refusal.
	open bool
}

// answer is what a query gave.
type answer struct {
	columns []string
	rows    [][]any
	err     error
}

// asker runs a query in one way.
type asker func(ctx context.Context, query string, args []any) (*sql.Rows, error)

func ask(ctx context.Context, run asker, query string, args []any) answer {
	return read(run(ctx, query, args))
}

func read(rows *sql.Rows, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	var a answer
	a.columns, a.rows, a.err = rowtext.Read(rows)
	return a
}

// fold replaces texts by a form that is the same for the texts the sample's
// collations take for equal.
func (q *query) fold(rows [][]any) {
	for _, r := range rows {
		for _, c := range q.folded {
			if text, ok := r[c].([]byte); ok {
				s := strings.TrimRight(strings.ToLower(string(text)), " ")
				r[c] = []byte(strings.NewReplacer("ä", "a", "ß", "s").Replace(s))
			}
		}
	}
}

// round cuts floating point numbers off behind the digits that are compared: the last
// ones of a STD or VARIANCE depend on the order in which a server reads the rows.
func round(rows [][]any) {
	for _, r := range rows {
		for i, v := range r {
			if x, ok := v.(float64); ok {
				r[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
			}
		}
	}
}

func (q *query) ordered() bool {
	return q.sequence || strings.Contains(strings.ToUpper(q.sql), "ORDER BY") && q.ties == ""
}

// limited cuts the outermost LIMIT off.
func (q *query) limited() (unlimited query, limit bool) {
	at := strings.LastIndex(q.sql, " LIMIT ")
	if at < 0 || strings.Contains(q.sql[at:], ")") {
		return *q, false
	}
	u := *q
	u.sql = q.sql[:at]
	u.args = q.args[:strings.Count(u.sql, "?")]
	return u, true
}

// differ says how an answer differs from that of the single database, "" when it
// does not. everything is the single database's answer without LIMIT, ranks the
// place of every id, for queries that leave something open.
func (q *query) differ(want, got, everything answer, ranks map[string]string) string {
	if want.err != nil || got.err != nil {
		return differInError(want.err, got.err)
	}
	if !slices.Equal(want.columns, got.columns) {
		return fmt.Sprintf("columns\n  single  %s\n  sharded %s", strings.Join(want.columns, "\n          "), strings.Join(got.columns, "\n          "))
	}
	for _, rows := range [][][]any{want.rows, got.rows} {
		q.fold(rows)
		round(rows)
	}
	w, g := rowtext.Shown(want.rows), rowtext.Shown(got.rows)
	if q.ordered() {
		return differ(w, g)
	}
	if len(w) != len(g) {
		return fmt.Sprintf("%d rows instead of %d", len(g), len(w))
	}
	if q.ties != "" {
		rank := func(rows [][]any) []string {
			out := make([]string, len(rows))
			for i, r := range rows {
				out[i] = "rank " + ranks[fmt.Sprint(r[0])]
			}
			return out
		}
		if d := differ(rank(want.rows), rank(got.rows)); d != "" {
			return d
		}
	}
	if _, limit := q.limited(); limit {
		return notWithin(g, everything)
	}
	slices.Sort(w)
	slices.Sort(g)
	return differ(w, g)
}

// differInError compares failures: the server's own error by its number.
func differInError(want, got error) string {
	var w, g *mysql.MySQLError
	switch {
	case got == nil:
		return fmt.Sprintf("an answer where the single database fails: %v", want)
	case errors.Is(got, sharding.ErrUnsupported):
		return "refused: " + got.Error()
	case want == nil:
		return "an error: " + got.Error()
	case errors.As(want, &w) && errors.As(got, &g) && w.Number == g.Number:
		return ""
	}
	return fmt.Sprintf("error %v where the single database fails with %v", got, want)
}

// differ shortens what rowtext.Differ says.
func differ(want, got []string) string {
	return longRuns.ReplaceAllString(rowtext.Differ(want, got), "…")
}

// longRuns are what a reader of a long text can do without.
var longRuns = regexp.MustCompile(`x{20,}|Y{20,}`)

// notWithin looks for every row among those of the answer without LIMIT.
func notWithin(got []string, everything answer) string {
	if everything.err != nil {
		return everything.err.Error()
	}
	left := map[string]int{}
	for _, r := range rowtext.Shown(everything.rows) {
		left[r]++
	}
	for _, r := range got {
		if left[r]--; left[r] < 0 {
			return "a row that is not in the answer without LIMIT, or more often: " + r
		}
	}
	return ""
}

// inline replaces the markers, which stand before any other ? in the query, by
// literals.
func inline(t *testing.T, query string, args []any) string {
	t.Helper()
	var b strings.Builder
	for _, arg := range args {
		before, rest, _ := strings.Cut(query, "?")
		query = rest
		b.WriteString(before)
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if u, ok := arg.(uint64); ok {
			value, err = u, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := value.(type) {
		case nil:
			b.WriteString("NULL")
		case string:
			b.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(v) + "'")
		case []byte:
			fmt.Fprintf(&b, "x'%x'", v)
		case time.Time:
			b.WriteString("'" + v.Format("2006-01-02 15:04:05.999999") + "'")
		case bool, int, int64, uint64, float64:
			fmt.Fprint(&b, v)
		default:
			t.Fatalf("no literal for a %T", v)
		}
	}
	return b.String() + query
}

// ranksOf asks the single database for the place of every order.
func ranksOf(t *testing.T, ctx context.Context, run asker, order string) map[string]string { //nolint:revive // t first, as everywhere in tests
	t.Helper()
	a := ask(ctx, run, "SELECT id, DENSE_RANK() OVER (ORDER BY "+order+") FROM t_ent_order", nil)
	if a.err != nil {
		t.Fatalf("ranks by %s: %v", order, a.err)
	}
	ranks := map[string]string{}
	for _, r := range a.rows {
		ranks[fmt.Sprint(r[0])] = fmt.Sprint(r[1])
	}
	return ranks
}

// serverError is an error as the server numbers it, else its text.
func serverError(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("server error %d", e.Number)
	}
	return err.Error()
}
