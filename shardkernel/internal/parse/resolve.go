package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// resolver walks expressions and resolves the names in them. It implements
// ast.Visitor.
type resolver struct {
	b     *builder
	block *block
	// condition is true for a condition on rows: WHERE, or ON of a join.
	condition bool
}

// Enter implements ast.Visitor.
func (r *resolver) Enter(n ast.Node) (ast.Node, bool) {
	b := r.b
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		b.resolveQuery(n, r.block)
		return n, true
	case *ast.TableName:
		return n, true // collected
	case *ast.SubqueryExpr:
		b.stmt.Features |= FeatureSubquery
	case *ast.ColumnName:
		b.see(n.Name)
		b.resolveQualifier(r.block, n.Schema, n.Table)
		b.noteOuter(r.block, n.Schema, n.Table)
	case *ast.DefaultExpr:
		if n.Name != nil { // which DefaultExpr.Accept does not visit
			b.stmt.Defaults = append(b.stmt.Defaults, n.Name.Name.L)
			walk(r, n.Name)
		}
	case *ast.SelectField:
		b.see(n.AsName)
		if alias, _ := b.nameOf(n.AsName); alias != "" {
			b.stmt.Shown = append(b.stmt.Shown, strings.ToLower(alias))
			b.noteRenamed(n.Expr)
		}
		if n.WildCard != nil { // which SelectField.Accept does not visit
			b.stmt.Features |= FeatureStar
			b.resolveQualifier(r.block, n.WildCard.Schema, n.WildCard.Table)
		}
	case *ast.FuncCallExpr:
		b.see(n.Schema, n.FnName)
		b.noteFunction(n)
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.EQ {
			b.noteEquated(r.block, n.L, n.R)
		}
	case *ast.PatternInExpr:
		b.noteRows(r.block, n.List)
		if len(n.List) == 1 {
			b.noteEquated(r.block, n.Expr, n.List[0])
		}
		if sub, ok := n.Sel.(*ast.SubqueryExpr); ok {
			b.noteEquated(r.block, n.Expr, sub)
			b.noteAggregateMember(n.Expr)
			b.noteMember(r.block, n.Expr, sub.Query)
			b.noteMembers(sub.Query)
		}
	case *ast.CompareSubqueryExpr:
		b.noteAggregateMember(n.L)
		if sub, ok := n.R.(*ast.SubqueryExpr); ok {
			b.noteMembers(sub.Query)
		}
		if n.Op == opcode.EQ {
			b.noteEquated(r.block, n.L, n.R)
		}
		if sub, ok := n.R.(*ast.SubqueryExpr); ok && n.Op == opcode.EQ && !n.All {
			b.noteMember(r.block, n.L, sub.Query)
		}
	case *ast.AggregateFuncExpr:
		b.noteAggregate(r.block, n)
		b.noteExtreme(n.F, n.Args)
	case *ast.MatchAgainst:
		b.stmt.Features |= FeatureMatch
		if !n.Modifier.IsBooleanMode() || !r.condition {
			b.stmt.Features |= FeatureRelevance
		}
	case *ast.WindowFuncExpr:
		b.stmt.Features |= FeatureWindow
		b.noteExtreme(n.Name, n.Args)
	case *ast.WindowSpec:
		b.see(n.Name, n.Ref)
	case *ast.VariableExpr:
		if n.IsSystem {
			b.stmt.Features |= FeatureSystemVariable
		} else {
			b.stmt.Features |= FeatureUserVariable
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (r *resolver) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// noteFunction notes what a function call makes of the statement.
func (b *builder) noteFunction(n *ast.FuncCallExpr) {
	name, _ := b.nameOf(n.FnName)
	name = strings.ToLower(name)
	b.noteRoutine(n, name)
	switch name {
	case "now", "current_timestamp", "localtime", "localtimestamp", "curdate", "current_date", "curtime", "current_time",
		"utc_timestamp", "utc_date", "utc_time":
		b.noteClock()
	case "unix_timestamp":
		if len(n.Args) == 0 {
			b.noteClock()
		}
	case "rand":
		if len(n.Args) == 0 {
			b.stmt.Features |= FeatureRandom
		} else {
			b.stmt.Features |= FeatureVolatile // a sequence over all rows
		}
	case "uuid", "uuid_v4", "uuid_v7", "sys_guid":
		b.stmt.Features |= FeatureRandom
	case "sysdate", // which SET timestamp does not hold
		"uuid_short", "random", "randomblob", "random_bytes", "sleep",
		"connection_id", "benchmark", "user", "current_user", "session_user", "system_user",
		"current_role", "version", "load_file", "nextval", "lastval", "setval", "last_insert_rowid", "changes", "total_changes":
		b.stmt.Features |= FeatureVolatile
	case "database", "schema":
		b.stmt.Features |= FeatureVolatile | FeatureSchemaName
	case "found_rows", "row_count":
		b.stmt.Features |= FeatureFoundRows
	case "last_insert_id":
		b.stmt.Features |= FeatureLastInsertID
	case "rownum":
		b.stmt.Features |= FeatureRowNumber
	case "st_collect", "total", "string_agg", "median", "percentile", "percentile_cont", "percentile_disc",
		"json_group_array", "json_group_object", "jsonb_group_array", "jsonb_group_object":
		b.stmt.Features |= FeatureOtherAggregate // of MySQL 8, MariaDB and SQLite
	case "get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock":
		b.stmt.Features |= FeatureLock
	}
}

// noteClock notes a function whose value SET timestamp holds, where there is such
// a thing.
func (b *builder) noteClock() {
	if isSQLite(b.dialect) {
		b.stmt.Features |= FeatureVolatile
		return
	}
	b.stmt.Features |= FeatureNow
}

// resolveQuery resolves a SELECT or a set operation. The ORDER BY of a set
// operation sees no table of its branches, only those of the block around.
func (b *builder) resolveQuery(n ast.Node, outer *block) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		b.resolveSelect(n)
	case *ast.SetOprStmt:
		b.resolveWith(n.With)
		b.resolveQuery(n.SelectList, outer)
		if n.OrderBy != nil {
			walk(&resolver{b: b, block: outer}, n.OrderBy)
		}
	case *ast.SetOprSelectList:
		b.resolveWith(n.With)
		for _, s := range n.Selects {
			b.resolveQuery(s, outer)
		}
		if n.OrderBy != nil {
			walk(&resolver{b: b, block: outer}, n.OrderBy)
		}
	}
}

