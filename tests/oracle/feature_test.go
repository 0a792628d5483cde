//go:build unix

package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the values of literals
)

// feature is something that a statement has, from the easy to the hard: a
// statement is counted for the hardest that it has.
type feature uint8

const (
	featRows feature = iota
	featLock
	featOrder
	featPage
	featBroadcast
	featBound
	featAggregate
	featGroup
	featDistinct
	featHaving
	// What follows is harder than all that a shard's rows can be merged for.
	featSingle
	featBoundHere
	featUnbound
	featDerived
	featCTE
	featUnion
	featSubquery
	featWindow
	featRollup
	featOther
	features
)

var featureNames = [features]string{
	"rows of one table", "locking read", "ORDER BY", "paging", "broadcast join", "bound join", "aggregates", "GROUP BY", "DISTINCT", "HAVING",
	"join with a single table", "join bound by database", "unbound join", "derived table", "CTE", "UNION and kin", "subquery", "window", "ROLLUP", "not parsed here",
}

// kinds refine a feature; their order is that of the table.
var kindNames = []string{
	"ORDER BY: a column", "ORDER BY: an alias", "ORDER BY: a position", "ORDER BY: an expression", "ORDER BY: not selected",
	"paging: LIMIT", "paging: OFFSET", "join: outer",
	"aggregates: COUNT", "aggregates: SUM", "aggregates: AVG", "aggregates: MIN MAX", "aggregates: of distinct values", "aggregates: GROUP_CONCAT", "aggregates: BIT", "aggregates: STD VAR", "aggregates: JSON", "aggregates: in expressions",
	"GROUP BY: an expression", "UNION and kin: UNION", "UNION and kin: UNION ALL", "UNION and kin: EXCEPT", "UNION and kin: INTERSECT",
	"subquery: scalar", "subquery: IN", "subquery: NOT IN", "subquery: EXISTS", "subquery: NOT EXISTS", "subquery: ANY ALL", "subquery: correlated", "subquery: uncorrelated",
}

// labels are the features of a statement, and their kinds.
type labels struct {
	seed  uint64
	has   [features]bool
	kinds []string
}

func (l *labels) add(name feature, kind string) {
	l.has[name] = true
	if kind = featureNames[name] + ": " + kind; !slices.Contains(l.kinds, kind) {
		l.kinds = append(l.kinds, kind)
	}
}

func (l *labels) hardest() feature {
	for i := features - 1; i > 0; i-- {
		if l.has[i] {
			return i
		}
	}
	return featRows
}

func (l *labels) outer() bool { return slices.Contains(l.kinds, "join: outer") }

// label reads the features off the statement itself, whoever wrote it. keys are
// the sharding columns, by table.
func label(text string, keys func(*table) []string) (l labels) {
	l.has[featRows] = true
	nodes, _, err := parser.New().Parse(text, "", "")
	if err != nil || len(nodes) != 1 {
		l.has[featOther] = true
		return l
	}
	nodes[0].Accept(&labeller{labels: &l, keys: keys})
	return l
}

type labeller struct {
	*labels
	keys   func(*table) []string
	blocks []*ast.SelectStmt
	names  []map[string]string // what qualifies columns in each block, and the table
	inside []ast.Node
}

func (l *labeller) Enter(n ast.Node) (ast.Node, bool) {
	var around ast.Node
	if len(l.inside) > 0 {
		around = l.inside[len(l.inside)-1]
	}
	l.inside = append(l.inside, n)
	switch n := n.(type) {
	case *ast.SelectStmt:
		l.blocks = append(l.blocks, n)
		l.names = append(l.names, map[string]string{})
		l.block(n)
	case *ast.SetOprStmt:
		l.order(n.OrderBy, nil)
		l.page(n.Limit)
		for _, s := range n.SelectList.Selects {
			if s, ok := s.(*ast.SelectStmt); ok && s.AfterSetOperator != nil {
				l.add(featUnion, strings.TrimSuffix(s.AfterSetOperator.String(), " DISTINCT"))
			}
		}
	case *ast.CommonTableExpression:
		l.has[featCTE] = true
	case *ast.TableSource:
		if _, table := n.Source.(*ast.TableName); !table {
			l.has[featDerived] = true
		}
	case *ast.SubqueryExpr:
		l.subquery(n, around)
	case *ast.AggregateFuncExpr:
		l.aggregate(n, around)
	case *ast.WindowFuncExpr:
		l.has[featWindow] = true
	}
	return n, false
}

