package merge

import (
	"database/sql/driver"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// named replaces the names that data sources have for tables by those that the
// caller knows.
type named struct {
	rows    stream
	logical []func(string) string // by column; nil for those that hold no names
}

// newNamed resolves the columns. A name stands for every column that has it, and
// a result without it has nothing to replace.
func newNamed(columns []plan.NameColumn, head *header, rows stream) (stream, error) {
	n := &named{rows: rows, logical: make([]func(string) string, len(head.columns))}
	for _, c := range columns {
		if c.Column.Name == "" {
			i, err := head.resolve(c.Column, "a column of names")
			if err != nil {
				return nil, err
			}
			n.logical[i] = c.Logical
			continue
		}
		for i, name := range head.names {
			if strings.EqualFold(name, c.Column.Name) {
				n.logical[i] = c.Logical
			}
		}
	}
	return n, nil
}

func (n *named) next(dest []driver.Value) error {
	if err := n.rows.next(dest); err != nil {
		return err
	}
	for i := range dest {
		if n.logical[i] == nil {
			continue
		}
		switch v := dest[i].(type) {
		case []byte:
			if v != nil {
				dest[i] = []byte(n.logical[i](string(v)))
			}
		case string:
			dest[i] = n.logical[i](v)
		}
	}
	return nil
}
