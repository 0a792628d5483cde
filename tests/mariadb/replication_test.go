//go:build unix

package mariadb_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/gormshard/sharding/tests/mariadb"
)

func TestReplicasFollowStopAndAreDelayed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	primary, replicas, err := mariadb.StartReplicated(ctx, 1, mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	replica := replicas[0]
	defer func() {
		for _, s := range []*mariadb.Server{primary, replica} {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	}()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pool := func(s *mariadb.Server) *sql.DB {
		db, err := sql.Open("mysql", s.DSN("app"))
		check(err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	write := func(statement string) {
		t.Helper()
		_, err := pool(primary).ExecContext(ctx, statement)
		check(err)
	}
	rows := func() (n int) {
		t.Helper()
		check(pool(replica).QueryRowContext(ctx, "SELECT COUNT(*) FROM t").Scan(&n))
		return n
	}

	check(primary.CreateDatabase(ctx, "app"))
	write("CREATE TABLE t (id int PRIMARY KEY)")
	write("INSERT INTO t VALUES (1)")
	check(replica.CatchUp(ctx, primary))
	if n := rows(); n != 1 {
		t.Fatalf("%d rows on the replica, want 1", n)
	}
	check(replica.StopReplicating(ctx, mariadb.SQLThread))
	write("INSERT INTO t VALUES (2)")
	time.Sleep(100 * time.Millisecond)
	if n := rows(); n != 1 {
		t.Errorf("%d rows while the SQL thread is stopped, want 1", n)
	}
	check(replica.Replicate(ctx, mariadb.SQLThread))
	check(replica.CatchUp(ctx, primary))

	check(replica.Delay(ctx, time.Minute))
	write("INSERT INTO t VALUES (3)")
	time.Sleep(100 * time.Millisecond)
	if n := rows(); n != 2 {
		t.Errorf("%d rows while the replica is delayed, want 2", n)
	}
	check(replica.Delay(ctx, 0))
	check(replica.CatchUp(ctx, primary))

	check(replica.Kill())
	write("INSERT INTO t VALUES (4)")
	check(replica.Restart(ctx))
	check(replica.CatchUp(ctx, primary)) // replication starts by itself
	if n := rows(); n != 4 {
		t.Errorf("%d rows after a crash of the replica, want 4", n)
	}
}
