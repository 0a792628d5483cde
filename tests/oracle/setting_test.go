//go:build unix

package oracle_test

import (
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/config"
)

// TestGroupConcatIsCutOnce: as by one server, and not by each node before the merge.
func TestGroupConcatIsCutOnce(t *testing.T) {
	for _, c := range newClusters(t, "cut", topologies[2], topologies[3]) {
		p := c.open(t, "group_concat_max_len=9")
		for name, text := range map[string]string{
			"of all rows":       "SELECT GROUP_CONCAT(id ORDER BY id) FROM orders",
			"of groups":         "SELECT region_id, GROUP_CONCAT(id ORDER BY id DESC SEPARATOR '; ') FROM orders GROUP BY region_id ORDER BY region_id",
			"of the nodes' own": "SELECT uid, GROUP_CONCAT(id ORDER BY id) FROM orders GROUP BY uid ORDER BY uid",
			"DISTINCT":          "SELECT GROUP_CONCAT(DISTINCT status ORDER BY status SEPARATOR '') FROM orders",
			"without NULL":      "SELECT GROUP_CONCAT(small ORDER BY small, id) FROM orders",
			"characters":        "SELECT GROUP_CONCAT(name ORDER BY id) FROM orders WHERE name > 'n'",
			"in an expression":  "SELECT LENGTH(GROUP_CONCAT(id ORDER BY id)) + COUNT(*) FROM orders",
			"of no rows":        "SELECT GROUP_CONCAT(id ORDER BY id) FROM orders WHERE id < 0",
		} {
			q := &query{statement: f(text)}
			q.outline()
			want := askPlain(t.Context(), p.single, text, nil, false)
			if want.err != nil {
				t.Fatal(want.err)
			}
			if d := q.differ(want, p.ask(t.Context(), 0, text, nil), answer{}); d != "" {
				t.Errorf("%s, %s: %s", c.name, name, d)
			}
		}
	}
}

// TestMoreTablesThanMaxUnionBranchesAreNotReadAsOne: the answer stays the same.
func TestMoreTablesThanMaxUnionBranchesAreNotReadAsOne(t *testing.T) {
	c := newCluster(t, "branches", topologies[3])
	c.fill(t)
	const text = "SELECT id, uid, ROW_NUMBER() OVER (ORDER BY id) FROM orders ORDER BY id"
	want := askPlain(t.Context(), c.prepared.single, text, nil, false)
	for _, tt := range []struct {
		most int
		kind string
	}{{c.tables, "united"}, {c.tables - 1, "gathered"}} {
		db, plugin := c.application(t, &gorm.Config{}, func(cfg *config.Config) { cfg.Props.MaxUnionBranches = tt.most })
		preview, err := plugin.Preview(t.Context(), text)
		if err != nil || preview.Kind != tt.kind {
			t.Errorf("%d tables, at most %d: %q, %v, want %q", c.tables, tt.most, preview.Kind, err, tt.kind)
			continue
		}
		if got := strings.Count(preview.Units[len(preview.Units)-1].SQL, "UNION ALL"); tt.kind == "united" && got != c.tables-1 {
			t.Errorf("%d times UNION ALL in %s", got, preview.Units[0].SQL)
		}
		if d := (&query{}).differ(want, read(db.Raw(text).Rows()), answer{}); d != "" {
			t.Errorf("at most %d: %s", tt.most, d)
		}
	}
}
