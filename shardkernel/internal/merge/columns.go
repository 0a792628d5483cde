package merge

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// SchemaDriftError reports that two units answered with different columns. It
// matches fault.ErrSchemaDrift. No row has been given.
type SchemaDriftError struct {
	Unit   int    // the unit that differs from the first, counted from 0
	Detail string // what differs
}

func (e *SchemaDriftError) Error() string {
	return fmt.Sprintf("sharding: %s: unit %d against unit 1: %s; give the actual tables the same columns in the same order, or name the columns instead of *",
		fault.ErrSchemaDrift, e.Unit+1, e.Detail)
}

// Is matches fault.ErrSchemaDrift.
func (e *SchemaDriftError) Is(target error) bool { return target == fault.ErrSchemaDrift }

// header is what the first cursor says of the columns. It is read at once,
// because the cursor may be closed while the merged rows are still open.
type header struct {
	names   []string // of the visible columns
	columns []column // derived ones included
}

type column struct {
	typeName         string
	scanType         reflect.Type
	nullable         bool
	hasNullable      bool
	length           int64
	hasLength        bool
	precision, scale int64
	hasScale         bool
}

// newHeader reads the first cursor's columns and holds the others against them:
// rows whose columns stand in another order must not be mixed (semantics row
// 67).
func newHeader(cursors []driver.Rows, derived int) (*header, error) {
	first := cursors[0]
	names := first.Columns()
	if derived < 0 || derived > len(names) {
		return nil, fmt.Errorf("sharding: merge: %d derived columns of %d", derived, len(names))
	}
	for unit := 1; unit < len(cursors); unit++ {
		if detail := drift(first, cursors[unit], names); detail != "" {
			return nil, &SchemaDriftError{Unit: unit, Detail: detail}
		}
	}

	columns := make([]column, len(names))
	typeName, hasTypeName := first.(driver.RowsColumnTypeDatabaseTypeName)
	scanType, hasScanType := first.(driver.RowsColumnTypeScanType)
	nullable, hasNullable := first.(driver.RowsColumnTypeNullable)
	length, hasLength := first.(driver.RowsColumnTypeLength)
	precision, hasPrecision := first.(driver.RowsColumnTypePrecisionScale)
	for i := range columns {
		c := &columns[i]
		if hasTypeName {
			c.typeName = typeName.ColumnTypeDatabaseTypeName(i)
		}
		c.scanType = reflect.TypeFor[any]()
		if hasScanType {
			c.scanType = scanType.ColumnTypeScanType(i)
		}
		if hasNullable {
			c.nullable, c.hasNullable = nullable.ColumnTypeNullable(i)
		}
		if hasLength {
			c.length, c.hasLength = length.ColumnTypeLength(i)
		}
		if hasPrecision {
			c.precision, c.scale, c.hasScale = precision.ColumnTypePrecisionScale(i)
		}
	}
	visible := len(names) - derived
	return &header{names: names[:visible:visible], columns: columns}, nil
}

// drift says how the columns of other differ from those of first.
func drift(first, other driver.Rows, names []string) string {
	others := other.Columns()
	if len(others) != len(names) {
		return fmt.Sprintf("%d columns instead of %d", len(others), len(names))
	}
	for i, name := range names {
		if others[i] != name {
			return fmt.Sprintf("column %d is %q instead of %q", i+1, others[i], name)
		}
	}
	a, ok := first.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return ""
	}
	b, ok := other.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return ""
	}
	for i, name := range names {
		want, got := a.ColumnTypeDatabaseTypeName(i), b.ColumnTypeDatabaseTypeName(i)
		if got != want {
			return fmt.Sprintf("column %d, %q, is %s instead of %s", i+1, name, got, want)
		}
	}
	return ""
}

// resolve finds a column. clause is the clause that speaks of it.
func (h *header) resolve(ref plan.ColumnRef, clause string) (int, error) {
	if ref.Name != "" {
		return h.resolveName(ref.Name, clause)
	}
	i := ref.Index
	if ref.FromEnd {
		i = len(h.columns) - 1 - ref.Index
	}
	if i < 0 || i >= len(h.columns) {
		return 0, fmt.Errorf("sharding: merge: %s refers to a column beyond the %d of the result", clause, len(h.columns))
	}
	return i, nil
}

func (h *header) resolveName(name, clause string) (int, error) {
	found := -1
	for i, candidate := range h.names {
		if !strings.EqualFold(candidate, name) {
			continue
		}
		if found >= 0 {
			return 0, fault.Unsupported(clause, fmt.Sprintf("two columns of the result are named %q", name), "give them different aliases")
		}
		found = i
	}
	if found < 0 {
		return 0, fault.Unsupported(clause, fmt.Sprintf("no column of the result is named %q", name), "select the column, or refer to it by the alias")
	}
	return found, nil
}

// name returns the name of a column for messages.
func (h *header) name(i int) string {
	if i < len(h.names) {
		return h.names[i]
	}
	return fmt.Sprintf("derived %d", i-len(h.names)+1)
}
