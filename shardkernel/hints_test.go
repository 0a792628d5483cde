package shardkernel

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// sentOf lists the units of an execution.
func sentOf(ex *plan.Execution) []string {
	var out []string
	for i := range ex.Units {
		out = append(out, ex.Units[i].DataSource+" "+ex.Units[i].SQL)
	}
	return out
}

func TestKeysOfCommentsMeanWhatHintsOfTheContextMean(t *testing.T) {
	k := planning(t, nil)
	one := func(h TableHint) Hints { return Hints{Tables: []TableHint{h}} }
	for text, want := range map[string]Hints{
		"SHARDING: DATA_SOURCE=ds1":                                        {Direct: true, DataSource: "ds1"},
		"SHARDING: SKIP_SHARDING=true":                                     {SkipSharding: true},
		"SHARDING: SKIP_SHARDING=false":                                    {},
		"SHARDING: PRIMARY_ONLY=TRUE":                                      {Reads: ReadsPrimary},
		"SHARDING: replica_allowed=true":                                   {Reads: ReadsReplica},
		"SHARDING: allowScatter=true":                                      {AllowScatter: true},
		"SHARDING: DISABLE_AUDIT=true":                                     {AuditOff: true},
		"SHARDING: DISABLE_AUDIT=maxNodes maxOffset":                       {AuditOff: true, Audits: []string{"maxNodes", "maxOffset"}},
		"SHARDING: t_order.DATABASE_VALUE=1 -2 'x y' 18446744073709551615": one(TableHint{Logical: "t_order", Database: []any{int64(1), int64(-2), "x y", uint64(18446744073709551615)}}),
		"SHARDING: T_ORDER.TABLE_VALUE='1', t_order.DATABASE_VALUE=007x":   one(TableHint{Logical: "t_order", Table: []any{"1"}, Database: []any{"007x"}}),
		"SHARDING: TABLE_VALUE=1":                                          one(TableHint{Logical: AllTables, Table: []any{int64(1)}}),
		"SHARDING: t_order.ACTUAL_TABLE=ds1.t_order_1":                     one(TableHint{Logical: "t_order", HasActual: true, Actual: "ds1.t_order_1"}),

		"SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds1":                                          {Direct: true, DataSource: "ds1"},
		"shardingsphere hint: dataSourceName=ds1, skipSqlRewrite=true":                       {Direct: true, DataSource: "ds1", SkipSharding: true},
		"SHARDINGSPHERE_HINT: dataSourceName = ds1, skipSQLRewrite = true":                   {Direct: true, DataSource: "ds1", SkipSharding: true},
		"SHARDINGSPHERE_HINT: WRITE_ROUTE_ONLY=true":                                         {Reads: ReadsPrimary},
		"SHARDINGSPHERE_HINT: writeRouteOnly=true, shadow=false":                             {Reads: ReadsPrimary},
		"SHARDINGSPHERE_HINT: t_order.shardingDatabaseValue=1, t_order.shardingTableValue=2": one(TableHint{Logical: "t_order", Database: []any{int64(1)}, Table: []any{int64(2)}}),
		"SHARDINGSPHERE_HINT: t_order.SHARDING_TABLE_VALUE=2024-01-05 10:00:00":              one(TableHint{Logical: "t_order", Table: []any{"2024-01-05 10:00:00"}}),
		"SHARDINGSPHERE_HINT: SHARDING_DATABASE_VALUE=1":                                     one(TableHint{Logical: AllTables, Database: []any{int64(1)}}),
		"SHARDINGSPHERE_HINT: disableAuditNames=maxNodes maxOffset":                          {AuditOff: true, Audits: []string{"maxNodes", "maxOffset"}},
		"SHARDINGSPHERE_HINT: SHADOW=false, USE_TRAFFIC=false, SKIP_ENCRYPT_REWRITE=true":    {},
	} {
		got, err := commentHints("/* "+text+" */ SELECT 1", k.rules, k.dialect)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		wanted, err := resolveHints(&want, k.rules)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s\n got %+v\nwant %+v", text, got, wanted)
		}
	}
}

