package rewrite_test

import (
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// describeByName answers for a server: it knows the types of expressions by the
// functions in them.
func describeByName(_, query string, _ []any) (column *value.Column, reason string) {
	_, rest, _ := strings.Cut(query, "COLLATION(")
	expression, _, _ := strings.Cut(rest, "), COERCIBILITY(")
	switch upper := strings.ToUpper(expression); {
	case strings.Contains(upper, "NOTHING"):
		return nil, "Column 'nothing' in 'field list' is ambiguous"
	case strings.Contains(upper, "REMARK"):
		return &value.Column{Type: "varchar", Class: value.ClassText, Collation: "utf8mb4_uca1400_as_cs", WeightRefused: "collation utf8mb4_uca1400_as_cs compares in several passes"}, ""
	case strings.Contains(upper, "COLLATE LATIN1_BIN"):
		return &value.Column{Type: "varchar", Class: value.ClassText, Collation: "latin1_bin", PadSpace: true, SpaceWeight: []byte{' '}, SortRefused: "it sorts otherwise than it compares"}, ""
	case strings.Contains(upper, "CHANGED_AT"):
		return &value.Column{Type: "timestamp", Class: value.ClassTimestamp}, ""
	case strings.Contains(upper, "RATE"):
		return &value.Column{Type: "float", Class: value.ClassFloat}, ""
	case strings.Contains(upper, "LENGTH("), strings.Contains(upper, "*"):
		return &value.Column{Type: "bigint", Class: value.ClassInteger, Bits: 64}, ""
	}
	return &value.Column{
		Type: "varchar", Class: value.ClassText, Collation: "utf8mb4_general_ci", PadSpace: true, SpaceWeight: []byte{0, ' '}, WeightLimit: 510,
	}, ""
}

// A server is asked once for an expression, until the columns of its tables are
// read anew or an argument has another type.
func TestExpressionsAreDescribedOnce(t *testing.T) {
	p := orderService(t)
	var queries []string
	var arguments [][]any
	p.describe = func(source, query string, args []any) (*value.Column, string) {
		queries, arguments = append(queries, source+" "+query), append(arguments, args)
		return describeByName(source, query, args)
	}
	c, err := p.compile("SELECT o.id FROM t_ent_order o JOIN t_region r ON r.id = o.region_id AND r.id > ? ORDER BY CONCAT(o.order_no, ?, r.name)")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(asked int, args ...any) {
		t.Helper()
		if _, err := c.run(args); err != nil {
			t.Fatal(err)
		}
		if len(queries) != asked {
			t.Errorf("asked %d times, want %d", len(queries), asked)
		}
	}
	ask(1, int64(1), "a")
	ask(1, int64(2), "b")
	ask(2, int64(2), "ä")
	ask(3, int64(2), int64(3))
	ask(3, int64(2), "c")
	const want = "ds0 SELECT COLLATION(CONCAT(o.order_no, ?, r.name)), COERCIBILITY(CONCAT(o.order_no, ?, r.name)), CONCAT(o.order_no, ?, r.name)" +
		" FROM (SELECT 1) AS DESCRIBED_0 LEFT JOIN (t_ent_order o JOIN t_region r ON r.id = o.region_id AND r.id > ?) ON FALSE"
	if queries[0] != want {
		t.Errorf("asked\n%s\nwant\n%s", queries[0], want)
	}
	if a := arguments[0]; len(a) != 4 || a[0] != "a" || a[1] != "a" || a[2] != "a" || a[3] != int64(1) {
		t.Errorf("arguments %v", a)
	}
	meta := p.meta
	renewed := map[string]*value.Table{}
	p.meta = func(name string) *value.Table {
		if renewed[name] == nil {
			columns := *meta(name)
			renewed[name] = &columns
		}
		return renewed[name]
	}
	ask(4, int64(1), "a")
	ask(4, int64(1), "a")
}
