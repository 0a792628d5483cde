//go:build unix

package model_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

// definitions are the columns of the tables. Order is sharded by one column, Item
// by two, one a level, Doc by two together, and Line has a key of two columns.
var definitions = map[string]string{
	"t_order": "id bigint PRIMARY KEY, user_id bigint NOT NULL, status int NOT NULL, note varchar(64), version int NOT NULL, parent_id bigint, updated_at datetime(3), deleted_at datetime(3)",
	"t_item":  "id bigint PRIMARY KEY, user_id bigint NOT NULL, kind int NOT NULL, order_id bigint, qty int NOT NULL",
	"t_doc":   "id varchar(36) COLLATE utf8mb4_bin PRIMARY KEY, region bigint NOT NULL, tenant bigint NOT NULL, title varchar(64) NOT NULL DEFAULT 'untitled'",
	"t_line":  "order_id bigint, no int, user_id bigint, qty int NOT NULL, PRIMARY KEY (order_id, no)",
	"t_loose": "id bigint NOT NULL, user_id bigint NOT NULL, qty int NOT NULL, PRIMARY KEY (id, user_id)",
}

// layout is a set of tables.
type layout struct {
	definitions map[string]string // columns
	// nodes are the actual tables in each data source; two numbered ones where none
	// are named.
	nodes map[string][]string
	// misplaced is the condition of rows that are on another node than their own, in
	// which the indexes of the data source and of the table are missing.
	misplaced map[string]string
	rules     func(trust bool) config.Sharding
	seed      func(*gorm.DB) error
}

// usual is the layout of most tests.
var usual = layout{
	definitions: definitions,
	misplaced: map[string]string{
		"t_order": "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d", "t_line": "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_loose": "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_item":  "user_id % 2 <> %d OR kind % 2 <> %d", "t_doc": "region % 2 <> %d OR (region + tenant) % 2 <> %d",
	},
	rules: usualRules,
	seed:  seed,
}

// nodesOf returns the actual tables of a logical one in each data source.
func (l *layout) nodesOf(logical string) []string {
	if nodes := l.nodes[logical]; nodes != nil {
		return nodes
	}
	return []string{logical + "_0", logical + "_1"}
}

// cluster is two data sources with two tables each of every logical one, and one
// database with the logical tables themselves.
type cluster struct {
	*layout
	servers []*mariadb.Server
	name    string
}

func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	return newClusterOf(t, name, &usual)
}

func newClusterOf(t *testing.T, name string, l *layout) *cluster {
	t.Helper()
	c := &cluster{layout: l, servers: mariadb.Shared(t, 2), name: name}
	var wg sync.WaitGroup
	create := func(server *mariadb.Server, database string, tables func(string) []string) {
		wg.Go(func() {
			if err := server.CreateDatabase(t.Context(), database); err != nil {
				t.Error(err)
				return
			}
			pool, err := sql.Open("mysql", server.DSN(database))
			if err != nil {
				t.Error(err)
				return
			}
			defer pool.Close()
			for logical, columns := range c.definitions {
				for _, table := range tables(logical) {
					if _, err := pool.ExecContext(t.Context(), "CREATE TABLE "+table+" ("+columns+")"); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for i := range c.servers {
		create(c.servers[i], c.database(i), c.nodesOf)
	}
	create(c.servers[0], name+"_single", func(logical string) []string { return []string{logical} })
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return c
}

func (c *cluster) database(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

// mode is a way to use GORM and the driver.
type mode struct {
	name   string
	gorm   gorm.Config
	params []string
	// returning is false where GORM takes the server for one without RETURNING.
	returning bool
	trust     bool
}

var modes = []mode{
	{name: "default", returning: true},
	{name: "skip default transaction", gorm: gorm.Config{SkipDefaultTransaction: true}},
	{name: "prepared", gorm: gorm.Config{PrepareStmt: true}, params: []string{"clientFoundRows=true"}, returning: true},
	{name: "interpolated", gorm: gorm.Config{SkipDefaultTransaction: true}, params: []string{"interpolateParams=true", "clientFoundRows=true"}},
}

// used are what was sent to the nodes, as source: SQL.
type used struct {
	mu    sync.Mutex
	units []string
}

func (u *used) trace(_ context.Context, unit sharding.UnitTrace) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.units = append(u.units, unit.DataSource+": "+unit.SQL)
}

// take returns what was sent since the last call, transactions apart.
func (u *used) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	units := slices.DeleteFunc(u.units, func(s string) bool { return !strings.Contains(s, " t_") && !strings.Contains(s, "`t_") })
	u.units = nil
	return units
}

// pair is one service on one database and on the cluster.
type pair struct {
	*cluster
	plain, sharded *gorm.DB
	nodes          []*gorm.DB
	sent           *used
	columns        map[string][]string // of the logical tables
	texts          []string            // that give all rows: of each node's server, and of the one database
	seeded         stored              // what seed stores, once it is known
}

// clock gives updated_at the same values on both sides.
var clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (c *cluster) open(t *testing.T, m mode) *pair {
	t.Helper()
	p := &pair{cluster: c, sent: &used{}}
	params := append([]string{"parseTime=true"}, m.params...)
	open := func(dsn string) *gorm.DB {
		cfg := m.gorm
		cfg.Logger = logger.Discard
		cfg.NowFunc = func() time.Time { return clock }
		db, err := gorm.Open(mysql.New(mysql.Config{DSN: dsn, SkipInitializeWithVersion: !m.returning}), &cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if pool, err := db.DB(); err == nil {
				_ = pool.Close()
			}
		})
		return db
	}
	p.plain = open(c.servers[0].DSN(c.name+"_single", params...))
	p.sharded = open(c.servers[0].DSN(c.database(0), params...))
	if err := p.sharded.Use(sharding.Register(c.config(m.trust, params...), sharding.WithUnitTrace(p.sent.trace))); err != nil {
		t.Fatal(err)
	}
	for i := range c.servers {
		p.nodes = append(p.nodes, open(c.servers[i].DSN(c.database(i), params...)))
	}
	p.columns = map[string][]string{}
	for logical := range c.definitions {
		var names []string
		p.must(t, p.plain.Raw("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position", logical).Scan(&names).Error)
		p.columns[logical] = names
	}
	for i := range p.nodes {
		p.texts = append(p.texts, p.all(i))
	}
	p.texts = append(p.texts, p.all(-1))
	for logical := range c.definitions {
		for _, node := range p.nodes {
			for _, table := range c.nodesOf(logical) {
				p.must(t, node.Exec("DELETE FROM "+table).Error)
			}
		}
		p.must(t, p.plain.Exec("DELETE FROM "+logical).Error)
	}
	return p
}

func (p *pair) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) config(trust bool, params ...string) *config.Config {
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0", Sharding: c.rules(trust)}
	for i := range c.servers {
		cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(c.servers[i].DSN(c.database(i), params...))}
	}
	return cfg
}

func standard(column, algorithm string) *config.Strategy {
	return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
}

func inline(expression string) config.Algorithm {
	return config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}
}

