//go:build unix

package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/hint"
)

// comment puts a comment behind SELECT, as gorm.io/hints does.
type comment string

func (c comment) ModifyStatement(stmt *gorm.Statement) {
	sel := stmt.Clauses["SELECT"]
	sel.AfterNameExpression = clause.Expr{SQL: "/* " + string(c) + " */"}
	stmt.Clauses["SELECT"] = sel
}

func (comment) Build(clause.Builder) {}

// sent lists the units since the last call as "ds0 SELECT …".
func (a *app) sent() []string {
	var out []string
	for _, u := range a.trace.take() {
		out = append(out, u.DataSource+" "+u.SQL)
	}
	return out
}

// hintedOrders puts one order of each of eight enterprises into the cluster, and
// an item of each.
func hintedOrders(t *testing.T) (*cluster, *app) {
	t.Helper()
	c := writeCluster(t)
	c.clear(t)
	a := c.open(t, c.config(), nil)
	for ent := range int64(8) {
		if err := a.Exec("INSERT INTO t_ent_order (id, ent_id, name) VALUES (?, ?, ?)", 100+ent, ent, fmt.Sprint("order of ", ent)).Error; err != nil {
			t.Fatal(err)
		}
		if err := a.Exec("INSERT INTO t_ent_order_item (id, ent_id, order_id) VALUES (?, ?, ?)", 200+ent, ent, 100+ent).Error; err != nil {
			t.Fatal(err)
		}
	}
	a.trace.take()
	return c, a
}

