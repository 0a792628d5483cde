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

// write is one statement that changes rows.
type write struct {
	statement fragment
	table     *table
	returning bool
	// unordered is true where RETURNING may give the rows in any order.
	unordered bool
	// last is true where LastInsertId has to be the server's.
	last bool
}

// write makes an INSERT, UPDATE or DELETE.
func (g *generator) write() write {
	t := one(g, orders, orders, items, notes, tags, people, wide, kinds, region, staff)
	w := write{table: t}
	switch n := g.IntN(100); {
	case n < 55:
		w.statement = g.insert(&w)
	case n < 82:
		w.statement = g.update(t)
	default:
		w.statement = g.remove(t)
	}
	w.statement = g.disturb(w.statement)
	return w
}

// row returns new values of the columns: of keys those that rows have, so that
// some rows are there already.
func (g *generator) row(t *table, columns []*column) []fragment {
	var out []fragment
	for _, c := range columns {
		v := one(g, c.values...)
		if n, ok := v.(int); ok && slices.Contains(strings.Split(t.primary, ", "), c.name) && !slices.Contains(t.keys, c.name) && g.in(60) {
			v = n + 100*(1+g.IntN(3))
		}
		switch n := g.IntN(100); {
		case n < 2:
			out = append(out, f("DEFAULT"))
		case n < 4 && v != nil && c.kind != kindJSON:
			out = append(out, g.odd(c, v))
		case n < 6:
			out = append(out, g.value(nil))
		default:
			out = append(out, g.value(v))
		}
	}
	return out
}

func (g *generator) insert(w *write) fragment {
	t := w.table
	all := make([]*column, len(t.columns))
	for i := range t.columns {
		all[i] = &t.columns[i]
	}
	columns := all
	if g.in(60) { // the primary key, and some others
		columns = nil
		for _, c := range all {
			numbered := t == region && g.in(30) // by the database
			if slices.Contains(strings.Split(t.primary, ", "), c.name) && !numbered && !g.in(2) || g.in(30) {
				columns = append(columns, c)
			}
		}
		g.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	}
	if len(columns) == 0 {
		columns = all
	}
	verb := one(g, "INSERT INTO ", "INSERT INTO ", "INSERT ", "insert into ", "INSERT IGNORE INTO ", "INSERT IGNORE ", "REPLACE INTO ", "REPLACE ", "INSERT LOW_PRIORITY INTO ", "INSERT HIGH_PRIORITY INTO ")
	name := t.name
	switch {
	case g.in(20):
		name = "`" + name + "`"
	case g.in(6) && t != staff:
		name = g.schema + "." + name
	}
	var list []string
	for _, c := range columns {
		n := c.name
		switch {
		case g.in(15):
			n = "`" + n + "`"
		case g.in(3):
			n = strings.ToUpper(n)
		}
		list = append(list, n)
	}
	head := f(verb, name)
	rows := one(g, 1, 1, 1, 2, 3, 6, 12)
	switch {
	case g.in(8):
		values := g.row(t, columns)
		var set []fragment
		for i := range columns {
			set = append(set, f(list[i], " = ", values[i]))
		}
		head, rows = f(head, " SET ", join(set, ", ")), 1
	case g.in(12):
		head, rows = f(head, " ", g.rowsOf(t, list)), 0
		w.unordered = true
	default:
		if len(columns) < len(all) || g.in(50) {
			head = f(head, " (", strings.Join(list, ", "), ")")
		}
		var tuples []fragment
		for range rows {
			values := g.row(t, columns)
			if g.in(1) {
				values = values[1:]
			}
			tuples = append(tuples, f("(", join(values, one(g, ", ", ",")), ")"))
		}
		head = f(head, one(g, " VALUES ", " VALUE ", " values"), join(tuples, one(g, ", ", ",")))
	}
	if !strings.HasPrefix(verb, "REPLACE") && g.in(25) {
		c := one(g, all...)
		var set []fragment
		for range 1 + g.IntN(2) {
			set = append(set, f(c.name, " = ", one(g, f("VALUES(", c.name, ")"), f("VALUE(", c.name, ")"), g.value(one(g, c.values...)), f(c.name), f("IF(1, VALUES(", c.name, "), NULL)"))))
			c = one(g, all...)
		}
		head = f(head, " ON DUPLICATE KEY UPDATE ", join(set, ", "))
	} else if g.in(12) {
		w.returning = true
		head = f(head, " RETURNING ", one(g, "*", all[0].name, all[0].name+", "+all[1].name, "1 + 1"))
	}
	w.last = rows == 1
	return head
}

