package route_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// kinds of columns a test may give to the sharding column k of all tables.
var (
	bigint      = value.Column{Name: "k", Type: "bigint(20)", Class: value.ClassInteger, Bits: 64}
	binaryText  = value.Column{Name: "k", Type: "varchar(20)", Class: value.ClassText, Collation: "binary", Length: 20}
	generalText = value.Column{Name: "k", Type: "varchar(20)", Class: value.ClassText, Collation: "utf8mb4_general_ci", Length: 20, PadSpace: true}
)

func rules(t *testing.T, textKey config.TextKey) *rule.Set {
	t.Helper()
	by := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "k", Algorithm: algorithm}, TextKey: textKey}
	}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: "t@tcp(h)/a"}, "ds1": {DSN: "t@tcp(h)/b"}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Algorithms: map[string]config.Algorithm{
				"hash": {Type: "HASH_MOD", Props: map[string]any{"shardingCount": 2}},
				"fix":  {Type: "INLINE", Props: map[string]any{"expression": "t_fix_${k % 4}", "allowRangeQuery": false}},
			},
			Tables: map[string]config.Table{
				"t_a":   {ActualDataNodes: "ds${0..1}.t_a", DatabaseStrategy: by("hash")},
				"t_b":   {ActualDataNodes: "ds${0..1}.t_b", DatabaseStrategy: by("hash")},
				"t_fix": {ActualDataNodes: "ds0.t_fix_${0..3}", TableStrategy: by("fix")},
			},
			BindingTables: [][]string{{"t_a", "t_b"}},
		},
	}
	set, err := rule.Compile(cfg, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func run(set *rule.Set, columns map[string]value.Column, sql string, args ...any) (*route.Result, error) {
	stmt, err := parse.Parse(sql, set, dialect.MySQL)
	if err != nil {
		return nil, err
	}
	program, err := route.Compile(stmt, set, value.Converter{})
	if err != nil {
		return nil, err
	}
	return program.Route(route.Input{Args: args, Meta: func(logical string) *value.Table {
		c, ok := columns[logical]
		if !ok {
			return nil
		}
		return value.NewTable([]value.Column{c})
	}})
}

func nodes(r *route.Result) string {
	var out []string
	for _, u := range r.Units {
		out = append(out, u.DataSource+"."+strings.Join(u.Names, "+"))
	}
	return strings.Join(out, " ")
}

// TestTextKeyIsRoutedOnlyWithOneSpelling: 'Bob' = 'bob' under the column's
// collation, but their hashes lead to different nodes (semantics row 35).
func TestTextKeyIsRoutedOnlyWithOneSpelling(t *testing.T) {
	for _, c := range []struct {
		name    string
		textKey config.TextKey
		column  value.Column
		refused bool
	}{
		{"binary collation", config.TextKeyRefuse, binaryText, false},
		{"case-insensitive collation", config.TextKeyRefuse, generalText, true},
		{"case-insensitive collation, vouched for", config.TextKeyExact, generalText, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := rules(t, c.textKey)
			columns := map[string]value.Column{"t_a": c.column}
			for _, sql := range []string{
				"SELECT * FROM t_a WHERE k = 'Bob'",
				"SELECT * FROM t_a WHERE k IN ('Bob', 'Eve')",
				"SELECT * FROM t_a WHERE (k, v) IN (('Bob', 1))",
				"INSERT INTO t_a (k) VALUES ('Bob')",
				"UPDATE t_a SET k = 'Bob' WHERE v = 1",
			} {
				_, err := run(set, columns, sql)
				if refused := errors.Is(err, fault.ErrUnsupported); refused != c.refused {
					t.Errorf("%s: %v, want refused %v", sql, err, c.refused)
				}
			}
			if _, err := run(set, columns, "SELECT * FROM t_a"); err != nil {
				t.Errorf("without a condition on the key: %v", err)
			}
		})
	}
}

// TestTextRangeNarrowsNothing: the order of texts is the collation's.
func TestTextRangeNarrowsNothing(t *testing.T) {
	r, err := run(rules(t, config.TextKeyRefuse), map[string]value.Column{"t_a": binaryText}, "SELECT * FROM t_a WHERE k BETWEEN 'b' AND 'a'")
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes(r); got != "ds0.t_a ds1.t_a" {
		t.Errorf("nodes %s, want both", got)
	}
}

