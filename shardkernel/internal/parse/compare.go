package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// comparer compares the tree of a statement with that of what it became, in all
// their fields but positions and texts.
type comparer struct {
	edits       *Edits
	prefix      string                             // of the marked names in the left tree
	names       func(k int) (name, logical string) // of a marked name
	left, right []int                              // offsets of the markers
}

// tableFields are the fields that name a table, or a column's table.
var tableFields = map[string]bool{
	"TableName.Name": true, "ColumnName.Table": true, "WildCardField.Table": true,
}

// same returns how two values differ; field is the field they stand in, as
// Type.Field.
func (c *comparer) same(l, r reflect.Value, field string) error {
	if l.Kind() == reflect.Interface || l.Kind() == reflect.Pointer {
		switch {
		case c.edits.Limit && field == "SelectStmt.Limit", c.edits.Having && field == "SelectStmt.Having" && r.IsNil(), c.edits.Order && field == "SelectStmt.OrderBy" && l.IsNil(),
			c.edits.Groups && (field == "SelectStmt.GroupBy" && l.IsNil() || field == "SelectStmt.OrderBy" && r.IsNil()):
			return nil
		case l.IsNil() != r.IsNil():
			return fmt.Errorf("%s: one is nil", field)
		case l.IsNil():
			return nil
		}
		if r.CanInterface() {
			if marker, ok := r.Interface().(*test_driver.ParamMarkerExpr); ok {
				return c.sameMarker(l.Interface(), marker, field)
			}
		}
		return c.same(l.Elem(), r.Elem(), field)
	}
	if l.Type() != r.Type() {
		return fmt.Errorf("%s: a %s became a %s", field, l.Type(), r.Type())
	}
	switch l.Kind() {
	case reflect.Struct:
		return c.sameStruct(l, r, field)
	case reflect.Slice, reflect.Array:
		return c.sameList(l, r, field)
	case reflect.String:
		return c.sameName(l.String(), r.String(), field)
	case reflect.Func, reflect.Map, reflect.Chan, reflect.UnsafePointer:
		return nil
	}
	if !l.Equal(r) {
		return fmt.Errorf("%s: %v became %v", field, l, r)
	}
	return nil
}

func (c *comparer) sameStruct(l, r reflect.Value, field string) error {
	t := l.Type()
	if t == reflect.TypeFor[ast.CIStr]() {
		return c.sameName(l.Field(0).String(), r.Field(0).String(), field)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "node" || f.Name == "flag" || f.Name == "Offset" || f.Name == "Type" && f.Type.Kind() == reflect.Struct {
			continue
		}
		if err := c.same(l.Field(i), r.Field(i), t.Name()+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

// sameMarker compares what stood in the place of a marker: the marker whose
// argument it has, or, for a generated key, anything.
func (c *comparer) sameMarker(was any, marker *test_driver.ParamMarkerExpr, field string) error {
	got, ok := slices.BinarySearch(c.right, marker.Offset)
	if !ok {
		return fmt.Errorf("%s: a marker at %d, where there is none", field, marker.Offset)
	}
	if c.edits.Bound != nil {
		got = c.edits.Bound[got]
	}
	old, ok := was.(*test_driver.ParamMarkerExpr)
	if !ok {
		if got < 0 && c.edits.Key {
			return nil
		}
		return fmt.Errorf("%s: a %T became a marker", field, was)
	}
	if want, _ := slices.BinarySearch(c.left, old.Offset); got != want && (got >= 0 || !c.edits.Key) {
		return fmt.Errorf("%s: marker %d has the argument of %d", field, want, got)
	}
	return nil
}

func (c *comparer) sameList(l, r reflect.Value, field string) error {
	n := l.Len()
	switch {
	case field == "PatternInExpr.List" && c.edits.Lists:
		return c.someOf(l, r, field)
	case field == "InsertStmt.Lists" && c.edits.Rows != nil && l.Type().Elem().Kind() == reflect.Slice:
		kept := reflect.MakeSlice(l.Type(), 0, len(c.edits.Rows))
		for _, row := range c.edits.Rows {
			kept = reflect.Append(kept, l.Index(row))
		}
		l, n = kept, len(c.edits.Rows)
	case field == "FieldList.Fields" && r.Len() == n+c.edits.Derived:
		for i := n; i < r.Len(); i++ {
			if f := r.Index(i).Interface().(*ast.SelectField); !strings.Contains(f.AsName.O, "_DERIVED_") {
				return fmt.Errorf("%s: a column %s was added", field, f.AsName.O)
			}
		}
		r = r.Slice(0, n)
	case c.edits.Groups && (field == "GroupByClause.Items" || field == "OrderByClause.Items") && r.Len() > n:
		r = r.Slice(0, n)
	case c.edits.Key && r.Len() == n+1 && (field == "InsertStmt.Columns" || field == "InsertStmt.Lists" && l.Type().Elem().Kind() != reflect.Slice):
		r = r.Slice(0, n)
	}
	if r.Len() != n {
		return fmt.Errorf("%s: %d elements became %d", field, n, r.Len())
	}
	for i := range n {
		if err := c.same(l.Index(i), r.Index(i), field); err != nil {
			return err
		}
	}
	return nil
}

// someOf compares lists of which elements may have gone.
func (c *comparer) someOf(l, r reflect.Value, field string) error {
	at := 0
	for i := range r.Len() {
		for at < l.Len() && c.same(l.Index(at), r.Index(i), field) != nil {
			at++
		}
		if at == l.Len() {
			return fmt.Errorf("%s: element %d is not of the list, or in another order", field, i)
		}
		at++
	}
	return nil
}

func (c *comparer) sameName(l, r, field string) error {
	logical := ""
	if strings.HasPrefix(l, c.prefix) {
		if k, err := strconv.Atoi(l[len(c.prefix):]); err == nil {
			if !tableFields[field] {
				return fmt.Errorf("rename %d stands at %s, where no table is named", k, field)
			}
			l, logical = c.names(k)
		}
	}
	switch {
	case l == r:
	case c.edits.Aliases && (strings.EqualFold(r, logical) || l == "" && (field == "SelectField.AsName" || field == "TableSource.AsName")):
	default:
		return fmt.Errorf("%s: %q became %q", field, l, r)
	}
	return nil
}
