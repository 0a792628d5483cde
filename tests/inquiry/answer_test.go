//go:build unix

package inquiry_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/rowtext"
)

// question is a statement whose answer is the unsharded database's.
type question struct {
	sql  string
	args []any
	// unordered is set where nothing promises an order of the rows.
	unordered bool
}

// questions are asked of every way to ask.
var questions = []question{
	{sql: "DESCRIBE t_user"},
	{sql: "DESC t_order 'n%'"},
	{sql: "EXPLAIN t_item order_id"},
	{sql: "DESCRIBE shop.t_log"},
	{sql: "DESCRIBE t_operator"},
	{sql: "DESCRIBE v_region"},
	{sql: "SHOW FULL COLUMNS FROM t_user"},
	{sql: "SHOW COLUMNS FROM t_order FROM shop LIKE 'i%'"},
	{sql: "SHOW FIELDS IN `shop`.`t_order` WHERE Field = 'note'"},
	{sql: "SHOW COLUMNS FROM t_region"},
	{sql: "SHOW INDEX FROM t_user"},
	{sql: "SHOW KEYS FROM t_item WHERE Key_name = 'idx_order'"},
	{sql: "SHOW INDEXES FROM t_region"},
	{sql: "SHOW CREATE TABLE t_user"},
	{sql: "SHOW CREATE TABLE shop.t_order"},
	{sql: "SHOW CREATE TABLE t_item"},
	{sql: "SHOW CREATE TABLE t_region"},
	{sql: "SHOW CREATE TABLE t_log"},
	{sql: "SHOW TABLES"},
	{sql: "SHOW TABLES FROM shop"},
	{sql: `SHOW TABLES LIKE 't\_o%'`},
	{sql: "SHOW TABLES LIKE 'T%'"},
	{sql: "SHOW FULL TABLES IN shop LIKE '%e%'"},
	{sql: "CHECKSUM TABLE t_region"},
	{sql: "CHECK TABLE t_log"},
	{sql: "ANALYZE TABLE t_operator"},
	{sql: "SELECT DATABASE()"},
	{sql: "SELECT database( ), UPPER(SCHEMA()) AS s, CONCAT(DATABASE(), ?)", args: []any{"!"}},
	{sql: "SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE()"},
	{sql: "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'shop'"},

	{sql: "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", args: []any{"shop"}, unordered: true},
	{sql: "SELECT table_schema, TABLE_NAME AS n FROM information_schema.tables WHERE table_schema = 'shop' AND table_name LIKE '%er'", unordered: true},
	{sql: "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()", unordered: true},
	{sql: "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND (TABLE_NAME = 't_user' OR TABLE_NAME = 't_user_0' OR 't_order' = TABLE_NAME)", unordered: true},
	{sql: "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME IN ('t_user', 't_item', 't_log')", unordered: true},
	{sql: "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION", args: []any{"shop", "t_user"}},
	{sql: "SELECT c.* FROM information_schema.COLUMNS c WHERE (c.TABLE_SCHEMA = DATABASE() AND c.TABLE_NAME = 't_region') ORDER BY 5"},
	{sql: "SELECT TABLE_NAME, COUNT(*) AS n FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_order' GROUP BY TABLE_NAME HAVING TABLE_NAME = 't_order'"},
	{sql: "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME FROM information_schema.STATISTICS WHERE INDEX_SCHEMA = ? AND TABLE_NAME = ?", args: []any{[]byte("shop"), []byte("t_item")}},
	{sql: "SELECT INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_user' ORDER BY INDEX_NAME, SEQ_IN_INDEX"},
	{sql: "SELECT * FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND TABLE_NAME = 't_item' ORDER BY CONSTRAINT_NAME"},
	{sql: "SELECT * FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_item' ORDER BY CONSTRAINT_NAME"},
	{sql: "SELECT CONSTRAINT_NAME, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_item' AND REFERENCED_TABLE_NAME = 't_order' AND REFERENCED_TABLE_SCHEMA = 'shop'"},
	{sql: "SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND TABLE_NAME = 't_item'"},
	{sql: "SELECT * FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND TABLE_NAME = 't_item'"},
	{sql: "SELECT CONSTRAINT_NAME, TABLE_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND CONSTRAINT_TYPE <> 'PRIMARY KEY'", unordered: true},
	{sql: "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = ?", args: []any{"shop", "t_item", "fk_order"}},
	{sql: "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND TABLE_NAME = 't_user' AND 'uni_name' = CONSTRAINT_NAME"},
	{sql: "SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_log'"},
	{sql: "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'absent'"},
	{sql: "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_user_0'"},
	{sql: "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'version'"},

	{sql: "EXPLAIN SELECT o.id FROM t_order o WHERE o.id = 2"},
	{sql: "EXPLAIN EXTENDED SELECT t_order.id FROM t_order JOIN t_item ON t_item.order_id = t_order.id WHERE t_order.id = ?", args: []any{2}},
	{sql: "EXPLAIN UPDATE t_user SET age = 1 WHERE user_id = 3"},
	{sql: "EXPLAIN FORMAT=JSON DELETE FROM t_item WHERE order_id = 3"},
	{sql: "EXPLAIN SELECT * FROM t_region WHERE id = 1"},
	{sql: "EXPLAIN INSERT INTO t_region VALUES (1, 'x')"},
	{sql: "EXPLAIN SELECT * FROM t_log WHERE id = 1"},
}

