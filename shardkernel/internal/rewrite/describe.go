package rewrite

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// descriptionKey is an expression of a statement with the types of the
// arguments that may change its own.
type descriptionKey struct{ text, kinds string }

// description is what a server said of an expression while its tables had these
// columns: it counts no longer when a table's have been read anew.
type description struct {
	tables []*value.Table
	column *value.Column
}

// describe returns what a server says of an expression that stands in the
// outermost block, followed by a suffix, as if it were a column. Where there is no
// answer the column is nil; why, if not empty, is what the server says instead. It
// is empty where nobody can be asked, and where the nodes will say what is wrong.
//
// A server decides the type and the collation of an expression before it reads a
// row, so that an outer join without a match shows them at no cost.
func (r *recipe) describe(s parse.Span, suffix string) (column *value.Column, why string) {
	t := r.template
	from, ok := r.describedFrom()
	if !ok {
		return nil, ""
	}
	tables := make([]*value.Table, len(t.stmt.Tables))
	for i := range tables {
		if tables[i] = r.tableOf(i); tables[i] == nil {
			return nil, ""
		}
	}
	with := parse.Span{End: r.selection.Start}
	key := descriptionKey{text: r.text(s) + suffix, kinds: r.kindsIn(with) + r.kindsIn(s) + r.kindsIn(from)}
	if known, ok := t.descriptions.Load(key); ok {
		if d := known.(*description); sameTables(d.tables, tables) {
			return d.column, ""
		}
	}
	var args []any
	splice := func(s parse.Span) string {
		text, more := spliceRange(t.stmt, s, t.renames(&r.units[0], s), r.args)
		args = append(args, more...)
		return text
	}
	before := splice(with)
	expression := splice(s) + suffix
	once := args[markersIn(t.stmt, with):]
	args = append(args, once...)
	args = append(args, once[:len(once):len(once)]...)
	query := before + "SELECT COLLATION(" + expression + "), COERCIBILITY(" + expression + "), " + expression +
		" FROM (SELECT 1) AS DESCRIBED_0 LEFT JOIN (" + splice(from) + ") ON FALSE"
	if column, why = r.ask(r.units[0].DataSource, query, args); column == nil {
		return nil, why
	}
	named := *column
	named.Name = strings.ToLower(r.text(s) + suffix)
	t.descriptions.Store(key, &description{tables, &named})
	return &named, ""
}

// describedFrom returns what stands behind FROM, if an expression over it can be
// described.
func (r *recipe) describedFrom() (from parse.Span, ok bool) {
	s := r.selection
	if r.ask == nil || len(r.units) == 0 || s.From == (parse.Span{}) || !r.template.server.Dialect.IsMySQL() {
		return from, false
	}
	before := strings.ToUpper(strings.TrimLeft(r.template.stmt.Text[:s.Start], " \t\r\n"))
	return s.From, before == "" || strings.HasPrefix(before, "WITH")
}

func sameTables(a, b []*value.Table) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// kindsIn names the types of the arguments in a part of the statement, and of
// texts whether they are ASCII: a server may choose a collation by that.
func (r *recipe) kindsIn(s parse.Span) string {
	if markersIn(r.template.stmt, s) == 0 {
		return ""
	}
	_, args := spliceRange(r.template.stmt, s, nil, r.args)
	var kinds strings.Builder
	for _, arg := range args {
		fmt.Fprintf(&kinds, "%T", arg)
		if text, ok := arg.(string); ok && strings.IndexFunc(text, func(c rune) bool { return c >= 0x80 }) >= 0 {
			kinds.WriteString("+")
		}
		kinds.WriteString(",")
	}
	return kinds.String()
}