func (b *builder) resolveWith(w *ast.WithClause) {
	if w == nil {
		return
	}
	for _, cte := range w.CTEs {
		b.resolveQuery(cte.Query.Query, nil)
	}
}

func (b *builder) resolveSelect(n *ast.SelectStmt) {
	blk := b.byNode[n]
	if blk == nil {
		b.fail(b.refuse(b.tails.verb, "a query block that is not understood", "simplify the statement"))
		return
	}
	r := &resolver{b: b, block: blk}
	b.resolveWith(n.With)
	if n.SelectStmtOpts != nil && n.CalcFoundRows {
		b.stmt.Features |= FeatureFoundRows
	}
	if n.Fields != nil {
		walk(r, n.Fields)
	}
	var from *ast.Join
	if n.From != nil {
		from = n.From.TableRefs
	}
	b.resolveBlock(blk, from, n.Where)
	if n.GroupBy != nil {
		walk(r, n.GroupBy)
	}
	if n.Having != nil {
		walk(r, n.Having)
		c := conditions{builder: b, block: blk, having: n}
		b.addCondition(blk, c.cond(n.Having.Expr, false, false))
	}
	for _, row := range n.Lists {
		walk(r, row)
	}
	for i := range n.WindowSpecs {
		b.stmt.Features |= FeatureWindow
		walk(r, &n.WindowSpecs[i])
	}
	if n.OrderBy != nil {
		walk(r, n.OrderBy)
	}
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		b.stmt.Features |= FeatureLocking
		switch n.LockInfo.LockType {
		case ast.SelectLockForUpdateSkipLocked, ast.SelectLockForShareSkipLocked:
			b.stmt.Features |= FeatureSkipLocked
		}
		for _, t := range n.LockInfo.Tables {
			b.resolveTarget(blk, t)
		}
	}
	if n.SelectIntoOpt != nil {
		b.stmt.Features |= FeatureInto
	}
	b.scopeOf(blk).Labelled = b.labelled(n)
}

// addCondition adds what every row of the block fulfils.
func (b *builder) addCondition(blk *block, c *Cond) {
	scope := b.scopeOf(blk)
	if scope.Where != nil {
		c = andConds([]*Cond{scope.Where, c})
	}
	if c.Op != CondOpen {
		scope.Where = c
	}
}

// resolveBlock resolves FROM and WHERE of a block and sets its joins and its
// condition. Both may be nil.
func (b *builder) resolveBlock(blk *block, from *ast.Join, where ast.ExprNode) {
	var conds []*Cond
	j := joiner{builder: b, block: blk}
	if from != nil {
		j.join(from, blk.unruly)
	}
	if where != nil {
		walk(&resolver{b: b, block: blk, condition: true}, where)
		b.scopeOf(blk).Equal = b.equalities(blk, where, nil)
		c := conditions{builder: b, block: blk}
		conds = append(conds, c.cond(where, false, blk == b.top))
		b.noteWrapped(blk, where)
	}
	for _, on := range j.on {
		b.noteWrapped(blk, on)
		c := conditions{builder: b, block: blk}
		conds = append(conds, c.cond(on, false, false))
	}
	b.addCondition(blk, andConds(conds))
}

