//go:build unix

// Package session_test runs what concerns the session, the transaction and the
// accounts on data sources of private MariaDB servers, two schemas on each of
// two, and holds answers against those of one unsharded database.
package session_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}

const sources = 4

// cluster is four data sources on two servers, and a database that is not
// sharded. t_note has one node in each data source, by id; t_flag is broadcast;
// audit is a single table.
type cluster struct {
	servers []*mariadb.Server
	name    string
	cfg     *config.Config
	db      *gorm.DB
	plugin  *sharding.Plugin
	single  *gorm.DB

	mu   sync.Mutex
	sent []string
}

const (
	noteTable  = "CREATE TABLE t_note%s (id bigint NOT NULL PRIMARY KEY, body varchar(50), at timestamp(6) NULL)"
	flagTable  = "CREATE TABLE t_flag (id bigint NOT NULL PRIMARY KEY, name varchar(20))"
	auditTable = "CREATE TABLE audit (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, body varchar(50))"
)

// start makes the databases and opens GORM on both sides.
func start(t *testing.T, change func(*config.Config), n int) *cluster {
	t.Helper()
	c := &cluster{servers: mariadb.Shared(t, 2), name: strings.ToLower(strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()))}
	if len(c.name) > 40 {
		c.name = c.name[:40]
	}
	c.cfg = &config.Config{
		DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0", Schema: c.name,
		Sharding: config.Sharding{
			Tables: map[string]config.Table{"t_note": {
				ActualDataNodes:  fmt.Sprintf("ds${0..%d}.t_note_n", n-1),
				DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "mod"}},
			}},
			BroadcastTables: []string{"t_flag"},
			Algorithms:      map[string]config.Algorithm{"mod": {Type: "MOD", Props: map[string]any{"shardingCount": n}}},
		},
	}
	for i := range n {
		ddl := []string{fmt.Sprintf(noteTable, "_n"), flagTable}
		if i == 0 {
			ddl = append(ddl, auditTable)
		}
		c.create(t, c.servers[i%2], c.schema(i), ddl)
		c.cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(c.servers[i%2].DSN(c.schema(i))), MaxOpenConns: 5, MaxIdleConns: 5}
	}
	c.create(t, c.servers[0], c.name, []string{fmt.Sprintf(noteTable, ""), flagTable, auditTable})
	if change != nil {
		change(c.cfg)
	}
	c.plugin = sharding.Register(c.cfg, sharding.WithUnitTrace(func(_ context.Context, u sharding.UnitTrace) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sent = append(c.sent, u.DataSource+" "+u.SQL)
	}))
	c.db = openGORM(t, c.servers[0].DSN(c.schema(0)))
	if err := c.db.Use(c.plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name := range c.cfg.DataSources {
			pool, err := c.plugin.DataSource(name).DB()
			if err != nil {
				t.Fatal(err)
			}
			if n := pool.Stats().InUse; n != 0 {
				t.Errorf("%s has %d connections in use", name, n)
			}
		}
		if err := c.plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	c.single = openGORM(t, c.servers[0].DSN(c.name))
	pool, err := c.single.DB()
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxIdleConns(-1) // database/sql would give a session on to the next borrower
	return c
}

func (c *cluster) schema(i int) string { return fmt.Sprintf("%s_%d", c.name, i) }