func (l *labeller) Leave(n ast.Node) (ast.Node, bool) {
	l.inside = l.inside[:len(l.inside)-1]
	if _, ok := n.(*ast.SelectStmt); ok {
		l.blocks, l.names = l.blocks[:len(l.blocks)-1], l.names[:len(l.names)-1]
	}
	return n, true
}

func (l *labeller) block(n *ast.SelectStmt) {
	if n.Distinct {
		l.has[featDistinct] = true
	}
	if n.GroupBy != nil {
		l.has[featGroup] = true
		if n.GroupBy.Rollup {
			l.has[featRollup] = true
		}
		for _, by := range n.GroupBy.Items {
			switch by.Expr.(type) {
			case *ast.ColumnNameExpr, *ast.PositionExpr:
			default:
				l.add(featGroup, "an expression")
			}
		}
	}
	if n.Having != nil {
		l.has[featHaving] = true
	}
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		l.has[featLock] = true
	}
	l.order(n.OrderBy, n.Fields)
	l.page(n.Limit)
	if n.From != nil {
		l.joins(n)
	}
}

func (l *labeller) page(limit *ast.Limit) {
	if limit == nil {
		return
	}
	l.add(featPage, "LIMIT")
	if limit.Offset != nil {
		l.add(featPage, "OFFSET")
	}
}

func (l *labeller) order(by *ast.OrderByClause, fields *ast.FieldList) {
	if by == nil {
		return
	}
	l.has[featOrder] = true
	for _, item := range by.Items {
		switch e := item.Expr.(type) {
		case *ast.PositionExpr:
			l.add(featOrder, "a position")
		case *ast.ColumnNameExpr:
			what := "not selected"
			if fields == nil {
				what = "a column"
			}
			for i := 0; fields != nil && i < len(fields.Fields); i++ {
				field := fields.Fields[i]
				column, plain := field.Expr.(*ast.ColumnNameExpr)
				switch {
				case field.AsName.L != "" && field.AsName.L == e.Name.Name.L && e.Name.Table.L == "":
					what = "an alias"
				case field.WildCard != nil, plain && column.Name.Name.L == e.Name.Name.L:
					what = "a column"
				}
			}
			l.add(featOrder, what)
		default:
			l.add(featOrder, "an expression")
		}
	}
}

func (l *labeller) subquery(n *ast.SubqueryExpr, around ast.Node) {
	switch around := around.(type) {
	case *ast.TableSource, *ast.CommonTableExpression:
		return
	case *ast.ExistsSubqueryExpr:
		kind := "EXISTS"
		if len(l.inside) > 2 {
			if not, ok := l.inside[len(l.inside)-3].(*ast.UnaryOperationExpr); ok && (not.Op == opcode.Not || not.Op == opcode.Not2) || around.Not {
				kind = "NOT EXISTS"
			}
		}
		l.add(featSubquery, kind)
	case *ast.PatternInExpr:
		if around.Not {
			l.add(featSubquery, "NOT IN")
		} else {
			l.add(featSubquery, "IN")
		}
	case *ast.CompareSubqueryExpr:
		l.add(featSubquery, "ANY ALL")
	default:
		l.add(featSubquery, "scalar")
	}
	outer := &outside{blocks: l.names}
	n.Query.Accept(outer)
	if outer.found {
		l.add(featSubquery, "correlated")
	} else {
		l.add(featSubquery, "uncorrelated")
	}
}

// outside looks for columns qualified by a name that is none of the query's own.
type outside struct {
	blocks []map[string]string
	own    map[string]bool
	found  bool
}

