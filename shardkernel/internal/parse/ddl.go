package parse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Action is what a DDL statement does.
type Action uint8

// The actions.
const (
	CreateTable Action = iota
	CreateTableLike
	CreateTableSelect
	AlterTable
	DropTable
	RenameTable // also ALTER TABLE … RENAME TO
	TruncateTable
	CreateIndex
	DropIndex
	CreateView
	DropView
)

// DDL is the body of a statement that defines tables or views. What it defines
// is the first of Statement.Tables; DROP and RENAME define all of them.
type DDL struct {
	Action    Action
	Temporary bool
	Replace   bool // CREATE OR REPLACE TABLE
	// Constraints are the names of foreign keys and CHECKs, where they are made,
	// changed and dropped, and those of keys where they are dropped, changed and
	// renamed. In text order.
	Constraints []Constraint
	References  []Reference
	// Others holds the indexes into Statement.Tables of tables that are named in
	// another way than by REFERENCES, LIKE or a query: partitions are exchanged
	// with them.
	Others []int
	// Unnamed is true when ALTER TABLE adds a key or constraint without a name:
	// sent twice, it adds another.
	Unnamed bool
	// Items holds, for DROP, the span of every table's name with its schema.
	Items []Span
	// Columns holds the columns that CREATE TABLE lists. Lower case.
	Columns []string
	// Gone holds the columns that ALTER TABLE drops or renames. Lower case.
	Gone []string
	// Renames is true when some are renamed.
	Renames bool
	// Retyped holds the columns that ALTER TABLE gives a type.
	Retyped []Retyped
	// Touched holds the columns, keys and constraints that ALTER TABLE, CREATE INDEX
	// and DROP INDEX are about. Lower case. Whole is true where there is more to it,
	// as to a partition.
	Touched []string
	Whole   bool
	// Lenient is true when a table that has what the statement makes, or lacks what
	// it changes, is left as it is without an error: IF NOT EXISTS and IF EXISTS.
	Lenient bool
}

// Retyped is a column that gets a type.
type Retyped struct {
	Column string // lower case
	Type   string // without length, such as bigint; lower case
}

// Constraint is the name of a foreign key or CHECK, or of a key that is there.
type Constraint struct {
	Span
	Name  string // unquoted
	Quote byte   // '`' or 0
	// Index is true for the name in FOREIGN KEY name (…) without CONSTRAINT:
	// some servers give it to the index alone, some to both.
	Index bool
	// Key is true for the name of a key: that of a foreign key if the server made
	// the key for one. Any is true for DROP CONSTRAINT, which drops unique keys too.
	Key, Any bool
	// There is true for the name of what is there, to be dropped, changed or
	// renamed.
	There bool
}

// Reference is a REFERENCES clause.
type Reference struct {
	Table int // index into Statement.Tables
	// Columns and Referenced are the columns of the foreign key, pair by pair.
	// Lower case; Referenced is empty where the clause leaves them out.
	Columns, Referenced []string
	// OnDelete and OnUpdate are true where the server changes the columns of the
	// foreign key when the referenced row is deleted or changed.
	OnDelete, OnUpdate bool
}

