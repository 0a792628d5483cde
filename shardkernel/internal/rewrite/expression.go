package rewrite

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// computing writes the recipe of one expression over aggregates. The nodes give
// its aggregates and columns; what stands above them is evaluated over the merged
// values.
type computing struct {
	*recipe
	clause string // for messages
}

// having takes HAVING into the recipe. The nodes do not get it.
func (r *recipe) having() error {
	s := r.selection
	if s.Having == (parse.Span{}) {
		return nil
	}
	c := computing{r, r.text(s.Having)}
	if s.HavingExpr == nil {
		return c.refuse("it holds more than aggregates, numbers, comparisons and arithmetic")
	}
	x, err := c.expression(s.HavingExpr, false)
	r.merge.Having = x
	return err
}

// computeColumn lets a column of the nodes' rows be computed from merged values.
func (r *recipe) computeColumn(column plan.ColumnRef, x *parse.Computed, text string) error {
	if r.own {
		return nil
	}
	c := computing{r, text}
	if x == nil {
		return c.refuse("it holds more than aggregates, numbers, comparisons and arithmetic")
	}
	e, err := c.expression(x, false)
	if err != nil {
		return err
	}
	r.merge.Computed = append(r.merge.Computed, plan.Computed{Column: column, Expr: e})
	return nil
}

func (c *computing) refuse(reason string) error {
	return refuse(c.clause, reason, "select the aggregates and compute with them in the application")
}

// expression translates an expression. compared is true for an operand of a
// comparison, where a text counts as the number it spells.
func (c *computing) expression(x *parse.Computed, compared bool) (*plan.Expr, error) {
	switch x.Op {
	case plan.OpColumn:
		return c.leaf(x)
	case plan.OpConstant:
		return c.constant(x.Constant, compared)
	}
	out := &plan.Expr{Op: x.Op}
	if x.Op == plan.OpDivide {
		if out.DivPrecision = c.template.server.DivPrecision; !c.template.server.Dialect.Weights {
			return nil, c.refuse("the database divides by rules of its own")
		}
	}
	compares := x.Op >= plan.OpEqual && x.Op <= plan.OpGreaterEqual || x.Op == plan.OpBetween || x.Op == plan.OpIn
	for i, kid := range x.Kids {
		k, err := c.expression(kid, compares)
		if err != nil {
			return nil, err
		}
		if i == 1 && (x.Op == plan.OpRound || x.Op == plan.OpTruncate) {
			if _, ok := k.Const.(int64); k.Op != plan.OpConstant || !ok {
				return nil, c.refuse("the number of digits it is rounded to is no integer constant")
			}
		}
		out.Kids = append(out.Kids, k)
	}
	return out, nil
}

func (c *computing) leaf(x *parse.Computed) (*plan.Expr, error) {
	switch {
	case x.Aggregate != nil:
		return c.aggregateLeaf(x.Aggregate, x.Span)
	case x.Item >= 0:
		return c.item(x)
	}
	return c.column(x.Column)
}

// item is a select item that is meant by its alias.
func (c *computing) item(x *parse.Computed) (*plan.Expr, error) {
	item := &c.selection.Items[x.Item]
	if item.Column == nil || item.Column.Name != x.Column.Name {
		// A column that is grouped by would win over the alias, no other would.
		// Measured on MariaDB 10.11.
		for i := range c.selection.GroupBy {
			if by := &c.selection.GroupBy[i]; by.Column != nil && by.Column.Name == x.Column.Name {
				return nil, c.refuse("the alias " + item.Alias + " is also the name of a column that is grouped by, or may be")
			}
		}
	}
	switch {
	case item.Aggregate != nil:
		return c.aggregateLeaf(item.Aggregate, item.Expr)
	case item.Computed != nil:
		return c.expression(item.Computed, false)
	case item.Column != nil:
		return c.column(item.Column)
	}
	return nil, c.refuse("the expression behind the alias " + item.Alias + " is no aggregate")
}

// column is a column that all rows of a group have alike.
func (c *computing) column(column *parse.Column) (*plan.Expr, error) {
	known := c.columnOf(column)
	if known == nil || !isNumber(known) {
		return nil, c.refuse("column " + column.Name + " is no number, or its type is not known")
	}
	if known.Class == value.ClassYear { // YEAR = 24 is true of 2024
		return nil, c.refuse("the servers compare a YEAR with numbers of two digits by rules of their own")
	}
	for i := range c.selection.GroupBy {
		by := &c.selection.GroupBy[i]
		if by.Column == nil || *by.Column != *column || by.ByAlias {
			continue
		}
		if by.Item < 0 {
			return &plan.Expr{Op: plan.OpColumn, Column: c.compute(derived{Span: by.Span}, groupAlias)}, nil
		}
		if at, ok := c.itemColumn(by.Item); ok {
			return &plan.Expr{Op: plan.OpColumn, Column: at}, nil
		}
	}
	return nil, c.refuse("column " + column.Name + " is not among the columns that are grouped by")
}

func isNumber(c *value.Column) bool {
	switch c.Class {
	case value.ClassInteger, value.ClassDecimal, value.ClassYear:
		return true
	}
	return c.Class == value.ClassFloat && c.Type == "double"
}

