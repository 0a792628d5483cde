package merge

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Header is what a result told of its columns.
type Header struct{ header *header }

// ReadHeader reads what rows tell of their columns, and closes them.
func ReadHeader(rows driver.Rows) (*Header, error) {
	head, err := newHeader([]driver.Rows{rows}, 0, nil)
	if e := rows.Close(); err == nil {
		err = e
	}
	return &Header{head}, err
}

// Give returns rows under the header, as Rows would.
//
// A column may be a wider integer or another type of text than the header says,
// which does not show in its values; any other difference is an error before the first
// row, which matches fault.ErrUnsupported for a FLOAT and a DOUBLE, since a plan makes
// them differ, and else fault.ErrSchemaDrift.
func (h *Header) Give(rows driver.Rows) (driver.Rows, error) {
	in := &inputs{cursors: []driver.Rows{rows}}
	if err := h.header.fits(rows); err != nil {
		_ = in.close()
		return nil, err
	}
	return &result{header: h.header, inputs: in, memory: new(account), rows: newIterate(h.header, in)}, nil
}

// fits reports the first column of rows whose values are not those of the header's
// type. Where rows are of an ENUM or SET the header takes their type.
func (h *header) fits(rows driver.Rows) error {
	names := rows.Columns()
	if len(names) != len(h.names) {
		return errDoesNotFit(fmt.Sprintf("%d columns were computed for a result of %d", len(names), len(h.names)))
	}
	for i, got := range describe(rows, len(names)) {
		want := &h.columns[i]
		if isFloat(want.typeName) && isFloat(got.typeName) && want.typeName != got.typeName {
			return fault.Unsupported("column "+h.names[i]+" beside rows of other data sources", "a server shows it as a FLOAT or as a DOUBLE by its plan of execution",
				"convert the value: CAST(… AS DOUBLE)")
		}
		if !sameValues(want.typeName, got.typeName) || want.hasScale && got.hasScale && want.scale != got.scale {
			return errDoesNotFit(fmt.Sprintf("column %d, %q, is %s with %d decimals and was computed as %s with %d", i+1, h.names[i], want.typeName, want.scale, got.typeName, got.scale))
		}
		if asText(got.typeName) != got.typeName { // the header's statement groups nothing
			want.typeName = got.typeName
		}
	}
	return nil
}

func isFloat(typeName string) bool { return typeName == "FLOAT" || typeName == "DOUBLE" }

// sameValues reports whether drivers give the values of two types alike.
func sameValues(a, b string) bool {
	if _, ok := value.WiderType(asText(a), asText(b), false); ok {
		return true
	}
	return isInteger(a) && isInteger(b) && strings.HasPrefix(a, "UNSIGNED") == strings.HasPrefix(b, "UNSIGNED")
}

// asText is the type of text that the values of ENUM and SET come as. An extreme of
// them is a text until a server groups by a table of its own, which has their type.
func asText(typeName string) string {
	if typeName == "ENUM" || typeName == "SET" {
		return "VARCHAR"
	}
	return typeName
}

// isInteger reports whether a type is one of integers, which end alike.
func isInteger(typeName string) bool { return strings.HasSuffix(typeName, "INT") }

func errDoesNotFit(what string) error {
	return fmt.Errorf("sharding: %w: %s; give the actual tables the same columns, or name the columns in the SELECT", fault.ErrSchemaDrift, what)
}
