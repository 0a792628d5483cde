//go:build unix

package stream_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/gormshard/sharding/tests/mariadb"
)

// wide is more than the sockets between server and client hold.
const wide = "REPEAT(pad, 80)"

var cutReads = []struct {
	name, query string
	perQuery    int // 1: an ordered merge buffers
}{
	{"iterate", "SELECT id, " + wide + " FROM t_row", 1},
	{"iterate over several connections", "SELECT id, " + wide + " FROM t_row", tables},
	{"ordered", "SELECT id, " + wide + " FROM t_row ORDER BY id", tables},
	{"paged", "SELECT id, " + wide + " FROM t_row ORDER BY id LIMIT 40000 OFFSET 10", tables},
	{"buffered", "SELECT id, " + wide + " FROM t_row ORDER BY id", 1},
}

// TestAStreamThatIsCutIsAnError: whatever was read of it, the rows do not end as if
// that was all.
func TestAStreamThatIsCutIsAnError(t *testing.T) {
	c := sharedCluster(t)
	watch := openPool(t, c.server.DSN(""))
	for i, tt := range cutReads {
		cfg := c.config(tt.perQuery, 8)
		cfg.Props.MaxMergeBytes = 1 << 30
		a := c.open(t, cfg)
		verbs := []string{"KILL", "KILL QUERY"}
		if !long {
			verbs = verbs[i%2 : i%2+1]
		}
		for _, verb := range verbs {
			killed := make(chan error, 1)
			kill := func() { killed <- killOne(watch, verb, c.database(0)) }
			n, err := readUntil(a, tt.query, tt.name == "buffered", kill)
			if e := <-killed; e != nil {
				t.Errorf("%s, %s: %v", tt.name, verb, e)
			}
			if err == nil || n >= c.rows {
				t.Errorf("%s, %s: %d rows and %v", tt.name, verb, n, err)
			}
			a.idle(t)
		}
	}
}

// TestAServerThatDiesInTheMiddleOfItsRowsIsAnError.
func TestAServerThatDiesInTheMiddleOfItsRowsIsAnError(t *testing.T) {
	server, err := mariadb.Start(t.Context(), mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c := &cluster{server: server, name: "dying", rows: 32_000}
	c.fill(t)
	watch := openPool(t, server.DSN(""))
	for _, tt := range cutReads {
		if !long && tt.name != "ordered" && tt.name != "buffered" {
			continue // every one costs a restart
		}
		cfg := c.config(tt.perQuery, 8)
		cfg.Props.MaxMergeBytes = 1 << 30
		a := c.open(t, cfg)
		died := make(chan error, 1)
		n, err := readUntil(a, tt.query, tt.name == "buffered", func() {
			if tt.name == "buffered" {
				_, _ = runningOn(watch, c.database(1))
			}
			died <- server.Kill()
		})
		if e := <-died; e != nil {
			t.Fatal(e)
		}
		if err == nil || n >= c.rows {
			t.Errorf("%s: %d rows and %v", tt.name, n, err)
		}
		a.idle(t)
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// readUntil reads a query and calls cut after some rows, or while the query runs.
func readUntil(a *app, query string, buffered bool, cut func()) (int, error) {
	if buffered {
		go cut()
	}
	rows, err := a.Raw(query).Rows()
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for rows.Next() {
		if n++; n == 50 && !buffered {
			cut()
		}
	}
	return n, rows.Err()
}

// killOne kills a connection that reads from a database, as soon as there is one.
func killOne(watch *sql.DB, verb, database string) error {
	id, err := runningOn(watch, database)
	if err == nil {
		_, err = watch.Exec(fmt.Sprintf("%s %d", verb, id))
	}
	return err
}

// runningOn waits for a connection that reads wide rows from a database.
func runningOn(watch *sql.DB, database string) (id int64, err error) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		err = watch.QueryRow("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND INFO LIKE 'SELECT id, REPEAT%' LIMIT 1", database).Scan(&id)
		if err == nil {
			return id, nil
		}
	}
	return 0, err
}
