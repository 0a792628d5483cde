// Package session holds the node connections of a logical connection on which
// something was set, and what was set.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/transaction"
)

// Pins are the connections of one logical connection, at most one of each data
// source. Statements run on them, inside a transaction and outside, until Close
// closes them: what was set on them must reach no other borrower. It is used by
// one goroutine at a time.
type Pins struct {
	lookup   func(name string) (*execute.Source, error)
	settings []setting
	held     []pin
	lost     error
}

type pin struct {
	source string
	conn   *execute.Conn
}

// setting is the last value that a variable was given.
type setting struct {
	key  string
	text string // as a SET would have it, without the keyword
	args []any
}

var (
	_ execute.Branches        = (*Pins)(nil)
	_ transaction.Connections = (*Pins)(nil)
)

// New returns pins that hold nothing yet.
func New(lookup func(name string) (*execute.Source, error)) *Pins { return &Pins{lookup: lookup} }

// Adopt holds a connection that is in use already.
func (p *Pins) Adopt(source string, conn *execute.Conn) {
	conn.Keep(func() { p.lose(source, errors.New("it was closed")) })
	p.held = append(p.held, pin{source, conn})
}

// Branch returns the connection of a data source, with everything set.
func (p *Pins) Branch(ctx context.Context, source string) (*execute.Conn, error) {
	return p.Start(ctx, source, execute.Start{})
}

// Start returns the connection of a data source. A new one gets what was set.
func (p *Pins) Start(ctx context.Context, source string, start execute.Start) (*execute.Conn, error) {
	if p.lost != nil {
		return nil, p.lost
	}
	if conn := p.find(source); conn != nil {
		if start.Begin == nil {
			return conn, nil
		}
		if err := conn.Begin(ctx, *start.Begin); err != nil {
			p.Failed(source, err)
			return nil, &fault.NodeError{DataSource: source, Err: err}
		}
		return conn, nil
	}
	s, err := p.lookup(source)
	if err != nil {
		return nil, err
	}
	start.Settings = p.replay()
	start.Holding = start.Holding || len(p.held) > 0
	conn, err := s.Start(ctx, start)
	if err != nil {
		return nil, err
	}
	p.Adopt(source, conn)
	return conn, nil
}

// Atomic runs a write over several units outside a transaction, where nothing is
// undone.
func (p *Pins) Atomic(_ context.Context, _ []string, run func() error) error { return run() }

// Failed notes a connection that an error has cost. The state that was on it
// cannot be made again, so the session ends with it.
func (p *Pins) Failed(source string, err error) {
	if conn := p.find(source); conn != nil && conn.Lost() {
		p.lose(source, err)
	}
}

// Move lets the connections be those of other data sources of the same names,
// which have to have the same pools: a connection stays where it is.
func (p *Pins) Move(lookup func(name string) (*execute.Source, error)) error {
	if p.lost != nil {
		return p.lost
	}
	for _, held := range p.held {
		s, err := lookup(held.source)
		if err == nil && !held.conn.Move(s) {
			err = errors.New("the configuration leads it elsewhere now")
		}
		if err != nil {
			p.lose(held.source, err)
			return p.lost
		}
	}
	p.lookup = lookup
	return nil
}

// Lost is the error of a session that can only be closed, nil for others.
func (p *Pins) Lost() error { return p.lost }

func (p *Pins) lose(source string, err error) {
	if p.lost == nil {
		p.lost = fmt.Errorf("sharding: this connection has lost its session on data source %s and can only be closed: %w", source,
			&fault.NodeError{DataSource: source, Err: dialect.Disarm(err)})
	}
}

// Assignment is one variable's part of a SET.
type Assignment struct {
	Key  string // equal for assignments that replace each other
	Text string // the assignment as a SET of its own, without the keyword
	Args []any
}

// Set sends a SET to every connection, and remembers it for those to come. A data
// source that must answer for it is given as first, where nothing is held yet.
// When the first connection refuses it, nothing has changed; when a later one
// does, the session can only be closed.
func (p *Pins) Set(ctx context.Context, first, text string, args []any, set []Assignment) error {
	if len(p.held) == 0 {
		if _, err := p.Branch(ctx, first); err != nil {
			return err
		}
	}
	if p.lost != nil {
		return p.lost
	}
	for i, held := range p.held {
		_, err := held.conn.Exec(ctx, text, args)
		if err == nil {
			continue
		}
		p.Failed(held.source, err)
		if i > 0 {
			p.lose(held.source, err)
		}
		return err
	}
	for _, a := range set {
		p.settings = slices.DeleteFunc(p.settings, func(s setting) bool { return s.key == a.Key })
		p.settings = append(p.settings, setting{key: a.Key, text: a.Text, args: a.Args})
	}
	return nil
}

// replay is what a new connection is sent: the variables in one SET, and the
// characteristics of transactions each by itself, as the server wants them.
func (p *Pins) replay() []execute.Setting {
	var out []execute.Setting
	var texts []string
	var args []any
	for _, s := range p.settings {
		if strings.HasPrefix(s.text, "SESSION TRANSACTION ") {
			out = append(out, execute.Setting{SQL: "SET " + s.text})
			continue
		}
		texts = append(texts, s.text)
		args = append(args, s.args...)
	}
	if texts != nil {
		out = append(out, execute.Setting{SQL: "SET " + strings.Join(texts, ", "), Args: args})
	}
	return out
}

// Close closes every connection. A transaction on them must have ended.
func (p *Pins) Close() {
	for _, held := range p.held {
		held.conn.Discard()
	}
	p.held = nil
}

func (p *Pins) find(source string) *execute.Conn {
	for _, held := range p.held {
		if held.source == source {
			return held.conn
		}
	}
	return nil
}
