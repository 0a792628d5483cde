package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// builder makes a Statement of a tree in two walks: the first collects query
// blocks and table sources in text order, the second resolves names in them.
type builder struct {
	*source
	stmt   *Statement
	byNode map[*ast.SelectStmt]*block
	joined map[*ast.WithClause]bool // those that see the names of the WITH around them
	top    *block                   // the block of a statement that is a single one, for Cond.Top
	err    error                    // the first one
	use    ScopeUse                 // of the blocks being collected
	// unplanted is true when err is about a table whose name was not replaced.
	unplanted bool
}

// block is a query block with the names that can be seen in it.
type block struct {
	scope   int             // index into Statement.Scopes
	outer   *block          // whose names can be seen too, nil for none
	sel     *ast.SelectStmt // nil when the block is none
	sources []tableSource
	// unruly is true when no table's rows are certain to be in the block's:
	// SQLite binds a comma as tightly as a right join.
	unruly bool
	// merged is true when NATURAL or USING makes one column of two.
	merged bool
}

// tableSource is one item of FROM.
type tableSource struct {
	name   string // the alias, or the table's name
	alias  bool   // name is no name of a base table
	schema string
	table  int // index into Statement.Tables, or NoTable
	// nullable is true when an outer join may put NULLs in place of a row.
	nullable bool
	// inner is the block of a derived table or common table expression into which
	// conditions can be carried, nil for others; columns are the names it gives to
	// the block's columns, nil when they have their own.
	inner   *block
	columns []string
}

func newBuilder(s *source) *builder {
	return &builder{
		source: s,
		stmt:   &Statement{Text: s.text, Markers: s.markers},
		byNode: make(map[*ast.SelectStmt]*block),
	}
}

// build fills the statement from the trees of the statement proper and of its
// tails.
func (b *builder) build(nodes []ast.StmtNode) {
	tails := nodes[1:]
	switch n := nodes[0].(type) {
	case *ast.SelectStmt:
		b.stmt.Kind = KindSelect
		b.collectQuery(n, nil, nil, nil)
		if b.err != nil {
			return
		}
		b.top = b.byNode[n]
		b.resolveQuery(n, nil)
		if b.err == nil {
			b.buildSelect(n)
		}
	case *ast.SetOprStmt:
		b.stmt.Kind = KindSelect
		b.collectQuery(n, nil, nil, nil)
		if b.err == nil {
			b.resolveQuery(n, nil)
		}
		if b.err == nil {
			b.buildUnion(n)
		}
	case *ast.InsertStmt:
		b.buildInsert(n, tails)
	case *ast.UpdateStmt:
		b.buildUpdate(n, tails)
	case *ast.DeleteStmt:
		b.buildDelete(n, tails)
	case *ast.CreateTableStmt, *ast.AlterTableStmt, *ast.DropTableStmt, *ast.RenameTableStmt, *ast.TruncateTableStmt,
		*ast.CreateIndexStmt, *ast.DropIndexStmt, *ast.CreateViewStmt:
		b.buildDDL(n)
	default:
		blk := b.newBlock(nil, nil)
		walk(&collector{b: b, block: blk}, n)
		if b.err == nil {
			walk(&resolver{b: b, block: blk}, n)
		}
	}
	b.renameInHints()
}

// fail keeps the first error.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// newBlock adds a query block below parent, which may be nil.
func (b *builder) newBlock(parent, outer *block) *block {
	scope := Scope{Parent: -1, Use: b.use}
	if parent != nil {
		scope.Parent = parent.scope
	}
	b.stmt.Scopes = append(b.stmt.Scopes, scope)
	return &block{scope: len(b.stmt.Scopes) - 1, outer: outer}
}

// scopeOf returns the block's entry of the statement.
func (b *builder) scopeOf(blk *block) *Scope { return &b.stmt.Scopes[blk.scope] }

