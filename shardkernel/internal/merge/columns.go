package merge

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// SchemaDriftError reports that two units answered with different columns. It
// matches fault.ErrSchemaDrift. No row has been given.
type SchemaDriftError struct {
	Unit        int    // the unit that differs from the first, counted from 0
	Node, First string // the nodes of the two, empty where they are not known
	Detail      string // what differs
}

func (e *SchemaDriftError) Error() string {
	places := ""
	switch {
	case e.Node != "":
		places = e.Node + " against " + e.First + ": "
	case e.Unit > 0:
		places = fmt.Sprintf("unit %d against unit 1: ", e.Unit+1)
	}
	return fmt.Sprintf("sharding: %s: %s%s; give the actual tables the same columns in the same order, or name the columns instead of *",
		fault.ErrSchemaDrift, places, e.Detail)
}

// placed is implemented by cursors that know the node they read.
type placed interface{ Node() string }

// driftOf is the error of a unit that differs from the first.
func driftOf(cursors []driver.Rows, unit int, detail string) *SchemaDriftError {
	e := &SchemaDriftError{Unit: unit, Detail: detail}
	a, known := cursors[0].(placed)
	b, both := cursors[unit].(placed)
	if known && both {
		e.First, e.Node = a.Node(), b.Node()
	}
	return e
}

// Is matches fault.ErrSchemaDrift.
func (e *SchemaDriftError) Is(target error) bool { return target == fault.ErrSchemaDrift }

// header is what the cursors say of the columns. It is read at once, because a
// cursor may be closed while the merged rows are still open.
type header struct {
	names   []string // of the visible columns
	columns []column // derived ones included
	// doubtful is set where a row may turn out to hold what cannot be merged.
	doubtful bool
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

// newHeader reads the cursors' columns and holds them against the first one's:
// rows whose columns stand in another order must not be mixed (semantics row
// 67).
func newHeader(cursors []driver.Rows, derived int, extremes []int) (*header, error) {
	first := cursors[0]
	names := first.Columns()
	if derived < 0 || derived > len(names) {
		return nil, fmt.Errorf("sharding: merge: %d derived columns of %d", derived, len(names))
	}
	columns := describe(first, len(names))
	for unit := 1; unit < len(cursors); unit++ {
		others := cursors[unit].Columns()
		if detail := driftOfNames(names, others); detail != "" {
			return nil, driftOf(cursors, unit, detail)
		}
		for i, c := range describe(cursors[unit], len(names)) {
			if !columns[i].widen(c, slices.Contains(extremes, i)) {
				return nil, driftOf(cursors, unit, fmt.Sprintf("column %d, %q, is %s instead of %s", i+1, names[i], c.typeName, columns[i].typeName))
			}
		}
	}
	visible := len(names) - derived
	return &header{names: names[:visible:visible], columns: columns}, nil
}

// describe reads what a cursor says of its columns.
func describe(cursor driver.Rows, n int) []column {
	columns := make([]column, n)
	typeName, hasTypeName := cursor.(driver.RowsColumnTypeDatabaseTypeName)
	scanType, hasScanType := cursor.(driver.RowsColumnTypeScanType)
	nullable, hasNullable := cursor.(driver.RowsColumnTypeNullable)
	length, hasLength := cursor.(driver.RowsColumnTypeLength)
	precision, hasPrecision := cursor.(driver.RowsColumnTypePrecisionScale)
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
	return columns
}

// widen makes c a description that fits other's values, too; it reports false
// when their types have nothing to do with each other. Whether a column may be
// NULL, and how long its texts are, depends on the server's plan and differs
// between nodes with other rows. extreme is that of value.WiderType.
func (c *column) widen(other column, extreme bool) bool {
	if c.typeName == "" || other.typeName == "" { // a cursor that says nothing
		return true
	}
	wider, ok := value.WiderType(c.typeName, other.typeName, extreme)
	if !ok {
		return false
	}
	if wider != c.typeName {
		*c, other = other, *c
	}
	if other.nullable && !c.nullable {
		c.nullable, c.scanType = true, other.scanType
	}
	return true
}

// driftOfNames says how the columns of a unit differ from those of the first.
func driftOfNames(names, others []string) string {
	if len(others) != len(names) {
		return fmt.Sprintf("%d columns instead of %d", len(others), len(names))
	}
	for i, name := range names {
		if others[i] != name {
			return fmt.Sprintf("column %d is %q instead of %q", i+1, others[i], name)
		}
	}
	return ""
}

// checkLabels compares the visible columns with the labels that the planner counts
// on.
func (h *header) checkLabels(labels []string) error {
	if labels == nil {
		return nil
	}
	if len(labels) != len(h.names) {
		return &SchemaDriftError{Detail: fmt.Sprintf("%d columns instead of the %d that were known", len(h.names), len(labels))}
	}
	for i, label := range labels {
		if label != "" && !strings.EqualFold(label, h.names[i]) {
			return &SchemaDriftError{Detail: fmt.Sprintf("column %d is %q instead of %q, as was known", i+1, h.names[i], label)}
		}
	}
	return nil
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
