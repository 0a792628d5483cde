package shardkernel

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/merge"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// gathered plans a SELECT as one that a single data source answers with the rows
// of others, nil where that cannot be.
func (k *Kernel) gathered(s *statement, in route.Input) (ex *plan.Execution, err error) {
	defer recovered(&err)
	settings := k.base.settings.Load()
	if !k.props.Gathers() || !k.dialect.IsMySQL() || settings == nil || !settings.TakesRows() {
		return nil, nil
	}
	g, err := s.program.RouteGathered(&in)
	if g == nil || err != nil {
		return nil, err
	}
	ex = s.rewrite.Gather(g, in.Args)
	if ex != nil && len(in.Args) > 0 {
		header := &ex.Gather.Header
		header.Prepare = len(header.Args) == 0 && k.sources[header.DataSource].preparesArguments()
	}
	return ex, nil
}

// queryGathered reads the rows of the tables and lets the home data source answer
// with them. Outside a transaction everything is read at the same time, and the
// connections have been given back when the statement itself takes one.
func (k *Kernel) queryGathered(ctx context.Context, ex *plan.Execution, branches execute.Branches) (driver.Rows, error) {
	g := ex.Gather
	reading, stop := ctx, context.CancelFunc(nil)
	if branches == nil { // a transaction would lose the connections of what is cancelled
		reading, stop = context.WithCancel(ctx)
		defer stop()
	}
	gathering := merge.NewGathering(k.mergeLimits(), k.roomFor(ex), stop)
	defer gathering.Release()

	var header *merge.Header
	tables := make([]string, len(g.Tables))
	works := []func() error{func() (err error) {
		header, err = k.header(reading, ex, branches)
		return err
	}}
	for i := range g.Tables {
		t := &g.Tables[i]
		works = append(works, func() error {
			t.Rows.Reads = ex.Reads
			cursors, err := k.executor.Query(reading, &t.Rows, branches)
			if err != nil {
				return blame(&t.Rows, err)
			}
			for i, c := range cursors {
				cursors[i] = &blamed{c.(columnRows), &t.Rows}
			}
			tables[i] = gathering.JSON(t.Table, cursors)
			return nil
		})
	}
	var wg sync.WaitGroup
	for _, work := range works {
		if branches == nil {
			wg.Go(func() { gathering.Fail(work()) })
		} else if gathering.Failed() == nil {
			gathering.Fail(work())
		}
	}
	wg.Wait()
	if err := gathering.Failed(); err != nil {
		return nil, err
	}
	answer, err := k.answer(ex, tables)
	if err != nil {
		return nil, err
	}
	rows, err := k.executor.Query(ctx, answer, branches)
	if err != nil {
		return nil, blame(answer, err)
	}
	return header.Give(&blamed{rows[0].(columnRows), answer})
}

// header asks the home data source what the columns of the answer are.
func (k *Kernel) header(ctx context.Context, ex *plan.Execution, branches execute.Branches) (*merge.Header, error) {
	part := &plan.Execution{Kind: ex.Kind, Units: []plan.Unit{ex.Gather.Header}, Query: true, Reads: ex.Reads}
	rows, err := k.executor.Query(ctx, part, branches)
	if err != nil {
		return nil, blame(part, err)
	}
	header, err := merge.ReadHeader(rows[0])
	return header, blame(part, err)
}

// packetMargin is the part of max_allowed_packet that rows are not given: the
// server's and the driver's own bytes.
const packetMargin = 1 << 12

// roomFor returns how many bytes of rows the home data source takes.
func (k *Kernel) roomFor(ex *plan.Execution) int64 {
	home := &ex.Units[0]
	room := k.sources[home.Server()].packet - packetMargin - int64(len(home.SQL))
	for _, arg := range home.Args {
		switch v := arg.(type) {
		case string:
			room -= int64(len(v))
		case []byte:
			room -= int64(len(v))
		}
	}
	return room
}

// answer returns the execution of the statement itself, with the rows of its
// tables.
func (k *Kernel) answer(ex *plan.Execution, tables []string) (*plan.Execution, error) {
	answer := *ex
	answer.Units, answer.Gather = slices.Clone(ex.Units), nil
	u := &answer.Units[0]
	if !ex.Gather.Typed {
		u.Args = slices.Clone(u.Args)
		for i, rows := range tables {
			u.Args[i] = rows
		}
		return &answer, nil
	}
	// The markers stand for the rows, and there are no others.
	u.Shown, u.Args = u.SQL, nil
	u.SQL = parse.ReplaceMarkers(u.SQL, k.dialect, func(n int) (string, bool) {
		var text strings.Builder
		writeLiteral(&text, tables[n])
		return text.String(), true
	})
	if packet := k.sources[u.Server()].packet; int64(len(u.SQL)) > packet-packetMargin {
		return nil, fmt.Errorf("sharding: giving rows to data source %s: %w: they are %d bytes in the statement, max_allowed_packet is %d; narrow the statement, or pass its values as parameters",
			u.DataSource, fault.ErrTooManyRows, len(u.SQL), packet)
	}
	return &answer, nil
}

// writeLiteral writes a text as a literal of MySQL.
func writeLiteral(b *strings.Builder, text string) {
	b.WriteByte('\'')
	for {
		i := strings.IndexAny(text, `'\`)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		b.WriteByte('\\')
		b.WriteByte(text[i])
		text = text[i+1:]
	}
	b.WriteString(text)
	b.WriteByte('\'')
}
