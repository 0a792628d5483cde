//go:build unix

package stream_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

// TestRowsAreCountedByOneStatementOfEachDatabase: also in a transaction, and with
// the comments and arguments that a statement may have.
func TestRowsAreCountedByOneStatementOfEachDatabase(t *testing.T) {
	c := sharedCluster(t)
	var sent atomic.Int64
	a := c.open(t, c.config(1, 4), sharding.WithUnitTrace(func(context.Context, sharding.UnitTrace) { sent.Add(1) }))
	var half []int64
	for id := 1; id <= c.rows; id += c.rows / 2 {
		half = append(half, int64(id))
	}
	for _, tt := range []struct {
		query string
		args  []any
		want  int64
		units int64
	}{
		{"SELECT COUNT(*) FROM t_row", nil, int64(c.rows), databases},
		{"SELECT count(*) FROM `t_row` WHERE g >= ? AND g < ?", []any{0, 1000}, int64(c.rows), databases},
		{"SELECT COUNT(pad) FROM t_row r WHERE r.id <= 1600 -- the first ones", nil, 1600, databases},
		{"SELECT COUNT(*) FROM t_row WHERE id IN ?", []any{half}, int64(len(half)), 0},
		{"SELECT COUNT(*) FROM t_row LIMIT 1", nil, int64(c.rows), nodes},
		{"SELECT SUM(g >= 0) FROM t_row", nil, int64(c.rows), nodes},
		{"/* traced */ SELECT COUNT(*) FROM t_row", nil, int64(c.rows), nodes},
	} {
		for name, db := range map[string]func(func(*gorm.DB) error) error{
			"outside":          func(run func(*gorm.DB) error) error { return run(a.DB) },
			"in a transaction": func(run func(*gorm.DB) error) error { return a.Transaction(run) },
		} {
			sent.Store(0)
			var got int64
			err := db(func(db *gorm.DB) error { return db.Raw(tt.query, tt.args...).Row().Scan(&got) })
			if err != nil || got != tt.want {
				t.Errorf("%s, %s: %d and %v, want %d", tt.query, name, got, err, tt.want)
			}
			if n := sent.Load(); tt.units > 0 && n != tt.units {
				t.Errorf("%s, %s: sent as %d statements, want %d", tt.query, name, n, tt.units)
			}
		}
	}
	rows := a.query(t.Context(), t, "SELECT COUNT(*) FROM t_row")
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Error(err)
	}
	plain := openPool(t, c.dsn(0))
	one, err := plain.Query("SELECT COUNT(*) FROM t_row_0")
	if err != nil {
		t.Fatal(err)
	}
	want, err := one.ColumnTypes()
	err = errors.Join(err, one.Err(), one.Close())
	if err != nil || types[0].DatabaseTypeName() != want[0].DatabaseTypeName() || types[0].ScanType() != want[0].ScanType() || types[0].Name() != want[0].Name() {
		t.Errorf("column %v, want %v (%v)", types[0], want[0], err)
	}
	if _, err := count(a.Raw("SELECT COUNT(nowhere) FROM t_row").Rows()); err == nil || !strings.Contains(err.Error(), "1054") {
		t.Errorf("an unknown column gave %v", err)
	}
}