// rowsOf writes a SELECT of new rows: of the table itself or of one like it, with
// the keys as they are, or of others with a constant.
func (g *generator) rowsOf(t *table, list []string) fragment {
	from := t
	switch {
	case t == orders && g.in(60):
		from = items
	case t == items && g.in(60):
		from = orders
	case g.in(10):
		from = region
	}
	src := source{from, "s"}
	s := &scope{sources: []source{src}}
	rest := f()
	if g.in(20) {
		other := one(g, items, notes, region)
		s.sources = append(s.sources, source{other, "x"})
		rest = f(one(g, " JOIN ", " LEFT JOIN "), other.name, " x ON ", g.on(s, src, s.sources[1]))
	}
	var values []fragment
	for _, name := range list {
		column := t.column(strings.ToLower(strings.Trim(name, "`")))
		switch {
		case from.column(column.name) == nil || g.in(6):
			values = append(values, g.value(one(g, column.values...)))
		case column.name == "id" || column.name == "n":
			values = append(values, f("s.", column.name, " + ", fmt.Sprint(1000*g.IntN(3))))
		default:
			values = append(values, f("s.", column.name))
		}
	}
	if from == t && g.in(8) {
		return f("SELECT * FROM ", t.name)
	}
	rest = f(rest, " WHERE ", one(g, g.narrow(s, src), g.condition(s, 1), f("1 = 1")))
	for _, tail := range []string{" GROUP BY s." + from.columns[0].name, " ORDER BY 1", " LIMIT 2"} {
		if g.in(8) {
			rest = f(rest, tail)
		}
	}
	return f(" (", strings.Join(list, ", "), ") SELECT ", one(g, "", "", "", "DISTINCT "), join(values, ", "), " FROM ", from.name, " s", rest)
}

func (g *generator) update(t *table) fragment {
	src := source{t, t.name}
	name := f(t.name)
	if g.in(25) {
		src.alias = "u"
		name = f(t.name, one(g, " AS u", " u"))
	}
	s := &scope{sources: []source{src}}
	head := f(one(g, "UPDATE ", "UPDATE ", "UPDATE IGNORE ", "update "), name)
	if g.in(15) {
		other := one(g, orders, items, region, notes)
		if other != t {
			s.sources = append(s.sources, source{other, other.name})
			head = f(head, one(g, " JOIN ", " LEFT JOIN "), other.name, " ON ", g.on(s, src, s.sources[1]))
		}
	}
	var set []fragment
	for range 1 + g.IntN(2) {
		c := one(g, t.columns...)
		if g.in(75) && slices.Contains(strings.Split(t.primary, ", "), c.name) {
			c = t.columns[len(t.columns)-1]
		}
		v := g.value(one(g, c.values...))
		switch {
		case g.in(10):
			v = f(g.name(s, src, c.name))
		case g.in(15) && (c.kind == kindInt || c.kind == kindDecimal):
			v = f(g.name(s, src, c.name), " + 1")
		case g.in(5):
			v = f("DEFAULT")
		case g.in(5) && c.kind == kindInt:
			v = f("TIMESTAMPDIFF(SECOND, NOW(), CURRENT_TIMESTAMP)")
		}
		set = append(set, f(g.name(s, src, c.name), " = ", v))
	}
	return f(head, " SET ", join(set, ", "), g.which(s))
}

func (g *generator) remove(t *table) fragment {
	s := &scope{sources: []source{{t, t.name}}}
	head := f(one(g, "DELETE FROM ", "DELETE FROM ", "DELETE IGNORE FROM ", "delete from "), t.name)
	if g.in(4) && !g.inside {
		return f("TRUNCATE TABLE ", t.name)
	}
	if other := one(g, orders, items, region, notes); g.in(12) && other != t {
		s.sources = append(s.sources, source{other, "x"})
		from := f(t.name, one(g, " JOIN ", " LEFT JOIN "), other.name, " x ON ", g.on(s, s.sources[0], s.sources[1]))
		return f(one(g, f("DELETE ", t.name, " FROM ", from), f("DELETE FROM ", t.name, " USING ", from), f("DELETE ", t.name, ", x FROM ", from)), g.which(s))
	}
	out := f(head, g.which(s))
	if g.in(6) {
		out = f(out, " RETURNING ", t.columns[0].name)
	}
	return out
}

