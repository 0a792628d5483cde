package shardkernel

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// planner is a kernel that plans for MySQL over t_order_0 and t_order_1 of ds0,
// whose columns are not known.
func planner(tb testing.TB) *Kernel {
	tb.Helper()
	cfg := &config.Config{
		DataSources: map[string]config.DataSource{"ds0": {Driver: "fake", DSN: "0"}}, DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_order": {
				ActualDataNodes: "ds0.t_order_${0..1}",
				TableStrategy:   &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "mod"}},
			}},
			Algorithms: map[string]config.Algorithm{"mod": {Type: "MOD", Props: map[string]any{"shardingCount": 2}}},
		},
	}
	rules, err := Compile(cfg, algorithm.NewRegistry(), keygen.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	pool, control := fakedb.New().DB(), fakedb.New().DB()
	tb.Cleanup(func() { _ = errors.Join(pool.Close(), control.Close()) })
	k, err := New(rules, []Source{{Name: "ds0", DB: pool, Control: control, Dialect: "sqlite"}}, Options{})
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

// kept is the number of plans in the cache.
func kept(k *Kernel) int {
	k.plans.cache.CleanUp()
	return k.plans.cache.EstimatedSize()
}

func TestTextsThatDifferByCommentsMakeOnePlanAndAreSentWithThem(t *testing.T) {
	k := planner(t)
	forms := []string{
		"/* trace=%d */ SELECT id, a + /* 'x */ 1 FROM t_order WHERE id = ?",
		"-- trace=%d\nSELECT id FROM t_order WHERE id = ?",
		"# trace=%d\r\nSELECT id FROM t_order WHERE id = ? -- end",
		"SELECT /* trace=%d */ id FROM t_order WHERE id = ?",
		"SELECT id -- trace=%d\nFROM t_order WHERE id = ? AND b = '/* no comment */'",
		"SELECT id FROM t_order # ? trace=%d\n WHERE id = ? #",
		"SELECT id FROM t_order WHERE id = ? /*traceparent='00-%032x',route='%%2Forders'*/",
		"SELECT id FROM t_order WHERE id = ? -- trace=%d",
		"SELECT id FROM t_order WHERE id = ? AND b = 1 # trace=%d",
	}
	const texts = 100_000
	for i := range texts {
		text := fmt.Sprintf(forms[i%len(forms)], i)
		ex, err := k.Plan(t.Context(), nil, text, []any{int64(i)})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := strings.ReplaceAll(text, "t_order", fmt.Sprintf("t_order_%d", i%2))
		if len(ex.Units) != 1 || ex.Units[0].SQL != want {
			t.Fatalf("%q\nis sent as %+v", text, ex.Units)
		}
	}
	// Those with a comment of either kind at the end are one.
	if n := kept(k); n != len(forms)-1 {
		t.Errorf("%d texts of %d forms made %d plans", texts, len(forms), n)
	}
}

func TestCommentsThatSayMoreAreKeptInTheKey(t *testing.T) {
	k := planner(t)
	texts := []string{
		"SELECT id FROM t_order WHERE id = 1",
		"SELECT id FROM t_order WHERE id = 1 /* trace */",
		"SELECT id FROM t_order WHERE id = 1 /* two */ /* traces */",
		"SELECT id FROM t_order WHERE id = 1 /*! AND a = 1 */",
		"SELECT id FROM t_order WHERE id = 1 /*! AND a = 2 */",
		"SELECT id FROM t_order WHERE id = 1 /*!50000 AND a /* inside */ = 3 */",
		"SELECT /*+ MAX_EXECUTION_TIME(1) */ id FROM t_order WHERE id = 1",
		"SELECT /*+ MAX_EXECUTION_TIME(2) */ id FROM t_order WHERE id = 1",
		"SELECT  id FROM t_order WHERE id = 1", // white space may be part of a label
		"SELECT id FROM t_order WHERE id = 1 /* `a` */",
		"SELECT id FROM t_order WHERE id = 1 /* `b` */",
	}
	for _, text := range texts {
		if _, err := k.Plan(t.Context(), nil, text, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n := kept(k); n != len(texts) {
		t.Errorf("%d texts made %d plans", len(texts), n)
	}
}

func TestErrorOfACommentedTextQuotesItAsTyped(t *testing.T) {
	k := planner(t)
	for text, want := range map[string]string{
		"SELECT id FROM t_order /* trace */ WHERE WHERE id = 1":                         "WHERE WHERE",
		"SELECT id, b AS x FROM t_order /* a */ ORDER BY x + /* why */ 1":               "/* why */",
		"UPDATE t_order SET b = 1 /* a */ WHERE c = 2 LIMIT 1":                          "LIMIT",
		"/* a */ INSERT INTO t_order (id, b) VALUES (1, ?) -- one argument, none given": "1 parameter markers",
	} {
		_, err := k.Plan(t.Context(), nil, text, nil)
		if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "/*~") {
			t.Errorf("%s\n%v\nwant ErrUnsupported with %q", text, err, want)
		}
	}
}

func TestPlanIsMadeOnceHoweverManyAsk(t *testing.T) {
	k := planner(t)
	for round := range 20 {
		var wg sync.WaitGroup
		plans := make([]*statement, 32)
		for i := range plans {
			wg.Go(func() {
				plans[i], _ = k.statement(t.Context(), fmt.Sprintf("SELECT %d FROM t_order /* trace=%d */", round, i))
			})
		}
		wg.Wait()
		for _, p := range plans {
			if p == nil || p != plans[0] {
				t.Fatal("a text was planned twice")
			}
		}
	}
}

func TestKnownTextIsLookedUpWithoutAllocating(t *testing.T) {
	k := planner(t)
	text := "SELECT id, a - b FROM t_order WHERE id = ? AND name = ? ORDER BY id LIMIT 10"
	lookUp := func() {
		if _, err := k.statement(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	lookUp()
	if n := testing.AllocsPerRun(100, lookUp); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStatement(b *testing.B) {
	k := planner(b)
	for name, text := range map[string]string{
		"plain":     "SELECT id, a - b FROM t_order WHERE id = ? AND name = ? ORDER BY id LIMIT 10",
		"commented": "SELECT id, a - b FROM t_order WHERE id = ? AND name = ? ORDER BY id LIMIT 10 /* traceparent='00-1234' */",
	} {
		for _, planned := range []bool{false, true} {
			run := func() error { _, err := k.statement(b.Context(), text); return err }
			if planned {
				args := []any{int64(1), "x"}
				run = func() error { _, err := k.Plan(b.Context(), nil, text, args); return err }
			}
			b.Run(fmt.Sprintf("%s/planned=%t", name, planned), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
