package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// buildInsert collects and resolves an INSERT or REPLACE with its tails.
func (b *builder) buildInsert(n *ast.InsertStmt, tails []ast.StmtNode) {
	b.stmt.Kind = KindInsert
	if n.IsReplace {
		b.stmt.Kind = KindReplace
	}
	blk := b.newBlock(nil, nil)
	b.collectFrom(n.Table.TableRefs, blk, nil)
	if b.err != nil {
		return
	}
	if len(n.PartitionNames) > 0 {
		b.stmt.Features |= FeaturePartition
		b.see(n.PartitionNames...)
	}
	b.stmt.Tables[0].Target = true

	c := &collector{b: b, block: blk}
	for _, row := range n.Lists {
		for _, v := range row {
			walk(c, v)
		}
	}
	if n.Select != nil {
		b.collectQuery(n.Select, blk, nil, nil)
	}
	assignments := n.OnDuplicate
	var condition ast.ExprNode
	if b.tails.conflictUpdate {
		u, ok := tails[0].(*ast.UpdateStmt)
		if !ok || u.Order != nil || u.Limit != nil || len(n.OnDuplicate) > 0 {
			b.fail(b.refuse(b.tails.end, "the ON CONFLICT clause is not understood", "simplify it"))
			return
		}
		assignments, condition = u.List, u.Where
		tails = tails[1:]
	}
	for _, a := range assignments {
		walk(c, a.Expr)
	}
	if condition != nil {
		walk(c, condition)
	}
	returning := b.collectReturning(blk, tails)

	r := &resolver{b: b, block: blk}
	for _, cn := range n.Columns {
		walk(r, cn)
	}
	for _, row := range n.Lists {
		for _, v := range row {
			walk(r, v)
		}
	}
	if n.Select != nil {
		b.resolveQuery(n.Select, nil)
	}
	dup := b.duplicateBlock(blk, n)
	r = &resolver{b: b, block: dup}
	for _, a := range assignments {
		walk(r, a)
	}
	if condition != nil {
		walk(r, condition)
	}
	if returning != nil {
		walk(&resolver{b: b, block: blk}, returning)
	}
	if b.err == nil {
		b.insertBody(n, blk, dup, assignments)
	}
}

// duplicateBlock is what ON DUPLICATE KEY UPDATE and ON CONFLICT see: the target,
// the tables of a plain SELECT, the inserted row under its alias.
func (b *builder) duplicateBlock(blk *block, n *ast.InsertStmt) *block {
	dup := &block{scope: blk.scope, sources: append([]tableSource(nil), blk.sources...)}
	if sel, ok := n.Select.(*ast.SelectStmt); ok && b.byNode[sel] != nil {
		dup.sources = append(dup.sources, b.byNode[sel].sources...)
	}
	for _, name := range []string{b.tails.rowAlias, b.excluded()} {
		if name != "" {
			dup.sources = append(dup.sources, tableSource{name: name, alias: true, table: NoTable})
		}
	}
	return dup
}

// excluded is the name of the row that ON CONFLICT could not insert.
func (b *builder) excluded() string {
	if b.tails.conflict {
		return "excluded"
	}
	return ""
}

// collectReturning collects the tables in a RETURNING clause, which comes as a
// SELECT behind the statement, and returns its list or nil.
func (b *builder) collectReturning(blk *block, tails []ast.StmtNode) *ast.FieldList {
	if !b.tails.returning || len(tails) == 0 {
		return nil
	}
	sel, ok := tails[len(tails)-1].(*ast.SelectStmt)
	if !ok || sel.From != nil || sel.Where != nil || sel.GroupBy != nil || sel.Having != nil || sel.OrderBy != nil ||
		sel.Limit != nil || sel.LockInfo != nil || sel.Distinct || sel.SelectIntoOpt != nil {
		b.fail(b.refuse(len(b.tokens)-1, "the RETURNING clause is not understood", "name columns and expressions only"))
		return nil
	}
	walk(&collector{b: b, block: blk}, sel.Fields)
	return sel.Fields
}

// insertBody fills Statement.Insert.
func (b *builder) insertBody(n *ast.InsertStmt, blk, dup *block, assignments []*ast.Assignment) {
	ins := &Insert{
		ColumnsEnd: -1,
		Set:        n.Setlist,
		Select:     n.Select != nil,
		Ignore:     n.IgnoreErr,
		Conflict:   b.tails.conflict,
		Returning:  b.tails.returning,
	}
	last := len(b.tokens) - 1
	for last > 0 && b.is(last, ";") {
		last--
	}
	ins.End = b.end(last)
	body, ok := b.insertColumns(ins, n)
	if ok && !ins.Select {
		ok = b.insertRows(ins, n, body)
	}
	if !ok {
		b.fail(b.refuse(b.tails.verb, "the columns or rows of the INSERT are not understood", "simplify it"))
		return
	}
	if ins.Select {
		ins.From = b.insertSelect(n.Select)
	}
	for _, a := range assignments {
		ins.OnDup = append(ins.OnDup, b.duplicateAssignment(ins, a, blk, dup))
	}
	b.stmt.Insert = ins
}

