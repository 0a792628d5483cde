package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// tables are configured names for tests.
type tables map[string]bool

func (t tables) IsTable(name string) bool { return t[name] }

var testTables = tables{"t_order": true, "t_order_item": true, "t_dict": true, "date": true}

func mustParse(t *testing.T, sql string) *Statement {
	t.Helper()
	return mustParseIn(t, sql, dialect.MySQL)
}

func mustParseIn(t *testing.T, sql string, d *dialect.Dialect) *Statement {
	t.Helper()
	stmt, err := Parse(sql, testTables, d)
	if err != nil {
		t.Fatalf("Parse(%s): %v", sql, err)
	}
	return stmt
}

// splice replaces every rename by prefix and the table's name, without schema.
func splice(stmt *Statement, prefix string) string {
	var b strings.Builder
	at := 0
	for _, r := range stmt.Renames {
		start := r.Start
		if r.Schema.End > r.Schema.Start {
			start = r.Schema.Start
		}
		b.WriteString(stmt.Text[at:start])
		name := prefix + stmt.Tables[r.Table].Name
		if r.Quote != 0 {
			name = "`" + name + "`"
		}
		b.WriteString(name)
		at = r.End
	}
	b.WriteString(stmt.Text[at:])
	return b.String()
}

// verify proves splice.
func verify(stmt *Statement, prefix string, d *dialect.Dialect) error {
	return Verify(stmt, splice(stmt, prefix), func(table int) (string, string) {
		return "", prefix + stmt.Tables[table].Name
	}, Edits{}, d)
}

// describeCond prints a condition in a short form, with columns as table.name.
func describeCond(stmt *Statement, c *Cond) string {
	if c == nil {
		return "open"
	}
	text := func(s Span) string { return stmt.Text[s.Start:s.End] }
	list := func(ops []Operand) string {
		parts := make([]string, len(ops))
		for i, o := range ops {
			parts[i] = describeOperand(o)
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	spans := func() string {
		if c.Spans == nil {
			return ""
		}
		parts := make([]string, len(c.Spans))
		for i, s := range c.Spans {
			parts[i] = text(s)
		}
		out := " [" + strings.Join(parts, "|") + "]"
		if c.Top {
			out += " top"
		}
		return out
	}
	switch c.Op {
	case CondOpen:
		return "open"
	case CondFalse:
		return "false"
	case CondAnd, CondOr:
		parts := make([]string, len(c.Kids))
		for i, k := range c.Kids {
			parts[i] = describeCond(stmt, k)
		}
		sep := " AND "
		if c.Op == CondOr {
			sep = " OR "
		}
		return "(" + strings.Join(parts, sep) + ")"
	case CondCompare:
		return describeColumn(stmt, c.Column) + [...]string{" = ", " < ", " <= ", " > ", " >= ", " <=> "}[c.Compare] + describeOperand(c.Values[0])
	case CondIn:
		return describeColumn(stmt, c.Column) + " IN " + list(c.Values) + spans()
	case CondBetween:
		return describeColumn(stmt, c.Column) + " BETWEEN " + describeOperand(c.Values[0]) + " AND " + describeOperand(c.Values[1])
	case CondIsNull:
		return describeColumn(stmt, c.Column) + " IS NULL"
	case CondTupleIn:
		cols := make([]string, len(c.Columns))
		for i, col := range c.Columns {
			cols[i] = describeColumn(stmt, col)
		}
		rows := make([]string, len(c.Tuples))
		for i, tuple := range c.Tuples {
			rows[i] = list(tuple)
		}
		return "(" + strings.Join(cols, ", ") + ") IN (" + strings.Join(rows, ", ") + ")" + spans()
	}
	return fmt.Sprintf("op %d", c.Op)
}

func describeColumn(stmt *Statement, c Column) string {
	switch c.Table {
	case AnyTable:
		return "any." + c.Name
	case NoTable:
		return "none." + c.Name
	}
	return fmt.Sprintf("%d.%s", c.Table, c.Name)
}

func describePairs(stmt *Statement, pairs []ColumnPair) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = describeColumn(stmt, p.A) + "=" + describeColumn(stmt, p.B)
	}
	return strings.Join(parts, " ")
}

func describeOperand(o Operand) string {
	switch o.Kind {
	case OperandLiteral:
		switch v := o.Literal.(type) {
		case nil:
			return "NULL"
		case string:
			return fmt.Sprintf("%q", v)
		case []byte:
			return fmt.Sprintf("x%x", v)
		case Decimal:
			return "dec " + string(v)
		case uint64:
			return fmt.Sprintf("%du", v)
		case float64:
			return fmt.Sprintf("%gf", v)
		}
		return fmt.Sprint(o.Literal)
	case OperandParam:
		return fmt.Sprintf("?%d", o.Param)
	case OperandDefault:
		return "DEFAULT"
	case OperandNow:
		return "NOW"
	case OperandExpr:
		parts := make([]string, len(o.Expr.Args))
		for i, arg := range o.Expr.Args {
			parts[i] = describeOperand(arg)
		}
		return o.Expr.Op + "(" + strings.Join(parts, ", ") + ")"
	}
	return "unknown"
}

func (s Span) of(stmt *Statement) string { return stmt.Text[s.Start:s.End] }

func sprint(v any) string { return fmt.Sprint(v) }