// joiner walks the FROM clause of a block.
type joiner struct {
	*builder
	block *block
	next  int            // index into block.sources of the next source
	on    []ast.ExprNode // conditions that hold for every row
}

// side is what stands on one side of a join.
type side struct {
	tables  []int
	sources []int             // indexes into block.sources
	using   map[string]Column // the tables' columns that USING columns stand for
}

// usingColumn returns what a USING column is on a side.
func (j *joiner) usingColumn(s side, name string) Column {
	if c, ok := s.using[name]; ok {
		return c
	}
	switch {
	case len(s.sources) == 1:
		return j.columnIn(&j.block.sources[s.sources[0]], name)
	case len(s.tables) == 0:
		return Column{Table: NoTable, Name: name}
	}
	return Column{Table: AnyTable, Name: name}
}

func (j *joiner) join(n ast.ResultSetNode, nullable bool) side {
	switch n := n.(type) {
	case *ast.TableSource:
		at := j.next
		j.next++
		if _, ok := n.Source.(*ast.TableName); !ok {
			j.resolveQuery(n.Source, j.block.outer)
		}
		return side{tables: j.block.sources[at].tablesOf(), sources: []int{at}}
	case *ast.Join:
		left := j.join(n.Left, nullable || n.Tp == ast.RightJoin)
		if n.Right == nil {
			return left
		}
		right := j.join(n.Right, nullable || n.Tp == ast.LeftJoin)
		return j.combine(n, left, right, nullable)
	}
	return side{}
}

func (j *joiner) combine(n *ast.Join, left, right side, nullable bool) side {
	out := Join{Left: left.tables, Right: right.tables}
	all := side{
		tables:  slices.Concat(left.tables, right.tables),
		sources: slices.Concat(left.sources, right.sources),
	}
	outer := n.Tp == ast.LeftJoin || n.Tp == ast.RightJoin
	if outer {
		out.Kind = JoinLeft
	}
	if n.Tp == ast.RightJoin {
		left, right = right, left
		out.Left, out.Right = left.tables, right.tables
	}
	if n.NaturalJoin {
		j.stmt.Features |= FeatureStar
		out.Kind = JoinNatural
	}
	j.linkJoined(j.block, n)
	j.block.merged = j.block.merged || n.NaturalJoin || len(n.Using) > 0
	if n.On != nil {
		walk(&resolver{b: j.builder, block: j.block, condition: true}, n.On.Expr)
		out.Equal = j.equalities(j.block, n.On.Expr, nil)
		if !outer && !nullable {
			j.on = append(j.on, n.On.Expr)
		}
	}
	for _, m := range []map[string]Column{left.using, right.using} {
		for name, c := range m {
			if all.using == nil {
				all.using = map[string]Column{}
			}
			if _, ok := all.using[name]; !ok {
				all.using[name] = c
			}
		}
	}
	for _, cn := range n.Using {
		walk(&resolver{b: j.builder, block: j.block}, cn)
		name, _ := j.nameOf(cn.Name)
		name = strings.ToLower(name)
		l, r := j.usingColumn(left, name), j.usingColumn(right, name)
		out.Equal = append(out.Equal, ColumnPair{A: l, B: r})
		if all.using == nil {
			all.using = map[string]Column{}
		}
		all.using[name] = l // of an outer join the preserved side's
	}
	scope := j.scopeOf(j.block)
	scope.Merged = j.block.merged
	scope.Joins = append(scope.Joins, out)
	return all
}

// equalities appends the pairs of columns that AND terms of a condition equate.
func (b *builder) equalities(blk *block, e ast.ExprNode, pairs []ColumnPair) []ColumnPair {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return b.equalities(blk, e.Expr, pairs)
	case *ast.BinaryOperationExpr:
		switch e.Op {
		case opcode.LogicAnd:
			return b.equalities(blk, e.R, b.equalities(blk, e.L, pairs))
		case opcode.EQ:
			left, right := []ast.ExprNode{e.L}, []ast.ExprNode{e.R}
			if l, r := rowOf(e.L), rowOf(e.R); l != nil && r != nil && len(l.Values) == len(r.Values) {
				left, right = l.Values, r.Values
			}
			for i := range left {
				if l, r := columnOf(left[i]), columnOf(right[i]); l != nil && r != nil {
					pairs = append(pairs, ColumnPair{A: b.reach(blk, l), B: b.reach(blk, r)})
				}
			}
		}
	}
	return pairs
}

// columnOf returns the column that the expression is, or nil.
func columnOf(e ast.ExprNode) *ast.ColumnName {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return columnOf(e.Expr)
	case *ast.ColumnNameExpr:
		return e.Name
	}
	return nil
}
