package execute

import (
	"database/sql/driver"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// BenchmarkQueryOneUnit is the executor's share of a statement of one unit
// outside a transaction; BenchmarkPool is the same through database/sql.
func BenchmarkQueryOneUnit(b *testing.B) {
	source := &Source{Name: "ds0", DB: fakedb.Fast(fakedb.Answer{Columns: fakedb.Columns("a")}).DB()}
	defer source.DB.Close()
	e := New(func(string) (*Source, error) { return source, nil }, Limits{})
	ex := &plan.Execution{Units: []plan.Unit{{DataSource: "ds0", SQL: "SELECT a", Args: []any{int64(1)}}}}
	row := make([]driver.Value, 1)
	b.ReportAllocs()
	for b.Loop() {
		cursors, err := e.Query(b.Context(), ex, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = cursors[0].Next(row)
		_ = cursors[0].Close()
	}
}

func BenchmarkPool(b *testing.B) {
	db := fakedb.Fast(fakedb.Answer{Columns: fakedb.Columns("a")}).DB()
	defer db.Close()
	b.ReportAllocs()
	for b.Loop() {
		rows, err := db.QueryContext(b.Context(), "SELECT a", int64(1))
		if err != nil {
			b.Fatal(err)
		}
		rows.Next()
		_ = rows.Close()
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
	}
}
