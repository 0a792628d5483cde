//go:build unix

package broadcast_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

const region = "CREATE TABLE t_region (country int, code varchar(10), name varchar(50), PRIMARY KEY (country, code))"

func TestRowsThatAreMissingExtraOrDifferentAreNamed(t *testing.T) {
	c := newCopies(t, "rows", []string{"t_region", "t_other"}, region, "CREATE TABLE t_other (id int PRIMARY KEY)").open(t)
	c.everywhere(t, "INSERT INTO t_region VALUES (1, 'a', 'x'), (1, 'b', 'y'), (2, 'a', 'z'), (2, 'B', 'z')")
	c.run(t, 1, "DELETE FROM t_region WHERE country = 1 AND code = 'a'")
	c.run(t, 2, "UPDATE t_region SET name = 'other' WHERE country = 1 AND code = 'a'")
	c.run(t, 0, "DELETE FROM t_region WHERE country = 2 AND code = 'a'")
	c.run(t, 2, "UPDATE t_region SET code = 'b' WHERE country = 2 AND code = 'B'") // equal to the collation

	found := c.check(t, "t_region")
	got := map[string]bool{}
	for _, d := range found.Differences {
		got[fmt.Sprintf("%s %s %s", strings.Join(d.Key, ","), d.Kind, strings.Join(d.DataSources, " "))] = true
	}
	want := []string{"1,a missing ds1", "1,a different ds2", "2,a extra ds1 ds2", "2,B missing ds2", "2,b extra ds2"}
	for _, line := range want {
		if !got[line] {
			t.Errorf("lacks %q", line)
		}
	}
	if len(got) != len(want) || found.More || found.Consistent() || strings.Join(found.Key, " ") != "country code" {
		t.Errorf("got %s", found.String())
	}
	if rows := []uint64{found.Copies[0].Rows, found.Copies[1].Rows, found.Copies[2].Rows}; rows[0] != 3 || rows[1] != 3 || rows[2] != 4 {
		t.Errorf("got %d rows", rows)
	}

	all, err := c.plugin.CheckBroadcast(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Tables) != 2 || all.Consistent() || !all.Tables[0].Consistent() || all.Tables[0].Name != "t_other" {
		t.Errorf("all tables: %s", all)
	}
}

func TestTheListOfDifferencesHasAnEnd(t *testing.T) {
	c := newCopies(t, "most", []string{"t_region"}, region)
	c.cfg.Sharding.BroadcastCheck = config.BroadcastCheck{MaxDifferences: 7}
	c.open(t)
	c.run(t, 1, "INSERT INTO t_region SELECT seq, 'x', 'y' FROM seq_1_to_7")
	if found := c.check(t, "t_region"); len(found.Differences) != 7 || found.More {
		t.Errorf("seven differences: %s", found.String())
	}
	c.run(t, 1, "INSERT INTO t_region SELECT seq, 'x', 'y' FROM seq_8_to_3000")
	if found := c.check(t, "t_region"); len(found.Differences) != 7 || !found.More || found.Copies[1].Rows != 3000 {
		t.Errorf("three thousand: %s", found.String())
	}
}

func TestRowsWithoutAKeyAreCountedAndSummed(t *testing.T) {
	c := newCopies(t, "keyless", []string{"t_log"}, "CREATE TABLE t_log (a varchar(10), b int)").open(t)
	c.run(t, 0, "INSERT INTO t_log VALUES ('x', 1), ('y', 2), ('x', 1)")
	c.run(t, 1, "INSERT INTO t_log VALUES ('x', 1), ('x', 1), ('y', 2)")
	c.run(t, 2, "INSERT INTO t_log VALUES ('y', 2), ('x', 1), ('x', 1)")
	if found := c.check(t, "t_log"); !found.Consistent() || len(found.Key) != 0 {
		t.Errorf("in another order: %s", found.String())
	}
	c.run(t, 2, "UPDATE t_log SET a = 'y', b = 2 WHERE a = 'x' LIMIT 1") // the same rows, another number of each
	found := c.check(t, "t_log")
	if found.Consistent() || len(found.Differences) != 0 || !strings.Contains(found.String(), "no primary key") {
		t.Errorf("one row twice instead of the other: %s", found.String())
	}
	if found.Copies[0].Checksum != found.Copies[1].Checksum || found.Copies[0].Checksum == found.Copies[2].Checksum {
		t.Errorf("checksums: %+v", found.Copies)
	}
}

