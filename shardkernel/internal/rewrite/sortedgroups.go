package rewrite

import (
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// sortGroups lets the nodes give their groups in the order of the group keys,
// where the caller's order begins with these or there is none: then the merge
// holds one group at a time, and each node need not give more groups than LIMIT
// does (semantics row 22). MariaDB sorts by the group keys in any case; of another
// server it costs a sort of groups, which the merge would otherwise have to do for
// all nodes together.
func (r *recipe) sortGroups() {
	if len(r.merge.GroupBy) == 0 || len(r.refined) > 0 || r.merge.Distinct != nil || r.selection.Rollup {
		return
	}
	var sorted int
	by := r.selection.OrderBy
	if len(by) > 0 {
		sorted = r.coveredBy(by)
	} else {
		by = r.selection.GroupBy
		sorted = r.coveredBy(by)
		if sorted > 0 {
			text, ok := r.groupOrder()
			if !ok {
				return
			}
			r.insert(r.selection.TailStart, text)
		}
	}
	r.merge.Sorted = sorted
}

// coveredBy returns how many of the items behind one another are group keys until
// all of them are covered: items of ORDER BY or, without one, of GROUP BY, in the
// order of the recipe's sort keys. 0 is for an order that does not tell the groups
// apart, or cannot be relied on.
func (r *recipe) coveredBy(items []parse.ByItem) int {
	var left []parse.ByItem
	for i := range r.selection.GroupBy {
		by := r.reveal(&r.selection.GroupBy[i])
		if by.Constant {
			continue
		}
		if by.ByAlias {
			if owned, known := r.owns(by.Column.Name); owned || !known {
				return 0 // ORDER BY means the alias by the name, GROUP BY the column
			}
		}
		left = append(left, *by)
	}
	n := 0
	for i := range items {
		by := r.reveal(&items[i])
		if by.Constant {
			continue
		}
		if !r.sortsSurely(by, r.merge.OrderBy[n].Text) {
			return 0
		}
		n++
		found := false
		for k := 0; k < len(left); k++ {
			if r.sameKey(&left[k], by) {
				left = append(left[:k], left[k+1:]...)
				k--
				found = true
			}
		}
		switch {
		case len(left) == 0:
			return n
		case !found:
			return 0
		}
	}
	return 0
}

// sameKey reports whether an item of GROUP BY and one of ORDER BY are surely the
// same expression.
func (r *recipe) sameKey(group, order *parse.ByItem) bool {
	switch {
	case group.Item >= 0 || order.Item >= 0:
		return group.Item == order.Item
	case group.Column != nil && order.Column != nil:
		return *group.Column == *order.Column
	}
	return r.text(group.Span) == r.text(order.Span) && markersIn(r.template.stmt, group.Span) == 0 && group.Column == nil
}

// sortsSurely reports whether the nodes sort by a key as it compares, so that
// equal keys follow one another.
func (r *recipe) sortsSurely(by *parse.ByItem, text plan.TextOrder) bool {
	s := r.spellingOf(by)
	if s.known == nil || s.known.Flexible || s.known.WeightLimit > 0 || s.known.SortRefused != "" || text.Refuse != "" {
		return false
	}
	switch s.known.Class {
	case value.ClassInteger, value.ClassDecimal, value.ClassFloat, value.ClassDate, value.ClassDateTime, value.ClassTimestamp,
		value.ClassTime, value.ClassYear, value.ClassEnum, value.ClassSet, value.ClassBinary:
		return true
	case value.ClassText:
		// U+0000 at the end of a text that is not padded has no place that is sure.
		return text.HasWeight && text.PadSpace
	}
	return false
}

// groupOrder writes the order of the group keys for the nodes, by the positions
// and aliases of their columns; ok is false where one has neither.
func (r *recipe) groupOrder() (text string, ok bool) {
	order := make([]string, len(r.merge.OrderBy))
	for i, key := range r.merge.OrderBy {
		c := key.Column
		switch {
		case c.Name != "":
			return "", false
		case !c.FromEnd:
			order[i] = strconv.Itoa(c.Index + 1)
		case c.Index < 0:
			order[i] = r.derived[-c.Index-1].alias
		default:
			return "", false
		}
		if key.Desc {
			order[i] += " DESC"
		}
	}
	return " ORDER BY " + strings.Join(order, ", "), true
}