// buildDDL fills Statement.DDL.
func (b *builder) buildDDL(n ast.StmtNode) {
	b.stmt.Kind, b.stmt.DDL = KindDDL, new(DDL)
	d := definer{builder: b, ddl: b.stmt.DDL, block: b.newBlock(nil, nil)}
	switch n := n.(type) {
	case *ast.CreateTableStmt:
		d.createTable(n)
	case *ast.AlterTableStmt:
		d.alterTable(n)
	case *ast.DropTableStmt:
		d.ddl.Action, d.ddl.Temporary = DropTable, n.TemporaryKeyword != ast.TemporaryNone
		if n.IsView {
			d.ddl.Action = DropView
		}
		for _, t := range n.Tables {
			b.addTable(d.block, t, "")
		}
		d.items(len(n.Tables))
	case *ast.RenameTableStmt:
		d.ddl.Action = RenameTable
		walk(&collector{b: b, block: d.block}, n)
	case *ast.TruncateTableStmt:
		d.ddl.Action = TruncateTable
		d.target(n.Table)
	case *ast.CreateIndexStmt:
		d.ddl.Action = CreateIndex
		d.target(n.Table)
		b.seeName(n.IndexName)
		d.touch(n.IndexName)
		for _, part := range n.IndexPartSpecifications {
			d.expression(part)
		}
	case *ast.DropIndexStmt:
		d.ddl.Action = DropIndex
		d.target(n.Table)
		b.seeName(n.IndexName)
		d.touch(n.IndexName)
	case *ast.CreateViewStmt:
		d.ddl.Action = CreateView
		b.addTable(d.block, n.ViewName, "")
		b.see(n.Cols...)
		b.collectQuery(n.Select, d.block, nil, nil)
		if b.err == nil {
			b.resolveQuery(n.Select, nil)
		}
	}
	if b.err == nil {
		d.constraints()
	}
}

// seeName notes that the name stands where it is no table.
func (s *source) seeName(name string) { s.see(ast.NewCIStr(name)) }

// definer reads a tree that defines tables.
type definer struct {
	*builder
	ddl   *DDL
	block *block
	names []string // of foreign keys and CHECKs, as the tree has them
}

// target adds the table that is defined; expressions may qualify columns by its
// name.
func (d *definer) target(t *ast.TableName) {
	index := d.addTable(d.block, t, "")
	name, _ := d.nameOf(t.Name)
	schema, _ := d.nameOf(t.Schema)
	d.block.sources = append(d.block.sources, tableSource{name: name, schema: schema, table: index})
}

// expression reads a part that holds columns and functions, and no table but the
// defined one.
func (d *definer) expression(n ast.Node) {
	walk(&collector{b: d.builder, block: d.block}, n)
	if d.err == nil {
		walk(&resolver{b: d.builder, block: d.block}, n)
	}
}

func (d *definer) createTable(n *ast.CreateTableStmt) {
	d.ddl.Temporary = n.TemporaryKeyword != ast.TemporaryNone
	d.ddl.Replace = d.isWord(1, "OR")
	d.target(n.Table)
	if n.ReferTable != nil {
		d.ddl.Action = CreateTableLike
		d.addTable(d.block, n.ReferTable, "")
		return
	}
	for _, c := range n.Cols {
		d.column(c)
		d.ddl.Columns = append(d.ddl.Columns, d.columnName(c.Name))
	}
	for _, c := range n.Constraints {
		d.constraint(c)
	}
	if n.Partition != nil {
		d.expression(n.Partition)
	}
	d.options(n.Options)
	if n.Select != nil {
		d.ddl.Action = CreateTableSelect
		d.collectQuery(n.Select, d.block, nil, nil)
		if d.err == nil {
			d.resolveQuery(n.Select, nil)
		}
	}
}

// options reads table options; those of a MERGE table name others.
func (d *definer) options(options []*ast.TableOption) {
	for _, o := range options {
		for _, t := range o.TableNames {
			d.ddl.Others = append(d.ddl.Others, d.addTable(d.block, t, ""))
		}
	}
}

func (d *definer) alterTable(n *ast.AlterTableStmt) {
	d.ddl.Action = AlterTable
	d.target(n.Table)
	for _, s := range n.Specs {
		d.spec(s)
		d.touchSpec(s)
	}
}

