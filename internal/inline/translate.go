package inline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// function is one of Groovy's operators or methods.
type function struct {
	call func(params ...any) (any, error)
	// least and most are the numbers of arguments, the receiver of a method
	// included.
	least, most int
}

// operators replace those of the expression library, which computes with
// floating point, wraps around, and divides integers into fractions.
var operators = map[string]function{
	"+":  {plus, 2, 2},
	"-":  {minus, 2, 2},
	"*":  {times, 2, 2},
	"/":  {divide, 2, 2},
	"%":  {remainder, 2, 2},
	"==": {equal, 2, 2},
	"!=": {func(p ...any) (any, error) {
		same, err := equal(p...)
		return same == any(false), err
	}, 2, 2},
	"<":  ordering("<", func(order int) bool { return order < 0 }),
	"<=": ordering("<=", func(order int) bool { return order <= 0 }),
	">":  ordering(">", func(order int) bool { return order > 0 }),
	">=": ordering(">=", func(order int) bool { return order >= 0 }),
}

func ordering(operation string, holds func(order int) bool) function {
	return function{func(p ...any) (any, error) {
		order, err := compare(operation, p)
		return holds(order), err
	}, 2, 2}
}

// methods are called on a value, as in id.intdiv(8).
var methods = map[string]function{
	"intdiv":    {intdiv, 2, 2},
	"abs":       {abs, 1, 1},
	"hashCode":  {hashCode, 1, 1},
	"substring": {substring, 2, 3},
	"padLeft":   {padLeft, 2, 3},
	"length":    {length, 1, 1},
	"toString":  {toString, 1, 1},
	"longValue": {toLong, 1, 1},
	"toLong":    {toLong, 1, 1},
	"intValue":  {toInteger, 1, 1},
	"toInteger": {toInteger, 1, 1},
}

// functions are called by name. All but floorMod are static methods of Java's
// classes; floorMod is our own.
var functions = map[string]function{
	"floorMod":         {floorMod, 2, 2},
	"Math.abs":         {abs, 1, 1},
	"Math.floorMod":    {floorMod, 2, 2},
	"Long.valueOf":     {toLong, 1, 1},
	"Long.parseLong":   {toLong, 1, 1},
	"Integer.valueOf":  {toInteger, 1, 1},
	"Integer.parseInt": {toInteger, 1, 1},
	"String.valueOf":   {toString, 1, 1},
}

// maxPeriod is the longest period that a translator finds.
const maxPeriod = 4096

// translator turns the code of one template into programs.
type translator struct {
	config  *conf.Config
	any     bool     // whether every name is a variable
	columns []string // the variables, lower case
	used    map[string]bool
	// period is such that the results depend only on the variables modulo it; 0
	// when there is no such number or it is too large.
	period int64

	arithmetic Arithmetic
	code       string            // of the part at hand, as it was written
	kinds      map[ast.Node]kind // of translated nodes that are no Long, where arithmetic is Java's
}

// newTranslator knows the given columns, or takes every name for a column when
// columns is nil.
func newTranslator(columns []string, arithmetic Arithmetic) *translator {
	t := &translator{
		arithmetic: arithmetic, kinds: map[ast.Node]kind{},
		config: conf.CreateNew(),
		any:    columns == nil,
		used:   map[string]bool{},
		period: 1,
	}
	for _, c := range columns {
		t.columns = append(t.columns, strings.ToLower(c))
	}
	for _, option := range []expr.Option{
		expr.Env(nil), expr.AllowUndefinedVariables(), expr.Optimize(false), expr.DisableAllBuiltins(), expr.DisableIfOperator(),
	} {
		option(t.config)
	}
	return t
}

// compile returns the program of a part.
func (t *translator) compile(text string, p part) (*vm.Program, error) {
	code, err := plainNumbers(text, p)
	if err != nil {
		return nil, err
	}
	t.code = p.text
	tree, err := parser.ParseWithConfig(code, t.config)
	if err != nil {
		return nil, libraryError(text, p, err)
	}
	if tree.Node, err = t.node(tree.Node); err != nil {
		return nil, libraryError(text, p, err)
	}
	if _, err = checker.Check(tree, t.config); err != nil {
		return nil, libraryError(text, p, err)
	}
	program, err := compiler.Compile(tree, t.config)
	if err != nil {
		return nil, libraryError(text, p, err)
	}
	return program, nil
}

