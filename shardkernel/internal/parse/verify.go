package parse

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Edits are the changes beside names that a spliced text may have.
type Edits struct {
	Lists   bool  // IN lists may have lost elements
	Rows    []int // the rows of VALUES that are left; nil for all
	Key     bool  // a column and a value for each row, or the values alone, were added
	Derived int   // columns added to the select list
	Limit   bool  // LIMIT was changed
	Order   bool  // ORDER BY was added
	Having  bool  // HAVING was removed
	Groups  bool  // items were added at the end of GROUP BY and ORDER BY, or these clauses, or ORDER BY was removed
	Aliases bool  // aliases were added that keep labels
	// Bound tells, for each marker of the spliced text, which marker's argument
	// it has, -1 for a value of its own. Nil means that all have theirs.
	Bound []int
}

// none reports whether nothing but names may differ.
func (e *Edits) none() bool {
	return !e.Lists && e.Rows == nil && !e.Key && e.Derived == 0 && !e.Limit && !e.Order && !e.Having && !e.Groups && !e.Aliases
}

// Verify proves a splice: parsing spliced must give the tree of the statement in
// which exactly the names in Renames have become what want says, each at a place
// where a table is named, every marker has its own argument, and nothing else
// but edits has changed; without edits, comments and hints must be the same but
// for the names in them. want returns the schema, empty when the qualifier was
// removed, and the name of a table, given its index in Statement.Tables; the
// schema matters only to qualified names. Verify is for tests: it costs several
// parses and reflects over both trees.
func Verify(stmt *Statement, spliced string, want func(table int) (schema, name string), edits Edits, d *dialect.Dialect) error {
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
		if r.Alias {
			name = unquote(stmt.Text[r.Start:r.End])
		}
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

	c := comparer{prefix: prefix, edits: &edits}
	c.names = func(k int) (name, logical string) {
		r := &stmt.Renames[k]
		if r.Alias {
			name = unquote(stmt.Text[r.Start:r.End])
			return name, name
		}
		_, name = want(r.Table)
		return name, stmt.Tables[r.Table].Name
	}
	left, markers, err := trees(marked.String(), d)
	if err != nil {
		return fmt.Errorf("the original with marked names does not parse: %w", err)
	}
	c.left = markers
	right, markers, err := trees(spliced, d)
	if err != nil {
		return fmt.Errorf("the spliced text does not parse: %w", err)
	}
	c.right = markers
	if edits.Bound != nil && len(edits.Bound) != len(markers) {
		return fmt.Errorf("%d arguments for %d markers", len(edits.Bound), len(markers))
	}
	if len(left) != len(right) {
		return fmt.Errorf("%d statements became %d", len(left), len(right))
	}
	for i := range left {
		if err := c.same(reflect.ValueOf(left[i]), reflect.ValueOf(right[i]), ""); err != nil {
			return fmt.Errorf("the spliced text parses to another tree: %w", err)
		}
	}
	if !edits.none() {
		return nil
	}
	if l, r := blanks(expected.String(), d), blanks(spliced, d); l != r {
		return fmt.Errorf("a comment or hint changed: %s", firstDifference(l, r))
	}
	return nil
}

// noNames knows no name, so that nothing becomes a sentinel.
type noNames struct{}

func (noNames) IsTable(string) bool { return false }

// trees parses a text in the form the parser gets it, and returns the offsets of
// its markers as well.
func trees(text string, d *dialect.Dialect) (nodes []ast.StmtNode, markers []int, err error) {
	s, err := newSource(text, noNames{}, d)
	if err != nil {
		return nil, nil, err
	}
	if err := s.cutTails(); err != nil {
		return nil, nil, err
	}
	s.plant()
	for i := range s.tokens {
		if s.tokens[i].kind == tokenMarker {
			markers = append(markers, s.tokens[i].start)
		}
	}
	nodes, err = s.parse()
	return nodes, markers, err
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

func firstDifference(l, r string) string {
	i := 0
	for i < len(l) && i < len(r) && l[i] == r[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-120):min(len(s), i+80)] }
	return fmt.Sprintf("want …%s…, got …%s…", cut(l), cut(r))
}
