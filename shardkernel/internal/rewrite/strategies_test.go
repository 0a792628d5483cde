package rewrite_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// strategies has a table for every kind of strategy, over two databases.
const strategies = `
dataSources: {ds0: {dsn: "test@tcp(localhost)/ds0"}, ds1: {dsn: "test@tcp(localhost)/ds1"}}
defaultDataSource: ds0
props: {maxRangeValues: 20}
sharding:
  tables:
    t_visit:
      actualDataNodes: ds${0..1}.t_visit_${0..3}
      databaseStrategy: {standard: {column: tenant_id, algorithm: by_tenant}}
      tableStrategy: {complex: {columns: [tenant_id, day], algorithm: by_day}}
    t_strict:
      actualDataNodes: ds0.t_strict_${0..3}
      tableStrategy: {complex: {columns: "tenant_id, day", algorithm: strict}}
    t_doc:
      actualDataNodes: ds${0..1}.t_doc_${0..2}
      databaseStrategy: {hint: {algorithm: hint_ds}}
      tableStrategy: {hint: {algorithm: hint_doc}}
    t_note:
      actualDataNodes: ds${0..1}.t_note_${0..1}
      databaseStrategy: {hint: {algorithm: hint_ds}}
      tableStrategy: {standard: {column: id, algorithm: two}}
    t_bill:
      actualDataNodes: ds0.t_bill_${0..1}, ds1.t_bill_${2..3}
      tableStrategy: {complex: {columns: [id, user_id], algorithm: bill}}
      keyGenerate: {column: id, generator: gene}
    t_line:
      actualDataNodes: ds0.t_line_${0..1}, ds1.t_line_${2..3}
      tableStrategy: {complex: {columns: [bill_id, user_id], algorithm: line}}
    t_old:
      actualDataNodes: ds0.t_old_${0..1}
      tableStrategy: {complex: {columns: [id, user_id], algorithm: legacy}}
    t_event:
      actualDataNodes: ds0.t_event_${0..3}
      tableStrategy: {complex: {columns: [made_at, id], algorithm: grown}}
    t_grown:
      actualDataNodes: ds0.t_grown_${0..3}
      tableStrategy: {standard: {column: id, algorithm: grown_id}}
    t_both:
      actualDataNodes: ds${0..1}.t_both_${0..3}
      databaseStrategy: {standard: {column: id, algorithm: both_ds}}
      tableStrategy: {standard: {column: id, algorithm: both_table}}
    t_month:
      actualDataNodes: ds0.t_month_${dates('202311', '202402', 'yyyyMM')}
      tableStrategy: {standard: {column: made_at, algorithm: months}}
    t_name:
      actualDataNodes: ds0.t_name_${0..1}
      tableStrategy: {standard: {column: name, algorithm: hash2}, textKey: binary}
    t_label:
      actualDataNodes: ds0.t_label_${0..1}
      tableStrategy: {standard: {column: name, algorithm: hash2}, textKey: weight}
    t_plain:
      actualDataNodes: ds0.t_plain_${0..1}
      tableStrategy: {standard: {column: name, algorithm: hash2}}
  autoTables:
    t_auto: {dataSources: "ds${0..1}", strategy: {standard: {column: id, algorithm: three}}}
    t_auto_item: {dataSources: "ds0, ds1", strategy: {standard: {column: auto_id, algorithm: three}}}
  bindingTables: [[t_bill, t_line], [t_auto, t_auto_item]]
  keyGenerators: {gene: {type: GENES}}
  algorithms:
    by_tenant: {type: MOD, props: {shardingCount: 2}}
    by_day: {type: COMPLEX_INLINE, props: {columns: "day,tenant_id", expression: "t_visit_${(tenant_id.intdiv(2) + day) % 4}"}}
    strict: {type: COMPLEX_INLINE, props: {expression: "t_strict_${(tenant_id + day) % 4}", allowRangeQuery: false}}
    hint_ds: {type: HINT_INLINE, props: {expression: "ds${value % 2}"}}
    hint_doc: {type: HINT_INLINE, props: {expression: "t_doc_${value}"}}
    two: {type: MOD, props: {shardingCount: 2}}
    three: {type: MOD, props: {shardingCount: 3}}
    four: {type: MOD, props: {shardingCount: 4}}
    bill: {type: GENE, props: {idColumn: id, ownerColumn: user_id}}
    line: {type: GENE, props: {idColumn: bill_id, ownerColumn: user_id}}
    legacy: {type: GENE, props: {idColumn: id, ownerColumn: user_id, geneFrom: 1000000}}
    grown: {type: THRESHOLD, props: {column: made_at, threshold: "2024-01-01", below: two, above: four}}
    grown_id: {type: THRESHOLD, props: {threshold: 100, below: two, above: four}}
    both_ds: {type: INLINE, props: {expression: "ds${id % 2}"}}
    both_table: {type: INLINE, props: {expression: "t_both_${id % 4}"}}
    months: {type: INTERVAL, props: {datetimeLower: "2023-11-01 00:00:00", datetimeUpper: "2024-02-29 00:00:00", suffixPattern: yyyyMM, unit: MONTHS}}
    hash2: {type: HASH_MOD, props: {shardingCount: 2}}
`

