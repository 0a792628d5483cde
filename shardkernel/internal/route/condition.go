package route

import (
	"reflect"
	"slices"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// expr is a condition as it concerns one reference: evaluated to the set of
// nodes that may hold rows for which it is true. A nil *expr is true
// everywhere.
type expr struct {
	op   exprOp
	kids []*expr // exprAnd, exprOr

	key    *key            // exprValues, exprRange
	values []parse.Operand // exprValues

	parts  []part            // exprTuples
	tuples [][]parse.Operand // exprTuples

	lower, upper []bound // exprRange; the tightest counts

	// nullSafe is true for <=>, which NULL fulfils as well.
	nullSafe bool

	// list is the index in Program.lists of the IN list the values stand in,
	// noList when it is not one that can be split.
	list int
}

type exprOp uint8

const (
	exprNone   exprOp = iota // no node
	exprAnd                  // nodes that all kids give
	exprOr                   // nodes that some kid gives
	exprValues               // the nodes of each value
	exprTuples               // the nodes of each tuple
	exprRange                // the nodes of a range
)

const noList = -1

// part is a column of a tuple that is a key.
type part struct {
	position int
	key      *key
}

type bound struct {
	operand parse.Operand
	open    bool
}

// list is an IN list of which a unit may get a part.
type list struct {
	cond *parse.Cond
	ref  int // the reference whose nodes the elements belong to
}

// compiler turns the conditions of one block into what they say of one
// reference.
type compiler struct {
	program *Program
	ref     *reference
	links   []link
	scope   int // the block whose condition is compiled
}

func (p *Program) compileWhere(r *reference, links []link) {
	c := &compiler{program: p, ref: r, links: links}
	var kids []*expr
	for _, scope := range p.conditionsOn(r.scope) {
		c.scope = scope
		if kid := c.compile(p.stmt.Scopes[scope].Where); kid != nil {
			kids = append(kids, kid)
		}
	}
	switch len(kids) {
	case 0:
	case 1:
		r.where = kids[0]
	default:
		r.where = &expr{op: exprAnd, kids: kids}
	}
}

func (c *compiler) compile(cond *parse.Cond) *expr {
	if cond == nil {
		return nil
	}
	switch cond.Op {
	case parse.CondFalse:
		return &expr{op: exprNone}
	case parse.CondAnd:
		return c.and(cond.Kids)
	case parse.CondOr:
		return c.or(cond.Kids)
	case parse.CondCompare:
		return c.compare(cond)
	case parse.CondBetween:
		k := c.key(cond.Column)
		if k == nil || len(cond.Values) != 2 {
			return nil
		}
		return &expr{
			op: exprRange, key: k, list: noList,
			lower: []bound{{operand: literal(cond.Values[0])}}, upper: []bound{{operand: literal(cond.Values[1])}},
		}
	case parse.CondIn:
		k := c.key(cond.Column)
		if k == nil {
			return nil
		}
		return &expr{op: exprValues, key: k, values: literals(cond.Values), list: c.list(cond, cond.Column)}
	case parse.CondTupleIn:
		return c.tuples(cond)
	}
	return nil
}

// maxCompared is how many operands of an OR are looked through for an equal one.
const maxCompared = 16

// or joins conditions by OR. Those that say the same of the reference, as where
// each of them has the key and something else, are evaluated once.
func (c *compiler) or(conds []*parse.Cond) *expr {
	var kids []*expr
	for _, cond := range conds {
		kid := c.compile(cond)
		if kid == nil {
			return nil
		}
		last := kids[max(0, len(kids)-maxCompared):]
		if !slices.ContainsFunc(last, kid.equal) {
			kids = append(kids, kid)
		}
	}
	if len(kids) == 1 {
		return kids[0]
	}
	return &expr{op: exprOr, kids: kids}
}

// equal reports whether two comparisons with values are the same.
func (x *expr) equal(y *expr) bool {
	return x.op == exprValues && y.op == exprValues && x.key == y.key && x.nullSafe == y.nullSafe && x.list == noList && y.list == noList &&
		slices.EqualFunc(x.values, y.values, func(a, b parse.Operand) bool {
			return a.Kind == b.Kind && a.Param == b.Param && a.Kind != parse.OperandExpr && reflect.DeepEqual(a.Literal, b.Literal)
		})
}

func (c *compiler) and(conds []*parse.Cond) *expr {
	var kids []*expr
	for _, cond := range conds {
		kid := c.compile(cond)
		if kid == nil {
			continue
		}
		// Two half-open ranges are one closed range, which an algorithm can
		// narrow where it cannot narrow its halves.
		same := slices.IndexFunc(kids, func(k *expr) bool {
			return kid.op == exprRange && k.op == exprRange && k.key == kid.key
		})
		if same >= 0 {
			kids[same].lower = append(kids[same].lower, kid.lower...)
			kids[same].upper = append(kids[same].upper, kid.upper...)
			continue
		}
		kids = append(kids, kid)
	}
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return &expr{op: exprAnd, kids: kids}
}

func (c *compiler) compare(cond *parse.Cond) *expr {
	k := c.key(cond.Column)
	if k == nil || len(cond.Values) == 0 {
		return nil
	}
	b := []bound{{operand: literal(cond.Values[0]), open: cond.Compare == parse.Less || cond.Compare == parse.Greater}}
	switch cond.Compare {
	case parse.Equal:
		return &expr{op: exprValues, key: k, values: literals(cond.Values[:1]), list: noList}
	case parse.NullSafe:
		return &expr{op: exprValues, key: k, values: literals(cond.Values[:1]), list: noList, nullSafe: true}
	case parse.Less, parse.LessEqual:
		return &expr{op: exprRange, key: k, upper: b, list: noList}
	case parse.Greater, parse.GreaterEqual:
		return &expr{op: exprRange, key: k, lower: b, list: noList}
	}
	return nil
}

func (c *compiler) tuples(cond *parse.Cond) *expr {
	e := &expr{op: exprTuples, list: noList}
	for i, column := range cond.Columns {
		if k := c.key(column); k != nil {
			e.parts = append(e.parts, part{position: i, key: k})
			if e.list == noList {
				e.list = c.list(cond, column)
			}
		}
	}
	if len(e.parts) == 0 {
		return nil
	}
	for _, tuple := range cond.Tuples {
		e.tuples = append(e.tuples, literals(tuple))
	}
	return e
}

// key returns the key that the column is or equals, nil when it is none.
func (c *compiler) key(column parse.Column) *key {
	free := column.Table == parse.AnyTable && c.program.freeName(c.scope, c.links, column.Name)
	return c.ref.concerns(column, c.program.refs, free, c.scope)
}

// list registers an IN list that may be split by the nodes of the reference the
// column belongs to.
func (c *compiler) list(cond *parse.Cond, column parse.Column) int {
	p := c.program
	if !cond.Top || cond.Spans == nil || c.ref.scope != 0 {
		return noList
	}
	if column.Table != c.ref.table && (column.Table != parse.AnyTable || len(p.refs) > 1 || len(p.stmt.Scopes) > 1) {
		return noList
	}
	if slices.ContainsFunc(p.lists, func(l list) bool { return l.cond == cond }) {
		return noList
	}
	p.lists = append(p.lists, list{cond: cond, ref: c.ref.index})
	return len(p.lists) - 1
}

func literals(operands []parse.Operand) []parse.Operand {
	out := make([]parse.Operand, len(operands))
	for i, o := range operands {
		out[i] = literal(o)
	}
	return out
}

// literal gives a literal the type by which the value package knows it.
func literal(o parse.Operand) parse.Operand {
	if o.Kind != parse.OperandLiteral {
		return o
	}
	switch v := o.Literal.(type) {
	case []byte:
		o.Literal = value.Hex(v)
	case parse.Decimal:
		o.Literal = value.Decimal(v)
	}
	return o
}
