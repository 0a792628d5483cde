package route

import (
	"strings"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Filter is a condition on the columns of one table that every row which matters
// to a statement fulfils. The zero value is none.
type Filter struct {
	Text string // of WHERE
	Args []any
}

// filter returns what the AND terms of a reference's own block say of its rows, as
// far as they compare its columns with constants of the same kind, of which it does
// not matter where and by which index they are compared. An outer join that puts
// NULLs in the place of its rows would bring rows back; then it is none.
func (p *Program) filter(r *reference, columns *value.Table, args []any) Filter {
	where := p.stmt.Scopes[r.scope].Where
	if r.nullable || where == nil || p.stmt.Features&parse.FeatureRowNumber != 0 {
		return Filter{}
	}
	terms := []*parse.Cond{where}
	if where.Op == parse.CondAnd {
		terms = where.Kids
	}
	var f Filter
	for _, term := range terms {
		w := filterWriter{program: p, table: r.table, columns: columns, args: args}
		if !w.write(term) {
			continue
		}
		if f.Text != "" {
			f.Text += " AND "
		}
		f.Text += w.text.String()
		f.Args = append(f.Args, w.out...)
	}
	return f
}

// filterWriter writes one condition.
type filterWriter struct {
	program *Program
	table   int // in Statement.Tables
	columns *value.Table
	args    []any
	text    strings.Builder
	out     []any
}

// comparisons are the operators of conditions that can be written again.
var comparisons = map[parse.Compare]string{parse.Equal: " = ", parse.Less: " < ", parse.LessEqual: " <= ", parse.Greater: " > ", parse.GreaterEqual: " >= "}

// write writes a condition; it reports false where a part of it is not understood.
func (w *filterWriter) write(c *parse.Cond) bool {
	switch c.Op {
	case parse.CondAnd, parse.CondOr:
		before, between := "(", " AND "
		if c.Op == parse.CondOr {
			between = " OR "
		}
		for _, kid := range c.Kids {
			w.text.WriteString(before)
			if !w.write(kid) {
				return false
			}
			before = between
		}
		w.text.WriteString(")")
		return len(c.Kids) > 0
	case parse.CondCompare:
		operator, ok := comparisons[c.Compare]
		return ok && w.column(c.Column) && w.list(operator, c.Values[:1], "", "", c)
	case parse.CondIn:
		return w.column(c.Column) && w.list(" IN (", c.Values, ", ", ")", c)
	case parse.CondBetween:
		return w.column(c.Column) && w.list(" BETWEEN ", c.Values, " AND ", "", c)
	case parse.CondIsNull:
		if !w.column(c.Column) {
			return false
		}
		w.text.WriteString(" IS NULL")
		return true
	}
	return false
}

// column writes a column of the table.
func (w *filterWriter) column(c parse.Column) bool {
	if _, known := w.columns.Column(c.Name); !known || c.Table != w.table {
		return false
	}
	w.text.WriteString("`" + strings.ReplaceAll(c.Name, "`", "``") + "`")
	return true
}

// list writes operands of a condition.
func (w *filterWriter) list(before string, operands []parse.Operand, between, after string, c *parse.Cond) bool {
	column, _ := w.columns.Column(c.Column.Name)
	w.text.WriteString(before)
	for i := range operands {
		if i > 0 {
			w.text.WriteString(between)
		}
		switch o := &operands[i]; {
		case o.Kind == parse.OperandLiteral && o.Span.End > o.Span.Start && ofKind(column, o.Literal):
			text := w.program.stmt.Text[o.Span.Start:o.Span.End]
			if strings.ContainsAny(text, "()") { // of which the span may end before the last
				return false
			}
			w.text.WriteString(text)
		case o.Kind == parse.OperandParam && o.Param < len(w.args) && ofKind(column, w.args[o.Param]):
			w.text.WriteString("?")
			w.out = append(w.out, w.args[o.Param])
		default:
			return false
		}
	}
	w.text.WriteString(after)
	return len(operands) > 0
}

// ofKind reports whether a constant is compared with a column as what it is, without
// a conversion, of which an index might make another one.
func ofKind(c *value.Column, constant any) bool {
	switch v := constant.(type) {
	case nil:
		return true
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return c.Class == value.ClassInteger || c.Class == value.ClassDecimal
	case parse.Decimal:
		return c.Class == value.ClassDecimal
	case string:
		switch c.Class {
		case value.ClassText:
			return true
		case value.ClassDate:
			return isTime(time.DateOnly, v)
		case value.ClassDateTime:
			return isTime(time.DateOnly, v) || isTime(time.DateTime, v)
		}
	case time.Time:
		return c.Class == value.ClassDateTime && v.Nanosecond() == 0
	}
	return false
}

func isTime(layout, text string) bool {
	t, err := time.Parse(layout, text)
	return err == nil && t.Year() > 0 && len(text) == len(layout)
}