func TestCommentsThatAreNotUnderstoodAreErrors(t *testing.T) {
	k := planning(t, nil)
	for text, want := range map[string]string{
		"SHARDING: SHARDING_TABLE_VALUE=1":                                 "SHARDING_TABLE_VALUE: is no key of a hint",
		"SHARDING: TABEL_VALUE=1":                                          `did you mean "TABLE_VALUE"?`,
		"SHARDINGSPHERE_HINT: TABLE_VALUE=1":                               "TABLE_VALUE: is no key of a hint",
		"SHARDINGSPHERE_HINT: USE_TRAFFIC=true":                            "USE_TRAFFIC: is not supported",
		"SHARDING: ds0.DATA_SOURCE=ds1":                                    "ds0.DATA_SOURCE: concerns no table",
		"SHARDING: DATA_SOURCE=a b":                                        "DATA_SOURCE: has 2 values",
		"SHARDING: ACTUAL_TABLE=t_order_1":                                 "ACTUAL_TABLE: names no logical table",
		"SHARDING: t_order.TABLE_VALUE=1, t_order.ACTUAL_TABLE=x":          "t_order.ACTUAL_TABLE: stands beside a value",
		"SHARDING: t_order.ACTUAL_TABLE=x, t_order.TABLE_VALUE=1":          "t_order.TABLE_VALUE: stands beside an actual table",
		"SHARDING: t_order.TABLE_VALUE=1, T_ORDER.tableValue=2":            "T_ORDER.tableValue: stands twice",
		"SHARDING: t_unknown.TABLE_VALUE=1":                                "unknown table: table t_unknown",
		"SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES=DML_SHARDING_CONDITIONS": `there is no audit "DML_SHARDING_CONDITIONS"; it is requireShardingKey here`,
		"SHARDING: DISABLE_AUDIT=all":                                      `there is no audit "all"`,
		"SHARDING: " + strings.Repeat("K", 5000) + "=1":                    "KKKK…: is no key",
	} {
		_, err := k.Plan(t.Context(), nil, "SELECT 1 FROM t_order WHERE id = 1 /* "+text+" */", nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestAHintOfTheContextWinsOverAComment(t *testing.T) {
	k := planning(t, nil)
	for _, tt := range []struct {
		name, comment string
		hints         Hints
		want          string
		reads         Reads
	}{
		{"data source", "DATA_SOURCE=ds0", Hints{Direct: true, DataSource: "ds1"}, "ds1", 0},
		{"replica", "PRIMARY_ONLY=true", Hints{Reads: ReadsReplica}, "", ReadsReplica},
		{"primary of the comment", "PRIMARY_ONLY=true", Hints{AllowScatter: true}, "", ReadsPrimary},
		{"database value", "t_item.DATABASE_VALUE=0", Hints{Tables: []TableHint{{Logical: "t_item", Database: []any{1}}}}, "ds1", 0},
		{"database value of the comment", "t_item.DATABASE_VALUE=0", Hints{Reads: ReadsPrimary}, "ds0", ReadsPrimary},
		{"another table", "t_item.DATABASE_VALUE=0", Hints{Tables: []TableHint{{Logical: "t_user", Database: []any{1}}}}, "ds0", 0},
		{"actual table", "t_item.DATABASE_VALUE=0", Hints{Tables: []TableHint{{Logical: "t_item", HasActual: true, Actual: "ds1.t_item"}}}, "ds1", 0},
	} {
		text := "SELECT a FROM t_item /* SHARDING: " + tt.comment + " */"
		for range 2 { // the second time from the plan cache
			ex, err := k.Plan(t.Context(), &tt.hints, text, nil)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				break
			}
			if ex.Reads != tt.reads || tt.want != "" && (len(ex.Units) != 1 || ex.Units[0].DataSource != tt.want || ex.Units[0].SQL != text) {
				t.Errorf("%s: reads %d, sent %q", tt.name, ex.Reads, sentOf(ex))
			}
		}
	}
}

func TestADatabaseValueSendsAReadAsItIsWhereTablesHaveTheirLogicalNames(t *testing.T) {
	k := planning(t, nil)
	by := func(tables ...string) *Hints {
		h := new(Hints)
		for _, name := range tables {
			h.Tables = append(h.Tables, TableHint{Logical: name, Database: []any{1}})
		}
		return h
	}
	apart := by("t_item")
	apart.Tables = append(apart.Tables, TableHint{Logical: "t_user", Database: []any{2}})
	two := &Hints{Tables: []TableHint{{Logical: "t_item", Database: []any{1, 2}}}}
	for _, tt := range []struct {
		name, sql string
		hints     *Hints
		kind      plan.Kind // empty: refused
		source    string
	}{
		{"a form that is not parsed", "SELECT a FROM t_item WHERE MATCH a NOT LIKE ANY ARRAY", by("t_item"), plan.KindDirect, "ds1"},
		{"a comment does the same", "SELECT a FROM t_item WHERE MATCH a NOT LIKE ANY ARRAY /* SHARDING: t_item.DATABASE_VALUE=1 */", nil, plan.KindDirect, "ds1"},
		{"both tables", "SELECT * FROM t_item i, t_user u", by("t_item", "t_user"), plan.KindDirect, "ds1"},
		{"all tables", "SELECT * FROM t_item i, t_user u", by(AllTables), plan.KindDirect, "ds1"},
		{"beside a broadcast table", "SELECT * FROM t_item i, t_region r", by("t_item"), plan.KindDirect, "ds1"},
		{"tables of other names are rewritten", "SELECT * FROM t_order WHERE id = 1", by("t_order"), plan.KindStandard, "ds1"},
		{"a write is routed by its values", "UPDATE t_item SET a = 1 WHERE user_id = 1", by("t_item"), plan.KindStandard, "ds1"},
		{"a write of other values", "UPDATE t_item SET a = 1 WHERE user_id = 2", by("t_item"), "", ""},
		{"an INSERT of other values", "INSERT INTO t_item (user_id) VALUES (2)", by("t_item"), "", ""},
		{"a table of another statement", "SELECT * FROM t_audit", by("t_item"), plan.KindPassThrough, "ds1"},
		{"beside a single table", "SELECT * FROM t_item i JOIN t_audit a ON a.id = i.a", by("t_item"), plan.KindStandard, "ds1"},
		{"values of two data sources", "SELECT * FROM t_item i, t_user u", apart, "", ""},
		{"two values", "SELECT a FROM t_item", two, plan.KindAllNodes, "ds0"},
		{"DDL", "DROP TABLE t_item", by("t_item"), "", ""},
	} {
		ex, err := k.Plan(t.Context(), tt.hints, tt.sql, nil)
		switch {
		case tt.kind == "":
			if err == nil {
				t.Errorf("%s: %s goes to %q", tt.name, tt.sql, sentOf(ex))
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case ex.Kind != tt.kind || ex.Units[0].DataSource != tt.source || ex.Kind == plan.KindDirect && ex.Units[0].SQL != tt.sql:
			t.Errorf("%s: %s, sent %q", tt.name, ex.Kind, sentOf(ex))
		}
	}
}

func TestAHintStrategyLetsAWritePassAsItIs(t *testing.T) {
	k := planning(t, func(cfg *config.Config) {
		cfg.Sharding.Algorithms["by_value"] = config.Algorithm{Type: "HINT_INLINE", Props: map[string]any{"expression": "ds${value}"}}
		cfg.Sharding.Tables["t_tenant"] = config.Table{
			ActualDataNodes: "ds${0..1}.t_tenant", DatabaseStrategy: &config.Strategy{Hint: &config.Hint{Algorithm: "by_value"}},
		}
	})
	h := &Hints{Tables: []TableHint{{Logical: "t_tenant", Database: []any{1}}}}
	for _, sql := range []string{"INSERT INTO t_tenant SELECT * FROM t_tenant", "LOAD DATA INFILE 'x' INTO TABLE t_tenant"} {
		ex, err := k.Plan(t.Context(), h, sql, nil)
		if err != nil || ex.Kind != plan.KindDirect || !slices.Equal(sentOf(ex), []string{"ds1 " + sql}) {
			t.Errorf("%s: %v, %v", sql, ex, err)
		}
	}
	if _, err := k.Plan(t.Context(), h, "TRUNCATE TABLE t_tenant", nil); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("DDL: %v", err)
	}
}

func TestDirectStatementsAreUnderNoAudit(t *testing.T) {
	k := planning(t, func(cfg *config.Config) { cfg.Props.Audit = []config.AuditRule{config.AuditRequireShardingKey} })
	for _, h := range []Hints{{Direct: true, DataSource: "ds1"}, {SkipSharding: true}} {
		if _, err := k.Plan(t.Context(), &h, "SELECT * FROM t_order", nil); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// FuzzCommentHints: no comment makes the planner panic, and one that is accepted
// is accepted again.
func FuzzCommentHints(f *testing.F) {
	for _, seed := range []string{
		"DATA_SOURCE=ds1", "t_order.TABLE_VALUE=1 'a,b'", "TABLE_VALUE=-1,t_order.ACTUAL_TABLE=ds1.t_order_1", "DISABLE_AUDIT=true",
		"t_order.ACTUAL_TABLE=t_order_1", "allowScatter=true, PRIMARY_ONLY=x", ".=", "a.b.c='", "dataSourceName=ds0,shardingTableValue=1",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	k := planning(f, nil)
	f.Fuzz(func(t *testing.T, text string, own bool) {
		marker := "SHARDINGSPHERE_HINT:"
		if own {
			marker = "SHARDING:"
		}
		text = fmt.Sprintf("/* %s %s */ SELECT a FROM t_order WHERE id = 1", marker, text)
		first, err := commentHints(text, k.rules, dialect.MySQL)
		if err != nil {
			return
		}
		second, err := commentHints(text, k.rules, dialect.MySQL)
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("%q: %+v, then %+v, %v", text, first, second, err)
		}
		_, _ = k.Plan(t.Context(), nil, text, nil)
	})
}

func TestAHintForATableThatIsNotInTheStatementHasNoEffect(t *testing.T) {
	k := planning(t, nil)
	const text = "SELECT a FROM t_item WHERE id = 1"
	want, err := k.Plan(t.Context(), nil, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []TableHint{
		{Logical: "t_order", Table: []any{1}},
		{Logical: "t_order", Database: []any{1}},
		{Logical: "t_order", HasActual: true, Actual: "ds1.t_order_1"},
	} {
		got, err := k.Plan(t.Context(), &Hints{Tables: []TableHint{h}}, text, nil)
		if err != nil || !slices.Equal(sentOf(got), sentOf(want)) {
			t.Errorf("%+v: sent %q, %v; want %q", h, sentOf(got), err, sentOf(want))
		}
	}
}

func TestAHintOfTheContextThatNamesSomethingUnknownIsAnError(t *testing.T) {
	k := planning(t, nil)
	one := func(h TableHint) Hints { return Hints{Tables: []TableHint{h}} }
	for _, test := range []struct {
		hints Hints
		class error
		want  string
	}{
		{Hints{Direct: true, DataSource: "ds7"}, fault.ErrNoDataNode, `a hint names the data source "ds7", which is not configured`},
		{Hints{Direct: true}, fault.ErrNoDataNode, `a hint names the data source ""`},
		{one(TableHint{Logical: "t_ordre", Table: []any{1}}), fault.ErrUnknownTable, `did you mean "t_order"?`},
		{one(TableHint{Logical: "t_order", HasActual: true, Actual: "t_order_77"}), fault.ErrNoDataNode, `a hint names the actual table "t_order_77"`},
		{one(TableHint{Logical: AllTables, HasActual: true, Actual: "t_order_1"}), fault.ErrUnsupported, "name one logical table"},
		{one(TableHint{Logical: "t_order", Table: []any{}}), fault.ErrUnsupported, "value"},
		{Hints{AuditOff: true, Audits: []string{"maxNode"}}, fault.ErrUnsupported, `did you mean "maxNodes"?`},
	} {
		// Also where the statement concerns another table, or none.
		for _, text := range []string{"SELECT a FROM t_order WHERE id = 1", "SELECT a FROM t_item WHERE id = 1", "SELECT 1"} {
			_, err := k.Plan(t.Context(), &test.hints, text, nil)
			if !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v, %s: got %v, want %v with %s", test.hints, text, err, test.class, test.want)
			}
		}
	}
}
