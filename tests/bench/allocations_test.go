package bench

import (
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// What the plugin adds to the allocations of a statement to one node. The bounds
// leave room for one, for other versions of Go; raise them only with a reason.
func TestOneNodeStatementAllocatesLittleMore(t *testing.T) {
	outside := func(_ testing.TB, db *gorm.DB) *gorm.DB { return db }
	for _, tt := range []struct {
		name    string
		cfg     gorm.Config
		prepare func(testing.TB, *gorm.DB) *gorm.DB
		run     func(*gorm.DB) error
		most    float64
	}{
		{"Take", defaultConfig, outside, take, 3},
		{"Take in a transaction", defaultConfig, begin, take, 7},
		{"Update", withoutTransactions, outside, update, 3},
		{"Create", withoutTransactions, outside, create, 4},
		{"Updates of a model", withoutTransactions, outside, updateModel, 8},
		{"Save of a model", withoutTransactions, outside, saveModel, 8},
		{"Delete of a model", withoutTransactions, outside, deleteModel, 8},
	} {
		without := allocations(t, tt.prepare(t, plain(t, tt.cfg)), tt.run)
		for data, cfg := range map[string]*config.Config{"": rules(), ", with replicas": replicated()} {
			most := tt.most
			if tt.name == "Take" && data != "" {
				most += texts
			}
			more := allocations(t, tt.prepare(t, shardedBy(t, cfg, tt.cfg)), tt.run) - without
			if more > most {
				t.Errorf("%s%s: the plugin allocates %.0f times more than plain GORM; at most %.0f are allowed", tt.name, data, more, most)
			}
			t.Logf("%s%s: %.0f more allocations", tt.name, data, more)
		}
	}
}

// texts is the number of text columns of the model. Rows that are fetched ahead from a
// replica hold a copy of each.
const texts = 2

// allocations returns the fewest of many runs: under the race detector a
// sync.Pool forgets at random.
func allocations(t *testing.T, db *gorm.DB, run func(*gorm.DB) error) float64 {
	fewest := -1.0
	for range 200 {
		n := testing.AllocsPerRun(1, func() {
			if err := run(db); err != nil {
				t.Fatal(err)
			}
		})
		if fewest < 0 || n < fewest {
			fewest = n
		}
	}
	return fewest
}

// What the benchmarks compare is the same work only if this holds.
func TestBenchmarksGoToTheNodesTheyClaim(t *testing.T) {
	plugin := sharded(t, defaultConfig).Plugins["sharding"].(*sharding.Plugin)
	for query, want := range map[string][]string{
		"SELECT * FROM t_order WHERE ent_id = 5":                          {"ds1: SELECT * FROM t_order_1 WHERE ent_id = 5"},
		"INSERT INTO t_order (ent_id, id) VALUES (0,1),(1,2),(2,3),(3,4)": {"ds0: INSERT INTO t_order_0 (ent_id, id) VALUES (0,1)", "ds1: INSERT INTO t_order_0 (ent_id, id) VALUES (1,2)", "ds2: INSERT INTO t_order_0 (ent_id, id) VALUES (2,3)", "ds3: INSERT INTO t_order_0 (ent_id, id) VALUES (3,4)"},
	} {
		preview, err := plugin.Preview(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range preview.Units {
			got = append(got, u.DataSource+": "+u.SQL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n goes to %q\n want    %q", query, got, want)
		}
	}
}
