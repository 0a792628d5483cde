package hint_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gormshard/sharding/hint"
)

// With a *gorm.DB: db.WithContext(ctx).Exec("ANALYZE TABLE t_order_3").
func ExampleDataSource() {
	ctx := hint.DataSource(context.Background(), "ds_1")
	fmt.Println(hint.FromContext(ctx).DataSource)
	// Output: ds_1
}

// With a *gorm.DB: db.WithContext(ctx).Raw("SELECT COUNT(*) FROM t_order").Scan(&n),
// where t_order is the table of that name before it was sharded.
func ExampleSkipSharding() {
	ctx := hint.SkipSharding(context.Background())
	fmt.Println(hint.FromContext(ctx).SkipSharding)
	// Output: true
}

// With a *gorm.DB: db.WithContext(ctx).Find(&orders) reads the database of the
// value 7, without a condition in the SQL.
func ExampleDatabaseValue() {
	ctx := hint.DatabaseValue(context.Background(), "t_order", 7)
	ctx = hint.DatabaseValue(ctx, hint.AllTables, 8) // every other table
	for _, t := range hint.FromContext(ctx).Tables {
		fmt.Println(t.Name, t.Database)
	}
	// Output:
	// t_order [7]
	// * [8]
}

// With a *gorm.DB: db.WithContext(ctx).Find(&orders).
func ExampleTableValue() {
	ctx := hint.TableValue(context.Background(), "t_order", 3, 4)
	fmt.Println(hint.FromContext(ctx).Tables[0].Table)
	// Output: [3 4]
}

// With a *gorm.DB: db.WithContext(ctx).Find(&orders) reads t_order_3 of ds_1 alone.
func ExampleActualTable() {
	ctx := hint.ActualTable(context.Background(), "t_order", "ds_1.t_order_3")
	fmt.Println(hint.FromContext(ctx).Tables[0].Actual)
	// Output: ds_1.t_order_3
}

// Reads go to replicas again when these have had the time to catch up.
func ExampleStickyFor() {
	ctx := hint.WithSession(context.Background(), hint.StickyFor(time.Nanosecond))
	session := hint.FromContext(ctx).Session
	session.Write("ds_1") // as a write by db.WithContext(ctx) does
	time.Sleep(time.Millisecond)
	fmt.Println(session.Wrote("ds_1"))
	// Output: false
}

// With a *gorm.DB: db.WithContext(hint.PrimaryOnly(ctx)).First(&order) sees what
// was written a moment ago.
func ExamplePrimaryOnly() {
	ctx := hint.PrimaryOnly(context.Background())
	fmt.Println(hint.FromContext(ctx).Reads == hint.ReadsPrimary)
	// Output: true
}

// A handler reads what it has written itself from the primaries, and all else from
// replicas: db.WithContext(ctx) in all that serves the request.
func ExampleWithSession() {
	ctx := hint.WithSession(context.Background(), hint.StickyFor(10*time.Second))
	session := hint.FromContext(ctx).Session
	session.Write("ds_1") // as a write by db.WithContext(ctx) does
	fmt.Println(session.Wrote("ds_1"), session.Wrote("ds_0"))
	// Output: true false
}

// With a *gorm.DB, reads of db.WithContext(ctx) wait for a replica for up to half a
// second after a write, and then go to the primary.
func ExampleWaitForReplica() {
	ctx := hint.WithSession(context.Background(), hint.WaitForReplica(500*time.Millisecond))
	session := hint.FromContext(ctx).Session
	session.Write("ds_1") // as a write by db.WithContext(ctx) does
	fmt.Println(session.Wrote("ds_1"), session.Wait("ds_1"))
	// Output: true 500ms
}

// With a *gorm.DB: db.WithContext(hint.ReplicaAllowed(ctx)).Find(&report).
func ExampleReplicaAllowed() {
	ctx := hint.PrimaryOnly(context.Background())
	ctx = hint.ReplicaAllowed(ctx) // the inner one counts
	fmt.Println(hint.FromContext(ctx).Reads == hint.ReadsReplica)
	// Output: true
}

// With a *gorm.DB: db.WithContext(hint.AllowScatter(ctx)).Find(&orders) asks all
// nodes, although the table demands a sharding condition.
func ExampleAllowScatter() {
	ctx := hint.AllowScatter(context.Background())
	fmt.Println(hint.FromContext(ctx).AllowScatter)
	// Output: true
}

// With a *gorm.DB: db.WithContext(ctx).Offset(100000).Limit(10).Find(&orders).
func ExampleDisableAudit() {
	ctx := hint.DisableAudit(context.Background(), "maxOffset")
	fmt.Println(hint.FromContext(ctx).Audits)
	// Output: [maxOffset]
}

// A hook that works on other tables does so without the hints of its caller.
func ExampleNone() {
	ctx := hint.DataSource(context.Background(), "ds_1")
	fmt.Println(hint.FromContext(hint.None(ctx)) == nil)
	// Output: true
}