func (d *definer) spec(s *ast.AlterTableSpec) {
	d.seeName(s.Name)
	d.see(s.IndexName, s.FromKey, s.ToKey)
	d.see(s.PartitionNames...)
	switch s.Tp {
	case ast.AlterTableDropForeignKey:
		d.names = append(d.names, s.Name)
	case ast.AlterTableDropCheck, ast.AlterTableAlterCheck:
		d.names = append(d.names, s.Constraint.Name)
		d.seeName(s.Constraint.Name)
	default:
		if s.Constraint != nil {
			d.constraint(s.Constraint)
		}
	}
	d.ddl.Unnamed = d.ddl.Unnamed || addsUnnamed(s)
	for _, c := range s.NewColumns {
		d.column(c)
	}
	for _, c := range s.NewConstraints {
		d.constraint(c)
	}
	for _, c := range []*ast.ColumnName{s.OldColumnName, s.NewColumnName} {
		if c != nil {
			d.expression(c)
		}
	}
	d.noteColumns(s)
	if s.Position != nil && s.Position.RelativeColumn != nil {
		d.expression(s.Position.RelativeColumn)
	}
	for _, o := range s.OrderByList {
		d.expression(o.Column)
	}
	if s.Partition != nil {
		d.expression(s.Partition)
	}
	d.options(s.Options)
	if s.NewTable == nil {
		return
	}
	other := d.addTable(d.block, s.NewTable, "")
	if s.Tp == ast.AlterTableRenameTable {
		d.ddl.Action = RenameTable
		return
	}
	d.ddl.Others = append(d.ddl.Others, other)
}

// noteColumns notes what becomes of columns.
func (d *definer) noteColumns(s *ast.AlterTableSpec) {
	switch s.Tp {
	case ast.AlterTableDropColumn, ast.AlterTableRenameColumn:
		d.ddl.Gone = append(d.ddl.Gone, d.columnName(s.OldColumnName))
		d.ddl.Renames = d.ddl.Renames || s.Tp == ast.AlterTableRenameColumn
	case ast.AlterTableChangeColumn:
		old, changed := d.columnName(s.OldColumnName), d.columnName(s.NewColumns[0].Name)
		if old != changed {
			d.ddl.Gone, d.ddl.Renames = append(d.ddl.Gone, old), true
		}
		d.retype(s.NewColumns[0])
	case ast.AlterTableModifyColumn:
		d.retype(s.NewColumns[0])
	}
}

// addsUnnamed reports whether a column that is there is changed to one that has a
// key or foreign key, which the server adds each time.
func addsUnnamed(s *ast.AlterTableSpec) bool {
	if s.Tp != ast.AlterTableModifyColumn && s.Tp != ast.AlterTableChangeColumn {
		return false
	}
	return slices.ContainsFunc(s.NewColumns[0].Options, func(o *ast.ColumnOption) bool {
		return o.Tp == ast.ColumnOptionUniqKey || o.Tp == ast.ColumnOptionReference
	})
}

func (d *definer) retype(c *ast.ColumnDef) {
	if c.Tp == nil {
		return
	}
	name, _, _ := strings.Cut(c.Tp.CompactStr(), "(")
	d.ddl.Retyped = append(d.ddl.Retyped, Retyped{Column: d.columnName(c.Name), Type: strings.ToLower(name)})
}

func (d *definer) columnName(c *ast.ColumnName) string {
	name, _ := d.nameOf(c.Name)
	return strings.ToLower(name)
}

func (d *definer) column(c *ast.ColumnDef) {
	d.expression(c)
	for _, o := range c.Options {
		if o.ConstraintName != "" {
			d.names = append(d.names, o.ConstraintName)
			d.seeName(o.ConstraintName)
		}
		if o.Refer != nil {
			d.reference(o.Refer, []string{d.columnName(c.Name)})
		}
	}
}

func (d *definer) constraint(c *ast.Constraint) {
	d.seeName(c.Name)
	if d.ddl.Action == AlterTable && c.Name == "" && c.Tp != ast.ConstraintPrimaryKey {
		d.ddl.Unnamed = true
	}
	var columns []string
	for _, part := range c.Keys {
		d.expression(part)
		if part.Column != nil {
			columns = append(columns, d.columnName(part.Column))
		}
	}
	if c.Expr != nil {
		d.expression(c.Expr)
	}
	switch c.Tp {
	case ast.ConstraintForeignKey:
		d.reference(c.Refer, columns)
	case ast.ConstraintCheck:
	default:
		return // the name is that of an index
	}
	if c.Name != "" {
		d.names = append(d.names, c.Name)
	}
}