// addTable adds a base table to a block and returns its index.
func (b *builder) addTable(blk *block, tn *ast.TableName, alias string) int {
	name, k := b.nameOf(tn.Name)
	schema, _ := b.nameOf(tn.Schema)
	b.see(tn.Schema)
	index := len(b.stmt.Tables)
	b.stmt.Tables = append(b.stmt.Tables, TableRef{Name: name, Schema: schema, Alias: alias, Scope: blk.scope})
	if k >= 0 {
		b.addRename(k, schema != "", index)
	} else if b.names.IsTable(name) {
		b.failUnplanted(name)
	}
	if len(tn.PartitionNames) > 0 {
		b.stmt.Features |= FeaturePartition
	}
	b.see(tn.PartitionNames...)
	if len(tn.IndexHints) > 0 {
		b.stmt.Features |= FeatureIndexHint
	}
	for _, h := range tn.IndexHints {
		b.see(h.IndexNames...)
	}
	return index
}

// addRename notes that sentinel k stands for the table.
func (b *builder) addRename(k int, qualified bool, table int) {
	b.sentinels[k].seen = true
	i := b.sentinels[k].token
	r := Rename{Span: b.span(i, i+1), Table: table, Qualifier: b.is(i+1, ".")}
	if b.tokens[i].kind == tokenQuoted {
		r.Quote = b.text[r.Start]
	}
	if qualified {
		if !b.is(i-1, ".") || !b.isName(i-2) {
			b.fail(b.refuse(i, "the schema before this name is not understood", "leave it out"))
			return
		}
		r.Schema = b.span(i-2, i)
	}
	b.stmt.Renames = append(b.stmt.Renames, r)
}

// failUnplanted refuses a table whose name was not replaced because it may be a
// keyword or a function.
func (b *builder) failUnplanted(name string) {
	b.unplanted = b.err == nil
	for i := range b.tokens {
		if b.isName(i) && !b.tokens[i].erased && unquote(b.raw(i)) == name {
			b.fail(b.refuse(i, "the name of the table is also a keyword or a function", "quote it with backticks"))
			return
		}
	}
	b.fail(b.refuse(b.tails.verb, "the place of the table's name is not understood", "quote it with backticks"))
}

// lookup finds the source that a qualifier names, in the block or outside of it.
// A name written as the source's is preferred to one that differs in case.
func (b *builder) lookup(blk *block, schema, name string) *tableSource {
	for ; blk != nil; blk = blk.outer {
		if src := blk.find(schema, name); src != nil {
			return src
		}
	}
	return nil
}

// find finds the block's own source that a qualifier names.
func (blk *block) find(schema, name string) *tableSource {
	var folded *tableSource
	for i := range blk.sources {
		src := &blk.sources[i]
		if schema != "" && (src.table == NoTable || src.schema != "" && !strings.EqualFold(src.schema, schema)) {
			continue
		}
		if src.name == name {
			return src
		}
		if folded == nil && strings.EqualFold(src.name, name) {
			folded = src
		}
	}
	return folded
}

// column resolves a column as far as the block itself allows, through derived
// tables to the base table whose column it is.
func (b *builder) column(blk *block, cn *ast.ColumnName) Column {
	name, _ := b.nameOf(cn.Name)
	col := Column{Table: NoTable, Name: strings.ToLower(name)}
	if blk == nil {
		return col
	}
	if cn.Table.O != "" {
		schema, _ := b.nameOf(cn.Schema)
		table, _ := b.nameOf(cn.Table)
		if src := blk.find(schema, table); src != nil {
			return b.columnIn(src, col.Name)
		}
		return col
	}
	if len(blk.sources) == 1 {
		return b.columnIn(&blk.sources[0], col.Name)
	}
	for i := range blk.sources {
		if blk.sources[i].table >= 0 {
			col.Table = AnyTable
		}
	}
	return col
}

// nullable reports whether the column may be NULL because an outer join found no
// row.
func (blk *block) nullable(c Column) bool {
	if blk.unruly {
		return true
	}
	for i := range blk.sources {
		src := &blk.sources[i]
		if src.nullable && (c.Table == AnyTable || slices.Contains(src.tablesOf(), c.Table)) {
			return true
		}
	}
	return false
}

