package rewrite

import (
	"maps"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// columns returns the columns of an inquiry's result that hold names as the data
// sources have them.
func (i *inquiry) columns(answer *route.Answer) []plan.NameColumn {
	n := newNames(answer)
	var columns []plan.NameColumn
	add := func(ref plan.ColumnRef, logical func(string) string) {
		columns = append(columns, plan.NameColumn{Column: ref, Logical: logical})
	}
	byLabel := func(label string, logical func(string) string) { add(plan.ColumnRef{Name: label}, logical) }
	switch i.q.Kind {
	case parse.InquiryTable:
		if len(n.tables) > 0 && i.q.Index {
			byLabel("Table", n.table)
			byLabel("Key_name", n.constraint)
		}
	case parse.InquiryStatus:
		if len(n.tables) > 0 {
			byLabel("Name", n.table)
		}
	case parse.InquiryCreate:
		if len(n.tables) > 0 {
			byLabel("Table", n.table)
			byLabel("View", n.table)
			byLabel("Create Table", func(text string) string { return n.definition(text, i.dialect) })
		}
	case parse.InquiryMaintain:
		if n.changed() {
			byLabel("Table", n.qualified)
			byLabel("Msg_text", n.words)
		}
	case parse.InquiryCatalog:
		if !n.changed() {
			break
		}
		c := i.q.Select
		for _, item := range c.Items {
			if logical := n.byRole(item.Role); logical != nil {
				add(plan.ColumnRef{Index: item.Index}, logical)
			}
		}
		if c.Star {
			roles := parse.CatalogColumns(c.Table)
			for _, label := range slices.Sorted(maps.Keys(roles)) {
				if logical := n.byRole(roles[label]); logical != nil {
					byLabel(label, logical)
				}
			}
		}
	}
	return columns
}

// names turns names of data sources into those of the logical schema.
type names struct {
	schemas map[string]string // those that are called otherwise
	tables  map[string]string // those that are asked about and called otherwise
	nodes   map[string]string // all of the data sources asked

	constraints map[string]string // those that are called otherwise
}

func newNames(answer *route.Answer) *names {
	n := &names{schemas: map[string]string{}, tables: map[string]string{}, nodes: map[string]string{}, constraints: map[string]string{}}
	for i := range answer.Asking {
		v := &answer.Asking[i].View
		if v.Schema.Actual != v.Schema.Logical {
			n.schemas[v.Schema.Actual] = v.Schema.Logical
		}
		for _, t := range v.Tables {
			if t.Actual != t.Logical {
				n.tables[t.Actual] = t.Logical
			}
		}
		for _, t := range v.Nodes {
			n.nodes[t.Actual] = t.Logical
		}
		for _, c := range v.Constraints {
			n.constraints[c.Actual] = c.Logical
		}
	}
	return n
}

// changed reports whether any name is another in the logical schema.
func (n *names) changed() bool { return len(n.schemas) > 0 || len(n.tables) > 0 || len(n.nodes) > 0 }

// byRole returns what turns the names of a role, nil when they are the same.
func (n *names) byRole(role parse.CatalogRole) func(string) string {
	switch {
	case role == parse.CatalogSchema && len(n.schemas) > 0, role == parse.CatalogReferencedOwner && len(n.schemas) > 0:
		return n.schema
	case role == parse.CatalogTable && len(n.tables) > 0:
		return n.table
	case role == parse.CatalogReferenced && len(n.nodes) > 0:
		return n.node
	case role == parse.CatalogConstraint && len(n.constraints) > 0:
		return n.constraint
	}
	return nil
}

func (n *names) schema(s string) string { return orSame(n.schemas, s) }
func (n *names) table(s string) string  { return orSame(n.tables, s) }
func (n *names) node(s string) string   { return orSame(n.nodes, s) }

func orSame(m map[string]string, s string) string {
	if logical, ok := m[s]; ok {
		return logical
	}
	return s
}

func (n *names) constraint(s string) string { return orSame(n.constraints, s) }

// qualified turns schema.table.
func (n *names) qualified(s string) string {
	schema, table, ok := strings.Cut(s, ".")
	if !ok {
		return n.table(s)
	}
	return n.schema(schema) + "." + n.table(table)
}

// definition turns what SHOW CREATE TABLE shows.
func (n *names) definition(text string, d *dialect.Dialect) string {
	var b strings.Builder
	at := 0
	for _, name := range parse.DefinitionNames(text, d) {
		logical := n.byRole(name.Role)
		if logical == nil {
			continue
		}
		b.WriteString(text[at:name.Start])
		b.WriteString(quote(logical(name.Name), '`'))
		at = name.End
	}
	return b.String() + text[at:]
}

// words turns the words of a text that are names of tables, and of schemas before
// a dot.
func (n *names) words(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		if end == i {
			b.WriteByte(text[i])
			i++
			continue
		}
		word := text[i:end]
		logical := orSame(n.nodes, n.table(word))
		if logical == word && end < len(text) && text[end] == '.' {
			logical = n.schema(word)
		}
		b.WriteString(logical)
		i = end
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