func TestAHintOfTheDataSourceSendsTheTextAsItIs(t *testing.T) {
	_, a := hintedOrders(t)
	ctx := hint.DataSource(t.Context(), "ds1")
	for name, run := range map[string]func(db *gorm.DB) *gorm.DB{
		"a read":                  func(db *gorm.DB) *gorm.DB { return db.Find(&[]Order{}) },
		"a row":                   func(db *gorm.DB) *gorm.DB { return db.Take(&Order{}) },
		"a statement refused":     func(db *gorm.DB) *gorm.DB { return db.Exec("CHECKSUM TABLE t_ent_order_item_3") },
		"an actual table":         func(db *gorm.DB) *gorm.DB { return db.Exec("UPDATE t_ent_order_item_0 SET count = 1") },
		"a window over all nodes": func(db *gorm.DB) *gorm.DB { return db.Exec("SELECT ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order") },
	} {
		tx := run(a.WithContext(ctx))
		if err := tx.Error; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := a.sent(); len(got) != 1 || !strings.HasPrefix(got[0], "ds1 ") || strings.Contains(got[0], "t_ent_order_item`") {
			t.Errorf("%s: sent %q", name, got)
		}
	}
	var ids []int64
	if err := a.WithContext(ctx).Table("t_ent_order").Order("id").Pluck("id", &ids).Error; err != nil || !slices.Equal(ids, []int64{101, 105}) {
		t.Errorf("the rows of ds1: %v, %v", ids, err)
	}
	prepared := a.Session(&gorm.Session{PrepareStmt: true})
	for _, ent := range []int64{1, 2} { // one prepared statement, routed at each execution
		source := fmt.Sprint("ds", ent)
		if err := prepared.WithContext(hint.DataSource(t.Context(), source)).Raw("SELECT id FROM t_ent_order ORDER BY id").Scan(&ids).Error; err != nil || ids[0] != 100+ent {
			t.Errorf("prepared, %s: %v, %v", source, ids, err)
		}
	}
	a.trace.take()
	for _, sql := range []string{"BEGIN", "START TRANSACTION", "SET autocommit = 0", "USE mysql", "LOCK TABLES t_ent_order READ"} {
		if err := a.WithContext(ctx).Exec(sql).Error; !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := a.sent(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestADirectStatementBelongsToTheTransaction(t *testing.T) {
	c, a := hintedOrders(t)
	before := c.contents(t)
	undo := errors.New("undo")
	err := a.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE t_ent_order SET name = 'x' WHERE ent_id = 1").Error; err != nil {
			return err
		}
		direct := tx.WithContext(hint.DataSource(t.Context(), "ds1"))
		var name string
		if err := direct.Raw("SELECT name FROM t_ent_order WHERE id = 101").Scan(&name).Error; err != nil || name != "x" {
			t.Errorf("in the transaction: %q, %v", name, err)
		}
		if err := direct.Exec("DELETE FROM t_ent_order").Error; err != nil {
			return err
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	c.contents(t).unchanged(t, before)
}

func TestSkipShardingSendsTheTextToTheDefaultDataSource(t *testing.T) {
	_, a := hintedOrders(t)
	var ids []int64
	err := a.WithContext(hint.SkipSharding(t.Context())).Table("t_ent_order").Order("id").Pluck("id", &ids).Error
	if err != nil || !slices.Equal(ids, []int64{100, 104}) {
		t.Errorf("%v, %v", ids, err)
	}
	if got := a.sent(); len(got) != 1 || !strings.HasPrefix(got[0], "ds0 SELECT `id` FROM `t_ent_order`") {
		t.Errorf("sent %q", got)
	}
}

func TestAHintOfTheActualTableReachesThatTableAlone(t *testing.T) {
	_, a := hintedOrders(t)
	ctx := hint.ActualTable(t.Context(), "t_ent_order_item", "ds2.t_ent_order_item_1")
	var ids []int64
	// The condition leads elsewhere and is no more than a condition on the rows.
	if err := a.WithContext(ctx).Table("t_ent_order_item").Where("ent_id < ?", 100).Pluck("id", &ids).Error; err != nil || !slices.Equal(ids, []int64{206}) {
		t.Errorf("%v, %v", ids, err)
	}
	if got := a.sent(); !slices.Equal(got, []string{"ds2 SELECT `id` FROM `t_ent_order_item_1` WHERE ent_id < ?"}) {
		t.Errorf("sent %q", got)
	}
	if err := a.WithContext(ctx).Exec("UPDATE t_ent_order_item SET count = 9").Error; err != nil {
		t.Error(err)
	}
	if got := a.sent(); !slices.Equal(got, []string{"ds2 UPDATE t_ent_order_item_1 SET count = 9"}) {
		t.Errorf("sent %q", got)
	}
	for _, write := range []func(db *gorm.DB) error{
		func(db *gorm.DB) error {
			return db.Exec("UPDATE t_ent_order_item SET count = 9 WHERE ent_id = 1").Error
		},
		func(db *gorm.DB) error { return db.Create(&Item{ID: 300, EntID: 1, OrderID: 1}).Error },
	} {
		if err := write(a.WithContext(ctx)); err == nil {
			t.Errorf("a write of a row of another node passes")
		}
	}
	if got := a.sent(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
	// Another table is not concerned.
	if err := a.WithContext(ctx).Where("ent_id = ?", 1).Take(&Order{}).Error; err != nil {
		t.Error(err)
	}
}

func TestAValueHintStandsInForTheConditionOfARead(t *testing.T) {
	_, a := hintedOrders(t)
	ctx := hint.DatabaseValue(t.Context(), "t_ent_order", 5)
	var ids []int64
	if err := a.WithContext(ctx).Table("t_ent_order").Order("id").Pluck("id", &ids).Error; err != nil || !slices.Equal(ids, []int64{101, 105}) {
		t.Errorf("%v, %v", ids, err)
	}
	if got := a.sent(); len(got) != 1 || !strings.HasPrefix(got[0], "ds1 ") {
		t.Errorf("sent %q", got)
	}
	// What needs one data source is answered there.
	if err := a.WithContext(ctx).Exec("SELECT ROW_NUMBER() OVER (ORDER BY id) FROM t_ent_order").Error; err != nil {
		t.Error(err)
	}
	// A write of another node's row is refused; one of its own goes there.
	if err := a.WithContext(ctx).Exec("UPDATE t_ent_order SET name = 'x' WHERE ent_id = 2").Error; err == nil {
		t.Error("a write whose key leads elsewhere passes")
	}
	a.trace.take()
	if err := a.WithContext(ctx).Exec("UPDATE t_ent_order SET name = 'x' WHERE ent_id = 5").Error; err != nil {
		t.Error(err)
	}
	if err := a.WithContext(ctx).Exec("INSERT INTO t_ent_order (id, ent_id) VALUES (1, 2)").Error; err == nil {
		t.Error("an INSERT whose key leads elsewhere passes")
	}
	if got := a.sent(); !slices.Equal(got, []string{"ds1 UPDATE t_ent_order SET name = 'x' WHERE ent_id = 5"}) {
		t.Errorf("sent %q", got)
	}
}

func TestHintsStandInComments(t *testing.T) {
	_, a := hintedOrders(t)
	orders := func(db *gorm.DB) (ids []int64) {
		t.Helper()
		if err := db.Table("t_ent_order").Order("id").Pluck("id", &ids).Error; err != nil {
			t.Error(err)
		}
		return ids
	}
	for text, want := range map[string][]int64{
		"SHARDING: DATA_SOURCE=ds2":                                             {102, 106},
		"SHARDING: t_ent_order.DATABASE_VALUE=3":                                {103, 107},
		"SHARDINGSPHERE_HINT: DATA_SOURCE_NAME=ds2, SKIP_SQL_REWRITE=true":      {102, 106},
		"ShardingSphere hint: t_ent_order.shardingDatabaseValue=3":              {103, 107},
		"SHARDINGSPHERE_HINT: SHARDING_DATABASE_VALUE=3":                        {103, 107},
		"SHARDING: t_ent_order_item.ACTUAL_TABLE=ds1.t_ent_order_item_0":        {100, 101, 102, 103, 104, 105, 106, 107}, // not in the statement
		"SHARDING: PRIMARY_ONLY=true":                                           {100, 101, 102, 103, 104, 105, 106, 107},
		"SHARDINGSPHERE_HINT: WRITE_ROUTE_ONLY=true, SKIP_ENCRYPT_REWRITE=true": {100, 101, 102, 103, 104, 105, 106, 107},
	} {
		if got := orders(a.Clauses(comment(text))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		// The hint of the context wins.
		if got := orders(a.WithContext(hint.DataSource(t.Context(), "ds0")).Clauses(comment(text))); !slices.Equal(got, []int64{100, 104}) {
			t.Errorf("%s under a hint of the context: %v", text, got)
		}
	}
	// The comment is sent, too, and a prepared statement is routed by it.
	a.trace.take()
	prepared := a.Session(&gorm.Session{PrepareStmt: true})
	var id int64
	for range 2 {
		if err := prepared.Raw("SELECT id FROM t_ent_order WHERE id = ? /* SHARDING: DATA_SOURCE=ds3 */", 103).Scan(&id).Error; err != nil || id != 103 {
			t.Errorf("prepared: %d, %v", id, err)
		}
	}
	if got := a.sent(); len(got) != 2 || got[0] != "ds3 SELECT id FROM t_ent_order WHERE id = ? /* SHARDING: DATA_SOURCE=ds3 */" {
		t.Errorf("sent %q", got)
	}
	for text, want := range map[string]string{
		"SHARDING: DATA_SOURCES=ds1":                                 `hint comment, DATA_SOURCES: is no key of a hint; did you mean "DATA_SOURCE"?`,
		"SHARDING: DATA_SOURCE=ds9":                                  `the data source "ds9", which is not configured`,
		"SHARDING: t_ent_orders.TABLE_VALUE=1":                       `table t_ent_orders: a hint names it; did you mean "t_ent_order"?`,
		"SHARDING: t_region.TABLE_VALUE=1":                           "it is not sharded",
		"SHARDING: t_ent_order.ACTUAL_TABLE=t_ent_order_9":           `the actual table "t_ent_order_9"`,
		"SHARDING: ALLOW_SCATTER=maybe":                              "ALLOW_SCATTER: is neither true nor false",
		"SHARDINGSPHERE_HINT: SHADOW=true":                           "SHADOW: is not supported",
		"SHARDINGSPHERE_HINT: SKIP_SQL_REWRITE=true":                 "add DATA_SOURCE_NAME",
		"SHARDINGSPHERE_HINT: DISABLE_AUDIT_NAMES=x":                 `there is no audit "x"`,
		"SHARDING: t_ent_order.ACTUAL_TABLE=a b":                     "has 2 values",
		"SHARDING: DATA_SOURCE=ds1, data_source=ds2":                 "data_source: stands twice",
		"SHARDING: t_ent_order.PRIMARY_ONLY=true":                    "concerns no table",
		"SHARDING: t_ent_order_item.ACTUAL_TABLE=t_ent_order_item_0": "write it with its data source",
	} {
		err := a.Clauses(comment(text)).Find(&[]Order{}).Error
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if got := a.sent(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestAHintOfSomethingUnknownFailsBeforeAnythingIsSent(t *testing.T) {
	_, a := hintedOrders(t)
	for name, ctx := range map[string]context.Context{
		"data source":   hint.DataSource(t.Context(), "ds7"),
		"no name":       hint.DataSource(t.Context(), ""),
		"table":         hint.TableValue(t.Context(), "t_order", 1),
		"no table":      hint.TableValue(t.Context(), "", 1),
		"single table":  hint.DatabaseValue(t.Context(), "t_operator", 1),
		"actual table":  hint.ActualTable(t.Context(), "t_ent_order", "t_ent_order_1"),
		"no actual one": hint.ActualTable(t.Context(), "t_ent_order", ""),
		"no value":      hint.DatabaseValue(t.Context(), "t_ent_order"),
		"audit":         hint.DisableAudit(t.Context(), "everything"),
	} {
		for way, run := range map[string]func(db *gorm.DB) error{
			"query": func(db *gorm.DB) error { return db.Find(&[]Order{}).Error },
			"exec":  func(db *gorm.DB) error { return db.Exec("DELETE FROM t_ent_order").Error },
			"row":   func(db *gorm.DB) error { return db.Raw("SELECT 1").Row().Err() },
			"in transaction": func(db *gorm.DB) error {
				return db.Transaction(func(tx *gorm.DB) error { return tx.Exec("DELETE FROM t_ent_order").Error })
			},
			"prepared": func(db *gorm.DB) error { return db.Session(&gorm.Session{PrepareStmt: true}).Take(&Order{}).Error },
		} {
			if err := run(a.WithContext(ctx)); err == nil || !strings.Contains(err.Error(), "hint") {
				t.Errorf("%s, %s: error %v", name, way, err)
			}
		}
		if _, err := a.plugin.Preview(ctx, "SELECT * FROM t_ent_order"); err == nil {
			t.Errorf("%s: Preview finds nothing", name)
		}
	}
	if got := a.sent(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestAuditsRefuseBeforeAnythingIsSent(t *testing.T) {
	c, _ := hintedOrders(t)
	cfg := c.config()
	table := cfg.Sharding.Tables["t_ent_order"]
	table.Audit = &config.Audit{Rules: []config.AuditRule{config.AuditRequireShardingKey}, AllowHintDisable: true}
	cfg.Sharding.Tables["t_ent_order"] = table
	cfg.Props.MaxNodes, cfg.Props.MaxOffset = 8, 10
	a := c.open(t, cfg, nil)

	refused := map[string]error{
		"SELECT COUNT(*) FROM t_ent_order":                                 sharding.ErrNoShardingKey,
		"UPDATE t_ent_order SET name = 'x'":                                sharding.ErrNoShardingKey,
		"DELETE FROM t_ent_order_item":                                     sharding.ErrScatterDenied,
		"SELECT * FROM t_ent_order_detail ORDER BY order_id LIMIT 1, 1":    nil,
		"SELECT * FROM t_ent_order_detail ORDER BY order_id LIMIT 100, 10": sharding.ErrScatterDenied,
		"SELECT COUNT(*) FROM t_ent_order WHERE ent_id IN (1, 2)":          nil,
	}
	for sql, class := range refused {
		err := a.Exec(sql).Error
		if class == nil && err != nil || class != nil && !errors.Is(err, class) {
			t.Errorf("%s: %v, want %v", sql, err, class)
		}
		units := a.sent()
		if class != nil && len(units) > 0 {
			t.Errorf("%s: sent %q", sql, units)
		}
		p, previewErr := a.plugin.Preview(t.Context(), sql)
		switch {
		case previewErr != nil:
			t.Errorf("%s: Preview: %v", sql, previewErr)
		case class == nil && len(p.Denied) > 0, class != nil && (len(p.Denied) == 0 || p.Denied[0].Error() != err.Error()):
			t.Errorf("%s: Preview says %q, the statement failed with %v", sql, p.Denied, err)
		}
	}

	var n int64
	if err := a.WithContext(hint.AllowScatter(t.Context())).Model(&Order{}).Count(&n).Error; err != nil || n != 8 {
		t.Errorf("with a hint: %d, %v", n, err)
	}
	if err := a.Raw("SELECT /* SHARDING: ALLOW_SCATTER=true */ COUNT(*) FROM t_ent_order").Scan(&n).Error; err != nil || n != 8 {
		t.Errorf("with a comment: %d, %v", n, err)
	}
	// The limit of the props does not say that hints may lift it.
	err := a.WithContext(hint.DisableAudit(t.Context())).Exec("DELETE FROM t_ent_order_item").Error
	if !errors.Is(err, sharding.ErrScatterDenied) || !strings.Contains(err.Error(), "allowHintDisable: true") {
		t.Errorf("maxNodes under a hint: %v", err)
	}
	p, err := a.plugin.Preview(hint.DisableAudit(hint.PrimaryOnly(t.Context())), "SELECT * FROM t_ent_order")
	if err != nil || len(p.Denied) > 0 || !slices.Equal(p.Hints, []string{"primary only", "disable audit"}) {
		t.Errorf("Preview under a hint: %+v, %v", p, err)
	}
}