func usualRules(trust bool) config.Sharding {
	table := func(name, source, column, of string) config.Table {
		return config.Table{
			ActualDataNodes:  "ds${0..1}." + name + "_${0..1}",
			DatabaseStrategy: standard("user_id", source), TableStrategy: standard(column, of), TrustModel: trust,
		}
	}
	return config.Sharding{
		Tables: map[string]config.Table{
			"t_order": table("t_order", "source", "user_id", "order"),
			"t_item":  table("t_item", "source", "kind", "item"),
			"t_line":  table("t_line", "source", "user_id", "line"),
			"t_loose": table("t_loose", "source", "user_id", "loose"),
			"t_doc": {
				ActualDataNodes:  "ds${0..1}.t_doc_${0..1}",
				DatabaseStrategy: standard("region", "region"),
				TableStrategy:    &config.Strategy{Complex: &config.Complex{Columns: []string{"region", "tenant"}, Algorithm: "doc"}},
				TrustModel:       trust,
			},
		},
		BindingTables: [][]string{{"t_order", "t_line"}},
		Algorithms: map[string]config.Algorithm{
			"source": inline("ds${user_id % 2}"),
			"region": inline("ds${region % 2}"),
			"order":  inline("t_order_${user_id.intdiv(2) % 2}"),
			"line":   inline("t_line_${user_id.intdiv(2) % 2}"),
			"loose":  inline("t_loose_${user_id.intdiv(2) % 2}"),
			"item":   inline("t_item_${kind % 2}"),
			"doc":    {Type: "COMPLEX_INLINE", Props: map[string]any{"expression": "t_doc_${(region + tenant) % 2}"}},
		},
	}
}

// stored are the rows of all logical tables, each as one text, in the order of the
// texts.
type stored map[string][]string

// all returns a statement that gives every row of the tables of one server: its
// logical table, whether it belongs to another node, and its text. node is -1 for the
// one database.
func (p *pair) all(node int) string {
	var parts []string
	for logical := range p.definitions {
		text := "CONCAT_WS(',', QUOTE(`" + strings.Join(p.columns[logical], "`), QUOTE(`") + "`))"
		if node < 0 {
			parts = append(parts, "SELECT '"+logical+"', 0, "+text+" FROM "+logical)
			continue
		}
		for n, table := range p.nodesOf(logical) {
			wrong := "0"
			if condition := p.misplaced[logical]; condition != "" {
				condition = strings.Replace(condition, "<> %d", fmt.Sprint("<> ", node), 1)
				wrong = "IFNULL(" + strings.Replace(condition, "<> %d", fmt.Sprint("<> ", n), 1) + ", 0)"
			}
			parts = append(parts, "SELECT '"+logical+"', "+wrong+", "+text+" FROM "+table)
		}
	}
	return strings.Join(parts, " UNION ALL ")
}

// read adds what a server stores. It finds rows that are not on the node of their
// sharding values.
func (s stored) read(t *testing.T, db *gorm.DB, all string) {
	t.Helper()
	rows, err := db.Raw(all).Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var logical, text string
		var misplaced bool
		if err := rows.Scan(&logical, &misplaced, &text); err != nil {
			t.Fatal(err)
		}
		if misplaced {
			t.Fatalf("the row %s of %s belongs to another node", text, logical)
		}
		s[logical] = append(s[logical], text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// compare holds the rows of all tables against those of the one database, which it
// returns.
func (p *pair) compare(t *testing.T) stored {
	t.Helper()
	got, want := stored{}, stored{}
	for i, node := range p.nodes {
		got.read(t, node, p.texts[i])
	}
	want.read(t, p.plain, p.texts[len(p.nodes)])
	for logical := range p.definitions {
		slices.Sort(got[logical])
		slices.Sort(want[logical])
		if !slices.Equal(got[logical], want[logical]) {
			t.Fatalf("rows of %s\n on the nodes %v\n on one database %v", logical, got[logical], want[logical])
		}
	}
	return want
}
