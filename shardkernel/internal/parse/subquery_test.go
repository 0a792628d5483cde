package parse

import (
	"slices"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

func TestSubqueriesOfWhereAndHavingAreFound(t *testing.T) {
	const text = "SELECT (SELECT 1), a FROM t_order WHERE x IN (SELECT y FROM t_order WHERE z IN (SELECT 2)) AND NOT EXISTS(SELECT 3) " +
		"AND b > ALL (SELECT 4) AND (c = (SELECT 5)) GROUP BY a HAVING COUNT(*) > (SELECT 6) ORDER BY (SELECT 7)"
	s, err := Parse(text, tables{"t_order": true}, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range s.Subqueries {
		line := text[q.Start:q.End] + " of " + text[q.Inner.Start:q.Inner.End] + " as " + [...]string{"value", "list", "exists"}[q.Use]
		if q.Grouped {
			line += " grouped"
		}
		got = append(got, line)
	}
	want := []string{
		"(SELECT y FROM t_order WHERE z IN (SELECT 2)) of SELECT y FROM t_order WHERE z IN (SELECT 2) as list",
		"EXISTS(SELECT 3) of SELECT 3 as exists",
		"(SELECT 5) of SELECT 5 as value",
		"(SELECT 6) of SELECT 6 as value grouped",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestUnionsAreCutIntoBranches(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1 FROM t_order UNION SELECT 2":                                {"SELECT 1 FROM t_order", "SELECT 2 distinct"},
		"(SELECT 1 FROM t_order LIMIT 1) UNION ALL ((SELECT 2)) ORDER BY 1":   {"SELECT 1 FROM t_order LIMIT 1", "SELECT 2"},
		"SELECT 1 FROM t_order UNION DISTINCT SELECT `union` FROM u LIMIT 3":  {"SELECT 1 FROM t_order", "SELECT `union` FROM u distinct"},
		"SELECT 1 FROM t_order USE INDEX FOR ORDER BY (i) UNION ALL SELECT 2": {"SELECT 1 FROM t_order USE INDEX FOR ORDER BY (i)", "SELECT 2"},
		"(SELECT 1 FROM t_order) ORDER BY 1":                                  {"SELECT 1 FROM t_order"},
		"SELECT 1 FROM t_order EXCEPT SELECT 2":                               nil,
		"(SELECT 1 FROM t_order UNION SELECT 2) UNION SELECT 3":               nil,
		"WITH c AS (SELECT 1) SELECT 1 FROM t_order UNION SELECT 2":           nil,
		"SELECT 1 FROM t_order UNION VALUES ROW(1)":                           nil,
	} {
		s, err := Parse(text, tables{"t_order": true}, dialect.MySQL)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		if s.Union != nil {
			for _, b := range s.Union.Branches {
				line := text[b.Start:b.End]
				if b.Distinct {
					line += " distinct"
				}
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
}

func TestMarkersAreReplacedByNumber(t *testing.T) {
	got := ReplaceMarkers("a = ? AND b = '?' /* ? */ AND c IN (?) AND d = ?", dialect.MySQL, func(n int) (string, bool) {
		return []string{"x", "SELECT ?", ""}[n], n < 2
	})
	if want := "a = x AND b = '?' /* ? */ AND c IN (SELECT ?) AND d = ?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
