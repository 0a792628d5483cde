package rewrite

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// groupColumns returns the columns that GROUP BY names, outside of expressions.
func (r *recipe) groupColumns() []parse.Column {
	var columns []parse.Column
	for i := range r.selection.GroupBy {
		by := &r.selection.GroupBy[i]
		column := by.Column
		if by.ByAlias {
			column = nil // unless it is the alias that is meant
			if owned, known := r.owns(by.Column.Name); known && !owned {
				column = r.selection.Items[by.Item].Column
			}
		} else if by.Item >= 0 {
			column = r.selection.Items[by.Item].Column
		}
		if column != nil {
			columns = append(columns, *column)
		}
	}
	return columns
}

// ownGroups writes the recipe of a block each group of which has all its rows on
// one node, since it is grouped by the sharding columns: the nodes answer for
// themselves whatever they are asked of their groups, HAVING and LIMIT included,
// and only the order is made of all of them.
func (r *recipe) ownGroups() error {
	r.own = true
	switch {
	case len(r.selection.OrderBy) > 0:
		if err := r.orderBy(); err != nil {
			return err
		}
	case r.selection.Distinct: // a group key that is not selected would count for DISTINCT
	default:
		if err := r.orderByGroups(); err != nil {
			return err
		}
	}
	if r.selection.Distinct && (r.padded() || !r.separates(r.selectedColumns())) {
		if err := r.distinctGroups(); err != nil {
			return err
		}
		r.unlimited = r.padded()
	}
	r.merge.Aggregates, r.merge.GroupBy = nil, nil
	if len(r.merge.OrderBy) > 0 {
		r.merge.Kind = plan.MergeOrdered
	}
	return r.finish()
}

// selectedColumns returns the columns among the select items.
func (r *recipe) selectedColumns() []parse.Column {
	var columns []parse.Column
	for i := range r.selection.Items {
		if c := r.selection.Items[i].Column; c != nil {
			columns = append(columns, *c)
		}
	}
	return columns
}

// calculatesWithAverages reports whether the nodes would calculate with averages
// where they may do it by another plan of execution than one database, see
// plan.Expr.Rounded.
func (r *recipe) calculatesWithAverages() bool {
	s := r.selection
	if c := (computing{recipe: r}); !c.sortsGroups() {
		return false
	}
	calculated := []parse.Span{s.Having}
	for i := range s.Items {
		if item := &s.Items[i]; item.HasAggregate && item.Aggregate == nil {
			calculated = append(calculated, item.Expr)
		}
	}
	for i := range s.OrderBy {
		if by := &s.OrderBy[i]; by.HasAggregate && by.Aggregate == nil {
			calculated = append(calculated, by.Span)
		}
	}
	return slices.ContainsFunc(calculated, func(span parse.Span) bool { return strings.Contains(strings.ToLower(r.text(span)), "avg") })
}

// orderByGroups lets the nodes sort by the group keys, in whose order MariaDB
// gives groups without being asked, if the keys show their order for certain.
func (r *recipe) orderByGroups() error {
	if err := r.groupBy(); err != nil {
		return err
	}
	if text, ok := r.groupOrder(); ok && r.keysSortSurely() {
		r.insert(r.selection.TailStart, text)
	} else {
		r.merge.OrderBy = nil
	}
	return nil
}

func (r *recipe) keysSortSurely() bool {
	n := 0
	for i := range r.selection.GroupBy {
		by := r.reveal(&r.selection.GroupBy[i])
		switch {
		case by.Constant:
			continue
		case by.ByAlias: // unless a column is meant
			if owned, known := r.owns(by.Column.Name); owned || !known {
				return false
			}
		}
		if !r.sortsSurely(by, r.merge.OrderBy[n].Text) {
			return false
		}
		n++
	}
	return n > 0
}