// insertColumns reads the column list and returns the index behind it, or behind
// the table when there is none.
func (b *builder) insertColumns(ins *Insert, n *ast.InsertStmt) (body int, ok bool) {
	for _, cn := range n.Columns {
		name, _ := b.nameOf(cn.Name)
		ins.Columns = append(ins.Columns, strings.ToLower(name))
	}
	i := b.tails.verb + 1
	for i < len(b.tokens) && (b.tokens[i].kind == tokenHint || b.isWord(i, "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE")) {
		i++
	}
	if b.isWord(i, "INTO") {
		i++
	}
	if !b.isName(i) {
		return 0, false
	}
	for i++; b.is(i, ".") && b.isName(i+1); {
		i += 2
	}
	if b.isWord(i, "PARTITION") && b.is(i+1, "(") {
		i = int(b.pair[i+1]) + 1
	}
	if n.Setlist {
		return i, b.isWord(i, "SET")
	}
	if !b.is(i, "(") || len(n.Columns) == 0 && !b.is(i+1, ")") {
		return i, len(n.Columns) == 0
	}
	end := int(b.pair[i])
	if len(b.split(i+1, end)) != len(n.Columns) {
		return 0, false
	}
	if ins.Columns == nil {
		ins.Columns = []string{}
	}
	ins.ColumnsEnd = b.tokens[end].start
	return end + 1, true
}

// insertRows reads the VALUES rows, or the assignments of SET, that begin at
// token i.
func (b *builder) insertRows(ins *Insert, n *ast.InsertStmt, i int) bool {
	if ins.Set {
		row := Row{}
		for _, v := range n.Lists[0] {
			row.Values = append(row.Values, b.listOperand(v))
		}
		ins.Rows = []Row{row}
		end := i + 1
		for end < b.tails.end && !b.tokens[end].erased && !b.isWord(end, "ON") {
			if b.is(end, "(") {
				end = int(b.pair[end])
			}
			end++
		}
		ins.SetEnd = b.end(end - 1)
		return true
	}
	if !b.isWord(i, "VALUES", "VALUE") {
		return false
	}
	i++
	ins.Rows = make([]Row, 0, len(n.Lists))
	for k, list := range n.Lists {
		if k > 0 {
			if !b.is(i, ",") {
				return false
			}
			i++
		}
		if !b.is(i, "(") {
			return false
		}
		end := int(b.pair[i])
		starts := b.split(i+1, end)
		if len(starts) != len(list) {
			return false
		}
		row := Row{Span: b.span(i, end+1), Values: make([]Operand, len(list))}
		for j, v := range list {
			to := end
			if j+1 < len(starts) {
				to = starts[j+1] - 1
			}
			row.Values[j] = b.listOperand(v)
			row.Values[j].Span = b.span(starts[j], to)
		}
		ins.Rows = append(ins.Rows, row)
		i = end + 1
	}
	if len(ins.Rows) == 0 {
		return false
	}
	ins.RowsSpan = Span{Start: ins.Rows[0].Start, End: ins.Rows[len(ins.Rows)-1].End}
	return true
}

// listOperand is a value of a row or a list, which may be any expression.
func (b *builder) listOperand(e ast.ExprNode) Operand {
	if _, ok := e.(*ast.DefaultExpr); !ok && !isConstant(e) {
		return Operand{}
	}
	return b.operand(e)
}

// duplicateAssignment reads an assignment of ON DUPLICATE KEY UPDATE or ON
// CONFLICT.
func (b *builder) duplicateAssignment(ins *Insert, a *ast.Assignment, blk, dup *block) Assignment {
	out := b.assignment(a, dup)
	out.Column.Table = blk.sources[0].table
	if v, ok := unwrap(a.Expr).(*ast.ValuesExpr); ok && v.Column != nil {
		name, _ := b.nameOf(v.Column.Name.Name)
		out.Inserted, out.Self = strings.ToLower(name), false
		return out
	}
	cn := columnOf(a.Expr)
	if cn == nil {
		return out
	}
	name, _ := b.nameOf(cn.Name)
	name = strings.ToLower(name)
	table, _ := b.nameOf(cn.Table)
	switch {
	case table == "" && len(b.tails.rowAliasColumns) == 0:
		// ON CONFLICT means the stored row; ON DUPLICATE may mean a column of the
		// SELECT.
		out.Self = name == out.Column.Name && (len(dup.sources) == 1 || b.tails.conflict)
	case table == "":
		if inserted := b.aliasColumn(ins, name); inserted != "" {
			out.Inserted, out.Self = inserted, false
		}
	case b.tails.rowAlias != "" && strings.EqualFold(table, b.tails.rowAlias):
		out.Inserted, out.Self = name, false
		if len(b.tails.rowAliasColumns) > 0 {
			out.Inserted = b.aliasColumn(ins, name)
		}
	case b.tails.conflict && strings.EqualFold(table, "excluded"):
		out.Inserted, out.Self = name, false
	default:
		out.Self = b.column(dup, cn) == out.Column
	}
	return out
}

