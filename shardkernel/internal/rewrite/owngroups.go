package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
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
	if len(r.selection.OrderBy) > 0 {
		if err := r.orderBy(); err != nil {
			return err
		}
	} else if err := r.orderByGroups(); err != nil {
		return err
	}
	if r.selection.Distinct {
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
	var order []string
	for i := range r.merge.OrderBy {
		key := &r.merge.OrderBy[i]
		name := ""
		switch c := key.Column; {
		case c.FromEnd && c.Index < 0:
			name = r.derived[-c.Index-1].alias
		case !c.FromEnd && c.Name == "":
			name = strconv.Itoa(c.Index + 1)
		}
		if name == "" || key.Text.Refuse != "" || key.Text.HasWeight && !key.Text.PadSpace {
			r.merge.OrderBy = nil
			return nil
		}
		if key.Desc {
			name += " DESC"
		}
		order = append(order, name)
	}
	if slices.ContainsFunc(r.selection.GroupBy, func(by parse.ByItem) bool {
		known := r.spellingOf(&by).known
		return !by.Constant && (known == nil || known.SortRefused != "" || known.WeightLimit > 0 || known.Class == value.ClassBit)
	}) {
		r.merge.OrderBy = nil
		return nil
	}
	r.insert(r.selection.TailStart, " ORDER BY "+strings.Join(order, ", "))
	return nil
}
