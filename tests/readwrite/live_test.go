//go:build unix

package readwrite_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// change is what a configuration may say otherwise while reads go on, and who
// answers them then.
type change struct {
	name        string
	primaryOnly bool     // of all groups
	group       bool     // of ds0
	without     []string // replicas that are no members any more
	asked       string
}

var changes = []change{
	{name: "as at first", asked: "ds0_r0 ds0_r1 ds1_r0 ds1_r1"},
	{name: "primaries only", primaryOnly: true, asked: "ds0 ds1"},
	{name: "the primary of one group only", group: true, asked: "ds0 ds1_r0 ds1_r1"},
	{name: "one replica less", without: []string{"ds0_r1"}, asked: "ds0_r0 ds1_r0 ds1_r1"},
	{name: "others", without: []string{"ds0_r0", "ds1_r1"}, asked: "ds0_r1 ds1_r0"},
	{name: "all again", asked: "ds0_r0 ds0_r1 ds1_r0 ds1_r1"},
}

// of returns a configuration with the change.
func (c *change) of(cfg *config.Config) *config.Config {
	out := cfg.Clone()
	out.Props.PrimaryOnly = c.primaryOnly
	for name, group := range out.ReadwriteSplitting.Groups {
		group.PrimaryOnly = c.group && name == "ds0"
		group.Replicas = slices.DeleteFunc(group.Replicas, func(replica string) bool { return slices.Contains(c.without, replica) })
		out.ReadwriteSplitting.Groups[name] = group
	}
	for _, name := range c.without {
		delete(out.DataSources, name)
	}
	return out
}

// document is a configuration as a file holds it.
func document(cfg *config.Config) string {
	var b strings.Builder
	b.WriteString("defaultDataSource: ds0\ndataSources:\n")
	for _, name := range slices.Sorted(maps.Keys(cfg.DataSources)) {
		ds := cfg.DataSources[name]
		fmt.Fprintf(&b, "  %s: {dsn: %q, maxOpenConns: %d, maxIdleConns: %d}\n", name, string(ds.DSN), ds.MaxOpenConns, ds.MaxIdleConns)
	}
	b.WriteString("readwriteSplitting:\n  health: {interval: 50ms}\n  groups:\n")
	for _, name := range slices.Sorted(maps.Keys(cfg.ReadwriteSplitting.Groups)) {
		group := cfg.ReadwriteSplitting.Groups[name]
		fmt.Fprintf(&b, "    %s: {primary: %s, replicas: [%s], primaryOnly: %v}\n", name, group.Primary, strings.Join(group.Replicas, ", "), group.PrimaryOnly)
	}
	fmt.Fprintf(&b, `sharding:
  tables:
    t_order:
      actualDataNodes: ds${0..1}.t_order
      databaseStrategy: {standard: {column: id, algorithm: by_id}}
  broadcastTables: [t_region]
  algorithms:
    by_id: {type: MOD, props: {shardingCount: 2}}
props: {primaryOnly: %v}
`, cfg.Props.PrimaryOnly)
	return b.String()
}

// reading reads all the time, on the short way and over both groups, until stop is
// called. No read fails.
func reading(t *testing.T, db *sql.DB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				var n int
				query := []string{"SELECT COUNT(*) FROM t_order", "SELECT COUNT(*) FROM t_order WHERE id = 2"}[i%2]
				if err := db.QueryRowContext(context.WithoutCancel(ctx), query).Scan(&n); err != nil {
					t.Errorf("%s: %v", query, err)
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return func() {
		cancel()
		readers.Wait()
	}
}

// answered waits until reads are answered by those, and by nobody else.
func (g *groups) answered(t *testing.T, name string, by string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for asked := ""; asked != by; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: reads went to %q, want %q", name, asked, by)
		}
		g.asked()
		time.Sleep(100 * time.Millisecond)
		asked = g.asked()
	}
}

func TestReloadsChangeWhoAnswersReadsThatGoOn(t *testing.T) {
	g := newGroups(t, "live")
	g.cfg.ReadwriteSplitting.Health = config.Health{Interval: 50 * time.Millisecond}
	g.open(t)
	db, err := g.db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer reading(t, db)()
	for _, c := range changes {
		if err := g.plugin.Reload(c.of(g.cfg)); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		g.answered(t, c.name, c.asked)
	}
	// What was switched by hand holds until the configuration says otherwise.
	if err := g.plugin.DisableReplica("ds0_r0", true); err != nil {
		t.Fatal(err)
	}
	cfg := g.plugin.Config()
	cfg.Props.SQLShow = true
	if err := g.plugin.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	g.answered(t, "a replica that was disabled", "ds0_r1 ds1_r0 ds1_r1")
	if err := g.plugin.DisableReplica("ds0_r0", false); err != nil {
		t.Fatal(err)
	}
	g.answered(t, "the replica again", changes[0].asked)
}

func TestAWatchedFileChangesWhoAnswersReadsThatGoOn(t *testing.T) {
	for _, way := range []string{"plugin", "connector"} {
		t.Run(way, func(t *testing.T) {
			if way == "plugin" && !long() { // reloads of it are tested above
				t.Skip("SHARDING_TEST_LONG is not set")
			}
			g := newGroups(t, "watch")
			path := filepath.Join(t.TempDir(), "sharding.yaml")
			write := func(text string) {
				t.Helper()
				if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+".new", path); err != nil {
					t.Fatal(err)
				}
			}
			write(document(g.cfg))
			cfg, err := config.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			original := g.cfg
			g.cfg = cfg
			reloaded := make(chan error, 1)
			watch := sharding.OnReload(func(err error) { reloaded <- err })
			var db *sql.DB
			if way == "plugin" {
				g.open(t)
				if db, err = g.db.DB(); err == nil {
					err = g.plugin.Watch(path, watch)
				}
			} else {
				connector, failed := sharding.Connector(cfg, sharding.WithUnitTrace(g.trace))
				if failed != nil {
					t.Fatal(failed)
				}
				db = sql.OpenDB(connector)
				defer db.Close()
				err = connector.(sharding.Reloader).Watch(path, watch)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer reading(t, db)()
			for i, c := range changes {
				if i > 0 {
					write(document(c.of(original)))
					if err := <-reloaded; err != nil {
						t.Fatalf("%s: %v", c.name, err)
					}
				}
				g.answered(t, c.name, c.asked)
			}
			write(document(original)[:400]) // half of it
			if err := <-reloaded; err == nil {
				t.Error("half a file is accepted")
			}
			g.answered(t, "after half a file", changes[0].asked)
		})
	}
}