// TestValueIsNotCarriedBetweenTypes: '05' = 5, but '05' and '5' may be on
// different nodes.
func TestValueIsNotCarriedBetweenTypes(t *testing.T) {
	set := rules(t, config.TextKeyRefuse)
	const sql = "SELECT * FROM t_a JOIN t_b ON t_a.k = t_b.k WHERE t_a.k = 5"
	if _, err := run(set, map[string]value.Column{"t_a": bigint, "t_b": binaryText}, sql); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("bigint and varchar: %v, want ErrUnsupported", err)
	}
	r, err := run(set, map[string]value.Column{"t_a": bigint, "t_b": bigint}, sql)
	if err != nil || len(r.Units) != 1 {
		t.Errorf("bigint and bigint: %v, %v, want one unit", r, err)
	}
}

// TestRangesCanBeForbidden by the algorithm, as ShardingSphere's INLINE does.
func TestRangesCanBeForbidden(t *testing.T) {
	set := rules(t, config.TextKeyRefuse)
	columns := map[string]value.Column{"t_fix": bigint}
	if _, err := run(set, columns, "SELECT * FROM t_fix WHERE k > 5"); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("k > 5: %v, want ErrUnsupported", err)
	}
	if r, err := run(set, columns, "SELECT * FROM t_fix WHERE k = 5"); err != nil || nodes(r) != "ds0.t_fix_1" {
		t.Errorf("k = 5: %v, %v", r, err)
	}
}

// TestValueWithoutTargetWidensReads and refuses inserts: a row of that value may
// have been written by hand.
func TestValueWithoutTargetWidensReads(t *testing.T) {
	set := rules(t, config.TextKeyRefuse)
	columns := map[string]value.Column{"t_fix": bigint}
	r, err := run(set, columns, "SELECT * FROM t_fix WHERE k = ?", int64(-3))
	if err != nil || len(r.Units) != 4 {
		t.Errorf("read of a value without target: %v, %v, want all 4 nodes", r, err)
	}
	_, err = run(set, columns, "INSERT INTO t_fix (k) VALUES (1), (?)", int64(-3))
	var fact *fault.RouteError
	if !errors.Is(err, fault.ErrNoDataNode) || !errors.As(err, &fact) || fact.Row != 2 || fact.Column != "k" || fact.Table != "t_fix" {
		t.Errorf("insert of a value without target: %v, want ErrNoDataNode for row 2, column k", err)
	}
	if strings.Contains(fmt.Sprint(err), "-3") {
		t.Errorf("the error shows the value: %v", err)
	}
}

// TestUnknownColumnTypesTakeIntegersAsTheyAre: without metadata a float could be
// several integers and goes everywhere.
func TestUnknownColumnTypesTakeIntegersAsTheyAre(t *testing.T) {
	set := rules(t, config.TextKeyRefuse)
	for arg, want := range map[any]int{int64(5): 1, uint8(5): 1, 5.0: 4, true: 1} {
		r, err := run(set, nil, "SELECT * FROM t_fix WHERE k = ?", arg)
		if err != nil || len(r.Units) != want {
			t.Errorf("%T: %v, %v, want %d units", arg, r, err, want)
		}
	}
}

// TestContradictionAsksOneNode and reports itself as unicast.
func TestContradictionAsksOneNode(t *testing.T) {
	set := rules(t, config.TextKeyRefuse)
	for _, sql := range []string{
		"SELECT * FROM t_fix WHERE k = 1 AND k = 2",
		"SELECT * FROM t_a JOIN t_b ON t_a.k = t_b.k WHERE t_a.k = 1 AND t_b.k = 2",
		"UPDATE t_fix SET v = 1 WHERE k IN (NULL)",
	} {
		r, err := run(set, map[string]value.Column{"t_fix": bigint, "t_a": bigint, "t_b": bigint}, sql)
		if err != nil || len(r.Units) != 1 || r.Kind != plan.KindUnicast {
			t.Errorf("%s: %+v, %v, want one unit of kind unicast", sql, r, err)
		}
	}
}