func (d *definer) reference(r *ast.ReferenceDef, columns []string) {
	ref := Reference{Table: d.addTable(d.block, r.Table, ""), Columns: columns}
	if r.OnDelete != nil {
		ref.OnDelete = r.OnDelete.ReferOpt == ast.ReferOptionSetNull || r.OnDelete.ReferOpt == ast.ReferOptionSetDefault
	}
	if r.OnUpdate != nil {
		o := r.OnUpdate.ReferOpt
		ref.OnUpdate = o == ast.ReferOptionCascade || o == ast.ReferOptionSetNull || o == ast.ReferOptionSetDefault
	}
	for _, part := range r.IndexPartSpecifications {
		if part.Column == nil {
			d.fail(d.refuse(d.tails.verb, "a foreign key that references no column", "name the columns"))
			return
		}
		d.see(part.Column.Name)
		ref.Referenced = append(ref.Referenced, d.columnName(part.Column))
	}
	d.ddl.References = append(d.ddl.References, ref)
}

// items finds the names in the list of a DROP.
func (d *definer) items(n int) {
	from := 1
	for d.isWord(from, "TEMPORARY", "TABLE", "TABLES", "VIEW", "IF", "EXISTS") {
		from++
	}
	to := len(d.tokens)
	if d.isWord(to-1, "RESTRICT", "CASCADE") && to-1 > from && !d.is(to-2, ",") && !d.is(to-2, ".") {
		to--
	}
	starts := d.split(from, to)
	if len(starts) != n {
		d.fail(d.refuse(from, "the list of tables is not understood", "drop them one by one"))
		return
	}
	for i, start := range starts {
		end := to
		if i+1 < len(starts) {
			end = starts[i+1] - 1
		}
		d.ddl.Items = append(d.ddl.Items, d.span(start, end))
	}
}

// constraints finds the names of foreign keys and CHECKs among the tokens, and
// makes sure that they are those of the tree.
func (d *definer) constraints() {
	for i := range d.tokens {
		at, key := -1, false
		d.ddl.Lenient = d.ddl.Lenient || d.behindExistence(i) > i
		switch {
		case d.isWord(i, "CONSTRAINT") && d.isWord(d.behindExistence(i+1)+1, "FOREIGN", "CHECK", "REFERENCES"):
			at = d.behindExistence(i + 1)
		case d.isWord(i, "FOREIGN") && d.isWord(i+1, "KEY"):
			at = d.foreignKeyName(i)
		case d.isWord(i, "CHECK", "CONSTRAINT") && d.isWord(i-1, "DROP", "ALTER"):
			at = d.behindExistence(i + 1)
		case d.isWord(i, "INDEX", "KEY") && d.isWord(i-1, "DROP", "RENAME", "ALTER"):
			at, key = d.behindExistence(i+1), true
		}
		if !d.isName(at) {
			continue
		}
		c := Constraint{
			Span: d.span(at, at+1), Name: unquote(d.raw(at)), Index: d.is(at+1, "("), Key: key, Any: d.isWord(i, "CONSTRAINT") && d.isWord(i-1, "DROP"),
			There: d.isWord(i-1, "DROP", "RENAME", "ALTER"),
		}
		if d.tokens[at].kind == tokenQuoted {
			c.Quote = d.raw(at)[0]
		}
		d.ddl.Constraints = append(d.ddl.Constraints, c)
	}
	var found, want []string
	for _, c := range d.ddl.Constraints {
		if !c.Key {
			found = append(found, c.Name)
		}
	}
	for _, name := range d.names {
		as, _ := d.nameOf(ast.NewCIStr(name))
		want = append(want, as)
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		d.fail(d.refuse(d.tails.verb, "the names of its constraints are not understood", "write CONSTRAINT name before FOREIGN KEY and CHECK"))
	}
}