type asker func(ctx context.Context, query string, args ...any) (*sql.Rows, error)

func read(rows *sql.Rows, err error) ([]string, []string, error) {
	if err != nil {
		return nil, nil, err
	}
	columns, values, err := rowtext.Read(rows)
	return columns, rowtext.Shown(values), err
}

func TestAnswersAreThoseOfOneDatabase(t *testing.T) {
	s := newShop(t)
	db, _, trace := s.sharded(t, s.config("shop"))
	reference, err := s.single(t).DB()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]asker{
		"GORM": func(_ context.Context, query string, args ...any) (*sql.Rows, error) {
			return db.Raw(query, args...).Rows()
		},
		"database/sql": pool.QueryContext,
		"prepared":     prepared(pool),
	}
	for _, q := range questions {
		for way, ask := range ways {
			single := reference.QueryContext
			if way == "prepared" {
				single = prepared(reference)
			}
			wantColumns, want, err := read(single(t.Context(), q.sql, q.args...))
			if err != nil {
				t.Fatalf("%s: the single database: %v", q.sql, err)
			}
			_ = trace.String()
			gotColumns, got, err := read(ask(t.Context(), q.sql, q.args...))
			if err != nil {
				t.Errorf("%s, by %s: %v", q.sql, way, err)
				continue
			}
			if q.unordered {
				slices.Sort(want)
				slices.Sort(got)
			}
			if len(want) == 0 && !strings.Contains(q.sql, "'T%'") {
				t.Errorf("%s: the single database gives no row, so this proves nothing", q.sql)
			}
			if !slices.Equal(wantColumns, gotColumns) {
				t.Errorf("%s, by %s: columns\n  %s\ninstead of\n  %s\nsent%s", q.sql, way, strings.Join(gotColumns, "\n  "), strings.Join(wantColumns, "\n  "), trace)
			}
			if d := rowtext.Differ(want, got); d != "" {
				t.Errorf("%s, by %s: %s\nsent%s", q.sql, way, d, trace)
			}
		}
	}
}

func TestInquiriesInATransactionUseItsBranch(t *testing.T) {
	s := newShop(t)
	db, _, _ := s.sharded(t, s.config("shop"))
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("INSERT INTO t_order (id, user_id) VALUES (2, 1), (3, 1)").Error; err != nil {
			return err
		}
		var field, kind, null, key, extra string
		var def sql.NullString
		if err := tx.Raw("DESCRIBE t_order note").Row().Scan(&field, &kind, &null, &key, &def, &extra); err != nil || field != "note" {
			return fmt.Errorf("DESCRIBE gave %q, %w", field, err)
		}
		var names []string
		if err := tx.Raw("SHOW TABLES LIKE 't%'").Scan(&names).Error; err != nil || len(names) != 6 {
			return fmt.Errorf("SHOW TABLES gave %q, %w", names, err)
		}
		if err := tx.Exec("CHECK TABLE t_order").Error; !errors.Is(err, sharding.ErrUnsupported) {
			t.Errorf("CHECK TABLE, which commits, gave %v", err)
		}
		return errors.New("undo")
	})
	if err == nil || err.Error() != "undo" {
		t.Error(err)
	}
	var n int64
	if err := db.Table("t_order").Count(&n).Error; err != nil || n != 0 {
		t.Errorf("%d orders are left, %v", n, err)
	}
}

