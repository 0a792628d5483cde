//go:build unix

// Package strategies_test runs tables of every sharding strategy on a real
// server, beside one unsharded database that says what the answers are.
package strategies_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
	"github.com/gormshard/sharding/tests/rowtext"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m))
}

// service is an application on two databases of one server, and one database
// that is not sharded.
type service struct {
	db     *gorm.DB
	plugin *sharding.Plugin
	pool   *sql.DB // the application's, through the plugin
	nodes  []*sql.DB
	single *sql.DB
}

// open makes the databases, the tables on the nodes and in the unsharded database.
// sharding is the part of the configuration below that key.
func open(t *testing.T, name, sharded string, tables ...string) *service {
	t.Helper()
	server := mariadb.Shared(t, 1)[0]
	s := &service{}
	for _, database := range []string{name + "_0", name + "_1", name} {
		if err := server.CreateDatabase(t.Context(), database); err != nil {
			t.Fatal(err)
		}
		pool, err := sql.Open("mysql", server.DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		s.nodes = append(s.nodes, pool)
	}
	s.single, s.nodes = s.nodes[2], s.nodes[:2]
	cfg, err := config.Parse([]byte(fmt.Sprintf("dataSources: {ds0: {dsn: %q}, ds1: {dsn: %q}}\ndefaultDataSource: ds0\nsharding:\n%s",
		server.DSN(name+"_0"), server.DSN(name+"_1"), sharded)), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.plugin = sharding.Register(cfg)
	s.db, err = gorm.Open(gormmysql.Open(string(cfg.DataSources["ds0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Use(s.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.pool, err = s.db.DB(); err != nil {
		t.Fatal(err)
	}
	for _, ddl := range tables {
		s.exec(t, "CREATE TABLE "+ddl)
	}
	return s
}

// exec runs a statement through the plugin and on the unsharded database.
func (s *service) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	for _, pool := range []*sql.DB{s.pool, s.single} {
		if _, err := pool.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s with %v\n%v", statement, args, err)
		}
	}
}

// same asks both and compares the rows without their order.
func (s *service) same(t *testing.T, query string, args ...any) {
	t.Helper()
	got, want := lines(t.Context(), t, s.pool, query, args...), lines(t.Context(), t, s.single, query, args...)
	if !slices.Equal(got, want) {
		t.Errorf("%s with %q\n  got  %q\n  want %q", query, args, got, want)
	}
}

// units returns how many nodes a statement goes to.
func (s *service) units(ctx context.Context, t *testing.T, query string, args ...any) int {
	t.Helper()
	p, err := s.plugin.Preview(ctx, query, args...)
	if err != nil {
		t.Fatalf("%s with %q: %v", query, args, err)
	}
	return len(p.Units)
}

// lines asks for rows, each as one line, and sorts them.
func lines(ctx context.Context, t *testing.T, pool *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := pool.QueryContext(ctx, query, args...) //nolint:rowserrcheck // Lines checks it
	if err != nil {
		t.Fatalf("%s with %q\n%v", query, args, err)
	}
	out, err := rowtext.Lines(rows)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
