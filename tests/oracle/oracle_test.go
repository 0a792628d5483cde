//go:build unix

package oracle_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gormshard/sharding/tests/rowtext"
)

// protocols are the ways in which arguments reach the server.
var protocols = []string{"text", "prepared", "interpolated"}

// ways is the number of ways in which ask runs a query.
const ways = 6

// ask runs a query in one way: through GORM's pool, the logical *sql.DB, a
// transaction, a prepared statement, GORM's Raw, or a pinned connection.
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
	case asPrepared:
		stmt, err := p.logical.PrepareContext(ctx, query)
		if err != nil {
			return answer{err: err}
		}
		defer stmt.Close()
		return read(stmt.QueryContext(ctx, args...))
	}
	// Raw takes every question mark and @name for an argument, also in a comment, and
	// bytes behind a parenthesis for a list.
	listed := slices.ContainsFunc(args, func(arg any) bool { _, bytes := arg.([]byte); return bytes })
	if way == 4 && strings.Count(query, "?") == len(args) && !strings.Contains(query, "@") && !listed {
		return read(p.sharded.WithContext(ctx).Raw(query, args...).Rows())
	}
	conn, err := p.logical.Conn(ctx)
	if err != nil {
		return answer{err: err}
	}
	defer conn.Close()
	return read(conn.QueryContext(ctx, query, args...))
}

// asPrepared is the way in which ask prepares a query without need.
const asPrepared = 3

