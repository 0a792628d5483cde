//go:build unix

package oracle_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/rowtext"
)

// answer is what a query gave.
type answer struct {
	columns []string
	rows    [][]any
	err     error
}

// clone copies an answer, which comparing changes.
func (a answer) clone() answer {
	rows := make([][]any, len(a.rows))
	for i := range rows {
		rows[i] = slices.Clone(a.rows[i])
	}
	a.rows = rows
	return a
}

func read(rows *sql.Rows, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	var a answer
	a.columns, a.rows, a.err = rowtext.Read(rows)
	return a
}

// digitsOfFloats are those in which floats have to be alike: 1e-12 of their value.
const digitsOfFloats = 13

// round cuts floats, multiplied by a factor, to the digits that are compared: a sum of
// floats depends on the order in which the server reads the rows.
func (a answer) round(factor float64) answer {
	a = a.clone()
	for _, r := range a.rows {
		for i, v := range r {
			if x, ok := v.(float64); ok {
				r[i], _ = strconv.ParseFloat(strconv.FormatFloat(x*factor, 'g', digitsOfFloats, 64), 64)
			}
		}
	}
	return a
}

// fold replaces texts by a form that is the same for all texts that some
// collation of the schema takes for equal: of a group any may be shown.
func fold(rows [][]any) {
	for _, r := range rows {
		for i, v := range r {
			if text, ok := v.([]byte); ok {
				s := folder.Replace(strings.ToLower(string(text)))
				if s == "-0" {
					s = "0"
				}
				r[i] = []byte(s)
			}
		}
	}
}

var folder = strings.NewReplacer("á", "a", "ä", "a", "ae", "a", "ß", "s", "ss", "s", "ñ", "n", "ë", "e", "é", "e", "🎉", "😀", " ", "", "\t", "", "\x01", "", "\x00", "")

// refused reports whether an error is the plugin's own, before anything was sent.
func refused(err error) (reason string, ok bool) {
	var unsupported *sharding.UnsupportedError
	if errors.As(err, &unsupported) {
		clause := unsupported.Clause
		for _, cut := range []string{" `", "(", "'", "?"} {
			clause, _, _ = strings.Cut(clause, cut)
		}
		words := strings.Fields(clause)
		return strings.Join(words[:min(len(words), 4)], " ") + ": " + unsupported.Reason, true
	}
	var route *sharding.RouteError
	if errors.As(err, &route) {
		return route.Class.Error() + ": " + route.Reason, true
	}
	return "", false
}

// differ says how an answer differs from that of the unsharded database, "" when
// it does not. The last column of everything, the answer without LIMIT, is the
// place of a row in the order; rows of one place may come in any order.
func (q *query) differ(want, got, everything answer) string {
	difference := q.differWithin(want.round(1), got.round(1), everything.round(1))
	if difference == "" {
		return ""
	}
	// Two floats that are almost one may be on two sides of where digits are cut:
	// then they are one when cut elsewhere.
	const elsewhere = 1 / math.Pi
	if q.differWithin(want.round(elsewhere), got.round(elsewhere), everything.round(elsewhere)) == "" {
		return ""
	}
	return difference
}

// differWithin compares answers that it may change.
func (q *query) differWithin(want, got, everything answer) string {
	q.unsure = false
	switch {
	case got.err != nil && strings.HasPrefix(got.err.Error(), "panic"):
		return got.err.Error()
	case want.err != nil && got.err != nil:
		return otherError(want.err, got.err)
	case want.err != nil:
		return fmt.Sprintf("an answer where the unsharded database fails: %v", want.err)
	case got.err != nil:
		return fmt.Sprintf("an error: %v", got.err)
	case !slices.Equal(q.described(want), q.described(got)):
		return fmt.Sprintf("columns\n  single  %s\n  sharded %s", strings.Join(want.columns, "\n          "), strings.Join(got.columns, "\n          "))
	case len(want.rows) != len(got.rows):
		return fmt.Sprintf("%d rows instead of %d\n%s", len(got.rows), len(want.rows), sideBySide(want, got))
	}
	if q.folded {
		fold(want.rows)
		fold(got.rows)
	}
	q.width = len(want.columns)
	w, g := rowtext.Shown(want.rows), rowtext.Shown(got.rows)
	if everything.err != nil || everything.columns == nil {
		if q.limited {
			return "" // which rows is open
		}
		slices.Sort(w)
		slices.Sort(g)
		return rowtext.Differ(w, g)
	}
	if q.differInOrder(w, everything) != "" {
		// The server's window and its ORDER BY do not agree, as over BIT.
		q.unsure = true
		if q.limited {
			return ""
		}
		slices.Sort(w)
		slices.Sort(g)
		return rowtext.Differ(w, g)
	}
	return q.differInOrder(g, everything)
}

// otherError says how an error differs from that of the unsharded database. What the
// plugin refuses is none of them.
func otherError(want, got error) string {
	var w, g *mysql.MySQLError
	switch {
	case !errors.As(want, &w): // of the driver, before the server was asked
		return ""
	case !errors.As(got, &g):
		return fmt.Sprintf("an error of no server instead of %d:\n  single  %v\n  sharded %v", w.Number, want, got)
	case w.Number != g.Number && !(mixes(w) && mixes(g)):
		return fmt.Sprintf("an error %d instead of %d:\n  single  %v\n  sharded %v", g.Number, w.Number, want, got)
	}
	return ""
}

// mixes reports whether an error is that of an illegal mix of collations, whose
// number is by how many operands there are: a node is sent a part of an IN list.
func mixes(err *mysql.MySQLError) bool {
	return slices.Contains([]uint16{1267, 1270, 1271}, err.Number)
}

var nullability = regexp.MustCompile(" (scan|null)=[^ ]+")

// described returns what the columns are. Whether a column of an outer join may
// be NULL depends on the plan, which depends on the rows.
func (q *query) described(a answer) []string {
	if !q.outer {
		return a.columns
	}
	out := slices.Clone(a.columns)
	for i := range out {
		out[i] = nullability.ReplaceAllString(out[i], "")
	}
	return out
}

func sideBySide(want, got answer) string {
	w, g := rowtext.Shown(want.rows), rowtext.Shown(got.rows)
	slices.Sort(w)
	slices.Sort(g)
	return rowtext.Differ(w, g)
}

// differInOrder checks that rows can be what the server answers.
func (q *query) differInOrder(rows []string, everything answer) string {
	all := everything.rows
	rank := func(r []any) int {
		n, _ := strconv.Atoi(fmt.Sprint(plain(r[len(r)-1])))
		return n
	}
	slices.SortStableFunc(all, func(a, b []any) int { return rank(a) - rank(b) })
	if q.folded {
		for _, r := range all {
			fold([][]any{r[:len(r)-1]})
		}
	}
	left := map[string]int{}
	places := make([]string, len(all))
	for i, r := range all {
		places[i] = strconv.Itoa(rank(r)) + ": "
		left[places[i]+rowtext.Show(r[:q.width])]++
	}
	for i, r := range rows {
		if q.offset+i >= len(places) {
			return fmt.Sprintf("row %d is one too many: %s", i, r)
		}
		placed := places[q.offset+i] + r
		if left[placed]--; left[placed] < 0 {
			var can []string
			for _, a := range all {
				if strconv.Itoa(rank(a))+": " == places[q.offset+i] && len(can) < 4 {
					can = append(can, rowtext.Show(a[:q.width]))
				}
			}
			return fmt.Sprintf("row %d at place %s\n  sharded  %s\n  possible %s", i, places[q.offset+i], r, strings.Join(can, "\n           "))
		}
	}
	return ""
}

func plain(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}