func TestDefinitionsAreCompared(t *testing.T) {
	c := newCopies(t, "defined", []string{"t_a", "t_b", "t_c", "t_d", "t_view", "t_none"},
		"CREATE TABLE t_a (id int PRIMARY KEY, v varchar(10))", "CREATE TABLE t_b (id int PRIMARY KEY, v varchar(10))",
		"CREATE TABLE t_c (id int PRIMARY KEY, v int)", "CREATE TABLE t_d (id int PRIMARY KEY, v int NOT NULL)",
		"CREATE VIEW t_view AS SELECT id FROM t_a")
	for i := range sources {
		c.run(t, i, "INSERT INTO t_a VALUES (1, 'x')")
	}
	c.open(t)
	c.run(t, 1, "ALTER TABLE t_a ADD KEY (v)")
	c.run(t, 2, "ALTER TABLE t_b MODIFY v varchar(11)")
	c.run(t, 1, "DROP TABLE t_c")
	c.run(t, 2, "ALTER TABLE t_d DROP PRIMARY KEY, ADD PRIMARY KEY (v)")
	report, err := c.plugin.CheckBroadcast(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"t_a: the definitions differ, the rows do not\n  ds1: ",
		"t_b: the rows were not compared: they have other columns in ds2\n  ds2: has \"`v` varchar(11)",
		"t_c: the definitions differ, the rows do not\n  ds1: the table does not exist\n",
		"t_d: the rows were not compared: they have another primary key in ds2\n  ds2: ",
		"t_none: no data source has it\n",
		"t_view: alike, 1 rows\n",
	} {
		table := report.Tables[i]
		if !strings.HasPrefix(table.String(), want) {
			t.Errorf("got  %s\nwant %s", table.String(), want)
		}
		if table.Consistent() != (i >= 4) {
			t.Errorf("%s: consistent is %v", table.Name, table.Consistent())
		}
	}
}

func TestWhatCannotBeCheckedIsAnError(t *testing.T) {
	c := newCopies(t, "wrong", []string{"t_region"}, region).open(t)
	_, err := c.plugin.CheckBroadcast(t.Context(), "t_regions")
	var unknown *sharding.RouteError
	if !errors.As(err, &unknown) || !errors.Is(err, sharding.ErrUnknownTable) || unknown.Table != "t_regions" || !strings.Contains(err.Error(), "t_region\"") {
		t.Errorf("unknown table: %v", err)
	}
	c.run(t, 1, "DROP DATABASE wrong_1")
	_, err = c.plugin.CheckBroadcast(t.Context())
	var node *sharding.NodeError
	if !errors.As(err, &node) || node.DataSource != "ds1" {
		t.Errorf("no database: %v", err)
	}
}

// Bytes_sent counts what the server sends over all connections.
func TestDifferencesAreNarrowedWithoutReadingTheTable(t *testing.T) {
	c := newCopies(t, "narrow", []string{"t_big"}, "CREATE TABLE t_big (id int PRIMARY KEY, v varchar(200))",
		"INSERT INTO t_big SELECT seq, REPEAT('x', 200) FROM seq_1_to_30000").open(t)
	c.run(t, 1, "UPDATE t_big SET v = 'y' WHERE id = 12345")
	sent := func() (n int) {
		var name string
		if err := c.pools[0].QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Bytes_sent'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := sent()
	found := c.check(t, "t_big")
	if got := sent() - before; got > 1_000_000 { // of 18 million
		t.Errorf("the server sent %d bytes", got)
	}
	if len(found.Differences) != 1 || found.Differences[0].Key[0] != "12345" {
		t.Errorf("got %s", found.String())
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	c := newCopies(t, "cancelled", []string{"t_region"}, region).open(t)
	if found := c.check(t, "t_region"); !found.Consistent() {
		t.Fatal(found.String())
	}
	holder, err := c.pools[1].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "LOCK TABLES t_region WRITE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	started := time.Now()
	var both sync.WaitGroup
	for range 2 { // the second waits for the first
		both.Go(func() {
			if _, err := c.plugin.CheckBroadcast(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
	both.Wait()
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := holder.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	if found := c.check(t, "t_region"); !found.Consistent() {
		t.Error(found.String())
	}
}

// While the plugin writes to all copies, a check may find rows under way. It must
// neither fail nor go on forever, and afterwards all is alike.
func TestACheckWorksBesideWriters(t *testing.T) {
	c := newCopies(t, "writers", []string{"t_region"}, region).open(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := c.db.Exec("REPLACE INTO t_region VALUES (?, 'x', ?)", w, i).Error; err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 10 {
		c.check(t, "t_region")
	}
	stop()
	writers.Wait()
	if found := c.check(t, "t_region"); !found.Consistent() || found.Copies[0].Rows != 2 {
		t.Error(found.String())
	}
}
