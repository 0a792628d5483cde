package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// A NULL on another node would make NOT IN neither true nor false: semantics row 54.
func TestNotInIsAnsweredByNodesOnlyWithoutNulls(t *testing.T) {
	nullable := bigint
	nullable.Nullable = true
	const (
		notIn  = "SELECT k FROM t_a WHERE k NOT IN (SELECT k FROM t_b)"
		listed = "SELECT k, k IN (SELECT k FROM t_b) FROM t_a"
		isIn   = "SELECT k FROM t_a WHERE k IN (SELECT k FROM t_b) OR k = 3"
		paired = "SELECT k FROM t_a WHERE k NOT IN (SELECT b.k FROM t_b b WHERE b.k = t_a.k)"
		one    = "SELECT k FROM t_a WHERE k = 3 AND k NOT IN (SELECT k FROM t_b)"
	)
	for _, c := range []struct {
		sql     string
		a, b    *value.Column
		answers bool
	}{
		{notIn, &bigint, &bigint, true},
		{notIn, &nullable, &bigint, false},
		{notIn, &bigint, &nullable, false},
		{notIn, nil, nil, false},
		{listed, &bigint, &bigint, true},
		{listed, &bigint, &nullable, false},
		{isIn, &nullable, &nullable, true},
		{isIn, nil, nil, true},
		{paired, &nullable, &nullable, true},
		{one, &bigint, &bigint, true},
		{one, &bigint, &nullable, false},
	} {
		columns := map[string]value.Column{}
		if c.a != nil {
			columns["t_a"], columns["t_b"] = *c.a, *c.b
		}
		result, err := run(rules(t, ""), columns, c.sql)
		switch {
		case c.answers && err != nil:
			t.Errorf("%s: %v", c.sql, err)
		case !c.answers && !errors.Is(err, fault.ErrUnsupported):
			t.Errorf("%s: %v, error %v; want a refusal", c.sql, result, err)
		}
	}
}

// counted counts how often it is asked.
type counted struct{ asked int }

func (c *counted) Bind([]string) (algorithm.Sharder, error) { return c, nil }

func (c *counted) Shard(v algorithm.Value) (int, error) {
	c.asked++
	n, _ := v.Int64()
	return int(n % 2), nil
}

func TestEqualConditionsAreComputedOnce(t *testing.T) {
	c := &counted{}
	algorithms := algorithm.NewRegistry()
	if err := algorithms.Register("COUNTED", func(algorithm.Props) (algorithm.Algorithm, error) { return c, nil }); err != nil {
		t.Fatal(err)
	}
	set, err := rule.Compile(&config.Config{
		DataSources: map[string]config.DataSource{"ds0": {DSN: "t@tcp(h)/a"}}, DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Algorithms: map[string]config.Algorithm{"counted": {Type: "COUNTED"}},
			Tables: map[string]config.Table{"t_c": {
				ActualDataNodes: "ds0.t_c_${0..1}",
				TableStrategy:   &config.Strategy{Standard: &config.Standard{Column: "k", Algorithm: "counted"}},
			}},
		},
	}, algorithms, keygen.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int{
		"SELECT 1 FROM t_c WHERE k = 3 AND (s = 1 OR s = 2 OR s = 3)":                          1,
		"SELECT 1 FROM t_c WHERE k = 3 AND s = 1 OR k = 3 AND s = 2 OR k = 3 AND s = 3":        1,
		"SELECT 1 FROM t_c WHERE k = ? AND s = 1 OR k = ? AND s = 2":                           2, // may differ
		"SELECT 1 FROM t_c WHERE k = 3 OR k = 5 OR k = 3":                                      2,
		"SELECT 1 FROM t_c WHERE (k, s) = (3, 1) OR (k, s) = (3, 2) OR (k, s) <=> (3, 3)":      1,
		"SELECT 1 FROM (SELECT * FROM t_c) x WHERE x.k = 3 AND x.s = 1 OR x.k = 3 AND x.s = 2": 1,
	} {
		stmt, err := parse.Parse(sql, set, dialect.MySQL)
		if err != nil {
			t.Fatal(err)
		}
		program, err := route.Compile(stmt, set, value.Converter{})
		if err != nil {
			t.Fatal(err)
		}
		c.asked = 0
		args := []any{3, 3}[:strings.Count(sql, "?")]
		if _, err := program.Route(route.Input{Args: args}); err != nil || c.asked != want {
			t.Errorf("%s: asked %d times, error %v; want %d times", sql, c.asked, err, want)
		}
	}
}
