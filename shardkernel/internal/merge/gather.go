package merge

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
)

// Gathering holds the rows that one statement gathers from tables, within limits.
// It is safe for concurrent use.
type Gathering struct {
	most int64 // bytes of all rows that the data source takes
	stop func()

	mu     sync.Mutex
	memory account
	bytes  int64
	failed error // the first failure
}

// NewGathering returns a Gathering for a data source that takes most bytes at a
// time. stop is called at the first failure, when all rows are of no more use; nil,
// for a transaction, whose connections must not be cancelled, has the cursors read
// in turn.
func NewGathering(limits Limits, most int64, stop func()) *Gathering {
	return &Gathering{most: most, stop: stop, memory: account{limits: limits.withDefaults()}}
}

// Release gives the memory of the rows back. It may be called more than once.
func (g *Gathering) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.memory.release()
}

// JSON reads the rows of a table from several cursors: every row is one value, a
// JSON array, and so is what it returns, an array of them in no order. It closes
// the cursors.
//
// It fails with the errors of the cursors, with fault.ErrTooManyRows beyond a
// limit, and with fault.ErrUnsupported for a row that is the name of a column
// instead, whose value cannot be carried. What it returns then has no meaning.
func (g *Gathering) JSON(table string, cursors []driver.Rows) string {
	var text strings.Builder
	text.WriteByte('[')
	var wg sync.WaitGroup
	for _, cursor := range cursors {
		read := func() {
			err := g.read(table, cursor, &text)
			g.Fail(err) // before Close, which would read what is left of the rows
			if e := cursor.Close(); err == nil {
				g.Fail(e)
			}
		}
		if g.stop == nil {
			read()
			continue
		}
		wg.Go(read)
	}
	wg.Wait()
	text.WriteByte(']')
	return text.String()
}

// Fail keeps the first failure of whatever the statement reads.
func (g *Gathering) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil || g.failed != nil {
		return
	}
	g.failed = err
	if g.stop != nil {
		g.stop()
	}
}

// Failed returns the first failure, nil without one.
func (g *Gathering) Failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

func (g *Gathering) read(table string, cursor driver.Rows, text *strings.Builder) error {
	dest := make([]driver.Value, len(cursor.Columns()))
	for {
		err := cursor.Next(dest)
		if isEnd(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var row []byte
		switch v := dest[0].(type) {
		case []byte:
			row = v
		case string:
			row = []byte(v)
		}
		if len(row) == 0 || row[0] != '[' {
			return errNotCarried(table, string(row))
		}
		if err := g.add(table, row, text); err != nil {
			return err
		}
	}
}

// add adds a row to the text of its table.
func (g *Gathering) add(table string, row []byte, text *strings.Builder) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed != nil {
		return g.failed
	}
	size := int64(len(row)) + 1
	if err := g.memory.hold(1, size); err != nil {
		return fmt.Errorf("sharding: reading the rows of %s for another data source, %d so far: %w", table, g.memory.rows, err)
	}
	if g.bytes += size; g.bytes > g.most {
		return fmt.Errorf("sharding: reading the rows of %s for another data source, %d so far: %w: it takes %d bytes at a time; narrow the statement, or raise max_allowed_packet of the servers",
			table, g.memory.rows, fault.ErrTooManyRows, g.most)
	}
	if text.Len() > 1 {
		text.WriteByte(',')
	}
	text.Write(row)
	return nil
}

// errNotCarried is the error of a row that is the name of a column, see
// plan.GatheredTable.
func errNotCarried(table, row string) error {
	if row == "" {
		return fault.Unsupported("a row of "+table+" beside rows of other data sources", "it is longer than max_allowed_packet", "raise max_allowed_packet of the servers, or select fewer columns")
	}
	if row[0] == '>' {
		return fmt.Errorf("sharding: %w: column %s of %s holds a value that it could not hold when its type was read; send the statement again", fault.ErrSchemaDrift, row[1:], table)
	}
	return fault.Unsupported("column "+row[1:]+" of "+table+" beside rows of other data sources", "a row holds a value that no other data source can be given: a zero date where IS NULL would find it, a time that clocks show twice a year, a negative zero, a text of a NO PAD collation with U+0000 at its end, which sorts mix with the text before it, a text longer than the server sorts by, or bytes longer than max_allowed_packet",
		"add a condition on the sharding column that leads to one node, or leave the column out")
}