// aggregateLeaf gives the merged value of an aggregate of numbers.
func (c *computing) aggregateLeaf(a *parse.Aggregate, expr parse.Span) (*plan.Expr, error) {
	switch a.Func {
	case "COUNT", "SUM", "BIT_AND", "BIT_OR", "BIT_XOR":
	case "AVG":
		return c.average(a, expr)
	case "MIN", "MAX":
		if a.Column == nil {
			return nil, c.refuse("whether " + c.text(expr) + " is a number is not known")
		}
		if known := c.columnOf(a.Column); known == nil || !isNumber(known) {
			return nil, c.refuse(c.text(expr) + " is no number, or its type is not known")
		}
	default:
		return nil, refuse(a.Func, "its results are not combined over several nodes", "")
	}
	if column, ok := c.selected(expr); ok {
		return &plan.Expr{Op: plan.OpColumn, Column: column}, nil
	}
	return c.derivedAggregate(a, derived{Span: expr})
}

// selected returns the column of a select item that is the aggregate of a text.
func (c *computing) selected(expr parse.Span) (plan.ColumnRef, bool) {
	for i := range c.selection.Items {
		item := &c.selection.Items[i]
		if item.Aggregate != nil && c.text(item.Expr) == c.text(expr) && markersIn(c.template.stmt, expr) == 0 {
			return c.itemColumn(i)
		}
	}
	return plan.ColumnRef{}, false
}

// derivedAggregate derives an aggregate and lets it be combined.
func (c *computing) derivedAggregate(a *parse.Aggregate, d derived) (*plan.Expr, error) {
	column := c.derive(d, aggregateAlias)
	if err := c.aggregate(a, column, d.Span); err != nil {
		return nil, err
	}
	return &plan.Expr{Op: plan.OpColumn, Column: column}, nil
}

// average is a quotient: the servers calculate with more digits of it than they
// show.
func (c *computing) average(a *parse.Aggregate, expr parse.Span) (*plan.Expr, error) {
	if !c.template.server.Dialect.Weights {
		return nil, c.refuse("the database divides by rules of its own")
	}
	if !c.exactSum(a) {
		return nil, c.aggregate(a, plan.ColumnRef{}, expr) // which says why
	}
	sum, count := *a, *a
	sum.Func, count.Func = "SUM", "COUNT"
	if a.Distinct {
		return c.distinctAverage(a, &sum, expr)
	}
	total, err := c.derivedAggregate(&sum, derived{before: "SUM(", Span: a.Arg, after: ")"})
	if err != nil {
		return nil, err
	}
	number, err := c.derivedAggregate(&count, derived{before: "COUNT(", Span: a.Arg, after: ")"})
	return c.quotient(total, number), err
}

func (c *computing) quotient(total, number *plan.Expr) *plan.Expr {
	return &plan.Expr{Op: plan.OpDivide, Kids: []*plan.Expr{total, number}, DivPrecision: c.template.server.DivPrecision, Rounded: c.sortsGroups()}
}

// sortsGroups reports whether ORDER BY asks for another order than that of the
// groups. Servers then may write the groups to a temporary table, an average with
// the digits it shows. Measured on MariaDB 10.11.
func (c *computing) sortsGroups() bool {
	s := c.selection
	if len(s.GroupBy) == 0 {
		return false
	}
	for i := range s.OrderBy {
		by := &s.OrderBy[i]
		if i >= len(s.GroupBy) || by.Column == nil || s.GroupBy[i].Column == nil || *by.Column != *s.GroupBy[i].Column {
			return true
		}
	}
	return false
}

func (c *computing) constant(o parse.Operand, compared bool) (*plan.Expr, error) {
	arg := o.Literal
	if o.Kind == parse.OperandParam && o.Param < len(c.args) {
		arg = c.args[o.Param]
	}
	switch v := arg.(type) {
	case nil:
		return &plan.Expr{Op: plan.OpConstant}, nil
	case *plan.Found:
		if !v.Number {
			return nil, c.refuse("what a subquery gives in it is no exact number")
		}
		return &plan.Expr{Op: plan.OpConstant, Const: v.Constant}, nil
	case parse.Decimal:
		return &plan.Expr{Op: plan.OpConstant, Const: plan.Decimal(v)}, nil
	case string:
		if compared && spellsNumber(v) {
			return &plan.Expr{Op: plan.OpConstant, Const: plan.Decimal(v)}, nil
		}
		return nil, c.refuse("a text stands where a number is calculated with, or one that is no plain number of up to 15 digits")
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		return &plan.Expr{Op: plan.OpConstant, Const: n}, nil
	case float64:
		if o.Kind == parse.OperandLiteral {
			return &plan.Expr{Op: plan.OpConstant, Const: v}, nil
		}
		return c.float(v), nil
	case float32:
		return c.float(float64(v)), nil
	}
	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		return &plan.Expr{Op: plan.OpConstant, Const: v.Int()}, nil
	case v.CanUint():
		return &plan.Expr{Op: plan.OpConstant, Const: v.Uint()}, nil
	}
	return nil, c.refuse("a value in it is no number")
}

// float is a float64 as the driver sends it: as a DOUBLE, or written into the text,
// where it is a DECIMAL unless it has an exponent.
func (c *computing) float(v float64) *plan.Expr {
	x := &plan.Expr{Op: plan.OpConstant, Const: v}
	if text := strconv.FormatFloat(v, 'g', -1, 64); c.template.server.Interpolates && !strings.ContainsAny(text, "eIN") {
		x.Const = plan.Decimal(text)
	}
	return x
}

// spellsNumber reports whether a text is a number in digits, so few that it is the
// same to a comparison of integers, of decimals and of floating point numbers:
// servers differ in which they choose.
func spellsNumber(text string) bool {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := whole + fraction
	return whole != "" && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}