func strategyService(t testing.TB) *pipeline {
	t.Helper()
	cfg, err := config.Parse([]byte(strategies), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{
		"t_visit": "id bigint,tenant_id bigint,day int,note varchar(20) binary", "t_strict": "id bigint,tenant_id bigint,day int",
		"t_doc": "id bigint,body varchar(20) binary", "t_note": "id bigint,body varchar(20) binary",
		"t_bill": "id bigint,user_id bigint,total int", "t_line": "id bigint,bill_id bigint,user_id bigint,price int", "t_old": "id bigint,user_id bigint",
		"t_event": "id bigint,made_at datetime,what int", "t_grown": "id bigint,what int", "t_both": "id bigint,what int", "t_month": "id bigint,made_at datetime",
		"t_name": "id bigint,name varchar(64) general", "t_label": "id bigint,name varchar(64) general", "t_plain": "id bigint,name varchar(64) general",
		"t_auto": "id bigint,what int", "t_auto_item": "id bigint,auto_id bigint,what int",
	}
	tables := map[string]*value.Table{}
	for name, list := range types {
		var columns []value.Column
		for _, def := range strings.Split(list, ",") {
			column, typ, _ := strings.Cut(def, " ")
			columns = append(columns, columnOf(t, column, typ))
		}
		tables[name] = value.NewTable(columns)
	}
	generators, keys := keygen.NewRegistry(), new(counter)
	if err := generators.Register("GENES", func(keygen.Props) (keygen.Generator, error) {
		r := algorithm.ReadProps(nil)
		return geneCounter{keys, algorithm.ReadSlots(r, 1<<algorithm.GeneBits)}, r.Err()
	}); err != nil {
		t.Fatal(err)
	}
	set, err := rule.Compile(cfg, algorithm.NewRegistry(), generators)
	if err != nil {
		t.Fatalf("rules: %v", err)
	}
	return &pipeline{
		set: set, dialect: dialect.MySQL, keys: keys,
		meta: func(name string) *value.Table { return tables[name] },
		// As if the collation told neither case nor trailing spaces.
		weigh: func(_ *value.Column, text string) (string, error) {
			return hex.EncodeToString([]byte(strings.TrimRight(strings.ToLower(text), " "))), nil
		},
	}
}

// geneCounter makes keys with the slot of user_id, counted in the time bits.
type geneCounter struct {
	*counter
	slots *algorithm.Slots
}

func (geneCounter) OwnerColumn() string { return "user_id" }

func (g geneCounter) Slots() *algorithm.Slots { return g.slots }

func (g geneCounter) NextFor(_ context.Context, owner algorithm.Value) (any, error) {
	slot, err := g.slots.Of(owner)
	g.last++
	return g.last<<22 | int64(slot)<<algorithm.GeneShift, err
}

// TestRowsAreFoundByEveryConditionThatHoldsThem inserts rows and looks for each
// under conditions of every form that it satisfies: its node is always among
// those asked.
func TestRowsAreFoundByEveryConditionThatHoldsThem(t *testing.T) {
	p := strategyService(t)
	tables := []struct {
		name    string
		columns []string
		values  [][]any // of each column
		any     string  // of a condition that may be anything
	}{
		{"t_visit", []string{"tenant_id", "day"}, [][]any{{int64(0), int64(1), int64(6), "7", int64(1 << 40)}, {int64(1), int64(2), int64(31), "5"}}, "note = 'x'"},
		{"t_bill", []string{"id", "user_id"}, [][]any{{int64(0)}, {int64(-3), int64(0), int64(1), int64(77), int64(1 << 40)}}, "total = 1"},
		{"t_event", []string{"made_at", "id"}, [][]any{{"2023-12-31 23:59:59", "2024-01-01 00:00:00", "2025-05-05 00:00:00"}, {int64(0), int64(3), int64(-7), int64(6)}}, "what = 1"},
		{"t_grown", []string{"id", "what"}, [][]any{{int64(-5), int64(99), int64(100), int64(103)}, {int64(1)}}, "what = 2"},
		{"t_both", []string{"id", "what"}, [][]any{{int64(0), int64(5), int64(6), int64(19)}, {int64(1)}}, "what = 2"},
		{"t_auto", []string{"id", "what"}, [][]any{{int64(-1), int64(0), int64(5)}, {int64(1)}}, "what = 2"},
		{"t_month", []string{"made_at", "id"}, [][]any{{"2023-11-01 00:00:00", "2023-12-31 23:59:59", "2024-02-01 00:00:00"}, {int64(1)}}, "id = 2"},
		{"t_label", []string{"name", "id"}, [][]any{{"Bob", "bob ", "alice"}, {int64(1)}}, "id = 2"},
	}
	for _, table := range tables {
		a, b := table.columns[0], table.columns[1]
		for _, va := range table.values[0] {
			for _, vb := range table.values[1] {
				home := unitOf(t, p, fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES (?, ?)", table.name, a, b), va, vb)
				id := va
				if table.name == "t_bill" {
					id = home.id
				}
				// Each has two markers, for the values of the row.
				for _, where := range []string{
					"%[1]s = ? AND %[2]s = ?",
					"%[1]s IN (?, 5) AND %[2]s = ?",
					"%[1]s IN (?, 4, 3) AND %[2]s IN (7, ?)",
					"%[1]s <= ? AND %[2]s = ?",
					"%[1]s >= ? AND %[2]s >= ?",
					"%[1]s BETWEEN ? AND 9223372036854775807 AND %[2]s = ?",
					"(%[1]s = ? OR %[1]s = 11) AND %[2]s = ?",
					"(%[1]s, %[2]s) IN ((?, ?), (5, 6))",
					"(%[1]s, 1) IN ((?, 1), (8, 1)) AND %[2]s IN (?, 2)",
					"%[1]s = ? AND (%[2]s = ? OR %[3]s)",
					"%[1]s = ? OR %[2]s = ?",
					"%[2]s IN (9, 8) OR %[1]s = ? AND %[2]s <= ?",
					"%[1]s > ? OR %[2]s = ?",
					"NOT (%[1]s <> ? OR %[2]s <> ?)",
				} {
					sql := "SELECT * FROM " + table.name + " WHERE " + fmt.Sprintf(where, a, b, table.any)
					e, err := p.run(sql, []any{id, vb})
					if err != nil {
						t.Errorf("%s with %v: %v", sql, []any{id, vb}, err)
						continue
					}
					if !slices.ContainsFunc(e.Units, func(u plan.Unit) bool { return u.DataSource == home.source && strings.Contains(u.SQL, home.table) }) {
						t.Errorf("%s with %v does not ask %s.%s, which has the row", sql, []any{id, vb}, home.source, home.table)
					}
				}
			}
		}
	}
}

// home is where a row was inserted, and the key it was given.
type home struct {
	source, table string
	id            any
}

func unitOf(t *testing.T, p *pipeline, sql string, args ...any) home {
	t.Helper()
	e, err := p.run(sql, args)
	if err != nil {
		t.Fatalf("%s with %v: %v", sql, args, err)
	}
	if len(e.Units) != 1 {
		t.Fatalf("%s with %v goes to %d nodes", sql, args, len(e.Units))
	}
	u := e.Units[0]
	return home{source: u.DataSource, table: strings.Fields(u.SQL)[2], id: u.Args[0]}
}

// FuzzComplexRouting finds the node of a row by its values, by a part of them and
// by ranges.
func FuzzComplexRouting(f *testing.F) {
	f.Add(int64(1), int64(2))
	f.Add(int64(-1), int64(1)<<62)
	p := strategyService(f)
	f.Fuzz(func(t *testing.T, tenant, day int64) {
		args := []any{tenant, day}
		e, err := p.run("INSERT INTO t_visit (tenant_id, day) VALUES (?, ?)", args)
		if err != nil {
			var refused interface{ Unwrap() error }
			if !errors.As(err, &refused) {
				t.Fatal(err)
			}
			return // a negative remainder has no target
		}
		home := e.Units[0]
		name := strings.Fields(home.SQL)[2]
		for _, where := range []string{
			"tenant_id = ? AND day = ?", "tenant_id = ? OR day = ?", "tenant_id IN (?, 3) AND day >= ?", "tenant_id >= ? AND day BETWEEN ? AND 9",
			"(tenant_id, day) IN ((?, ?))", "tenant_id <= ? AND day IN (?, NULL)",
		} {
			if strings.Contains(where, "BETWEEN") && day > 9 {
				continue
			}
			found, err := p.run("SELECT * FROM t_visit WHERE "+where, args)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found.Units, func(u plan.Unit) bool { return u.DataSource == home.DataSource && strings.Contains(u.SQL, name) }) {
				t.Errorf("%s with %v does not ask %s.%s", where, args, home.DataSource, name)
			}
		}
	})
}
