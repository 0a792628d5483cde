package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// collector walks expressions and other statements for the query blocks and
// tables in them. It implements ast.Visitor.
type collector struct {
	b     *builder
	block *block // the block the walked nodes belong to
	ctes  *cteFrame
}

// Enter implements ast.Visitor.
func (c *collector) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		c.b.as(UseSubquery, func() { c.b.collectQuery(n, c.block, c.block, c.ctes) })
		return n, true
	case *ast.TableName:
		c.b.addTable(c.block, n, "")
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (c *collector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// walk visits the nodes that are not nil.
func walk(v ast.Visitor, nodes ...ast.Node) {
	for _, n := range nodes {
		n.Accept(v)
	}
}

// contains reports whether a node that is looked for is in n, which may be it. skip is
// true for one below which nothing counts.
func contains(n ast.Node, is func(n ast.Node) (found, skip bool)) bool {
	f := finder{is: is}
	walk(&f, n)
	return f.found
}

// finder implements ast.Visitor.
type finder struct {
	is    func(n ast.Node) (found, skip bool)
	found bool
}

// Enter implements ast.Visitor.
func (f *finder) Enter(n ast.Node) (ast.Node, bool) {
	found, skip := f.is(n)
	f.found = f.found || found
	return n, f.found || skip
}

// Leave implements ast.Visitor.
func (f *finder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// collectQuery collects a SELECT or a set operation below the block parent; the
// names of outer can be seen in it.
func (b *builder) collectQuery(n ast.Node, parent, outer *block, ctes *cteFrame) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		b.collectSelect(n, parent, outer, ctes)
	case *ast.SetOprStmt:
		b.stmt.Features |= FeatureUnion
		b.addBlocks(n.SelectList, parent, outer, n.Limit != nil)
		ctes = b.collectWith(n.With, parent, outer, ctes)
		b.collectQuery(n.SelectList, parent, outer, ctes)
		if n.OrderBy != nil {
			c := &collector{b: b, block: b.firstBlock(n.SelectList), ctes: ctes}
			walk(c, n.OrderBy)
		}
	case *ast.SetOprSelectList:
		ctes = b.collectWith(n.With, parent, outer, ctes)
		for _, s := range n.Selects {
			b.collectQuery(s, parent, outer, ctes)
		}
	}
}

// addBlocks adds the blocks of the branches of a set operation, so that they
// come before those in its WITH.
func (b *builder) addBlocks(list *ast.SetOprSelectList, parent, outer *block, limit bool) {
	limit = limit || list.Limit != nil
	for _, n := range list.Selects {
		switch n := n.(type) {
		case *ast.SelectStmt:
			b.byNode[n] = b.newBlock(parent, outer)
			b.scopeOf(b.byNode[n]).Limit = limit
		case *ast.SetOprSelectList:
			b.addBlocks(n, parent, outer, limit)
		}
	}
}

// firstBlock returns the block of the first branch of a set operation.
func (b *builder) firstBlock(list *ast.SetOprSelectList) *block {
	for _, n := range list.Selects {
		switch n := n.(type) {
		case *ast.SelectStmt:
			return b.byNode[n]
		case *ast.SetOprSelectList:
			return b.firstBlock(n)
		}
	}
	return nil
}

// collectWith collects the common table expressions of a WITH clause, which may
// be nil, and returns the frame in which they can be seen.
func (b *builder) collectWith(w *ast.WithClause, parent, outer *block, ctes *cteFrame) *cteFrame {
	if w == nil {
		return ctes
	}
	b.stmt.Features |= FeatureCTE
	frame := &cteFrame{outer: ctes, defining: true}
	frame.apart = !b.joined[w] && (len(b.stmt.CTEs) > 0 || !b.isWord(0, "WITH"))
	for i, def := range w.CTEs {
		name, _ := b.nameOf(def.Name)
		b.stmt.CTEs = append(b.stmt.CTEs, strings.ToLower(name))
		if ctes.defines(name) { // of which MariaDB 10.11 reads sometimes the one, sometimes the other
			b.stmt.Features |= FeatureNestedCTE
		}
		b.see(def.Name)
		b.see(def.ColNameList...)
		if len(def.ColNameList) > 0 {
			b.stmt.Renamed = append(b.stmt.Renamed, "*")
		}
		frame.later = nil
		c := &cte{name: name, columns: b.namesOf(def.ColNameList), parent: -1}
		if parent != nil {
			c.parent = parent.scope
		}
		if w.IsRecursive {
			frame.ctes = append(frame.ctes, c)
			for _, l := range w.CTEs[i+1:] {
				later, _ := b.nameOf(l.Name)
				frame.later = append(frame.later, later)
			}
		}
		if !frame.apart {
			b.join(def.Query.Query)
		}
		b.as(UseFrom, func() { b.collectQuery(def.Query.Query, parent, outer, frame) })
		if !w.IsRecursive {
			if n, ok := def.Query.Query.(*ast.SelectStmt); ok {
				c.block = b.byNode[n]
			}
			frame.ctes = append(frame.ctes, c)
		}
	}
	frame.later, frame.defining = nil, false
	return frame
}

