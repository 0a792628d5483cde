package broadcast

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
)

// chunksAtOnce is the number of chunks whose rows one statement reads: a scan of
// the table each time, of which the 64th part travels.
const chunksAtOnce = 64

// list reads the hashes of the rows in chunks and stores those that differ.
func (c *comparison) list(ctx context.Context, chunks []string) error {
	for some := range slices.Chunk(chunks, chunksAtOnce) {
		if len(c.table.Differences) == c.most {
			c.table.More = true
		}
		if c.table.More {
			break
		}
		if err := c.listSome(ctx, c.rows(some)); err != nil {
			return err
		}
	}
	return nil
}

// listSome merges the rows of all copies by their keys' hashes, holding one row
// of each.
func (c *comparison) listSome(ctx context.Context, query string) error {
	// Cancelling ends the servers' statements where the list is full: closing rows
	// would read what is left of them.
	ctx, cancel := context.WithCancelCause(ctx)
	copies := make([]*hashes, len(c.sources))
	defer func() {
		cancel(nil)
		for _, h := range copies {
			if h != nil {
				_ = h.rows.Close() // what it may say was said by Err
			}
		}
	}()
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			var err error
			if copies[i], err = open(ctx, c.sources[i].DB, query, len(c.key)); err != nil {
				cancel(c.at(i, err))
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for {
		key := ""
		for _, h := range copies {
			if !h.ended && (key == "" || h.key < key) {
				key = h.key
			}
		}
		if key == "" {
			return nil
		}
		if !c.judge(copies, key) {
			return nil
		}
		for i, h := range copies {
			if h.at(key) {
				if err := h.next(); err != nil {
					return c.at(i, err)
				}
			}
		}
	}
}

// judge stores what differs in the row of a key. It reports whether to go on: no
// further difference fits in the list otherwise.
func (c *comparison) judge(copies []*hashes, key string) bool {
	var missing, extra, different []string
	first := copies[0]
	var shown []string
	for i, h := range copies {
		name := c.sources[i].Name
		switch {
		case !h.at(key):
			if first.at(key) {
				missing = append(missing, name)
			}
			continue
		case !first.at(key):
			extra = append(extra, name)
		case h.row != first.row:
			different = append(different, name)
		}
		shown = h.shown
	}
	for _, found := range []Difference{{Kind: Missing, DataSources: missing}, {Kind: Extra, DataSources: extra}, {Kind: Different, DataSources: different}} {
		if len(found.DataSources) == 0 {
			continue
		}
		if len(c.table.Differences) == c.most {
			c.table.More = true
			return false
		}
		found.Key = slices.Clone(shown)
		c.table.Differences = append(c.table.Differences, found)
	}
	return true
}

// hashes is a copy's rows, one at a time.
type hashes struct {
	rows     *sql.Rows
	key, row string
	shown    []string
	into     []any
	ended    bool
}

func open(ctx context.Context, db *sql.DB, query string, keys int) (*hashes, error) {
	rows, err := db.QueryContext(ctx, query) //nolint:rowserrcheck // hashes.next looks
	if err != nil {
		return nil, err
	}
	h := &hashes{rows: rows, shown: make([]string, keys)}
	h.into = []any{&h.key, &h.row}
	for i := range h.shown {
		h.into = append(h.into, &h.shown[i])
	}
	if err := h.next(); err != nil {
		return nil, errors.Join(err, rows.Close()) //nolint:sqlclosecheck // who opened it closes it otherwise
	}
	return h, nil
}

// at reports whether the row that is held is the one of a key.
func (h *hashes) at(key string) bool { return !h.ended && h.key == key }

// next goes on to the next row.
func (h *hashes) next() error {
	if h.rows.Next() {
		return h.rows.Scan(h.into...)
	}
	h.ended = true
	return h.rows.Err()
}