// libraryError brings an error of the library to the form of this package.
func libraryError(text string, p part, err error) error {
	var at *file.Error
	if errors.As(err, &at) {
		return errorAt(text, p.offset+at.From, "%s", at.Message)
	}
	return errorAt(text, p.offset, "cannot be compiled")
}

// refuse reports a construct that has no meaning here.
func refuse(n ast.Node, format string, args ...any) error {
	return &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)}
}

// node returns the tree with every operator and method replaced by a call of
// the function that has Groovy's meaning.
func (t *translator) node(n ast.Node) (ast.Node, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		number := constant(n, int64(n.Value))
		t.kinds[number] = literal(t.code, n)
		return number, nil
	case *ast.StringNode:
		return constant(n, n.Value), nil
	case *ast.IdentifierNode:
		t.period = 0 // unless the caller knows better
		return t.variable(n)
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ConditionalNode:
		return t.conditional(n)
	case *ast.CallNode:
		return t.call(n)
	case *ast.FloatNode:
		return nil, refuse(n, "a number with a fraction")
	}
	return nil, refuse(n, "%s is not supported here", n)
}

func constant(n ast.Node, value any) ast.Node {
	c := &ast.ConstantNode{Value: value}
	c.SetLocation(n.Location())
	return c
}

func (t *translator) variable(n *ast.IdentifierNode) (ast.Node, error) {
	name := strings.ToLower(n.Value)
	if !slices.Contains(t.columns, name) {
		if !t.any {
			return nil, refuse(n, "%s is not the sharding column; known here: %s", n.Value, strings.Join(t.columns, ", "))
		}
		t.columns = append(t.columns, name)
	}
	t.used[name] = true
	v := &ast.IdentifierNode{Value: name}
	v.SetLocation(n.Location())
	if t.arithmetic == JavaInteger {
		t.kinds[v] = kindInteger
	}
	return v, nil
}

func (t *translator) unary(n *ast.UnaryNode) (ast.Node, error) {
	operand, err := t.node(n.Node)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "-":
		return t.invoke(n, "negate", function{negate, 1, 1}, operand)
	case "!":
		n.Node = operand
		return n, nil
	}
	return nil, refuse(n, "the operator %s is not supported", n.Operator)
}

func (t *translator) binary(n *ast.BinaryNode) (ast.Node, error) {
	if n.Operator == "&&" || n.Operator == "||" {
		var err error
		if n.Left, err = t.node(n.Left); err == nil {
			n.Right, err = t.node(n.Right)
		}
		return n, err
	}
	f, ok := operators[n.Operator]
	if !ok {
		return nil, refuse(n, "the operator %s is not supported", n.Operator)
	}
	if n.Operator == "%" {
		return t.modulo(n, n.Operator, f, n.Left, n.Right)
	}
	return t.invokeOn(n, n.Operator, f, n.Left, n.Right)
}

// modulo translates column % constant and floorMod(column, constant) without
// losing the period.
func (t *translator) modulo(n ast.Node, name string, f function, left, right ast.Node) (ast.Node, error) {
	before := t.period
	out, err := t.invokeOn(n, name, f, left, right)
	if err != nil {
		return nil, err
	}
	divisor, known := right.(*ast.IntegerNode)
	if known && divisor.Value > 0 {
		if period := spread(left, int64(divisor.Value)); period > 0 {
			t.period = lcm(before, period)
		}
	}
	return out, nil
}

// spread returns the period of the dividend's remainder by a divisor: of a
// column the divisor, of column.intdiv(constant) the product of both, 0 for
// anything else.
func spread(dividend ast.Node, divisor int64) int64 {
	switch n := dividend.(type) {
	case *ast.IdentifierNode:
		return divisor
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.MemberNode)
		if !ok || len(n.Arguments) != 1 {
			return 0
		}
		_, column := callee.Node.(*ast.IdentifierNode)
		method, _ := callee.Property.(*ast.StringNode)
		by, known := n.Arguments[0].(*ast.IntegerNode)
		if column && method != nil && method.Value == "intdiv" && known && by.Value > 0 && int64(by.Value) <= maxPeriod && divisor <= maxPeriod {
			return int64(by.Value) * divisor
		}
	}
	return 0
}