// join notes that the WITH clause of a common table expression, if it has one, sees
// those around it.
func (b *builder) join(n ast.Node) {
	if b.joined == nil {
		b.joined = map[*ast.WithClause]bool{}
	}
	switch n := n.(type) {
	case *ast.SelectStmt:
		b.joined[n.With] = true
	case *ast.SetOprStmt:
		b.joined[n.With] = true
	}
}

func (b *builder) collectSelect(n *ast.SelectStmt, parent, outer *block, ctes *cteFrame) {
	blk := b.byNode[n]
	if blk == nil {
		blk = b.newBlock(parent, outer)
		b.byNode[n] = blk
	}
	blk.sel = n
	scope := b.scopeOf(blk)
	scope.Limit = scope.Limit || n.Limit != nil
	ctes = b.collectWith(n.With, blk, outer, ctes)
	c := &collector{b: b, block: blk, ctes: ctes}
	if n.Fields != nil {
		walk(c, n.Fields)
	}
	if n.From != nil {
		b.collectFrom(n.From.TableRefs, blk, ctes)
	}
	if n.Where != nil {
		walk(c, n.Where)
	}
	if n.GroupBy != nil {
		walk(c, n.GroupBy)
	}
	if n.Having != nil {
		walk(c, n.Having)
	}
	for _, row := range n.Lists {
		walk(c, row)
	}
	for i := range n.WindowSpecs {
		walk(c, &n.WindowSpecs[i])
	}
	if n.OrderBy != nil {
		walk(c, n.OrderBy)
	}
}

// collectFrom collects the table sources of a FROM clause.
func (b *builder) collectFrom(refs *ast.Join, blk *block, ctes *cteFrame) {
	blk.unruly = isSQLite(b.dialect) && hasRightJoin(refs)
	b.collectRefs(refs, blk, ctes, false)
}

func hasRightJoin(n ast.ResultSetNode) bool {
	j, ok := n.(*ast.Join)
	return ok && (j.Tp == ast.RightJoin || hasRightJoin(j.Left) || hasRightJoin(j.Right))
}

func (b *builder) collectRefs(n ast.ResultSetNode, blk *block, ctes *cteFrame, nullable bool) {
	switch n := n.(type) {
	case *ast.Join:
		b.collectRefs(n.Left, blk, ctes, nullable || n.Tp == ast.RightJoin)
		if n.Right != nil {
			b.collectRefs(n.Right, blk, ctes, nullable || n.Tp == ast.LeftJoin)
		}
		if n.On != nil {
			walk(&collector{b: b, block: blk, ctes: ctes}, n.On.Expr)
		}
	case *ast.TableSource:
		b.collectSource(n, blk, ctes, nullable)
	default:
		b.fail(b.refuse(b.tails.verb, "a table source that is not understood", "simplify the FROM clause"))
	}
}

func (b *builder) collectSource(n *ast.TableSource, blk *block, ctes *cteFrame, nullable bool) {
	b.see(n.AsName)
	b.see(n.ColumnNames...)
	alias, _ := b.nameOf(n.AsName)
	if alias != "" {
		b.stmt.Aliases = append(b.stmt.Aliases, strings.ToLower(alias))
	}
	src := tableSource{name: alias, alias: alias != "", table: NoTable, nullable: nullable}
	b.scopeOf(blk).Sources++
	switch t := n.Source.(type) {
	case *ast.TableName:
		name, k := b.nameOf(t.Name)
		if src.name == "" {
			src.name = name
		}
		src.schema, _ = b.nameOf(t.Schema)
		if t.TableSample != nil || t.AsOf != nil {
			b.fail(b.refuse(b.tails.verb, "TABLESAMPLE and AS OF are not supported", "leave them out"))
		}
		if src.schema == "" {
			if c, ok := b.findCTE(ctes, name, k); ok {
				b.see(t.Name)
				src.alias, b.scopeOf(blk).Derived = true, true
				src.columns = b.namesOf(n.ColumnNames)
				b.refer(c, blk, &src)
				break
			}
		}
		src.table = b.addTable(blk, t, alias)
		b.stmt.Tables[src.table].Blind = ctes.blind()
	case *ast.SelectStmt, *ast.SetOprStmt:
		b.stmt.Features |= FeatureDerived
		b.scopeOf(blk).Derived, src.alias = true, true
		outer := blk.outer
		if n.Lateral {
			outer = blk
		}
		b.as(UseFrom, func() { b.collectQuery(t, blk, outer, ctes) })
		src.columns = b.namesOf(n.ColumnNames)
		if sel, ok := t.(*ast.SelectStmt); ok && b.byNode[sel] != nil {
			b.enclose(b.byNode[sel], blk, &src)
		}
	default:
		b.fail(b.refuse(b.tails.verb, "a table source that is not understood", "simplify the FROM clause"))
	}
	blk.sources = append(blk.sources, src)
	if len(blk.sources) == maxSources {
		b.fail(b.refuse(b.tails.verb, "too many tables are joined", "split the statement"))
	}
}

// namesOf returns the names as they stand in the text, nil for none.
func (b *builder) namesOf(names []ast.CIStr) []string {
	var out []string
	for _, n := range names {
		name, _ := b.nameOf(n)
		out = append(out, name)
	}
	return out
}