func TestMaintenanceReachesEveryNode(t *testing.T) {
	s := newShop(t)
	db, plugin, trace := s.sharded(t, s.config("shop"))
	for query, units := range map[string]int{
		"CHECK TABLE t_order QUICK": 4, "ANALYZE TABLE shop.t_user": 2, "OPTIMIZE TABLE t_region": 2, "REPAIR TABLE t_item": 4, "CHECK TABLE t_log": 1,
	} {
		_ = trace.String()
		rows, err := db.Raw(query).Rows() //nolint:rowserrcheck // Read checks it
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		_, values, err := rowtext.Read(rows)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		table := "shop." + strings.TrimPrefix(strings.Fields(query)[2], "shop.")
		for _, row := range values {
			if name := fmt.Sprintf("%s", row[0]); name != table {
				t.Errorf("%s shows table %s", query, name)
			}
		}
		if len(values) < units || strings.Count(trace.String(), "\n") != units {
			t.Errorf("%s gave %d rows, want at least one of each of %d nodes", query, len(values), units)
		}
		if err := db.Exec(query).Error; err != nil {
			t.Errorf("%s by Exec: %v", query, err)
		}
		p, err := plugin.Preview(t.Context(), query)
		if err != nil || len(p.Units) != units || p.Kind == "" || p.Reason == "" {
			t.Errorf("preview of %s: %+v, %v", query, p, err)
		}
	}
}

func TestNoConditionIsMissedInAQuestionAboutAllTables(t *testing.T) {
	s := newShop(t)
	_, plugin, _ := s.sharded(t, s.config("shop"))
	p, err := plugin.Preview(t.Context(), "SHOW TABLES")
	if err != nil || len(p.Units) < 2 || len(p.Warnings) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestWhatCannotBeAnsweredIsRefusedUnsent(t *testing.T) {
	s := newShop(t)
	db, _, trace := s.sharded(t, s.config("shop"))
	if err := db.Exec("SELECT 1 FROM t_order").Error; err != nil { // columns are known from now on
		t.Fatal(err)
	}
	_ = trace.String()
	for _, query := range []string{
		"SHOW TABLE STATUS", "SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SHOW TRIGGERS", "CHECKSUM TABLE t_order", "CHECK TABLE t_order, t_log",
		"SHOW INDEX FROM t_order WHERE `Table` = 't_order'", "SHOW COLUMNS FROM t_order FROM mysql", "EXPLAIN SELECT * FROM t_order",
		"SELECT id, DATABASE() FROM t_order WHERE id = 1", "INSERT INTO t_region VALUES (1, DATABASE())",
		"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 't_order'",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME = 't_order'",
		"SELECT t.TABLE_NAME FROM information_schema.TABLES t JOIN information_schema.COLUMNS c USING (TABLE_NAME)",
		"SELECT o.id FROM t_order o JOIN information_schema.TABLES t ON t.TABLE_NAME = o.note WHERE o.id = 1",
		"SELECT 1 FROM information_schema.PARTITIONS WHERE TABLE_NAME = 't_order'",
	} {
		err := db.Exec(query).Error
		var facts *sharding.UnsupportedError
		if !errors.As(err, &facts) || facts.Clause == "" || facts.Reason == "" || facts.Remedy == "" {
			t.Errorf("%s gave %v", query, err)
		}
		if sent := trace.String(); sent != "" {
			t.Errorf("%s sent%s", query, sent)
		}
	}
}

// prepared asks by a prepared statement, whose numbers come in binary.
func prepared(pool *sql.DB) func(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return func(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
		stmt, err := pool.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		defer stmt.Close()
		return stmt.QueryContext(ctx, args...) //nolint:sqlclosecheck // the caller closes the rows
	}
}
