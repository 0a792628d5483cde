//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/tests/rowtext"
)

// protocols are the ways in which arguments reach the server.
var protocols = []string{"text", "prepared", "interpolated"}

// ask runs a query in one way: through GORM's pool, the logical *sql.DB, a
// transaction, a prepared statement, or a pinned connection.
func (p *pair) ask(ctx context.Context, way int, query string, args []any) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	switch way {
	case 0:
		return read(p.sharded.ConnPool.QueryContext(ctx, query, args...))
	case 1:
		return read(p.logical.QueryContext(ctx, query, args...))
	case 2:
		tx, err := p.logical.BeginTx(ctx, &sql.TxOptions{})
		if err != nil {
			return answer{err: err}
		}
		defer func() { _ = tx.Rollback() }()
		return read(tx.QueryContext(ctx, query, args...))
	case 3:
		stmt, err := p.logical.PrepareContext(ctx, query)
		if err != nil {
			return answer{err: err}
		}
		defer stmt.Close()
		return read(stmt.QueryContext(ctx, args...))
	}
	conn, err := p.logical.Conn(ctx)
	if err != nil {
		return answer{err: err}
	}
	defer conn.Close()
	return read(conn.QueryContext(ctx, query, args...))
}

// askSingle asks the unsharded database; prepared is true for values as they look
// in a prepared statement's answer.
func (p *pair) askSingle(ctx context.Context, query string, args []any, prepared bool) answer {
	if !prepared || len(args) > 0 {
		return read(p.single.QueryContext(ctx, query, args...))
	}
	stmt, err := p.single.PrepareContext(ctx, query)
	if err != nil {
		return answer{err: err}
	}
	defer stmt.Close()
	return read(stmt.QueryContext(ctx))
}

// as returns a statement in a protocol's form, and the applications that speak it.
func (c *cluster) as(protocol string, statement fragment) (*pair, string, []any) {
	switch protocol {
	case "text":
		return c.prepared, statement.text(), nil
	case "prepared":
		text, args := statement.bound()
		return c.prepared, text, args
	}
	text, args := statement.bound()
	return c.interpolated, text, args
}

// tally counts what became of the statements.
type tally struct {
	run, answered, failed, wrong, known int
	refused                             map[string]int
}

func (n *tally) add(m tally) {
	n.run, n.answered, n.failed, n.wrong = n.run+m.run, n.answered+m.answered, n.failed+m.failed, n.wrong+m.wrong
	for reason, count := range m.refused {
		if n.refused == nil {
			n.refused = map[string]int{}
		}
		n.refused[reason] += count
	}
}

func (n *tally) String() string {
	var b strings.Builder
	total := 0
	for _, count := range n.refused {
		total += count
	}
	fmt.Fprintf(&b, "%d run, %d answered alike, %d failed alike, %d refused, %d wrong, %d statements of them known", n.run, n.answered, n.failed, total, n.wrong, n.known)
	var reasons []string
	for reason, count := range n.refused {
		reasons = append(reasons, fmt.Sprintf("%7d %s", count, reason))
	}
	slices.Sort(reasons)
	slices.Reverse(reasons)
	for _, r := range reasons[:min(len(reasons), 60)] {
		b.WriteString("\n" + r)
	}
	return b.String()
}

// check runs one query in every protocol and compares; problems are what differs.
func (c *cluster) check(ctx context.Context, seed uint64) (n tally, problems []string) {
	g := newGenerator(seed, c.schema())
	q := g.query()
	way := g.IntN(5)
	n.refused = map[string]int{}
	for _, protocol := range protocols {
		p, text, args := c.as(protocol, q.statement)
		c.trace.take()
		n.run++
		got := p.ask(ctx, way, text, args)
		units := c.trace.take()
		if reason, ok := refused(got.err); ok {
			n.refused[reason]++
			if len(units) > 0 && !strings.Contains(got.err.Error(), "sort") {
				reason = "late: " + reason
				n.refused[reason]++
			}
			continue
		}
		want := read(p.single.QueryContext(ctx, text, args...))
		var everything answer
		if q.everything.sql != "" && want.err == nil && got.err == nil {
			_, all, allArgs := c.as(protocol, q.everything)
			everything = p.askSingle(ctx, all, allArgs, len(args) > 0 && protocol == "prepared")
		}
		difference := q.differ(want, got, everything)
		switch {
		case difference == "" && want.err != nil:
			n.failed++
			if len(units) == 0 && got.err != nil && strings.Contains(got.err.Error(), "sharding") {
				n.refused["an error of ours where the server fails, too"]++
			}
		case difference == "":
			n.answered++
		default:
			n.wrong++
			if len(problems) > 0 { // the same in another protocol, most likely
				problems[0] = protocol + ", " + problems[0]
				continue
			}
			problems = append(problems, fmt.Sprintf("%s, way %d, %s, %s: %s\n%s\nargs %s\nunits\n  %s",
				protocol, way, c.name, q.shape, difference, text, rowtext.Show(args), strings.Join(units, "\n  ")))
		}
		if q.unsure {
			n.refused["(the server contradicts itself about the order)"]++
		}
		if everything.err != nil {
			n.refused["(no companion: "+everything.err.Error()+")"]++
		}
	}
	return n, problems
}

// TestGeneratedSelectsAnswerAsUnsharded runs a fixed set of generated SELECTs.
func TestGeneratedSelectsAnswerAsUnsharded(t *testing.T) {
	first, count := statements(t, 150)
	var clusters []*cluster
	for _, top := range topologies {
		c := newCluster(t, "select", top)
		c.fill(t)
		clusters = append(clusters, c)
	}
	var total tally
	failures := 0
	for seed := first; seed < first+uint64(count); seed++ {
		for _, c := range clusters {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			n, problems := c.check(ctx, seed)
			cancel()
			total.add(n)
			for _, p := range problems {
				if isKnown(p) {
					total.known++
					continue
				}
				if failures++; failures <= 40 {
					t.Errorf("seed %d: %s\nrerun: ORACLE_SEED=%d ORACLE_N=1 go test -run '^%s$' ./tests/oracle\n", seed, p, seed, t.Name())
				}
			}
		}
	}
	t.Log(&total)
}
