package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/model"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// A write whose WHERE gives the whole primary key changes one row at most. Where
// it most likely is follows from what the statement sets the sharding columns to,
// or from what its model holds in them: neither is a condition, since the row may
// have other values, so this only orders the nodes.

// own is where the row of a write by primary key most likely is.
type own struct {
	narrowed bool // the sets are those of the part that is planned
	rest     plan.Rest
	key      *Probe
}

// Probe asks for rows by their primary key.
type Probe struct {
	Columns []string // lower case, in the order of the table
	Rows    [][]parse.Operand
	// Lock is true where the answer must hold until the transaction ends.
	Lock bool
	// row and few are the room of Rows for the one short key that it mostly is.
	row [1][]parse.Operand
	few [2]parse.Operand
}

// compileKeyed finds out whether the statement may be a write or a read by primary
// key, which the metadata decides.
func (p *Program) compileKeyed() {
	s, r := p.stmt, p.refs[0]
	if len(s.Tables) != 1 || s.Tables[0].Target == (s.Select != nil) || len(r.rule.Nodes) < 2 || r.rule.ByHint() ||
		s.Features&(parse.FeatureSubquery|parse.FeatureDerived|parse.FeatureCTE|parse.FeatureUnion) != 0 {
		return
	}
	switch {
	case s.Select != nil:
		p.keyed = true
	case s.Update != nil:
		p.keyed = !s.Update.Multi && !s.Update.OrderBy && !s.Update.Limit && !s.Update.Returning
		p.moves = slices.ContainsFunc(s.Update.Set, func(a parse.Assignment) bool {
			_, ok := r.keyNamed(a.Column.Name)
			return ok && !a.Self
		})
	case s.Delete != nil:
		p.keyed = !s.Delete.Multi && !s.Delete.OrderBy && !s.Delete.Limit && !s.Delete.Returning
	}
}

// ownNodes narrows the nodes of a write by primary key to those of the part that
// is planned. It changes nothing where they are not known.
func (p *Program) ownNodes(e *evaluation, in *Input, sets []nodeSet) (own, error) {
	r := p.refs[0]
	m := in.Model
	if p.stmt.Select != nil || m != nil && m.Associated && !p.moves {
		return p.ownRead(e, in, sets), nil
	}
	if m != nil && (m.Table != r.rule.Name || m.Associated) {
		m = nil
	}
	if m == nil && !p.moves || e.hinted || sets[0].count() < 2 {
		return own{}, nil
	}
	columns := e.meta.table(r.rule.Name)
	key := p.pinned(e, r, columns, nil)
	if key == nil {
		return own{}, nil
	}
	nodes, known := e.modelNodes(r, m, key, columns)
	trusted := known && r.rule.TrustModel
	o := own{narrowed: true, rest: plan.RestWrite, key: key}
	if p.moves {
		stay := p.staying(e, r, sets[0])
		if e.err != nil {
			return own{}, e.err
		}
		if trusted {
			stay.intersect(nodes)
		}
		nodes, known, o.rest = stay, !stay.empty(), plan.RestProbe
	}
	nodes.intersect(sets[0])
	if !known || nodes.empty() || nodes.count() == sets[0].count() || len(key.Rows) > 1 && !trusted {
		return own{}, nil
	}
	if trusted {
		o.rest = plan.RestNone
	}
	if in.Part == plan.PartRest {
		nodes = without(sets[0], nodes)
	}
	sets[0] = nodes
	return o, nil
}

// keepOwn makes a result that of the part that is planned.
func (p *Program) keepOwn(result *Result, o own, part plan.Part) {
	switch {
	case part == plan.PartWrite:
		result.Rest, result.Reason = o.rest, p.reasons.own
		if o.rest == plan.RestNone {
			result.Reason, result.Trusted = p.reasons.trusted, true
		}
	case part == plan.PartOwn:
		o.key.Lock = true
		result.Probe = o.key
	case o.rest == plan.RestProbe:
		result.Probe = o.key
	}
}

