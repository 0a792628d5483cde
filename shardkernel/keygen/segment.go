package keygen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// segment is the generator SEGMENT: numbers counted in a table of the store,
// from which a process takes a block at a time. Keys are int64 and positive.
// Those of one process ascend; over processes they do not, and what is left of a
// block when a process ends is never used.
//
// Properties:
//
//	table  required: what is counted, usually the logical table. Generators
//	       with the same text in one store share the numbers
//	step   the size of a block, 1 to 1000000000, by default 1000: the database
//	       is asked once for so many keys
//	start  the first number, from 1, by default 1. It counts only as long as
//	       nothing was taken
type segment struct {
	table       string
	step, start int64
	blocks      blocks        // nil before Attach
	place       *place        // likewise
	gate        chan struct{} // holds one element while somebody takes a block

	mu        sync.Mutex
	next, end int64 // of the block; end itself is not in it
}

var _ Mover = (*segment)(nil)

func newSegment(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	g := &segment{
		table: r.String("table"),
		step:  r.IntOr("step", 1000, 1, 1_000_000_000),
		start: r.IntOr("start", 1, 1, math.MaxInt64),
		gate:  make(chan struct{}, 1),
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if most := 191; len(g.table) > most {
		return nil, fmt.Errorf("property %q is longer than %d bytes", "table", most)
	}
	return g, nil
}

// Attach implements Stored.
func (g *segment) Attach(store Store) {
	g.place = at(store)
	g.blocks = &storedBlocks{at: g.place}
}

// Move implements Mover.
func (g *segment) Move(store Store) { g.place.move(store) }

// Close implements Stored. A segment holds nothing that could be given back.
func (g *segment) Close() error { return nil }

// Next returns an int64. It asks the database when the block is used up.
func (g *segment) Next(ctx context.Context) (any, error) {
	if key, ok := g.take(); ok {
		return key, nil
	}
	if g.blocks == nil {
		return nil, fmt.Errorf("SEGMENT %s: %w", g.table, errDetached)
	}
	select {
	case g.gate <- struct{}{}:
		defer func() { <-g.gate }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if key, ok := g.take(); ok { // of the block that somebody else has taken
		return key, nil
	}
	first, err := g.blocks.take(ctx, g.table, g.start, g.step)
	if err != nil {
		return nil, fmt.Errorf("SEGMENT %s: %w", g.table, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next, g.end = first+1, first+g.step
	return first, nil
}

func (g *segment) take() (int64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == g.end {
		return 0, false
	}
	g.next++
	return g.next - 1, true
}

// blocks gives out numbers.
type blocks interface {
	// take returns the first of step numbers that nobody else gets.
	take(ctx context.Context, name string, start, step int64) (int64, error)
}

const (
	segmentTable   = "_sharding_segment"
	segmentColumns = "name VARCHAR(191) NOT NULL PRIMARY KEY, " +
		"next_id BIGINT NOT NULL" // the first number that nobody has
)

// storedBlocks counts in a store. It is used by one goroutine at a time.
type storedBlocks struct {
	at   *place
	made bool
}

// take loses the numbers when it is not known whether they were taken.
func (b *storedBlocks) take(ctx context.Context, name string, start, step int64) (int64, error) {
	if !b.made {
		if err := b.at.store().makeTable(ctx, segmentTable, segmentColumns); err != nil {
			return 0, err
		}
		b.made = true
	}
	first, ok, err := b.advance(ctx, name, step)
	if err != nil || ok {
		return first, err
	}
	if _, err := b.at.store().exec(ctx, b.at.store().insertMissing()+segmentTable+" (name, next_id) VALUES (?, ?)", name, start); err != nil {
		return 0, err
	}
	first, ok, err = b.advance(ctx, name, step)
	if err == nil && !ok {
		err = fmt.Errorf("no %d numbers are left; see next_id in %s of data source %q", step, segmentTable, b.at.store().DataSource)
	}
	return first, err
}

// advance writes before it reads, so that it holds the row's lock while it
// reads. It reports false when there is no row, or too few numbers are left.
func (b *storedBlocks) advance(ctx context.Context, name string, step int64) (first int64, ok bool, err error) {
	tx, err := b.at.store().DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, false, b.at.store().failed(err)
	}
	defer func() {
		if !ok {
			if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
				err = errors.Join(err, b.at.store().failed(undo))
			}
		}
	}()
	result, err := tx.ExecContext(ctx, "UPDATE "+segmentTable+" SET next_id = next_id + ? WHERE name = ? AND next_id <= ?", step, name, math.MaxInt64-step)
	if err != nil {
		return 0, false, b.at.store().failed(err)
	}
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		return 0, false, b.at.store().failed(err)
	}
	var next int64
	if err := tx.QueryRowContext(ctx, "SELECT next_id FROM "+segmentTable+" WHERE name = ?", name).Scan(&next); err != nil {
		return 0, false, b.at.store().failed(err)
	}
	if err := tx.Commit(); err != nil {
		return 0, false, b.at.store().failed(err)
	}
	return next - step, true, nil
}
