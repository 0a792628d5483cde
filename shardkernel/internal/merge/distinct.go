package merge

import (
	"database/sql/driver"
	"fmt"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

const clauseDistinct = "DISTINCT"

// distinct gives every row of a stream once, the first one of those that are
// equal. Where equal rows follow one another it holds the keys of one row, else
// those of every row it gave.
type distinct struct {
	rows   stream
	keys   keySet
	memory *account
	sorted bool
	row    []driver.Value // the whole row, derived columns included
	last   []byte         // the key of the row given last
	given  bool
	seen   map[string]struct{}
}

func newDistinct(recipe *plan.Distinct, h *header, rows stream, memory *account) (*distinct, error) {
	if recipe.Columns != len(h.names) {
		return nil, &SchemaDriftError{Detail: fmt.Sprintf("%d columns instead of the %d that are known", len(h.names), recipe.Columns)}
	}
	keys, err := newKeySet(h, recipe.Keys, clauseDistinct)
	return &distinct{
		rows: rows, keys: keys, memory: memory, sorted: recipe.Sorted,
		row: make([]driver.Value, len(h.columns)), seen: map[string]struct{}{},
	}, err
}

func (d *distinct) next(dest []driver.Value) error {
	for {
		if err := d.rows.next(d.row); err != nil {
			return err
		}
		key, err := d.keys.of(d.row)
		if err != nil {
			return err
		}
		known := d.given && string(key) == string(d.last)
		if !d.sorted {
			_, known = d.seen[string(key)]
		}
		if known {
			continue
		}
		if d.sorted {
			d.last, d.given = append(d.last[:0], key...), true
		} else if err := remember(d.seen, key, d.memory); err != nil {
			return err
		}
		copy(dest, d.row)
		return nil
	}
}

// remember puts a key into a set that the account pays for.
func remember(seen map[string]struct{}, key []byte, memory *account) error {
	if err := memory.hold(1, int64(len(key))+keyOverhead); err != nil {
		return err
	}
	seen[string(key)] = struct{}{}
	return nil
}

// keyOverhead is the estimated size, in bytes, of an entry in a set beside the
// key itself.
const keyOverhead = 48

// keySet makes one key of some columns of a row. Its zero value has no columns.
type keySet struct {
	operands []*operand
	cells    []cell
	key      []byte
}

func newKeySet(h *header, keys []plan.GroupKey, clause string) (keySet, error) {
	s := keySet{cells: make([]cell, len(keys))}
	for _, item := range keys {
		o, err := newOperand(h, item.Column, item.Text, clause)
		if err != nil {
			return keySet{}, err
		}
		s.operands = append(s.operands, o)
	}
	return s, nil
}

// of returns the key of a row, valid until the next call.
func (s *keySet) of(row []driver.Value) ([]byte, error) {
	s.key = s.key[:0]
	for i, o := range s.operands {
		if err := o.load(&s.cells[i], row); err != nil {
			return nil, err
		}
		s.key = o.appendKey(s.key, &s.cells[i])
	}
	return s.key, nil
}
