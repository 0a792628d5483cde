package execute

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// column is what a driver says of a column of a result. The zero values are
// what database/sql assumes of a driver that says nothing.
type column struct {
	name, typ        string
	scan             reflect.Type
	nullable, nullOK bool
	length           int64
	lengthOK         bool
	precision, scale int64
	decimalOK        bool
}

// describe reads the columns of rows.
func describe(rows driver.Rows) []column {
	names := rows.Columns()
	out := make([]column, len(names))
	for i, name := range names {
		c := column{name: name, typ: typeName(rows, i), scan: scanType(rows, i)}
		c.nullable, c.nullOK = nullable(rows, i)
		c.length, c.lengthOK = length(rows, i)
		c.precision, c.scale, c.decimalOK = precisionScale(rows, i)
		out[i] = c
	}
	return out
}

func typeName(rows driver.Rows, i int) string {
	if r, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return r.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func scanType(rows driver.Rows, i int) reflect.Type {
	if r, ok := rows.(driver.RowsColumnTypeScanType); ok {
		return r.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func nullable(rows driver.Rows, i int) (is, ok bool) {
	if r, ok := rows.(driver.RowsColumnTypeNullable); ok {
		return r.ColumnTypeNullable(i)
	}
	return false, false
}

func length(rows driver.Rows, i int) (int64, bool) {
	if r, ok := rows.(driver.RowsColumnTypeLength); ok {
		return r.ColumnTypeLength(i)
	}
	return 0, false
}

func precisionScale(rows driver.Rows, i int) (precision, scale int64, ok bool) {
	if r, ok := rows.(driver.RowsColumnTypePrecisionScale); ok {
		return r.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}

// drift compares the columns of two units' rows by name and type. Whether a
// column may be NULL, and how long its texts may be, is no part of its type: both
// depend on the server's plan. extremes are those of plan.Merge. Nil means that they
// agree.
func drift(first []column, extremes []int, a string, rows driver.Rows, b string) error {
	names := rows.Columns()
	if len(names) != len(first) {
		return driftError(fmt.Sprintf("%s answers with %d columns and %s with %d", a, len(first), b, len(names)))
	}
	for i, name := range names {
		if !strings.EqualFold(name, first[i].name) {
			return driftError(fmt.Sprintf("column %d is %s on %s and %s on %s", i+1, first[i].name, a, name, b))
		}
		typ := typeName(rows, i)
		if _, ok := value.WiderType(first[i].typ, typ, slices.Contains(extremes, i)); !ok {
			return driftError(fmt.Sprintf("column %s is %s on %s and %s on %s", name, first[i].typ, a, typ, b))
		}
	}
	return nil
}

func driftError(what string) error {
	return fmt.Errorf("sharding: %w: %s; alter the tables to the same columns in the same order, or name the columns in the SELECT",
		fault.ErrSchemaDrift, what)
}
