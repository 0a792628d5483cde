package merge

import (
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const clauseOrderBy = "ORDER BY"

// sortKeys are the items of an ORDER BY.
type sortKeys []sortKey

type sortKey struct {
	operand *operand
	desc    bool
}

func newSortKeys(head *header, items []plan.SortKey) (sortKeys, error) {
	keys := make(sortKeys, len(items))
	for i, item := range items {
		o, err := newOperand(head, item.Column, item.Text, clauseOrderBy)
		if err != nil {
			return nil, err
		}
		if o.kind == kindEnum {
			return nil, fault.Unsupported(clauseOrderBy,
				fmt.Sprintf("the server sorts the %s column %q by the place of the value in its definition, which the text does not tell", head.columns[o.index].typeName, o.name),
				"order by the column + 0")
		}
		o.sorts = true
		keys[i] = sortKey{operand: o, desc: item.Desc}
	}
	return keys, nil
}

func (keys sortKeys) load(cells []cell, row []driver.Value) error {
	for i := range keys {
		if err := keys[i].operand.load(&cells[i], row); err != nil {
			return err
		}
	}
	return nil
}

// compare orders two rows. NULL is the least value, so that descending order
// puts it last (semantics row 4).
func (keys sortKeys) compare(a, b []cell) int {
	for i := range keys {
		c := keys[i].operand.compare(&a[i], &b[i])
		if c == 0 {
			continue
		}
		if keys[i].desc {
			return -c
		}
		return c
	}
	return 0
}

// ordered merges cursors that are each in the order of the keys. It holds the
// current row of every cursor in a binary heap.
type ordered struct {
	inputs  *inputs
	keys    sortKeys
	heads   []*head // the heap; the least row first
	started bool
}

// head is the current row of one cursor.
type head struct {
	cursor   int
	row      []driver.Value
	cells    []cell
	previous []cell // the keys of the row before
}

func newOrdered(recipe *plan.Merge, h *header, in *inputs) (*ordered, error) {
	keys, err := newSortKeys(h, recipe.OrderBy)
	if err != nil {
		return nil, err
	}
	o := &ordered{inputs: in, keys: keys}
	cursors := len(in.cursors)
	heads := make([]head, cursors)
	values := make([]driver.Value, cursors*len(h.columns))
	cells := make([]cell, 2*cursors*len(keys))
	o.heads = make([]*head, cursors)
	for i := range heads {
		heads[i] = head{cursor: i}
		heads[i].row, values = cut(values, len(h.columns))
		heads[i].cells, cells = cut(cells, len(keys))
		heads[i].previous, cells = cut(cells, len(keys))
		o.heads[i] = &heads[i]
	}
	return o, nil
}

func cut[T any](s []T, n int) (first, rest []T) { return s[:n:n], s[n:] }

// next moves on the cursor whose row was given last only now, because until now
// the caller may have looked at its bytes.
func (o *ordered) next(dest []driver.Value) error {
	if !o.started {
		if err := o.start(); err != nil {
			return err
		}
		o.started = true
	} else if err := o.advance(); err != nil {
		return err
	}
	if len(o.heads) == 0 {
		return io.EOF
	}
	copy(dest, o.heads[0].row)
	return nil
}

func (o *ordered) start() error {
	filled := o.heads[:0]
	for _, h := range o.heads {
		err := o.inputs.next(h.cursor, h.row)
		if isEnd(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := o.keys.load(h.cells, h.row); err != nil {
			return err
		}
		filled = append(filled, h)
	}
	o.heads = filled
	for i := len(o.heads)/2 - 1; i >= 0; i-- {
		o.sink(i)
	}
	return nil
}

// advance replaces the least row by the next one of its cursor.
func (o *ordered) advance() error {
	if len(o.heads) == 0 {
		return nil
	}
	h := o.heads[0]
	err := o.inputs.next(h.cursor, h.row)
	switch {
	case isEnd(err):
		last := len(o.heads) - 1
		o.heads[0] = o.heads[last]
		o.heads = o.heads[:last]
	case err != nil:
		return err
	default:
		h.cells, h.previous = h.previous, h.cells
		if err := o.keys.load(h.cells, h.row); err != nil {
			return err
		}
		// A node that orders by another rule than this package would make the
		// merged order wrong without a trace: a type whose text does not tell
		// its order, a clock change that makes two times look alike, a text
		// longer than the server's max_sort_length.
		if o.keys.compare(h.previous, h.cells) > 0 {
			return o.disorder(h)
		}
	}
	o.sink(0)
	return nil
}

func (o *ordered) disorder(h *head) error {
	name := ""
	for i := range o.keys {
		if o.keys[i].operand.compare(&h.previous[i], &h.cells[i]) != 0 {
			name = o.keys[i].operand.name
			break
		}
	}
	return fault.Unsupported(clauseOrderBy,
		fmt.Sprintf("the rows of unit %d come in an order of column %q that the returned values do not show, so the units cannot be merged", h.cursor+1, name),
		"order by an expression whose value shows its order, such as UNIX_TIMESTAMP(column), HEX(column) or column + 0")
}

// less puts equal rows in the order of their cursors.
func (o *ordered) less(a, b *head) bool {
	c := o.keys.compare(a.cells, b.cells)
	return c < 0 || c == 0 && a.cursor < b.cursor
}

// sink restores the heap below i.
func (o *ordered) sink(i int) {
	n := len(o.heads)
	for {
		least := i
		if l := 2*i + 1; l < n && o.less(o.heads[l], o.heads[least]) {
			least = l
		}
		if r := 2*i + 2; r < n && o.less(o.heads[r], o.heads[least]) {
			least = r
		}
		if least == i {
			return
		}
		o.heads[i], o.heads[least] = o.heads[least], o.heads[i]
		i = least
	}
}