// askPlain runs a query without the code under test, as a prepared statement or not.
func askPlain(ctx context.Context, pool *sql.DB, query string, args []any, prepared bool) answer {
	if !prepared {
		return read(pool.QueryContext(ctx, query, args...))
	}
	stmt, err := pool.PrepareContext(ctx, query)
	if err != nil {
		return answer{err: err}
	}
	defer stmt.Close()
	return read(stmt.QueryContext(ctx, args...))
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

// asked is what the unsharded database answers to a query.
type asked struct {
	want, everything answer
	// doubtful reports whether the server itself has answers that differ so.
	doubtful func(how string) bool
}

// sampled is set where every statement is asked in one protocol and of two clusters,
// which its seed chooses: a run makes several times as many statements then.
var sampled = os.Getenv("ORACLE_SAMPLE") != ""

// sample returns the clusters and protocols that a statement is asked of and in.
func sample(clusters []*cluster, seed uint64) ([]*cluster, []string) {
	if !sampled {
		return clusters, protocols
	}
	n, turn := uint64(len(clusters)), seed/uint64(len(protocols))
	first := turn % n
	second := (first + 1 + turn/n%(n-1)) % n
	return []*cluster{clusters[first], clusters[second]}, protocols[seed%uint64(len(protocols)):][:1]
}

// judge asks one query of the unsharded database and of every cluster, in every
// protocol, and compares.
func judge(ctx context.Context, clusters []*cluster, seed uint64, p profile, r *report) (problem string) {
	single := clusters[0]
	clusters, protocols := sample(clusters, seed)
	g := newGenerator(seed, single.schema())
	q := g.queryOf(p)
	way := g.IntN(ways)
	text := q.statement.text()
	all := make([]labels, len(clusters))
	for i, c := range clusters {
		all[i] = label(text, c.keys)
		all[i].seed = seed
	}
	q.outer = all[0].outer()
	for _, protocol := range protocols {
		a := single.reference(ctx, q, protocol, way)
		contradictions := sync.OnceValue(func() []string { return single.contradictions(ctx, *q, a, protocol, way) })
		a.doubtful = func(how string) bool { return slices.Contains(contradictions(), how) }
		if a.everything.err != nil {
			r.note("no order of the rows to compare with: " + a.everything.err.Error())
		}
		differing := make([]string, len(clusters))
		var wg sync.WaitGroup
		for i, c := range clusters {
			wg.Go(func() { differing[i] = c.check(ctx, *q, a, protocol, way, p, &all[i], r) })
		}
		wg.Wait()
		for i, difference := range differing {
			switch {
			case difference == "":
			case problem == "":
				problem = difference + "\nreduced\n  " + reduce(ctx, single, clusters[i], q, protocol, way)
			default:
				first, _, _ := strings.Cut(difference, "\n")
				problem += "\nalso " + first
			}
		}
	}
	return problem
}

func (c *cluster) reference(ctx context.Context, q *query, protocol string, way int) (a asked) {
	p, text, args := c.as(protocol, q.statement)
	a.want = askPlain(ctx, p.single, text, args, way == asPrepared)
	if everything := ranked(q.statement); everything.sql != "" && a.want.err == nil {
		_, all, allArgs := c.as(protocol, everything)
		a.everything = askPlain(ctx, p.single, all, allArgs, way == asPrepared || len(args) > 0 && protocol == "prepared")
	}
	return a
}

// contradictions are the doubts about the answers that other databases with the same
// rows give, which also join the tables in the order in which they are written.
func (c *cluster) contradictions(ctx context.Context, q query, a asked, protocol string, way int) (how []string) {
	p, text, args := c.as(protocol, q.statement)
	for _, other := range p.copies {
		text := strings.ReplaceAll(text, c.schema()+".", other.name+".")
		for _, text := range []string{text, text, firstSelect.ReplaceAllString(text, "$0 STRAIGHT_JOIN ")} {
			how = append(how, doubt(q.differ(a.want, askPlain(ctx, other.DB, text, args, way == asPrepared), a.everything)))
		}
	}
	return how
}

// alikeUncached reports whether the answers are alike where servers compute a subquery
// for every row. MariaDB keeps its value for the outer values that it has seen, among
// which it does not tell texts apart that the subquery's own comparison does, so that
// the answer depends on the order of the rows.
func (c *cluster) alikeUncached(ctx context.Context, q query) bool {
	text, all := q.statement.text(), ranked(q.statement)
	if !subquery.MatchString(text) {
		return false
	}
	p := c.uncached()
	var everything answer
	if all.sql != "" {
		everything = askPlain(ctx, p.single, all.text(), nil, false)
	}
	return q.differ(askPlain(ctx, p.single, text, nil, false), p.ask(ctx, 0, text, nil), everything) == ""
}

var subquery = regexp.MustCompile(`(?is)\(\W*SELECT\b`)

var firstSelect = regexp.MustCompile(`(?i)^\s*SELECT\b`)

// doubt is the manner of a difference that a server may have with itself: in rows, in
// columns, or in whether it computes a value that is out of range; "" for others.
func doubt(difference string) string {
	switch how := manner(difference); {
	case how == "rows", how == "columns":
		return how
	case strings.Contains(difference, "Error 1690"):
		return "range"
	}
	return ""
}

// check asks one cluster in one protocol; the problem is how its answer differs.
func (c *cluster) check(ctx context.Context, q query, a asked, protocol string, way int, prof profile, l *labels, r *report) (problem string) {
	p, text, args := c.as(protocol, q.statement)
	c.trace.take()
	got := p.ask(ctx, way, text, args)
	units := c.trace.take()
	at := c.place(ctx, p, text, args, got.err, units)
	if reason, ok := refused(got.err); ok {
		if len(units) > 0 {
			reason = "late: " + reason
		}
		if a.want.err != nil {
			r.count(prof, at, l, failed)
			return ""
		}
		r.count(prof, at, l, refusedHere)
		r.refuse(at, reason, q.statement.text())
		return ""
	}
	difference := q.differ(a.want, got, a.everything)
	if manner(difference) == "columns" && plannedColumns(a.want.columns, got.columns) {
		alike := got
		alike.columns = a.want.columns
		if d := q.differ(a.want, alike, a.everything); d != "" {
			difference = d
		} else {
			difference = differByPlan + strings.TrimPrefix(difference, "columns")
		}
	}
	if how := doubt(difference); how != "" && (a.doubtful(how) || how == "rows" && c.alikeUncached(ctx, q)) {
		r.doubt(l.seed)
		return ""
	}
	if q.unsure {
		r.note("the server contradicts itself about the order")
	}
	switch {
	case difference != "":
		problem = fmt.Sprintf("%s, way %d, %s, %s: %s\n%s\nargs %s\n%sunits\n  %s",
			protocol, way, c.name, q.shape, difference, text, rowtext.Show(args), route(ctx, p, text, args), strings.Join(units, "\n  "))
		if isKnown(problem) {
			r.count(prof, at, l, knownWrong)
			return ""
		}
		r.count(prof, at, l, wrong)
	case a.want.err != nil:
		r.count(prof, at, l, failed)
	default:
		r.count(prof, at, l, answered)
	}
	return problem
}

// place says where the rows were that a statement concerned.
func (c *cluster) place(ctx context.Context, p *pair, text string, args []any, err error, units []string) place {
	switch here := c.tables > 1 && c.sources == 1; {
	case c.sources*c.tables == 1, err == nil && len(units) == 0:
		return onOneNode
	case len(units) == 1:
		preview, err := p.plugin.Preview(ctx, text, args...)
		if err == nil && len(preview.Units) == 1 && preview.Kind != "united" && preview.Kind != "gathered" {
			return onOneNode
		}
		if here {
			return together
		}
	case here:
		return together
	}
	return scattered
}

func route(ctx context.Context, p *pair, text string, args []any) string {
	preview, err := p.plugin.Preview(ctx, text, args...)
	if err != nil {
		return fmt.Sprintf("route: %v\n", err)
	}
	return fmt.Sprintf("route: %s, %s\n", preview.Kind, preview.Reason)
}

// TestGeneratedSelectsAnswerAsUnsharded runs a fixed set of generated SELECTs.
func TestGeneratedSelectsAnswerAsUnsharded(t *testing.T) {
	clusters := newClusters(t, "select", topologies...)
	r := newReport()
	failures := 0
	for seed := range seeds(t, 200, 0.7) {
		for p := range profiles {
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			problem := judge(ctx, clusters, seed, p, r)
			cancel()
			if problem == "" {
				continue
			}
			if failures++; failures <= 40 {
				t.Errorf("seed %d, %s: %s\nrerun: ORACLE_SEED=%d ORACLE_N=1 go test -run '^%s$' ./tests/oracle\n", seed, profileNames[p], problem, seed, t.Name())
			}
		}
	}
	t.Log(r)
	for _, bar := range r.missed() {
		t.Error(bar)
	}
}
