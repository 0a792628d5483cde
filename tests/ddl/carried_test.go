//go:build unix

package ddl_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gormshard/sharding"
)

// TestRowsOfANodeWithAColumnOfAnotherTypeAreNotCarried: a text would come to the
// data source that answers as the number 0, a fraction rounded, a moment cut.
func TestRowsOfANodeWithAColumnOfAnotherTypeAreNotCarried(t *testing.T) {
	c := newCluster(t, "carried")
	a := c.open(t, c.config())
	a.define(t, "CREATE TABLE t_order (id bigint PRIMARY KEY, user_id bigint NOT NULL, v int, d decimal(10,2), day date, e enum('a','b'), s varchar(10), f double, b bit(3))",
		"INSERT INTO t_order VALUES (1, 2, 1, 1.5, '2026-01-01', 'a', 'x', 1.5, b'101'), (2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, 3, -7, -1.25, '2026-12-31', 'b', '', -2.5, b'0')")
	const query = "SELECT id, %[1]s, ROW_NUMBER() OVER (ORDER BY id) FROM t_order"
	node := c.node(t, 1)
	type change struct{ column, was, becomes, value string }
	changes := []change{
		{"v", "int", "varchar(20)", "'x'"},
		{"v", "int", "decimal(10,2)", "1.5"},
		{"day", "date", "datetime", "'2026-01-01 10:00:00'"},
		{"s", "varchar(10)", "varbinary(10)", "x'ff'"},
	}
	if long() {
		changes = append(changes, []change{
			{"v", "int", "double", "1.5"},
			{"d", "decimal(10,2)", "varchar(20)", "'x'"},
			{"e", "enum('a','b')", "varchar(20)", "'c'"},
			{"f", "double", "varchar(20)", "'x'"},
			{"b", "bit(3)", "varchar(20)", "'x'"},
		}...)
	}
	for _, test := range changes {
		sql := fmt.Sprintf(query, test.column)
		if err := scan(a.DB, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		exec(t, node, "ALTER TABLE t_order_1 MODIFY "+test.column+" "+test.becomes, "UPDATE t_order_1 SET "+test.column+" = "+test.value)
		if err := scan(a.DB, sql); !errors.Is(err, sharding.ErrSchemaDrift) {
			t.Errorf("%s as %s on one node: %v", test.column, test.becomes, err)
		}
		exec(t, node, "UPDATE t_order_1 SET "+test.column+" = NULL", "ALTER TABLE t_order_1 MODIFY "+test.column+" "+test.was)
	}
	var ids []int64
	if err := a.Raw("SELECT id FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY id) FROM t_order) x ORDER BY id").Scan(&ids).Error; err != nil || !slices.Equal(ids, []int64{1, 2, 3}) {
		t.Errorf("got %v, %v", ids, err)
	}
}