func (o *outside) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableSource:
		if o.own == nil {
			o.own = map[string]bool{}
		}
		o.own[sourceName(n)] = true
	case *ast.ColumnName:
		if o.own[n.Table.L] {
			break
		}
		for _, block := range o.blocks {
			if _, ok := block[n.Table.L]; ok && n.Table.L != "" {
				o.found = true
			}
		}
	}
	return n, false
}

func (o *outside) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func sourceName(n *ast.TableSource) string {
	if t, ok := n.Source.(*ast.TableName); ok && n.AsName.L == "" {
		return t.Name.L
	}
	return n.AsName.L
}

func (l *labeller) aggregate(n *ast.AggregateFuncExpr, around ast.Node) {
	kind := strings.ToUpper(n.F)
	switch {
	case n.Distinct && kind != "GROUP_CONCAT":
		kind = "of distinct values"
	case kind == "MIN", kind == "MAX":
		kind = "MIN MAX"
	case strings.HasPrefix(kind, "BIT_"):
		kind = "BIT"
	case strings.HasPrefix(kind, "STD"), strings.HasPrefix(kind, "VAR"):
		kind = "STD VAR"
	case strings.HasPrefix(kind, "JSON"):
		kind = "JSON"
	}
	l.add(featAggregate, kind)
	switch around.(type) {
	case *ast.SelectField, *ast.ByItem:
	default:
		l.add(featAggregate, "in expressions")
	}
}

// joins tells the joins of a block by what ties their tables.
func (l *labeller) joins(n *ast.SelectStmt) {
	var sources []*ast.TableSource
	ties := equalities{}
	l.walk(n.From.TableRefs, &sources, &ties)
	ties.of(n.Where)
	names := l.names[len(l.names)-1]
	var tied []string // what has rows of several nodes
	derived, counted := false, 0
	for _, s := range sources {
		name, table := sourceName(s), ""
		if t, ok := s.Source.(*ast.TableName); ok {
			table = t.Name.L
		}
		names[name] = table
		counted++
		switch table {
		case "region":
			if len(sources) > 1 {
				l.has[featBroadcast] = true
			}
		case "staff":
			if len(sources) > 1 {
				l.has[featSingle] = true
			}
		case "":
			derived = true
			tied = append(tied, name)
		default:
			tied = append(tied, name)
		}
	}
	if len(tied) < 2 {
		return
	}
	switch tables := ties.tables(tied, names, l.keys); {
	case derived: // which counts for itself
	case tables == nil:
		l.has[featUnbound] = true
	case slices.Contains(tables, "notes"):
		l.has[featBoundHere] = true
	default:
		l.has[featBound] = true
	}
}

func (l *labeller) walk(n ast.ResultSetNode, sources *[]*ast.TableSource, ties *equalities) {
	switch n := n.(type) {
	case *ast.TableSource:
		*sources = append(*sources, n)
	case *ast.Join:
		l.walk(n.Left, sources, ties)
		if n.Right == nil {
			return
		}
		l.walk(n.Right, sources, ties)
		if n.Tp == ast.LeftJoin || n.Tp == ast.RightJoin {
			l.kindOnly("join: outer")
		}
		if n.On != nil {
			ties.of(n.On.Expr)
		}
		for _, c := range n.Using {
			ties.everywhere = append(ties.everywhere, c.Name.L)
		}
		if n.NaturalJoin {
			ties.everywhere = append(ties.everywhere, "uid")
		}
	}
}

func (l *labeller) kindOnly(kind string) {
	if !slices.Contains(l.kinds, kind) {
		l.kinds = append(l.kinds, kind)
	}
}

// equalities are the columns that a join equates.
type equalities struct {
	pairs      [][2]string // of "alias.column"
	everywhere []string    // by USING or NATURAL
}