// without returns the indexes of a that are not in b.
func without(a, b nodeSet) (set nodeSet) {
	for i := a.next(0); i >= 0; i = a.next(i + 1) {
		if !b.has(i) {
			set.add(i)
		}
	}
	return set
}

// staying returns those nodes of a set whose rows belong to them still when the
// sharding columns have become what is set.
func (p *Program) staying(e *evaluation, r *reference, among nodeSet) (set nodeSet) {
	var one [1]Unit
	result := Result{Units: one[:]}
	for i := among.next(0); i >= 0; i = among.next(i + 1) {
		one[0] = Unit{DataSource: r.rule.Nodes[i].DataSource, Node: i}
		if k, _, err := p.moved(e, r, p.stmt.Update.Set, &result); k == nil && err == nil {
			set.add(i)
		}
	}
	return set
}

// pinned returns the values that WHERE leaves of the columns, one tuple for each that
// may fulfil it; nil where it leaves others as well. Nil columns stand for the primary
// key, nil where that is not known.
func (p *Program) pinned(e *evaluation, r *reference, columns *value.Table, of []string) *Probe {
	if columns == nil || len(of)+len(columns.Key) == 0 {
		return nil
	}
	if of == nil {
		of = columns.Key
	}
	where := p.stmt.Scopes[r.scope].Where
	if where == nil {
		return nil
	}
	terms := []*parse.Cond{where}
	if where.Op == parse.CondAnd {
		terms = where.Kids
	}
	key := &Probe{Columns: of}
	key.row[0] = append(key.few[:0], make([]parse.Operand, len(key.Columns))...)
	one := key.row[0]
	given := 0
	for _, term := range terms {
		switch {
		case term.Op == parse.CondTupleIn && given < len(key.Columns):
			if rows := tuples(key.Columns, term); rows != nil && e.exact(columns, key.Columns, rows) {
				key.Rows = rows
				return key
			}
		case term.Op == parse.CondCompare && term.Compare == parse.Equal, term.Op == parse.CondIn && len(term.Values) == 1:
			if i := slices.Index(key.Columns, term.Column.Name); i >= 0 && one[i].Kind == parse.OperandUnknown {
				one[i] = literal(term.Values[0])
				given++
			}
		case term.Op == parse.CondIn && len(key.Columns) == 1 && term.Column.Name == key.Columns[0]:
			rows := make([][]parse.Operand, len(term.Values))
			for i := range term.Values {
				rows[i] = []parse.Operand{literal(term.Values[i])}
			}
			if e.exact(columns, key.Columns, rows) {
				key.Rows = rows
				return key
			}
		}
	}
	key.Rows = key.row[:]
	if given < len(one) || !e.exact(columns, key.Columns, key.Rows) {
		return nil
	}
	return key
}

// tuples returns the rows of (a, b) IN (…) in the order of the key's columns, nil
// where the tuples do not hold all of them.
func tuples(key []string, term *parse.Cond) [][]parse.Operand {
	at := make([]int, len(key))
	for i, column := range key {
		at[i] = slices.IndexFunc(term.Columns, func(c parse.Column) bool { return c.Name == column })
		if at[i] < 0 {
			return nil
		}
	}
	rows := make([][]parse.Operand, len(term.Tuples))
	for i, tuple := range term.Tuples {
		for _, position := range at {
			if position >= len(tuple) {
				return nil
			}
			rows[i] = append(rows[i], literal(tuple[position]))
		}
	}
	return rows
}

// exact reports whether each key's values equal one stored value each: '5' and
// '5.0' are two texts that equal the number 5.
func (e *evaluation) exact(columns *value.Table, key []string, rows [][]parse.Operand) bool {
	for _, row := range rows {
		for i := range row {
			if _, ok := e.keyValue(columns, key[i], &row[i]); !ok {
				return false
			}
		}
	}
	return true
}