// foreignKeyName returns the token that names the foreign key whose word FOREIGN
// is token i, where it stands behind it: after DROP, or as the name of the index
// of a foreign key without another name. It is -1 elsewhere.
func (d *definer) foreignKeyName(i int) int {
	at := d.behindExistence(i + 2)
	switch {
	case !d.isName(at):
		return -1
	case d.isWord(i-1, "DROP"), !d.isWord(i-2, "CONSTRAINT") && d.is(at+1, "("):
		return at
	}
	return -1
}

// behindExistence returns the token behind IF EXISTS or IF NOT EXISTS, if one of
// them begins at token i, else i.
func (s *source) behindExistence(i int) int {
	switch {
	case s.isWord(i, "IF") && s.isWord(i+1, "EXISTS"):
		return i + 2
	case s.isWord(i, "IF") && s.isWord(i+1, "NOT") && s.isWord(i+2, "EXISTS"):
		return i + 3
	}
	return i
}

// cutDefinition takes out what MariaDB allows in a definition and the parser does
// not know. None of it holds a name.
func (s *source) cutDefinition() {
	i := 1
	if s.isWord(i, "OR") && s.isWord(i+1, "REPLACE") && s.isWord(0, "CREATE") && s.isWord(i+2, "TABLE", "TEMPORARY", "UNIQUE", "INDEX") {
		s.cut(i, i+2)
		i += 2
	}
	if s.isWord(0, "ALTER") && s.isWord(i, "TABLE") {
		s.cut(i+1, s.behindExistence(i+1))
	}
	for i = range s.tokens {
		if s.isWord(i, "CONSTRAINT") {
			s.cut(i+1, s.behindExistence(i+1))
		}
		if s.isWord(i, "WITH") && s.isWord(i+1, "CHECK") && s.isWord(i+2, "OPTION") { // of a view; the parser wants LOCAL or CASCADED
			s.cut(i, i+3)
		}
	}
}

// cut makes tokens [from, to) white space to the parser.
func (s *source) cut(from, to int) {
	for i := from; i < to; i++ {
		s.tokens[i].erased = true
		s.erase(s.tokens[i].start, s.tokens[i].end)
	}
}

// stored are the words of what lives in one schema and runs there by itself.
var stored = []string{"TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"}

// checkStored refuses the definition of a program that names a configured table.
func (s *source) checkStored() error {
	for i := 1; i < min(len(s.tokens), 16) && !s.isWord(i, "TABLE", "TABLES", "INDEX", "VIEW", "ON"); i++ {
		for _, word := range stored {
			if s.isWord(i, word) {
				return fault.Unsupported(word+" that names a sharded or broadcast table", "it would run in one node, and see and change the rows of that node only",
					"do its work in the application; where every node is to have one, create it in each data source, which Plugin.DataSource(name) gives")
			}
		}
	}
	return nil
}

// Defines reports whether a text whose first keyword is verb defines what all
// sessions see: servers commit then.
func Defines(text, verb string, d *dialect.Dialect) bool {
	switch verb {
	case "ALTER", "CREATE", "DROP", "RENAME", "TRUNCATE":
	default:
		return false
	}
	l := lexer{text: text, dialect: d}
	for range 4 { // CREATE OR REPLACE TEMPORARY
		tok, ok, err := l.next()
		if err != nil || !ok {
			break
		}
		if equalWord(text[tok.start:tok.end], "TEMPORARY") {
			return false
		}
	}
	return true
}

// DefinesProgram reports whether a text whose first keyword is verb may define a
// stored program, in whose body semicolons stand between statements.
func DefinesProgram(text, verb string, d *dialect.Dialect) bool {
	if verb != "CREATE" && verb != "ALTER" {
		return false
	}
	l := lexer{text: text, dialect: d}
	for {
		tok, ok, err := l.next()
		raw := text[tok.start:tok.end]
		switch {
		case err != nil || !ok, raw == "(", equalWord(raw, "TABLE"), equalWord(raw, "VIEW"), equalWord(raw, "INDEX"), equalWord(raw, "DATABASE"), equalWord(raw, "SCHEMA"), equalWord(raw, "USER"):
			return false
		case slices.ContainsFunc(stored, func(word string) bool { return equalWord(raw, word) }):
			return true
		}
	}
}
