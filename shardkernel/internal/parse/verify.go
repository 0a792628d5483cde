package parse

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Verify proves a splice of names: parsing spliced must give the tree of the
// statement in which exactly the names in Renames, and nothing else, have become
// what want says, each at a place where a table is named; comments and hints
// must be the same but for the names in them. want returns the schema, empty
// when the qualifier was removed, and the name of a table, given its index in
// Statement.Tables; the schema matters only to qualified names. Verify is for
// tests: it costs several parses and reflects over both trees.
func Verify(stmt *Statement, spliced string, want func(table int) (schema, name string), d *dialect.Dialect) error {
	// marked is the original with every rename as a name of its own.
	prefix := "v"
	for strings.Contains(strings.ToLower(stmt.Text), prefix) || strings.Contains(strings.ToLower(spliced), prefix) {
		prefix += "q"
	}
	var marked, expected strings.Builder
	at := 0
	for i, r := range stmt.Renames {
		start := r.Start
		schema, name := want(r.Table)
		if r.Schema.End > r.Schema.Start {
			start = r.Schema.Start
		}
		if start < at {
			return fmt.Errorf("rename %d overlaps the one before", i)
		}
		marked.WriteString(stmt.Text[at:start])
		expected.WriteString(stmt.Text[at:start])
		if r.Schema.End > r.Schema.Start && schema != "" {
			marked.WriteString("`" + schema + "`.")
			expected.WriteString("`" + schema + "`.")
		}
		marked.WriteString("`" + prefix + strconv.Itoa(i) + "`")
		expected.WriteString("`" + name + "`")
		at = r.End
	}
	marked.WriteString(stmt.Text[at:])
	expected.WriteString(stmt.Text[at:])

	left, err := trees(marked.String(), d)
	if err != nil {
		return fmt.Errorf("the original with marked names does not parse: %w", err)
	}
	right, err := trees(spliced, d)
	if err != nil {
		return fmt.Errorf("the spliced text does not parse: %w", err)
	}
	dl := dumper{prefix: prefix, name: func(k int) string { _, name := want(stmt.Renames[k].Table); return name }}
	for _, n := range left {
		dl.dump(reflect.ValueOf(n), "")
	}
	if dl.err != nil {
		return dl.err
	}
	var dr dumper
	for _, n := range right {
		dr.dump(reflect.ValueOf(n), "")
	}
	if l, r := dl.out.String(), dr.out.String(); l != r {
		return fmt.Errorf("the spliced text parses to another tree: %s", firstDifference(l, r))
	}
	if l, r := blanks(expected.String(), d), blanks(spliced, d); l != r {
		return fmt.Errorf("a comment or hint changed: %s", firstDifference(l, r))
	}
	return nil
}

// noNames knows no name, so that nothing becomes a sentinel.
type noNames struct{}

func (noNames) IsTable(string) bool { return false }

// trees parses a text in the form the parser gets it.
func trees(text string, d *dialect.Dialect) ([]ast.StmtNode, error) {
	s, err := newSource(text, noNames{}, d)
	if err != nil {
		return nil, err
	}
	if err := s.cutTails(); err != nil {
		return nil, err
	}
	s.plant()
	return s.parse()
}

// blanks returns what stands between the tokens, and the hints with their quotes
// left out.
func blanks(text string, d *dialect.Dialect) string {
	var b strings.Builder
	l := lexer{text: text, dialect: d}
	at := 0
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			b.WriteString(strings.TrimSpace(text[at:]))
			return b.String()
		}
		b.WriteString(strings.TrimSpace(text[at:tok.start]))
		b.WriteByte('|')
		if tok.kind == tokenHint {
			b.WriteString(strings.ReplaceAll(text[tok.start:tok.end], "`", ""))
		}
		at = tok.end
	}
}

// dumper prints a tree with all its fields but positions and texts.
type dumper struct {
	out    strings.Builder
	prefix string // of the marked names, empty when there are none
	name   func(k int) string
	err    error
}

// tableFields are the fields that name a table, or a column's table.
var tableFields = map[string]bool{
	"TableName.Name": true, "ColumnName.Table": true, "WildCardField.Table": true,
}

// dump prints a value; field is the field it stands in, as Type.Field.
func (d *dumper) dump(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			d.out.WriteString("nil ")
			return
		}
		d.dump(v.Elem(), field)
	case reflect.Struct:
		t := v.Type()
		if t == reflect.TypeFor[ast.CIStr]() {
			d.dumpName(v.Field(0).String(), field)
			return
		}
		d.out.WriteString(t.Name() + "{")
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "node" || f.Name == "Offset" || f.Name == "Type" && f.Type.Kind() == reflect.Struct {
				continue
			}
			d.out.WriteString(f.Name + ":")
			d.dump(v.Field(i), t.Name()+"."+f.Name)
		}
		d.out.WriteString("} ")
	case reflect.Slice, reflect.Array:
		d.out.WriteString("[")
		for i := range v.Len() {
			d.dump(v.Index(i), field)
		}
		d.out.WriteString("] ")
	case reflect.String:
		d.dumpName(v.String(), field)
	case reflect.Bool:
		fmt.Fprintf(&d.out, "%t ", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprintf(&d.out, "%d ", v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		fmt.Fprintf(&d.out, "%d ", v.Uint())
	case reflect.Float32, reflect.Float64:
		fmt.Fprintf(&d.out, "%g ", v.Float())
	default:
		fmt.Fprintf(&d.out, "%s ", v.Kind())
	}
}

func (d *dumper) dumpName(name, field string) {
	if d.prefix != "" && strings.HasPrefix(name, d.prefix) {
		if k, err := strconv.Atoi(name[len(d.prefix):]); err == nil {
			if !tableFields[field] && d.err == nil {
				d.err = fmt.Errorf("rename %d stands at %s, where no table is named", k, field)
			}
			name = d.name(k)
		}
	}
	fmt.Fprintf(&d.out, "%q ", name)
}

func firstDifference(l, r string) string {
	i := 0
	for i < len(l) && i < len(r) && l[i] == r[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-120):min(len(s), i+80)] }
	return fmt.Sprintf("want …%s…, got …%s…", cut(l), cut(r))
}