// keyValue returns the one stored value of a column that equals an operand; ok is
// false where there may be others.
func (e *evaluation) keyValue(columns *value.Table, column string, operand *parse.Operand) (v algorithm.Value, ok bool) {
	if operand.Kind != parse.OperandParam && operand.Kind != parse.OperandLiteral {
		return v, false
	}
	arg, known := e.arg(operand)
	c, listed := columns.Column(column)
	if !known || !listed {
		return v, false
	}
	if c.Class == value.ClassOther { // UUID and its like, which are read from text
		text, is := arg.(string)
		return algorithm.Text(text), is
	}
	v, match := e.program.convert.Compare(arg, c)
	return v, match == value.MatchValue
}

// modelNodes returns the nodes of the models whose keys the statement gives; known
// is false where one of them may be anywhere.
func (e *evaluation) modelNodes(r *reference, m *model.Model, key *Probe, columns *value.Table) (set nodeSet, known bool) {
	if m == nil || len(m.Keys) != len(key.Columns) {
		return set, false
	}
	next := 0
	for _, row := range key.Rows {
		found := -1
		for range m.Rows { // those of GORM are in the order of its models
			if e.isKey(columns, m.Keys, m.Rows[next].Keys, key.Columns, row) {
				found = next
			}
			next = (next + 1) % len(m.Rows)
			if found >= 0 {
				break
			}
		}
		if found < 0 {
			return set, false
		}
		if m.Associated { // several may have the same key
			continue
		}
		nodes, every := e.nodesOfModel(r, m.Sharding, m.Rows[found].Sharding)
		if every {
			return set, false
		}
		set.unite(nodes)
	}
	if !m.Associated {
		return set, true
	}
	for i := range m.Rows {
		nodes, every := e.nodesOfModel(r, m.Sharding, m.Rows[i].Sharding)
		if every {
			return set, false
		}
		set.unite(nodes)
	}
	return set, true
}

// isKey reports whether a model has the primary key that the statement gives.
func (e *evaluation) isKey(columns *value.Table, names []string, values []any, key []string, given []parse.Operand) bool {
	for i, name := range names {
		at := slices.Index(key, name)
		if at < 0 {
			return false
		}
		a, ok := e.keyValue(columns, name, &parse.Operand{Kind: parse.OperandLiteral, Literal: values[i]})
		b, okGiven := e.keyValue(columns, name, &given[at])
		if !ok || !okGiven || a != b {
			return false
		}
	}
	return true
}

// nodesOfModel returns the nodes that rows with the known ones of the sharding
// values are on. What they cannot be brought to the column's type for is not known.
func (e *evaluation) nodesOfModel(r *reference, names []string, values []any) (set nodeSet, every bool) {
	if len(values) == 1 && r.complex == nil {
		k, ok := r.keyNamed(names[0])
		if !ok || values[0] == nil {
			return set, true
		}
		every = e.addValue(r, k, e.column(r.rule, k), &parse.Operand{Kind: parse.OperandLiteral, Literal: values[0]}, &set)
	} else {
		both := &expr{op: exprAnd}
		for i, v := range values {
			if k, ok := r.keyNamed(names[i]); ok && v != nil {
				both.kids = append(both.kids, &expr{
					op: exprValues, key: k, list: noList,
					values: []parse.Operand{{Kind: parse.OperandLiteral, Literal: v}},
				})
			}
		}
		if len(both.kids) == 0 {
			return set, true
		}
		set, every = e.eval(r, both)
	}
	if e.err != nil {
		e.err = nil
		return set, true
	}
	return set, every
}

// decidesNode reports whether rows with equal primary keys are on one node.
func decidesNode(t *rule.Table, key []string) bool {
	for _, l := range levels {
		s := strategyAt(t, l)
		if s == nil || len(s.Targets) < 2 {
			continue
		}
		all, decided := len(s.Columns) > 0, false
		for i, column := range s.Columns {
			in := slices.Contains(key, column)
			all = all && in
			decided = decided || in && s.Decides(i)
		}
		if !all && !decided {
			return false
		}
	}
	return true
}
