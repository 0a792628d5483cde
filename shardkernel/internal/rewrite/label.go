package rewrite

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// labels keeps the labels of result columns as one database gives them
// (semantics row 28): an item of a select list without an alias is labelled by
// its text as typed, so that t_order.id+1 must not become t_order_3.id+1.
type labels struct {
	// references holds, for each entry of Statement.Tables, the index into
	// Statement.Renames of the name in FROM; -1 where it is not found.
	references []int
	// kept holds, for each entry of Statement.Tables, the index into
	// Statement.Renames of the reference to a table that keeps its logical name
	// as an alias, FROM t_order_3 AS t_order, so that its qualifiers stay as they
	// are; -1 for the others.
	kept []int
	// aliased are the items, of all select lists whose labels are seen, that get
	// their text as an alias, because the reference to a table is part of it.
	aliased []parse.Span
	// returned are the names in a RETURNING list that may be part of a label.
	returned []parse.Span
}

// newLabels finds out which labels a statement's renames would change.
func newLabels(stmt *parse.Statement) labels {
	l := labels{kept: make([]int, len(stmt.Tables))}
	for i := range l.kept {
		l.kept[i] = -1
	}
	l.references = references(stmt)
	keep := func(r *parse.Rename) bool {
		at := l.references[r.Table]
		if at >= 0 && keepable(stmt, r.Table) {
			l.kept[r.Table] = at
			return true
		}
		return false
	}
	for i := range stmt.Scopes {
		s := &stmt.Scopes[i]
		if s.Use == parse.UseSubquery || s.Use == parse.UseStatement && stmt.Kind != parse.KindSelect {
			continue // nobody sees its labels
		}
		for _, item := range s.Labelled {
			first, _ := slices.BinarySearchFunc(stmt.Renames, item.Start, func(r parse.Rename, at int) int { return cmp.Compare(r.Start, at) })
			for j := first; j < len(stmt.Renames) && stmt.Renames[j].End <= item.End; j++ {
				r := &stmt.Renames[j]
				if !r.Qualifier || r.Schema != (parse.Span{}) || !keep(r) {
					l.aliased = append(l.aliased, item)
					break
				}
			}
		}
	}
	l.returned = returnedNames(stmt)
	return l
}

// references returns, for each entry of Statement.Tables, the index of its
// reference in Statement.Renames, -1 for a table whose reference is not found.
func references(stmt *parse.Statement) []int {
	found := make([]int, len(stmt.Tables))
	for i := range found {
		found[i] = -1
	}
	for i := range stmt.Renames {
		// What follows the reference without being a qualifier stands in FOR UPDATE
		// OF; optimizer hints come before it.
		if r := &stmt.Renames[i]; found[r.Table] < 0 && !r.Qualifier && !inHint(stmt, r) {
			found[r.Table] = i
		}
	}
	return found
}

// keepable reports whether a table can be given an alias. Behind PARTITION (…) it
// would have another place.
func keepable(stmt *parse.Statement, table int) bool {
	t := &stmt.Tables[table]
	return !t.Target && t.Alias == "" && stmt.Features&parse.FeaturePartition == 0
}

func inHint(stmt *parse.Statement, r *parse.Rename) bool {
	before := stmt.Text[:r.Start]
	return strings.LastIndex(before, "/*+") > strings.LastIndex(before, "*/")
}

var (
	listBefore = regexp.MustCompile(`(?i)(?:RETURNING|,)\s*$`)
	columnRest = regexp.MustCompile("(?i)^\\s*\\.\\s*(?:\\*|[\\w$]+|`[^`]+`)\\s*(?:$|,|;|AS\\s)")
)

// returnedNames returns the renamed names of a RETURNING list, but for the
// qualifiers of columns that stand alone, whose label is the column's name.
func returnedNames(stmt *parse.Statement) []parse.Span {
	returning := stmt.Insert != nil && stmt.Insert.Returning || stmt.Update != nil && stmt.Update.Returning ||
		stmt.Delete != nil && stmt.Delete.Returning
	if !returning {
		return nil
	}
	from := strings.Index(strings.ToUpper(stmt.Text), "RETURNING")
	var found []parse.Span
	for i := range stmt.Renames {
		r := &stmt.Renames[i]
		if r.Start < from {
			continue
		}
		start := r.Start
		if r.Schema != (parse.Span{}) {
			start = r.Schema.Start
		}
		before := stmt.Text[from:start]
		alone := strings.Count(before, "(") == strings.Count(before, ")") && listBefore.MatchString(before) && columnRest.MatchString(stmt.Text[r.End:])
		if !alone {
			found = append(found, r.Span)
		}
	}
	return found
}

// names returns the edits that put a unit's names into the whole statement and
// leave the labels of its columns what they were.
func (t *Template) names(u *route.Unit) []edit {
	edits := t.renames(u, parse.Span{End: len(t.stmt.Text)})
	for _, item := range t.labels.aliased {
		if slices.ContainsFunc(edits, func(e edit) bool { return e.Start >= item.Start && e.End <= item.End }) {
			label := strings.ReplaceAll(t.stmt.Text[item.Start:item.End], "`", "``")
			edits = append(edits, at(item.End, " AS `"+label+"`", nil))
		}
	}
	return edits
}

// checkReturning refuses a RETURNING list whose labels would change.
func (t *Template) checkReturning(result *route.Result) error {
	for _, name := range t.labels.returned {
		for i := range result.Units {
			for _, e := range t.renames(&result.Units[i], name) {
				return fault.Unsupported("RETURNING … "+t.stmt.Text[e.Start:e.End]+".…", "the label of the column would hold the name of the actual table",
					"leave the table's name out")
			}
		}
	}
	return nil
}