// aliasColumn returns the inserted column that a column of the row alias names.
func (b *builder) aliasColumn(ins *Insert, name string) string {
	for i, c := range b.tails.rowAliasColumns {
		if c == name && i < len(ins.Columns) {
			return ins.Columns[i]
		}
	}
	return ""
}

// assignment reads column = value.
func (b *builder) assignment(a *ast.Assignment, blk *block) Assignment {
	out := Assignment{Column: b.column(blk, a.Column), Value: b.listOperand(a.Expr)}
	if cn := columnOf(a.Expr); cn != nil {
		value := b.column(blk, cn)
		out.Self = value == out.Column && value.Table != NoTable
	}
	return out
}

// buildUpdate collects and resolves an UPDATE with its tail.
func (b *builder) buildUpdate(n *ast.UpdateStmt, tails []ast.StmtNode) {
	b.stmt.Kind = KindUpdate
	blk := b.newBlock(nil, nil)
	ctes := b.collectWith(n.With, blk, nil, nil)
	b.collectFrom(n.TableRefs.TableRefs, blk, ctes)
	c := &collector{b: b, block: blk, ctes: ctes}
	for _, a := range n.List {
		walk(c, a.Expr)
	}
	if n.Where != nil {
		walk(c, n.Where)
	}
	if n.Order != nil {
		walk(c, n.Order)
	}
	returning := b.collectReturning(blk, tails)
	if b.err != nil {
		return
	}

	b.top = blk
	r := &resolver{b: b, block: blk}
	b.resolveWith(n.With)
	b.resolveBlock(blk, n.TableRefs.TableRefs, n.Where)
	up := &Update{
		Multi:     len(blk.sources) > 1,
		Ignore:    n.IgnoreErr,
		OrderBy:   n.Order != nil,
		Limit:     n.Limit != nil,
		Returning: b.tails.returning,
	}
	for _, a := range n.List {
		walk(r, a)
		as := b.assignment(a, blk)
		up.Set = append(up.Set, as)
		b.markTargets(blk, as.Column.Table)
	}
	if n.Order != nil {
		walk(r, n.Order)
	}
	if returning != nil {
		walk(r, returning)
	}
	if n.Where != nil && n.With == nil && n.Order == nil && n.Limit == nil && !up.Returning {
		up.Where = b.whereToEnd()
	}
	b.stmt.Update = up
}

// whereToEnd returns where the last clause of the statement, WHERE, stands.
func (b *builder) whereToEnd() Span {
	end := len(b.tokens)
	for end > 0 && b.is(end-1, ";") {
		end--
	}
	for i := end - 1; i > 0; i-- {
		if b.tokens[i].depth == 0 && b.isWord(i, "WHERE") && !b.is(i-1, ".") {
			return b.span(i, end)
		}
	}
	return Span{}
}

// markTargets marks the tables that a written column may belong to.
func (b *builder) markTargets(blk *block, table int) {
	for i := range blk.sources {
		if t := blk.sources[i].table; t >= 0 && (table == AnyTable || table == t) {
			b.stmt.Tables[t].Target = true
		}
	}
}

// buildDelete collects and resolves a DELETE with its tail.
func (b *builder) buildDelete(n *ast.DeleteStmt, tails []ast.StmtNode) {
	b.stmt.Kind = KindDelete
	blk := b.newBlock(nil, nil)
	ctes := b.collectWith(n.With, blk, nil, nil)
	b.collectFrom(n.TableRefs.TableRefs, blk, ctes)
	c := &collector{b: b, block: blk, ctes: ctes}
	if n.Where != nil {
		walk(c, n.Where)
	}
	if n.Order != nil {
		walk(c, n.Order)
	}
	returning := b.collectReturning(blk, tails)
	if b.err != nil {
		return
	}

	b.top = blk
	r := &resolver{b: b, block: blk}
	b.resolveWith(n.With)
	b.resolveBlock(blk, n.TableRefs.TableRefs, n.Where)
	if n.Tables != nil {
		for _, t := range n.Tables.Tables {
			b.markTargets(blk, b.resolveTarget(blk, t))
		}
	} else {
		b.markTargets(blk, AnyTable)
	}
	if n.Order != nil {
		walk(r, n.Order)
	}
	if returning != nil {
		walk(r, returning)
	}
	b.stmt.Delete = &Delete{
		Multi:     n.IsMultiTable,
		OrderBy:   n.Order != nil,
		Limit:     n.Limit != nil,
		Returning: b.tails.returning,
	}
}
