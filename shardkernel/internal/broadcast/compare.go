// Package broadcast compares the rows of a broadcast table in all data sources.
// The servers compute checksums; rows travel only where these differ.
package broadcast

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Source is a data source that has the table.
type Source struct {
	Name string
	DB   *sql.DB // one connection at a time is used
}

// rounds is how often a table is summed up whose sums differ while its rows do
// not, since somebody writes to it.
const rounds = 3

// Compare compares the rows of t in the sources, which are those of its copies
// that exist, and stores what it finds in t. columns are the table's; those of
// the primary key are named in t.Key. At most most differences are listed. A
// statement for each source runs at the same time; memory holds 4,096 sums of
// each, and the differences. The first error ends all.
func Compare(ctx context.Context, t *Table, columns []value.Column, sources []Source, most int) error {
	d := &digest{table: t.Name}
	for i := range columns {
		key := slices.Contains(t.Key, columns[i].Name)
		if key || !columns[i].Generated { // a generated one follows from the others
			d.columns = append(d.columns, columns[i])
		}
	}
	for _, name := range t.Key { // their order is not that of the columns
		for i := range columns {
			if columns[i].Name == name {
				d.key = append(d.key, columns[i])
			}
		}
	}
	c := &comparison{digest: d, table: t, sources: sources, most: most}
	for range rounds {
		chunks, err := c.differing(ctx)
		if err != nil {
			return err
		}
		if len(chunks) == 0 || len(d.key) == 0 {
			return nil
		}
		if err := c.list(ctx, chunks); err != nil || len(t.Differences) > 0 {
			return err
		}
	}
	t.NotCompared = "they were being written to"
	return nil
}

// comparison is one run over a table.
type comparison struct {
	*digest
	table   *Table
	sources []Source
	most    int
}

// sum is the checksum of some rows. Adding up does not depend on their order, and
// counts a row that is there twice.
type sum struct{ rows, first, second uint64 }

func (s *sum) add(other sum) {
	s.rows += other.rows
	s.first += other.first
	s.second += other.second
}

// differing sums every copy up, stores its totals, and returns the chunks that
// are not alike everywhere, in order.
func (c *comparison) differing(ctx context.Context) ([]string, error) {
	sums := make([]map[string]sum, len(c.sources))
	err := together(ctx, len(c.sources), func(ctx context.Context, i int) (err error) {
		sums[i], err = c.sumUp(ctx, c.sources[i].DB)
		return c.at(i, err)
	})
	if err != nil {
		return nil, err
	}
	chunks := map[string]bool{}
	for i, of := range sums {
		var total sum
		for name, s := range of {
			total.add(s)
			chunks[name] = chunks[name] || s != sums[0][name]
		}
		for name := range sums[0] {
			if _, ok := of[name]; !ok {
				chunks[name] = true
			}
		}
		n := slices.IndexFunc(c.table.Copies, func(copied Copy) bool { return copied.DataSource == c.sources[i].Name })
		c.table.Copies[n].Rows, c.table.Copies[n].Checksum = total.rows, fmt.Sprintf("%016x%016x", total.first, total.second)
	}
	maps.DeleteFunc(chunks, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(chunks)), nil
}

// sumUp returns the sums of a copy's chunks.
func (c *comparison) sumUp(ctx context.Context, db *sql.DB) (map[string]sum, error) {
	rows, err := db.QueryContext(ctx, c.sums())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sums := map[string]sum{}
	for rows.Next() {
		var name string
		var s sum
		var hashed uint64
		var first, second sql.NullString // no digits where no row has a hash
		if err := rows.Scan(&name, &s.rows, &hashed, &first, &second); err != nil {
			return nil, err
		}
		if hashed != s.rows {
			return nil, fmt.Errorf("the server makes no SHA-256 of %d rows: it was built or started without, or max_allowed_packet is too small for 65 bytes a column", s.rows-hashed)
		}
		if s.first, err = strconv.ParseUint(first.String, 10, 64); err != nil {
			return nil, fmt.Errorf("the server's checksum: %w", err)
		}
		if s.second, err = strconv.ParseUint(second.String, 10, 64); err != nil {
			return nil, fmt.Errorf("the server's checksum: %w", err)
		}
		sums[name] = s
	}
	return sums, rows.Err()
}

// at says where an error happened.
func (c *comparison) at(i int, err error) error {
	if err == nil {
		return nil
	}
	return &fault.NodeError{DataSource: c.sources[i].Name, Table: c.table.Name, Err: err}
}

// together runs work for the numbers below n at the same time. The first error
// cancels the others' context and is returned.
func together(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := work(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
