//go:build unix

package migrate_test

import (
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/mariadb"
)

// TestAutoMigrateCompletesWhatAKilledServerLeft kills the server of one data source
// while a node of it is being altered, migrates in vain, and once more when it is back.
func TestAutoMigrateCompletesWhatAKilledServerLeft(t *testing.T) {
	if !long() {
		t.Skip("a server of its own takes long to start: SHARDING_TEST_LONG=1 runs it")
	}
	mortal, err := mariadb.Start(t.Context(), mariadb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mortal.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := clusterOn(t, "killed", []*mariadb.Server{mariadb.Shared(t, 1)[0], mortal})
	a, plain := c.sharded(t), c.plain(t)
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := c.pools[1].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES t_order_1 READ"); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- a.Table("t_order").AutoMigrate(&Later{}) }()
	for waiting := 0; waiting == 0 && len(result) == 0; {
		if err := c.pools[1].QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata%'").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	if err := mortal.Kill(); err != nil {
		t.Fatal(err)
	}
	var failed *sharding.NodesError
	if err := <-result; !errors.As(err, &failed) || failed.Nodes[0].DataSource != "ds1" {
		t.Errorf("with the server killed: %v", err)
	}
	if err := a.Table("t_order").AutoMigrate(&Later{}); err == nil {
		t.Error("without the server it succeeded")
	}
	if err := mortal.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Later{}); err != nil {
			t.Error(err)
		}
	}
	c.alike(t, "after the server is back", plain, "t_order")
}