// resolveQualifier finds out what the qualifier of a column, or of a star,
// stands for, and notes a table's name.
func (b *builder) resolveQualifier(blk *block, schema, table ast.CIStr) {
	b.see(schema)
	if table.O == "" {
		return
	}
	schemaName, _ := b.nameOf(schema)
	name, k := b.nameOf(table)
	src := b.lookup(blk, schemaName, name)
	switch {
	case k < 0 && src != nil && !src.alias && b.names.IsTable(name):
		b.failUnplanted(name)
	case schemaName != "" && src != nil && src.alias:
		if k >= 0 {
			b.sentinels[k].seen = true
			b.addAlias(b.sentinels[k].token, src.table)
		} else {
			b.addAliases(schemaName, name, src.table)
		}
	case k < 0:
	case src == nil:
		b.fail(b.refuse(b.sentinels[k].token, "the name belongs to no table that can be seen there", "name a table of the FROM clause"))
	case src.alias:
		b.sentinels[k].seen = true
	default:
		b.addRename(k, schemaName != "", src.table)
	}
}

// addAlias notes that the token, behind a schema, is the alias of a table.
func (b *builder) addAlias(i, table int) {
	if !b.is(i-1, ".") || !b.isName(i-2) {
		b.fail(b.refuse(i, "the schema before this name is not understood", "leave it out"))
		return
	}
	r := Rename{Span: b.span(i, i+1), Schema: b.span(i-2, i), Table: table, Alias: true, Qualifier: true}
	if !slices.ContainsFunc(b.stmt.Renames, func(other Rename) bool { return other.Start == r.Start }) {
		b.stmt.Renames = append(b.stmt.Renames, r)
	}
}

// addAliases does so wherever an alias that is no configured name stands between the
// schema and a column.
func (b *builder) addAliases(schema, alias string, table int) {
	for i := 2; i+1 < len(b.tokens); i++ {
		if b.is(i+1, ".") && b.is(i-1, ".") && b.isName(i) && b.isName(i-2) &&
			strings.EqualFold(unquote(b.raw(i)), alias) && strings.EqualFold(unquote(b.raw(i-2)), schema) {
			b.addAlias(i, table)
		}
	}
}

// resolveTarget resolves a name in the list of a multi-table DELETE or of FOR
// UPDATE OF, and returns the index of its table or NoTable.
func (b *builder) resolveTarget(blk *block, tn *ast.TableName) int {
	b.resolveQualifier(blk, tn.Schema, tn.Name)
	schema, _ := b.nameOf(tn.Schema)
	name, _ := b.nameOf(tn.Name)
	if src := blk.find(schema, name); src != nil {
		return src.table
	}
	return NoTable
}

// cteFrame holds the names that one WITH clause has defined so far.
type cteFrame struct {
	outer *cteFrame
	ctes  []*cte
	// later holds the names a recursive WITH defines further on, which MariaDB
	// sees already and MySQL does not.
	later []string
	// apart is true for the WITH of a subquery or derived table, and defining while its
	// definitions are collected, in which MariaDB does not see the names of the frames
	// around it.
	apart, defining bool
}

// blind reports whether common table expressions around the statement are out of sight.
func (f *cteFrame) blind() bool {
	for ; f != nil; f = f.outer {
		if f.apart && f.defining {
			return true
		}
	}
	return false
}

// defines reports whether the frame or one around it defines the name.
func (f *cteFrame) defines(name string) bool {
	same := func(n string) bool { return strings.EqualFold(n, name) }
	for ; f != nil; f = f.outer {
		if slices.ContainsFunc(f.ctes, func(c *cte) bool { return same(c.name) }) || slices.ContainsFunc(f.later, same) {
			return true
		}
	}
	return false
}

// findCTE finds the common table expression that a table name refers to; ok is
// true without one where it is one of those defined further on. It fails on a
// configured name of which servers differ.
func (b *builder) findCTE(frame *cteFrame, name string, k int) (found *cte, ok bool) {
	blind := false
	for f := frame; f != nil; f = f.outer {
		var folded *cte
		hidden := blind && k >= 0
		for _, c := range f.ctes {
			if c.name == name && !hidden {
				return c, true
			}
			if strings.EqualFold(c.name, name) {
				folded = c
			}
		}
		if folded != nil && b.dialect.FoldTables && !hidden {
			return folded, true
		}
		ok = folded != nil || slices.ContainsFunc(f.later, func(n string) bool { return strings.EqualFold(n, name) })
		if ok && k >= 0 {
			b.fail(b.refuse(b.sentinels[k].token, "the name may be the table or a common table expression", "rename the common table expression"))
		}
		if ok {
			return nil, true
		}
		blind = blind || f.apart && f.defining
	}
	return nil, false
}
