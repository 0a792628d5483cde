package algorithmtest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/algorithm/algorithmtest"
)

// build makes an algorithm of the registry, a composite one of parts.
func build(t *testing.T, typeName string, props algorithm.Props, parts ...algorithm.Algorithm) algorithm.Algorithm {
	t.Helper()
	a, err := algorithm.NewRegistry().New(typeName, props)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := a.(algorithm.Composite); ok {
		if err := c.Compose(parts); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func pair(a, b func(i int) algorithm.Value) func(i int) []algorithm.Value {
	return func(i int) []algorithm.Value { return []algorithm.Value{a(i), b(i * 7 % 500)} }
}

// geneRow gives every row an id that carries the slot of its owner, but for some.
func geneRow(t *testing.T, a algorithm.Algorithm) func(i int) []algorithm.Value {
	_, _, slots := a.(algorithm.GeneSource).IDs()
	return func(i int) []algorithm.Value {
		owner := integers(i * 3 % 500)
		slot, err := slots.Of(owner)
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			return []algorithm.Value{algorithm.Int(int64(i)), owner} // of slot 0, or from before geneFrom
		}
		return []algorithm.Value{algorithm.Int(int64(i+1)<<22 | int64(slot)<<12 | int64(i)), owner}
	}
}

func TestBuiltInComplexAlgorithmsConform(t *testing.T) {
	type props = algorithm.Props
	mod := func(n int) algorithm.Algorithm { return build(t, "MOD", props{"shardingCount": n}) }
	gene := build(t, "GENE", props{"idColumn": "id", "ownerColumn": "user_id"})
	legacy := build(t, "GENE", props{"idColumn": "id", "ownerColumn": "user_id", "geneFrom": 1 << 22, "slots": 1000})
	byTime := props{"column": "made_at", "threshold": "2024-01-01 04:00:00", "below": "old", "above": "new"}
	inline := build(t, "COMPLEX_INLINE", props{"expression": "t_${floorMod(id * 3 + user_id, 8)}"})
	tests := []struct {
		name             string
		a                algorithm.Algorithm
		columns, targets []string
		rows             func(i int) []algorithm.Value
	}{
		{"inline", inline, []string{"id", "user_id"}, names("t_", 8), pair(integers, integers)},
		{"inline without ranges", build(t, "COMPLEX_INLINE", props{"expression": "t_${floorMod(id, 8)}", "allowRangeQuery": false, "columns": "user_id, ID"}), []string{"id", "user_id"}, names("t_", 8), pair(integers, times)},
		{"inline texts", build(t, "COMPLEX_INLINE", props{"expression": "t_${Math.abs(id.hashCode() % 4)}${user_id % 2}"}), []string{"id", "user_id"}, []string{"t_00", "t_01", "t_10", "t_11", "t_20", "t_21", "t_30", "t_31"}, pair(texts, positive)},
		{"gene", gene, []string{"id", "user_id"}, names("t_", 7), geneRow(t, gene)},
		{"gene and legacy", legacy, []string{"id", "user_id"}, names("t_", 4), geneRow(t, legacy)},
		{"threshold of time", build(t, "THRESHOLD", byTime, mod(4), mod(8)), []string{"made_at", "id"}, names("t_", 8), pair(times, integers)},
		{"threshold over several columns", build(t, "THRESHOLD", byTime, build(t, "COMPLEX_INLINE", props{"expression": "t_${floorMod(id + user_id, 4)}"}), inline), []string{"made_at", "id", "user_id"}, names("t_", 8), func(i int) []algorithm.Value {
			return []algorithm.Value{times(i), integers(i), integers(i * 3 % 500)}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			algorithmtest.RunComplex(t, tt.a.(algorithm.Complex), tt.columns, tt.targets, tt.rows)
		})
	}
}

func TestThresholdOnTheShardingColumnConforms(t *testing.T) {
	type props = algorithm.Props
	volumes := build(t, "VOLUME_RANGE", props{"rangeLower": -100, "rangeUpper": 100, "shardingVolume": 100})
	tests := []struct {
		name    string
		a       algorithm.Algorithm
		targets []string
		values  func(int) algorithm.Value
	}{
		{"integers", build(t, "THRESHOLD", props{"threshold": 7, "below": "old", "above": "new"}, build(t, "MOD", props{"shardingCount": 3}), build(t, "INLINE", props{"expression": "t_${floorMod(id, 8)}"})), names("t_", 8), integers},
		{"ordered below", build(t, "THRESHOLD", props{"threshold": 7, "below": "old", "above": "new", "column": "ID"}, volumes, build(t, "MOD", props{"shardingCount": 8})), names("t_", 8), integers},
		{"named targets", build(t, "THRESHOLD", props{"threshold": "2024-01-01", "below": "old", "above": "new", "belowTargets": "t_${0..1}", "aboveTargets": "t_${2..3}"}, build(t, "CONSISTENT_HASH", props{}), build(t, "SLOT_RANGE", props{"hash": "xxhash64"})), names("t_", 4), times},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			algorithmtest.Run(t, tt.a.(algorithm.Standard), tt.targets, tt.values)
		})
	}
}

func TestBuiltInHintAlgorithmsConform(t *testing.T) {
	inline := build(t, "HINT_INLINE", algorithm.Props{"expression": "t_${value % 4}"})
	algorithmtest.RunHint(t, inline.(algorithm.Hint), names("t_", 4), positive)
	itself := build(t, "HINT_INLINE", nil)
	algorithmtest.RunHint(t, itself.(algorithm.Hint), names("t_", 4), func(i int) algorithm.Value { return algorithm.Text(fmt.Sprint("t_", i%6)) })
	mod, ok := algorithm.HintOf(build(t, "MOD", algorithm.Props{"shardingCount": 4}))
	if !ok {
		t.Fatal("MOD is not for hint strategies")
	}
	algorithmtest.RunHint(t, mod, names("t_", 4), texts)
}

// tenant is an algorithm of an application: rows of a large tenant have a table of
// their own, those of the others share the rest by order.
type tenant struct{ large int64 }

func (a tenant) BindColumns(columns, targets []string) (algorithm.ComplexSharder, error) {
	if len(columns) != 2 || len(targets) < 2 {
		return nil, errors.New("needs the tenant, the order and two targets")
	}
	return tenantSharder{a, len(targets)}, nil
}

type tenantSharder struct {
	tenant
	targets int
}

func (s tenantSharder) Shard(values []algorithm.Value) (int, error) {
	order, ok := values[1].Uint64()
	switch id, isInt := values[0].Int64(); {
	case isInt && id == s.large:
		return 0, nil
	case !ok:
		return 0, errors.New("the order is no positive integer")
	}
	return 1 + int(order%uint64(s.targets-1)), nil
}

func (s tenantSharder) Narrow(known []algorithm.Known) ([]int, bool, error) {
	if id, ok := known[0].Value.Int64(); ok && id == s.large {
		return []int{0}, true, nil
	}
	return nil, false, nil
}

func TestAnApplicationsOwnComplexAlgorithmConforms(t *testing.T) {
	algorithmtest.RunComplex(t, tenant{large: 3}, []string{"tenant_id", "order_id"}, names("t_", 5), func(i int) []algorithm.Value {
		return []algorithm.Value{algorithm.Int(int64(i % 9)), positive(i)}
	})
}