// lcm returns the least common multiple, 0 when it is above maxPeriod.
func lcm(a, b int64) int64 {
	if a == 0 || b > maxPeriod {
		return 0
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if m := a / x * b; m <= maxPeriod {
		return m
	}
	return 0
}

func (t *translator) conditional(n *ast.ConditionalNode) (ast.Node, error) {
	for _, child := range []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2} {
		translated, err := t.node(*child)
		if err != nil {
			return nil, err
		}
		*child = translated
	}
	t.kinds[n] = joined(t.kinds[n.Exp1], t.kinds[n.Exp2])
	return n, nil
}

// call translates id.abs(), Math.abs(id) and floorMod(id, 8).
func (t *translator) call(n *ast.CallNode) (ast.Node, error) {
	name, arguments := "", n.Arguments
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		name = callee.Value
	case *ast.MemberNode:
		method, ok := callee.Property.(*ast.StringNode)
		if !ok {
			return nil, refuse(n, "%s is not supported here", n)
		}
		class, ok := callee.Node.(*ast.IdentifierNode)
		if !ok || !slices.Contains(classes, class.Value) {
			f, ok := methods[method.Value]
			if !ok {
				return nil, refuse(n, "unknown method %s; known: %s", method.Value, known(methods))
			}
			return t.invokeOn(n, method.Value, f, append([]ast.Node{callee.Node}, arguments...)...)
		}
		name = class.Value + "." + method.Value
	}
	f, ok := functions[name]
	if !ok {
		return nil, refuse(n, "unknown function %s; known: %s", name, known(functions))
	}
	if strings.HasSuffix(name, "floorMod") && len(arguments) == 2 {
		return t.modulo(n, name, f, arguments[0], arguments[1])
	}
	return t.invokeOn(n, name, f, arguments...)
}

var classes = []string{"Math", "Long", "Integer", "String"}

func known(table map[string]function) string {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// invokeOn translates the arguments and calls f with them.
func (t *translator) invokeOn(n ast.Node, name string, f function, arguments ...ast.Node) (ast.Node, error) {
	translated := make([]ast.Node, len(arguments))
	for i, a := range arguments {
		var err error
		if translated[i], err = t.node(a); err != nil {
			return nil, err
		}
	}
	return t.invoke(n, name, f, translated...)
}

func (t *translator) invoke(n ast.Node, name string, f function, arguments ...ast.Node) (ast.Node, error) {
	if len(arguments) < f.least || len(arguments) > f.most {
		return nil, refuse(n, "%s has the wrong number of arguments", name)
	}
	of := kindLong
	if t.arithmetic != Exact {
		name, f, of = t.java(name, f, arguments)
	}
	// No column can have this name, so none can hide the function.
	name = "$" + name
	t.config.Functions[name] = &builtin.Function{Name: name, Func: f.call}
	callee := &ast.IdentifierNode{Value: name}
	callee.SetLocation(n.Location())
	out := &ast.CallNode{Callee: callee, Arguments: arguments}
	out.SetLocation(n.Location())
	t.kinds[out] = of
	return out, nil
}

// plainNumbers takes Groovy's type suffixes off the numbers (8L is 8) and
// refuses leading zeros, which Groovy reads as octal and the library as
// decimal.
func plainNumbers(text string, p part) (string, error) {
	code := []byte(p.text)
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '\'' || c == '"':
			end, err := quoted(p.text, i)
			if err != nil {
				return "", err
			}
			i = end
		case c >= '0' && c <= '9':
			end := i
			for end < len(code) && (code[end] >= '0' && code[end] <= '9' || code[end] == '_') {
				end++
			}
			if c == '0' && end > i+1 {
				return "", errorAt(text, p.offset+i, "a number with a leading zero")
			}
			suffixed := end < len(code) && strings.IndexByte("LlGgIi", code[end]) >= 0
			if suffixed && (end+1 == len(code) || !inName(code[end+1])) {
				code[end] = ' '
			}
			i = end - 1
		case inName(c):
			for i+1 < len(code) && inName(code[i+1]) {
				i++
			}
		}
	}
	return string(code), nil
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// runError returns why a program failed, without the values it ran on. What
// does not come from this package is the library's complaint about types.
func runError(err error) error {
	var reason *operandError
	if errors.As(err, &reason) {
		return reason
	}
	return fail("the operands do not fit their operators")
}