func (q *equalities) of(e ast.ExprNode) {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		q.of(e.Expr)
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicAnd {
			q.of(e.L)
			q.of(e.R)
			return
		}
		a, okA := e.L.(*ast.ColumnNameExpr)
		b, okB := e.R.(*ast.ColumnNameExpr)
		if okA && okB && (e.Op == opcode.EQ || e.Op == opcode.NullEQ) {
			q.pairs = append(q.pairs, [2]string{a.Name.Table.L + "." + a.Name.Name.L, b.Name.Table.L + "." + b.Name.Name.L})
		}
	}
}

// tables returns the tables of the sources if their sharding columns are equated
// all together, and they are binding tables.
func (q *equalities) tables(sources []string, names map[string]string, keys func(*table) []string) []string {
	var tables []string
	for _, s := range sources {
		tables = append(tables, names[s])
	}
	key := func(source string) string {
		for _, t := range sharded {
			if t.name == names[source] {
				return keys(t)[0]
			}
		}
		return "uid"
	}
	for _, t := range tables {
		alike := t == "orders" || t == "items" || t == "notes"
		if !alike && slices.ContainsFunc(tables, func(other string) bool { return other != t }) {
			return nil
		}
	}
	if slices.Contains(q.everywhere, key(sources[0])) {
		return tables
	}
	reached := map[string]bool{sources[0]: true}
	for range sources {
		for _, pair := range q.pairs {
			a, columnA, _ := strings.Cut(pair[0], ".")
			b, columnB, _ := strings.Cut(pair[1], ".")
			if columnA == key(a) && columnB == key(b) && (reached[a] || reached[b]) {
				reached[a], reached[b] = true, true
			}
		}
	}
	for _, s := range sources {
		if !reached[s] {
			return nil
		}
	}
	return tables
}

func TestStatementsAreLabelledByWhatTheyHold(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM orders":                       "rows of one table",
		"SELECT id FROM orders ORDER BY uid LIMIT 3": "paging [ORDER BY: not selected, paging: LIMIT]",
		"SELECT o.id FROM orders o JOIN items i ON o.uid = i.uid AND i.order_id = o.id":                       "bound join",
		"SELECT o.id FROM orders o LEFT JOIN notes n ON n.uid = o.uid":                                        "join bound by database [join: outer]",
		"SELECT o.id FROM orders o JOIN items i ON i.order_id = o.id":                                         "unbound join",
		"SELECT o.id FROM orders o JOIN region r ON r.id = o.region_id":                                       "broadcast join",
		"SELECT uid, COUNT(*) + 1 FROM orders GROUP BY uid HAVING MAX(id) > 3":                                "HAVING [aggregates: COUNT, aggregates: in expressions, aggregates: MIN MAX]",
		"SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM items s WHERE s.uid = o.uid)":                "subquery [subquery: NOT EXISTS, subquery: correlated]",
		"SELECT id FROM orders WHERE uid IN (SELECT s.uid FROM items s)":                                      "subquery [subquery: IN, subquery: uncorrelated]",
		"SELECT * FROM (SELECT uid FROM orders) d":                                                            "derived table",
		"SELECT id FROM orders UNION ALL SELECT id FROM items ORDER BY 1":                                     "UNION and kin [ORDER BY: a position, UNION and kin: UNION ALL]",
		"SELECT ROW_NUMBER() OVER (ORDER BY id) FROM orders":                                                  "window",
		"WITH d AS (SELECT uid FROM orders) SELECT COUNT(DISTINCT uid) FROM d":                                "CTE [aggregates: of distinct values]",
		"SELECT o.id FROM orders o, items i, region r WHERE o.uid = i.uid AND r.id = o.region_id ORDER BY -r": "bound join [ORDER BY: an expression]",
	} {
		l := label(text, topology{}.keys)
		got := featureNames[l.hardest()]
		if len(l.kinds) > 0 {
			got += " [" + strings.Join(l.kinds, ", ") + "]"
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
		for _, k := range l.kinds {
			if !slices.Contains(kindNames, k) {
				t.Errorf("%s is in no row of the table", k)
			}
		}
	}
}
