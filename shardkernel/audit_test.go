package shardkernel

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// shop is a configuration with two databases: t_order has two tables in each,
// t_item and t_user one in each, under their own names.
const shop = `
dataSources: {ds0: {driver: fake, dsn: a}, ds1: {driver: fake, dsn: b}}
defaultDataSource: ds0
sharding:
  tables:
    t_order: {actualDataNodes: "ds${0..1}.t_order_${0..1}", databaseStrategy: &user {standard: {column: user_id, algorithm: mod}}, tableStrategy: {standard: {column: id, algorithm: mod}}}
    t_item: {actualDataNodes: "ds${0..1}.t_item", databaseStrategy: *user}
    t_user: {actualDataNodes: "ds${0..1}.t_user", databaseStrategy: *user}
  bindingTables: [[t_item, t_user]]
  broadcastTables: [t_region]
  singleTables: {t_audit: ds1}
  algorithms: {mod: {type: MOD, props: {shardingCount: 2}}}
`

// planning is a kernel that plans for MySQL, over tables whose columns are not
// known.
func planning(tb testing.TB, change func(*config.Config)) *Kernel {
	tb.Helper()
	cfg, err := config.Parse([]byte(shop), "yaml")
	if err != nil {
		tb.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	rules, err := Compile(cfg, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	var sources []Source
	for name := range cfg.DataSources {
		pool, control := fakedb.New().DB(), fakedb.New().DB()
		tb.Cleanup(func() { _ = errors.Join(pool.Close(), control.Close()) })
		sources = append(sources, Source{Name: name, DB: pool, Control: control, Dialect: "sqlite"})
	}
	k, err := New(rules, sources, Options{Props: cfg.Props})
	if err != nil {
		tb.Fatal(err)
	}
	mysql := *dialect.MySQL
	mysql.FoldTables = true // and so it needs no server's settings
	k.dialect = &mysql
	for _, s := range k.sources {
		s.client = &metadata.Client{MultiStatements: true}
	}
	return k
}

// setAudit sets the audit of tables.
func setAudit(cfg *config.Config, audit config.Audit, tables ...string) {
	for _, name := range tables {
		t := cfg.Sharding.Tables[name]
		t.Audit = &audit
		cfg.Sharding.Tables[name] = t
	}
}

func TestAuditsRefuseWhatTheyName(t *testing.T) {
	all := []config.AuditRule{
		config.AuditRequireShardingKey, config.AuditSingleDataSource, config.AuditKeyInFunction, config.AuditShardedSubquery, config.AuditMemoryMerge,
	}
	for _, tt := range []struct {
		sql  string
		want map[config.AuditRule]string // what the error of each rule holds; none: not refused
	}{
		{"SELECT * FROM t_order WHERE user_id = 1 AND id = 1", nil},
		{"SELECT * FROM t_order WHERE user_id IN (1, 3)", nil}, // two nodes of one data source
		{"SELECT * FROM t_order WHERE user_id IN (1, 2)", map[config.AuditRule]string{config.AuditSingleDataSource: "goes to 2 data sources"}},
		{"SELECT * FROM t_order WHERE status = 1", map[config.AuditRule]string{
			config.AuditRequireShardingKey: "table t_order: audit requireShardingKey: no condition narrows the nodes; add one on user_id or id",
			config.AuditSingleDataSource:   "goes to 2 data sources",
		}},
		{"UPDATE t_order SET a = 1", map[config.AuditRule]string{config.AuditRequireShardingKey: "t_order", config.AuditSingleDataSource: "2 data sources"}},
		{"DELETE FROM t_order WHERE user_id = 1 OR a = 1", map[config.AuditRule]string{config.AuditRequireShardingKey: "t_order", config.AuditSingleDataSource: "2 data sources"}},
		{"INSERT INTO t_order (id, user_id) VALUES (1, 1)", nil},
		{"INSERT INTO t_order (id, user_id) VALUES (1, 1), (1, 2)", map[config.AuditRule]string{config.AuditSingleDataSource: "2 data sources"}},
		{"SELECT * FROM t_order WHERE user_id + 0 = 1 AND id = 2", map[config.AuditRule]string{
			config.AuditSingleDataSource: "2 data sources",
			config.AuditKeyInFunction:    "table t_order: audit keyInFunction: user_id stands inside a function",
		}},
		{"SELECT * FROM t_order o WHERE CAST(o.id AS CHAR) = '1' AND user_id = 1", map[config.AuditRule]string{config.AuditKeyInFunction: "id stands"}},
		{"SELECT * FROM t_order WHERE user_id = 1 AND id = 1 AND id % 10 = 1", nil}, // one node
		{"SELECT * FROM t_item WHERE user_id = 1 AND a IN (SELECT a FROM t_user WHERE user_id = 1)", map[config.AuditRule]string{
			config.AuditShardedSubquery: "table t_user: audit shardedSubquery",
		}},
		{"SELECT a FROM t_item WHERE user_id = 1 UNION ALL SELECT a FROM t_user WHERE user_id = 1", nil},
		{"SELECT d.a FROM (SELECT a FROM t_user WHERE user_id = 1) d", map[config.AuditRule]string{config.AuditShardedSubquery: "t_user"}},
		{"INSERT INTO t_item (user_id, a) SELECT user_id, a FROM t_user WHERE user_id = 1", nil},
		{"SELECT i.a FROM t_item i JOIN t_user u ON u.user_id = i.user_id WHERE i.user_id = 1", nil},
		{"SELECT status, COUNT(*) FROM t_order WHERE user_id = 1 GROUP BY status", map[config.AuditRule]string{config.AuditMemoryMerge: "held in memory"}},
		{"SELECT COUNT(*) FROM t_order WHERE user_id = 1", nil},
		{"EXPLAIN SELECT d.a FROM (SELECT a FROM t_user WHERE user_id = 1) d", nil},
		{"SELECT * FROM t_region", nil},
		{"UPDATE t_region SET a = 1 WHERE id = 1", nil},
		{"SELECT * FROM t_unknown", nil},
	} {
		for _, rule := range all {
			for _, global := range []bool{false, true} {
				k := planning(t, func(cfg *config.Config) {
					if global {
						cfg.Props.Audit = []config.AuditRule{rule}
					} else {
						setAudit(cfg, config.Audit{Rules: []config.AuditRule{rule}}, "t_order", "t_item", "t_user")
					}
				})
				_, err := k.Plan(t.Context(), nil, tt.sql, nil)
				want, refused := tt.want[rule]
				class := fault.ErrScatterDenied
				if rule == config.AuditRequireShardingKey {
					class = fault.ErrNoShardingKey
				}
				if !refused && err != nil || refused && (!errors.Is(err, class) || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s (global %v): %s\n error %v\n want one of %q", rule, global, tt.sql, err, want)
				}
			}
		}
	}
}

func TestAnAuditConcernsItsOwnTable(t *testing.T) {
	k := planning(t, func(cfg *config.Config) {
		setAudit(cfg, config.Audit{Rules: []config.AuditRule{config.AuditRequireShardingKey}, MaxNodes: 1}, "t_item")
	})
	if _, err := k.Plan(t.Context(), nil, "SELECT * FROM t_order", nil); err != nil {
		t.Errorf("t_order has no audit: %v", err)
	}
	if _, err := k.Plan(t.Context(), nil, "SELECT * FROM t_item", nil); !errors.Is(err, fault.ErrNoShardingKey) {
		t.Errorf("t_item: %v", err)
	}
	if _, err := k.Plan(t.Context(), nil, "SELECT * FROM t_item WHERE user_id IN (1, 2)", nil); !errors.Is(err, fault.ErrScatterDenied) {
		t.Errorf("t_item over two nodes: %v", err)
	}
}

func TestLimitsCountNodesAndSkippedRows(t *testing.T) {
	k := planning(t, func(cfg *config.Config) { cfg.Props.MaxNodes, cfg.Props.MaxOffset = 2, 100 })
	for sql, want := range map[string]string{
		"SELECT * FROM t_order WHERE user_id = 1":                                  "",
		"SELECT * FROM t_order":                                                    "goes to 4 nodes, maxNodes allows 2",
		"DELETE FROM t_order":                                                      "goes to 4 nodes, maxNodes allows 2",
		"SELECT * FROM t_item ORDER BY id LIMIT 10 OFFSET 100":                     "",
		"SELECT * FROM t_item ORDER BY id LIMIT 10 OFFSET 101":                     "skips 101 rows of several nodes, maxOffset allows 100",
		"SELECT * FROM t_item WHERE user_id = 1 ORDER BY id LIMIT 10 OFFSET 10000": "",
		"UPDATE t_region SET a = 1 WHERE id = 1":                                   "",
		"DELETE FROM t_item; DELETE FROM t_order":                                  "goes to 4 nodes, maxNodes allows 2",
		"DELETE FROM t_item; DELETE FROM t_user":                                   "", // each alone
	} {
		_, err := k.Plan(t.Context(), nil, sql, nil)
		if want == "" && err != nil || want != "" && (!errors.Is(err, fault.ErrScatterDenied) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

func TestHintsSwitchAuditsOffWhereTheConfigurationAllowsIt(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		k := planning(t, func(cfg *config.Config) {
			cfg.Props.MaxNodes, cfg.Props.AllowHintDisable = 1, allowed
			setAudit(cfg, config.Audit{
				Rules:            []config.AuditRule{config.AuditRequireShardingKey, config.AuditMemoryMerge},
				AllowHintDisable: allowed,
			}, "t_order")
		})
		for _, tt := range []struct {
			sql    string
			hints  Hints
			passes bool // where it is allowed
		}{
			{"SELECT * FROM t_order", Hints{AllowScatter: true}, true},
			{"SELECT * FROM t_order", Hints{AuditOff: true}, true},
			{"SELECT * FROM t_order", Hints{AuditOff: true, Audits: []string{"requireShardingKey", "maxNodes"}}, true},
			{"SELECT * FROM t_order", Hints{AuditOff: true, Audits: []string{"requireShardingKey"}}, false},
			{"SELECT a, COUNT(*) FROM t_order GROUP BY a", Hints{AllowScatter: true}, false},
			{"SELECT a, COUNT(*) FROM t_order GROUP BY a", Hints{AuditOff: true}, true},
			{"SELECT /* SHARDING: ALLOW_SCATTER=true */ * FROM t_order", Hints{}, true},
			{"SELECT /* SHARDING: DISABLE_AUDIT=requireShardingKey maxNodes */ * FROM t_order", Hints{}, true},
			{"SELECT /* SHARDING: DISABLE_AUDIT=true */ * FROM t_order", Hints{}, true},
			{"SELECT /* SHARDING: DISABLE_AUDIT=false */ * FROM t_order", Hints{}, false},
			{"/* SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES=requireShardingKey maxNodes */ SELECT * FROM t_order", Hints{}, true},
		} {
			_, err := k.Plan(t.Context(), &tt.hints, tt.sql, nil)
			if passes := err == nil; passes != (tt.passes && allowed) {
				t.Errorf("%s with %+v, allowed: %v: %v", tt.sql, tt.hints, allowed, err)
			}
			if said := err != nil && strings.Contains(err.Error(), "allowHintDisable: true"); said && allowed {
				t.Errorf("%s: the error asks for what is there: %v", tt.sql, err)
			}
		}
	}
	k := planning(t, func(cfg *config.Config) {
		setAudit(cfg, config.Audit{Rules: []config.AuditRule{config.AuditRequireShardingKey}}, "t_user")
	})
	for hint, passes := range map[string]bool{"t_user.DATABASE_VALUE=1": true, "t_user.TABLE_VALUE=1": false, "TABLE_VALUE=1": false} {
		_, err := k.Plan(t.Context(), nil, "/* SHARDING: "+hint+" */ SELECT * FROM t_user", nil)
		if (err == nil) != passes {
			t.Errorf("a value hint %s for a table that is sharded by database alone: %v", hint, err)
		}
	}
	_, err := planning(t, nil).Plan(t.Context(), &Hints{AuditOff: true, Audits: []string{"maxNode"}}, "SELECT 1 FROM t_order", nil)
	if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), `did you mean "maxNodes"?`) {
		t.Errorf("unknown audit: %v", err)
	}
}

func TestPreviewShowsWhatAnAuditWouldRefuse(t *testing.T) {
	k := planning(t, func(cfg *config.Config) {
		cfg.Props.MaxNodes = 1
		setAudit(cfg, config.Audit{Rules: []config.AuditRule{config.AuditRequireShardingKey}, MaxNodes: 1}, "t_order", "t_item")
	})
	p, err := k.Preview(t.Context(), &Hints{Reads: ReadsPrimary, Tables: []TableHint{{Logical: "t_item", Database: []any{1}}}},
		"/* SHARDING: ALLOW_SCATTER=true */ SELECT a, COUNT(*) FROM t_order WHERE ABS(id) = 1 GROUP BY a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"primary only", "allow scatter"}; !slices.Equal(p.Hints, want) {
		t.Errorf("hints %q, want %q", p.Hints, want)
	}
	if len(p.Units) != 4 || len(p.Denied) != 3 || !errors.Is(p.Denied[0], fault.ErrScatterDenied) || !errors.Is(p.Denied[1], fault.ErrNoShardingKey) {
		t.Errorf("%d units, denied %q", len(p.Units), p.Denied)
	}
	wrapped := "the sharding column id of t_order stands inside a function or in arithmetic, where it narrows no nodes"
	if !slices.Contains(p.Warnings, wrapped) || len(p.Warnings) != 3 {
		t.Errorf("warnings %q", p.Warnings)
	}
}

func TestAuditsAreExchangedWhileStatementsRun(t *testing.T) {
	k := planning(t, nil)
	if k.audits.Load() != nil {
		t.Error("audits are looked at, although none is configured")
	}
	k.SetAudits(config.Props{MaxNodes: 1})
	if _, err := k.Plan(t.Context(), nil, "SELECT * FROM t_order", nil); !errors.Is(err, fault.ErrScatterDenied) {
		t.Errorf("after the limit was set: %v", err)
	}
	k.SetAudits(config.Props{})
	if _, err := k.Plan(t.Context(), nil, "SELECT * FROM t_order", nil); err != nil {
		t.Errorf("after the limit was taken away: %v", err)
	}
}