// which writes the WHERE of a write, and what may follow it.
func (g *generator) which(s *scope) fragment {
	t := s.sources[0]
	var where []fragment
	if g.in(50) {
		where = append(where, g.narrow(s, t))
	}
	if g.in(70) || len(where) == 0 {
		where = append(where, g.condition(s, g.IntN(3)))
	}
	if g.in(6) {
		where = append(where, f("NOW() > '2020-01-01' AND CURDATE() <= NOW()"))
	}
	out := f(" WHERE ", join(where, " AND "))
	if g.in(10) && len(s.sources) == 1 {
		var by []string
		for _, c := range strings.Split(t.primary, ", ") {
			by = append(by, t.alias+"."+c)
		}
		out = f(out, " ORDER BY ", strings.Join(by, ", "))
		if g.in(60) {
			out = f(out, " LIMIT ", g.value(1+g.IntN(3)))
		}
	}
	return out
}

// outcome is what a write gave.
type outcome struct {
	affected, last int64
	rows           []string
	err            error
}

// execer is a pool or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func run(ctx context.Context, on execer, w *write, query string, args []any) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{err: fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	if w.returning {
		a := read(on.QueryContext(ctx, query, args...))
		rows := append(rowtext.Shown(a.rows), a.columns...)
		if w.unordered {
			slices.Sort(rows)
		}
		return outcome{rows: rows, err: a.err}
	}
	result, err := on.ExecContext(ctx, query, args...)
	if err != nil {
		return outcome{err: err}
	}
	o.affected, _ = result.RowsAffected()
	o.last, _ = result.LastInsertId()
	return o
}

// differ says how an outcome differs from that on the unsharded database. Where nodes
// have a bad row each, any may be the one that a statement fails for.
func (o *outcome) differ(got outcome, w *write, several bool) string {
	switch {
	case got.err != nil && strings.HasPrefix(got.err.Error(), "panic"):
		return got.err.Error()
	case o.err != nil && got.err != nil && several:
		return ""
	case o.err != nil && got.err != nil:
		return otherError(o.err, got.err)
	case o.err != nil:
		return fmt.Sprintf("done where the unsharded database fails: %v", o.err)
	case got.err != nil:
		return fmt.Sprintf("an error: %v", got.err)
	case o.affected != got.affected:
		return fmt.Sprintf("%d rows affected instead of %d", got.affected, o.affected)
	case w.last && o.last != got.last:
		return fmt.Sprintf("last insert id %d instead of %d", got.last, o.last)
	case !slices.Equal(o.rows, got.rows):
		return "RETURNING: " + rowtext.Differ(o.rows, got.rows)
	}
	return ""
}

// tally counts what became of writes.
type tally struct {
	run, answered, failed, wrong int
	refused                      map[string]int
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
	var reasons []string
	for reason, count := range n.refused {
		total += count
		reasons = append(reasons, fmt.Sprintf("%7d %s", count, reason))
	}
	fmt.Fprintf(&b, "%d run, %d done alike, %d failed alike, %d refused, %d wrong", n.run, n.answered, n.failed, total, n.wrong)
	slices.Sort(reasons)
	slices.Reverse(reasons)
	for _, r := range reasons[:min(len(reasons), 60)] {
		b.WriteString("\n" + r)
	}
	return b.String()
}

// step runs one write on both sides and compares. The sharded side goes first:
// what it refuses the other does not run.
func (c *cluster) step(ctx context.Context, g *generator, single, sharded execer, n *tally) (problem string, w write) {
	w = g.write()
	protocol := g.protocol
	_, text, args := c.as(protocol, w.statement)
	c.trace.take()
	n.run++
	got := run(ctx, sharded, &w, text, args)
	units := c.trace.take()
	detail := func(what string) string {
		return fmt.Sprintf("%s, %s: %s\n%s\nargs %s\nunits\n  %s", c.name, protocol, what, text, rowtext.Show(args), strings.Join(units, "\n  "))
	}
	if reason, ok := refused(got.err); ok {
		n.refused[reason]++
		if len(units) > 0 {
			return detail("refused after it was sent: " + got.err.Error()), w
		}
		return "", w
	}
	want := run(ctx, single, &w, text, args)
	if d := want.differ(got, &w, c.sources*c.tables > 1 && !w.last); d != "" {
		return detail(d), w
	}
	if want.err != nil {
		n.failed++
	} else {
		n.answered++
	}
	return "", w
}

