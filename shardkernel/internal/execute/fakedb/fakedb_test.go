package fakedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, d *Database) *sql.DB {
	db := d.DB()
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestAnswersFollowTheScriptAndAreCounted(t *testing.T) {
	d := New()
	d.On("UPDATE t", Answer{Affected: 1}, Answer{Affected: 2})
	d.Otherwise(Answer{Affected: 9})
	db := open(t, d)
	for i, want := range []int64{1, 2, 2} {
		r, err := db.Exec("UPDATE t")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := r.RowsAffected(); n != want {
			t.Errorf("execution %d affected %d rows, want %d", i, n, want)
		}
	}
	r, err := db.Exec("DELETE FROM t WHERE a = ?", 5)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 9 || d.Count("UPDATE t") != 3 {
		t.Errorf("affected %d, counted %d; want 9 and 3", n, d.Count("UPDATE t"))
	}
	if last := d.Executed()[3]; last.Args[0] != int64(5) {
		t.Errorf("recorded arguments %v", last.Args)
	}
}

func TestBytesOfARowAreOverwrittenByTheNext(t *testing.T) {
	d := New()
	d.Otherwise(Answer{Columns: Columns("a"), Rows: [][]driver.Value{{[]byte("one")}, {[]byte("two")}}})
	rows, err := open(t, d).Query("SELECT a")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var first, second sql.RawBytes
	for _, dest := range []*sql.RawBytes{&first, &second} {
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if err := rows.Scan(dest); err != nil {
			t.Fatal(err)
		}
	}
	if string(first) == "one" || string(second) != "two" {
		t.Errorf("got %q and %q, want the first spoilt", first, second)
	}
}

func TestAConnectionRunsOneStatementAtATime(t *testing.T) {
	d := New()
	d.Otherwise(Answer{Columns: Columns("a"), Rows: [][]driver.Value{{"x"}}})
	tx, err := open(t, d).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.Query("SELECT a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE t"); err == nil || len(d.Misuse()) != 1 {
		t.Errorf("got %v and %q, want an error that is remembered", err, d.Misuse())
	}
	_ = rows.Close()
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

func TestAContextThatEndsBreaksTheConnection(t *testing.T) {
	d := New()
	d.Otherwise(Answer{Delay: time.Minute})
	db := open(t, d)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := db.ExecContext(ctx, "UPDATE t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	if n := d.OpenConns(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
}

func TestAFastDatabaseRecordsNothing(t *testing.T) {
	d := Fast(Answer{Affected: 3, Columns: Columns("a"), Rows: [][]driver.Value{{"x"}}})
	db := open(t, d)
	r, err := db.Exec("UPDATE t")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 3 || len(d.Executed()) != 0 {
		t.Errorf("affected %d, recorded %d", n, len(d.Executed()))
	}
	var a string
	if err := db.QueryRow("SELECT a").Scan(&a); err != nil || a != "x" {
		t.Errorf("got %q, %v", a, err)
	}
}