func (c *cluster) create(t *testing.T, server *mariadb.Server, schema string, ddl []string) {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("mysql", server.DSN(schema))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, statement := range ddl {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func openGORM(t *testing.T, dsn string) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(gormmysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

// take returns what was sent since the last call.
func (c *cluster) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}

// step is one statement: a query when want is to be compared, else none.
func run(db *gorm.DB, query string) string {
	var rows []map[string]any
	var err error
	verb, _, _ := strings.Cut(query, " ")
	switch verb {
	case "SELECT", "SHOW":
		err = db.Raw(query).Scan(&rows).Error
	default:
		err = db.Exec(query).Error
	}
	if err != nil {
		var server *mysql.MySQLError
		if errors.As(err, &server) {
			return fmt.Sprintf("error %d", server.Number)
		}
		return "error " + err.Error()
	}
	return fmt.Sprint(rows)
}

// onConnection runs statements on one connection.
func onConnection(t *testing.T, db *gorm.DB, script []string) (out []string) {
	t.Helper()
	err := db.WithContext(t.Context()).Connection(func(tx *gorm.DB) error {
		for _, query := range script {
			out = append(out, run(tx.Session(&gorm.Session{NewDB: true}), query))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// same runs a script on a connection of either side and compares every answer.
func (c *cluster) same(t *testing.T, script ...string) {
	t.Helper()
	want, got := onConnection(t, c.single, script), onConnection(t, c.db, script)
	for i := range script {
		if want[i] != got[i] {
			t.Errorf("%s\nsingle  %s\nsharded %s", script[i], want[i], got[i])
		}
	}
}

func (c *cluster) fill(t *testing.T) {
	t.Helper()
	for _, db := range []*gorm.DB{c.db, c.single} {
		for _, statement := range []string{
			"SET time_zone = '+00:00'",
			"INSERT INTO t_note (id, body, at) VALUES (1, 'a', '2024-01-01 00:00:00'), (2, 'b', '2024-01-02 00:00:00'), (3, 'c', '2024-01-03 00:00:00'), (4, 'd', NULL), (5, 'e', '2024-07-01 12:00:00')",
			"INSERT INTO t_flag (id, name) VALUES (1, 'on')",
		} {
			if strings.HasPrefix(statement, "SET") {
				continue // the servers are in UTC
			}
			if err := db.Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSessionsOfOneConnectionAreThoseOfOneDatabase(t *testing.T) {
	c := start(t, nil, sources)
	c.fill(t)
	notes := "SELECT id, CAST(at AS CHAR) AS at, body FROM t_note ORDER BY id"
	for name, script := range map[string][]string{
		"time zone": {
			notes, "SET time_zone = '+05:30'", notes, "SELECT id, @@time_zone AS z, CAST(at AS CHAR) AS at FROM t_note WHERE id = 3", "SELECT @@time_zone AS z",
			"INSERT INTO t_note (id, at) VALUES (20, '2024-05-05 00:00:00'), (21, '2024-05-05 00:00:00'), (22, '2024-05-05 00:00:00')",
			"SET SESSION time_zone = '-03:00', @@session.unique_checks = 0", notes, "SELECT MAX(at) AS m, MIN(at) AS n FROM t_note", "DELETE FROM t_note WHERE id >= 20",
		},
		"a zone the server does not know": {"SET time_zone = 'Mars/North'", "SELECT @@time_zone AS z", notes},
		"transactions": {
			"BEGIN", "INSERT INTO t_note (id, body) VALUES (30, 'x'), (31, 'y')", "SAVEPOINT a", "UPDATE t_note SET body = 'z' WHERE id IN (30, 31)", "SELECT id, body FROM t_note WHERE id >= 30 ORDER BY id",
			"ROLLBACK TO SAVEPOINT a", "SELECT id, body FROM t_note WHERE id >= 30 ORDER BY id", "RELEASE SAVEPOINT a", "COMMIT", "SELECT id, body FROM t_note WHERE id >= 30 ORDER BY id",
			"START TRANSACTION", "DELETE FROM t_note WHERE id >= 30", "ROLLBACK AND CHAIN", "DELETE FROM t_note WHERE id = 30", "BEGIN", "DELETE FROM t_note WHERE id = 31", "ROLLBACK WORK",
			"SELECT id, body FROM t_note WHERE id >= 30 ORDER BY id", "DELETE FROM t_note WHERE id >= 30",
		},
		"read only": {
			"START TRANSACTION READ ONLY", "INSERT INTO t_note (id) VALUES (40)", "SELECT COUNT(*) AS n FROM t_note", "COMMIT",
			"SET SESSION TRANSACTION READ ONLY", "DELETE FROM t_note WHERE id = 1", "SET SESSION TRANSACTION READ WRITE, ISOLATION LEVEL READ COMMITTED",
			"SELECT @@tx_isolation AS i, @@tx_read_only AS r, id FROM t_note WHERE id = 2",
		},
		"safe updates": {"SET sql_safe_updates = 1", "DELETE FROM t_note WHERE body = 'nobody'", "DELETE FROM audit", "SET sql_safe_updates = 0", "DELETE FROM audit"},
		"time limit":   {"SET max_statement_time = 0.05", "SELECT SLEEP(1) AS s, id FROM t_note WHERE id = 1", "SELECT id FROM t_note WHERE id = 1"},
		"user variables": {
			"SET @a = 'a', @n = 2", "SELECT @a AS a", "SELECT id, body FROM t_note WHERE id = @n AND id = 2", "SELECT id FROM t_note WHERE id = 1 AND body = @a", "SELECT @r := @r + 1 AS r FROM audit, (SELECT @r := 0) x",
			"SET @a = 'b'", "SELECT @a AS a, id FROM t_note WHERE id = 3",
			"SELECT COUNT(*) FROM audit INTO @n", "SELECT @n AS n", "SELECT @A := @a AS a, @b := id AS b FROM t_note WHERE id = 3", "SELECT body FROM t_note WHERE id = 3 AND @b = 3", "SET @a = 'c', @b = 4",
			"SELECT id FROM t_note WHERE id = 1 AND @b = 4", "SELECT @a AS a, @b AS b",
		},
		"temporary tables": {
			"CREATE TEMPORARY TABLE picked (id bigint PRIMARY KEY)", "INSERT INTO picked VALUES (1), (2)", "SELECT COUNT(*) AS n FROM picked", "BEGIN", "INSERT INTO picked VALUES (3)", "ROLLBACK",
			"SELECT COUNT(*) AS n FROM picked", "SELECT p.id, f.name FROM picked p JOIN t_flag f ON f.id = p.id", "DROP TEMPORARY TABLE picked", "SELECT 1 AS x FROM picked",
		},
		"locks": {"SELECT GET_LOCK('l', 0) AS l", "SELECT IS_FREE_LOCK('l') AS f", "SELECT RELEASE_LOCK('l') AS r", "DO RELEASE_ALL_LOCKS()"},
		"inserted ids": {
			"BEGIN", "INSERT INTO audit (body) VALUES ('x')", "SELECT ROW_COUNT() AS n", "INSERT INTO audit (id, body) VALUES (LAST_INSERT_ID() + 100, 'y')", "SELECT COUNT(*) AS n FROM audit", "SELECT FOUND_ROWS() AS n", "ROLLBACK",
		},
		"USE":      {"USE " + c.name, "SELECT COUNT(*) AS n FROM t_note"},
		"DDL":      {"SET foreign_key_checks = 0", "ALTER TABLE t_note ADD COLUMN extra int", "SELECT extra FROM t_note WHERE id = 1", "ALTER TABLE t_note DROP COLUMN extra"},
		"keys off": {"SET FOREIGN_KEY_CHECKS = 0;", "SELECT @@foreign_key_checks AS f, id FROM t_note WHERE id = 3", "SET FOREIGN_KEY_CHECKS = 1;", "SELECT @@foreign_key_checks AS f, id FROM t_note WHERE id = 2"},
	} {
		t.Run(name, func(t *testing.T) { c.same(t, script...) })
	}
}

func TestSettingsDoNotReachTheNextBorrower(t *testing.T) {
	c := start(t, func(cfg *config.Config) {
		for name, s := range cfg.DataSources {
			s.MaxOpenConns, s.MaxIdleConns = 1, 1
			cfg.DataSources[name] = s
		}
	}, sources)
	c.fill(t)
	state := func(db *gorm.DB) (out []string) {
		for id := range sources {
			out = append(out, run(db, fmt.Sprintf("SELECT @@time_zone AS z, @@foreign_key_checks AS f, @@tx_isolation AS i FROM t_note WHERE id = %d", id+1)))
		}
		return append(out, run(db, "SELECT IS_FREE_LOCK('mine') AS l"))
	}
	before := fmt.Sprint(state(c.db))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	db := c.db.WithContext(ctx)
	set := func(tx *gorm.DB) error {
		for _, query := range []string{
			"SET time_zone = '+05:00', foreign_key_checks = 0", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET @a = 1", "UPDATE t_note SET body = 'q'", "SELECT GET_LOCK('mine', 0)",
			"UPDATE t_flag SET name = 'off'", "SELECT COUNT(*) FROM t_note",
		} {
			if got := run(tx.Session(&gorm.Session{NewDB: true, Context: ctx}), query); strings.HasPrefix(got, "error") {
				t.Errorf("%s: %s", query, got)
			}
		}
		if during := fmt.Sprint(state(tx.Session(&gorm.Session{NewDB: true, Context: ctx}))); during == before || !strings.Contains(during, "+05:00") || strings.Contains(during, "UTC") {
			t.Errorf("the session does not see its settings: %s", during)
		}
		return nil
	}
	for name, err := range map[string]error{
		"connection":  db.Connection(set),
		"transaction": db.Transaction(set),
		"both": db.Connection(func(tx *gorm.DB) error {
			return tx.Transaction(set)
		}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A closed connection's session ends a moment after it.
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		after := fmt.Sprint(state(c.db))
		if after == before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("before %s\nafter  %s", before, after)
		}
	}
}

func TestForgottenTransactionAsTextLeavesNothing(t *testing.T) {
	c := start(t, nil, sources)
	c.fill(t)
	for _, leave := range []func(){
		func() { onConnection(t, c.db, []string{"BEGIN", "DELETE FROM t_note"}) },
		func() {
			ctx, cancel := context.WithCancel(t.Context())
			_ = c.db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
				tx = tx.Session(&gorm.Session{NewDB: true, Context: ctx})
				run(tx, "SET unique_checks = 0")
				run(tx, "BEGIN")
				run(tx, "DELETE FROM t_note")
				time.AfterFunc(30*time.Millisecond, cancel)
				if got := run(tx, "SELECT SLEEP(5), id FROM t_note WHERE id = 1 UNION SELECT SLEEP(5), 1"); !strings.HasPrefix(got, "error") {
					t.Errorf("a cancelled statement gave %s", got)
				}
				return nil
			})
		},
	} {
		leave()
		for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if got := run(c.db, "SELECT COUNT(*) AS n FROM t_note"); got == "[map[n:5]]" {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("rows afterwards: %s", got)
			}
		}
	}
}

// Note is a model of the sharded table, Audit of the single one.
type Note struct {
	ID   int64
	Body string
}

func (Note) TableName() string { return "t_note" }

type Audit struct {
	ID   int64
	Body string
}

func (Audit) TableName() string { return "audit" }

func TestMigratorDropsTables(t *testing.T) {
	c := start(t, nil, sources)
	c.fill(t)
	for _, prepare := range []bool{false, true} {
		db := c.db.Session(&gorm.Session{PrepareStmt: prepare})
		if err := db.Migrator().DropTable(&Audit{}, &Note{}); err != nil {
			t.Fatalf("prepared %t: %v", prepare, err)
		}
		for _, table := range []string{"audit", "t_note"} {
			if got := run(c.db, "SELECT id FROM "+table); got != "error 1146" {
				t.Errorf("%s after DropTable: %s", table, got)
			}
		}
		if err := c.db.AutoMigrate(&Audit{}, &Note{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAccountsAreMadeOnceOnEveryServer(t *testing.T) {
	c := start(t, nil, sources)
	c.fill(t)
	user := "u_" + c.name[:8]
	t.Cleanup(func() { c.db.Exec("DROP USER IF EXISTS " + user) })
	exec := func(query string) []string {
		t.Helper()
		c.take()
		if err := c.db.Exec(query).Error; err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		sent := c.take()
		for _, s := range sent {
			if strings.Contains(s, "s3cret") {
				t.Errorf("the trace shows the password: %s", s)
			}
		}
		return sent
	}
	// A second time on one server would be error 1396.
	if sent := exec("CREATE USER " + user + " IDENTIFIED BY 's3cret'"); len(sent) != 2 {
		t.Errorf("sent %v, want one statement for each of two servers", sent)
	}
	if sent := exec("GRANT SELECT (id, body) ON t_note TO " + user); len(sent) != sources {
		t.Errorf("sent %v, want one statement for each node", sent)
	}
	exec("GRANT INSERT ON " + c.name + ".t_flag TO " + user)
	exec("FLUSH PRIVILEGES")
	check := func(i int, query, want string) {
		t.Helper()
		dsn, err := mysql.ParseDSN(c.servers[i%2].DSN(c.schema(i)))
		if err != nil {
			t.Fatal(err)
		}
		dsn.User, dsn.Passwd = user, "s3cret"
		pool, err := sql.Open("mysql", dsn.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		_, err = pool.ExecContext(t.Context(), query)
		got := "done"
		var server *mysql.MySQLError
		if errors.As(err, &server) {
			got = fmt.Sprint(server.Number)
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ds%d: %s: %s, want %s", i, query, got, want)
		}
	}
	for i := range sources {
		check(i, "SELECT id FROM t_note_n", "done")
		check(i, "SELECT at FROM t_note_n", "1143")
		check(i, "INSERT INTO t_flag VALUES (77, 'x')", "done")
		check(i, "DELETE FROM t_flag", "1142")
	}
	exec("GRANT DELETE ON " + c.name + ".* TO " + user)
	for i := range sources {
		check(i, "DELETE FROM t_flag", "done")
	}
	exec("REVOKE DELETE ON `" + c.name + "`.* FROM " + user)
	exec("REVOKE ALL PRIVILEGES, GRANT OPTION FROM " + user)
	check(0, "SELECT id FROM t_note_n", "1044")
	if sent := exec("SET PASSWORD FOR " + user + " = PASSWORD('s3cret')"); len(sent) != 2 {
		t.Errorf("sent %v", sent)
	}
	exec("DROP USER " + user)
	err := c.db.Exec("DROP USER " + user).Error
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("dropping what is not there: %v", err)
	}
	if sent := exec("SET GLOBAL long_query_time = 10"); len(sent) != 2 {
		t.Errorf("sent %v, want one statement for each of two servers", sent)
	}
}

// One data source has one session behind the logical one.
func TestOneDataSourceAllowsWhatConcernsOneServer(t *testing.T) {
	c := start(t, nil, 1)
	c.fill(t)
	for _, db := range []*gorm.DB{c.db, c.single} {
		if err := db.Exec("CREATE PROCEDURE note_of(IN n bigint) SELECT n AS n").Error; err != nil {
			t.Fatal(err)
		}
	}
	c.same(t, "LOCK TABLES audit WRITE", "INSERT INTO audit (body) VALUES ('x')", "SELECT COUNT(*) AS n FROM t_flag WHERE id = 1", "UNLOCK TABLES", "SELECT COUNT(*) AS n FROM audit",
		"CALL note_of(5)", "FLUSH STATUS", "KILL 0")
	var refused *sharding.UnsupportedError
	if err := c.db.Exec("CALL note_of(5)").Error; !errors.As(err, &refused) {
		t.Errorf("CALL on the pool: %v", err)
	}
}

// A connection goes on after a refusal.
func TestRefusedStatementsLeaveTheSessionAsItIs(t *testing.T) {
	c := start(t, nil, sources)
	c.fill(t)
	c.take()
	err := c.db.Connection(func(tx *gorm.DB) error {
		fresh := func() *gorm.DB { return tx.Session(&gorm.Session{NewDB: true}) }
		run(fresh(), "SET @a = 1")
		for _, query := range []string{
			"SET autocommit = 0", "SET NAMES latin1", "SET sql_mode = ''", "COMMIT", "LOCK TABLES audit WRITE", "CALL p()", "KILL 1", "USE mysql", "SELECT @m := MAX(id) FROM t_note",
			"SELECT id FROM t_note WHERE id = 1 AND body = LAST_INSERT_ID()", "SELECT GET_LOCK('x', 0) FROM t_note WHERE id = 2", "XA START 'x'", "PREPARE s FROM 'SELECT 1'",
		} {
			if got := run(fresh(), query); !strings.Contains(got, "unsupported") {
				t.Errorf("%s: %s", query, got)
			}
		}
		// Assigned on ds2 by an expression, and unknown elsewhere.
		if got := run(fresh(), "SELECT @m := body AS b FROM t_note WHERE id = 2"); got != "[map[b:b]]" {
			t.Error(got)
		}
		if got := run(fresh(), "SELECT @m AS m FROM t_note WHERE id = 2"); got != "[map[m:b]]" {
			t.Error(got)
		}
		if got := run(fresh(), "SELECT @m AS m FROM t_note WHERE id = 3"); !strings.Contains(got, "unsupported") {
			t.Errorf("a variable of another data source: %s", got)
		}
		if got := run(fresh(), "SELECT @a AS a"); got != "[map[a:1]]" {
			t.Error(got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