// checkWrites runs the writes of one seed, alone or as a transaction, and
// compares all rows. It reports whether the rows are still alike.
func (c *cluster) checkWrites(ctx context.Context, seed uint64) (n tally, problem string) {
	g := newGenerator(seed, c.schema())
	n.refused = map[string]int{}
	g.protocol = one(g, protocols...)
	p := c.prepared
	if g.protocol == "interpolated" {
		p = c.interpolated
	}
	var history []string
	note := func(s string) { history = append(history, s) }
	end := func(problem string) (tally, string) {
		n.wrong++
		return n, problem + "\nbefore it\n  " + strings.Join(history, "\n  ")
	}
	compare := func() string {
		var out strings.Builder
		c.compareRows(ctx, func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }, tables...)
		return out.String()
	}
	if g.in(60) {
		var on execer = p.sharded.ConnPool
		if g.in(30) {
			on = p.logical
		}
		problem, w := c.step(ctx, g, p.single, on, &n)
		note(w.statement.text())
		if problem == "" {
			problem = compare()
		}
		if problem != "" {
			return end(problem)
		}
		return n, ""
	}
	g.inside = true
	single, err := p.single.BeginTx(ctx, nil)
	if err != nil {
		return end(err.Error())
	}
	defer func() { _ = single.Rollback() }()
	sharded, err := p.logical.BeginTx(ctx, nil)
	if err != nil {
		return end(err.Error())
	}
	defer func() { _ = sharded.Rollback() }()
	both := func(text string) error {
		note(text)
		_, err := single.ExecContext(ctx, text)
		if err == nil {
			_, err = sharded.ExecContext(ctx, text)
		}
		return err
	}
	open := 0
	for range 1 + g.IntN(6) {
		switch k := g.IntN(10); {
		case k == 0:
			open++
			err = both(fmt.Sprintf("SAVEPOINT s%d", open))
		case k == 1 && open > 0:
			open = 1 + g.IntN(open)
			err = both(fmt.Sprintf("ROLLBACK TO SAVEPOINT s%d", open))
		default:
			problem, w := c.step(ctx, g, single, sharded, &n)
			note(w.statement.text())
			if problem != "" {
				return end(problem)
			}
		}
		if err != nil {
			return end(err.Error())
		}
	}
	if g.in(60) {
		note("COMMIT")
		if err = single.Commit(); err == nil {
			err = sharded.Commit()
		}
	} else {
		note("ROLLBACK")
		if err = single.Rollback(); err == nil {
			err = sharded.Rollback()
		}
	}
	if err != nil {
		return end(err.Error())
	}
	if problem := compare(); problem != "" {
		return end(problem)
	}
	return n, ""
}

// TestGeneratedWritesDoAsUnsharded runs a fixed set of generated writes.
func TestGeneratedWritesDoAsUnsharded(t *testing.T) {
	var total tally
	failures := 0
	for _, top := range topologies[:4] {
		c := newCluster(t, "write", top)
		c.fill(t)
		for seed := range seeds(t, 30, 0.05) {
			// Every ten seeds begin with the same rows, so that a seed can be run again
			// with those before it.
			if seed%10 == 0 {
				c.empty(t)
				c.fill(t)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			n, problem := c.checkWrites(ctx, seed)
			cancel()
			total.add(n)
			if problem == "" {
				continue
			}
			if failures++; failures <= 20 {
				from := seed - seed%10
				t.Errorf("seed %d: %s\nrerun: ORACLE_SEED=%d ORACLE_N=%d go test -run '^%s$' ./tests/oracle\n", seed, problem, from, seed-from+1, t.Name())
			}
			c.empty(t)
			c.fill(t)
		}
	}
	t.Log(&total)
}

// The first data source numbers the rows and shows their numbers, and with them rows
// that were there before.
func TestUpsertsIntoABroadcastTableTellTheRowsThatTheyAffected(t *testing.T) {
	c := newCluster(t, "numbered", topologies[2])
	c.fill(t)
	for _, text := range []string{
		"INSERT INTO region (id, name) VALUES (1, 'x'), (DEFAULT, 'y'), (9, 'z') ON DUPLICATE KEY UPDATE name = name",
		"INSERT INTO region (id, name) VALUES (DEFAULT, 'v'), (2, 'w') ON DUPLICATE KEY UPDATE name = VALUES(name)",
		"INSERT INTO region (id, name) VALUES (DEFAULT, 'a'), (DEFAULT, 'b')",
	} {
		for _, p := range []*pair{c.prepared, c.interpolated} {
			want, err := p.single.ExecContext(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.logical.ExecContext(t.Context(), text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			w, _ := want.RowsAffected()
			if g, _ := got.RowsAffected(); g != w {
				t.Errorf("%s: %d rows affected instead of %d", text, g, w)
			}
			c.compareRows(t.Context(), t.Errorf, region)
		}
	}
}
