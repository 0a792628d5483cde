//go:build unix

package orders_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/tests/mariadb"
	"github.com/gormshard/sharding/tests/rowtext"
)

var writeSupport = flag.Bool("support", false, "write docs/sql-support.md")

const (
	supportFile  = "testdata/sql-support.txt"
	supportTable = "../../docs/sql-support.md"
)

// form is a form of a statement with examples: for one node, for several, or
// for wherever it goes.
type form struct {
	section, title        string
	one, several, any     string
	source                string // several nodes of one data source
	before, after, check  string
	columns, conn, unlike bool
	nothing               bool
}

// readForms reads the forms of testdata/sql-support.txt, which says how they are
// written.
func readForms(t *testing.T) []form {
	t.Helper()
	data, err := os.ReadFile(supportFile)
	if err != nil {
		t.Fatal(err)
	}
	var forms []form
	section := ""
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		f := form{}
		for _, line := range strings.Split(block, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch {
			case strings.HasPrefix(line, "# "):
			case strings.HasPrefix(line, "== "):
				section = line[3:]
			case f.title == "":
				f.title, f.section = line, section
			case key == "one":
				f.one = value
			case key == "several":
				f.several = value
			case key == "source":
				f.source = value
			case key == "any":
				f.any = value
			case key == "before":
				f.before = value
			case key == "after":
				f.after = value
			case key == "check":
				f.check = value
			case line == "columns":
				f.columns = true
			case line == "pinned":
				f.conn = true
			case line == "unlike":
				f.unlike = true
			case line == "nothing":
				f.nothing = true
			default:
				t.Fatalf("%s: %q is not understood in\n%s", supportFile, line, block)
			}
		}
		if f.title != "" {
			forms = append(forms, f)
		}
	}
	return forms
}

// support runs the forms, sharded and on the single database.
type support struct {
	*cluster
	app    *app
	single *gorm.DB
}

// TestDocumentedSQLAnswersAsOneDatabase runs every form of
// testdata/sql-support.txt. What is answered must be the single database's
// answer, what is refused must be refused before anything is sent; and
// docs/sql-support.md, which -support writes, must say so.
func TestDocumentedSQLAnswersAsOneDatabase(t *testing.T) {
	sampleCluster(t)
	c := newCluster(t, "support", mariadb.Shared(t, 2))
	c.reset(t)
	cfg := c.config("multiStatements=true")
	cfg.Schema = c.name + "_single" // the name that the single database shows
	s := &support{cluster: c, app: c.open(t, cfg, nil), single: c.openSingle(t, nil, "multiStatements=true")}
	pool, err := s.single.DB()
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxIdleConns(-1) // what an example sets must not reach the next one
	forms := readForms(t)
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", strings.TrimSpace(supportHead))
	section, answered, refused := "", 0, 0
	for _, f := range forms {
		if f.section != section {
			section = f.section
			fmt.Fprintf(&out, "\n## %s\n\n| statement | one node | several nodes of one data source | several data sources | where refused |\n|---|---|---|---|---|\n", section)
		}
		one, oneError := s.try(t, &f, f.one, 1)
		source, sourceError := s.try(t, &f, f.source, 0)
		several, severalError := s.try(t, &f, f.several, 2)
		if f.any != "" {
			one, oneError = s.try(t, &f, f.any, 0)
		}
		for _, cell := range []string{one, source, several} {
			switch cell {
			case "refused":
				refused++
			case "":
			default:
				answered++
			}
		}
		if f.any != "" {
			source, several = one, one
		}
		message := oneError
		for _, other := range []string{sourceError, severalError} {
			if other != "" && !strings.Contains(message, other) {
				message = strings.TrimPrefix(message+"; ", "; ") + other
			}
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", f.title, one, source, several, strings.ReplaceAll(message, "|", "\\|"))
	}
	t.Logf("%d forms: %d cells answered, %d refused", len(forms), answered, refused)
	if *writeSupport {
		if err := os.WriteFile(supportTable, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(supportTable)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != out.String() {
		t.Errorf("%s is stale: run `go test ./tests/orders -run DocumentedSQL -support` and read the difference\n%s",
			supportTable, rowtext.Differ(strings.Split(string(written), "\n"), strings.Split(out.String(), "\n")))
	}
}

// try runs an example and returns what the table says of it, and the error. units
// is the number of units it must reach: 1, at least 2, or any for 0.
func (s *support) try(t *testing.T, f *form, example string, units int) (cell, message string) {
	t.Helper()
	if example == "" {
		return "", ""
	}
	if f.before != "" {
		s.both(t, f.before)
	}
	s.app.trace.take()
	preview, err := s.app.plugin.Preview(t.Context(), example)
	if err == nil && !f.conn && preview.Kind != "gathered" && (units == 1 && len(preview.Units) != 1 || units == 2 && len(preview.Units) < 2) {
		t.Errorf("%s\n%s\ngoes to %d units", f.title, example, len(preview.Units))
	}
	var refusal *sharding.UnsupportedError
	switch d := s.differ(t, f, example, &err); {
	case err != nil:
		if sent := s.app.trace.take(); len(sent) > 0 && !f.conn {
			t.Errorf("%s\nwas refused (%v) after %v", example, err, sent)
		}
		if errors.As(err, &refusal) && (refusal.Clause == "" || refusal.Reason == "" && refusal.Err == nil) {
			t.Errorf("%s\nthe refusal lacks clause or reason: %v", example, err)
		}
		cell, message = "refused", strings.TrimPrefix(err.Error(), "sharding: ")
	case d != "":
		t.Errorf("%s\n%s\n%s", f.title, example, d)
	default:
		cell = "yes"
		if preview != nil {
			cell = preview.Kind
		}
	}
	if f.after != "" {
		s.both(t, f.after)
	}
	return cell, message
}

// differ runs an example on both sides and returns how they differ; err is set
// when the sharded side refuses it, whether in its preview or when it is run.
func (s *support) differ(t *testing.T, f *form, example string, err *error) string {
	t.Helper()
	verb := strings.ToUpper(strings.Trim(strings.Fields(example)[0], "("))
	switch verb {
	case "INSERT", "REPLACE", "UPDATE", "DELETE":
		return s.differInWrite(t, f, example, err)
	case "SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "ANALYZE", "CHECK", "CHECKSUM":
		query := func(db *gorm.DB) (a answer) {
			_ = f.on(db, func(db *gorm.DB) error {
				a = ask(t.Context(), throughGORM(db), example, nil)
				return a.err
			})
			return a
		}
		got := query(s.app.DB)
		if isRefusal(got.err) {
			*err = got.err
			return ""
		}
		return f.differ(example, query(s.single), got)
	}
	run := func(db *gorm.DB) error {
		return f.on(db, func(db *gorm.DB) error { return db.Exec(example).Error })
	}
	got := run(s.app.DB)
	if isRefusal(got) {
		*err = got
		return ""
	}
	if want := run(s.single); (want == nil) != (got == nil) {
		return fmt.Sprintf("error %v where the single database has %v", got, want)
	}
	if f.check == "" {
		return ""
	}
	return f.differ(f.check, ask(t.Context(), throughGORM(s.single), f.check, nil), ask(t.Context(), throughGORM(s.app.DB), f.check, nil))
}

// on runs an example on the pool, or on a connection of its own.
func (f *form) on(db *gorm.DB, run func(db *gorm.DB) error) error {
	if f.conn {
		return db.Connection(run)
	}
	return run(db)
}

// differInWrite runs a write in a transaction that is rolled back.
func (s *support) differInWrite(t *testing.T, f *form, example string, err *error) string {
	t.Helper()
	one := func(db *gorm.DB) (a answer, affected int64, rows map[string][]string) {
		tx := db.Begin()
		defer tx.Rollback()
		if strings.Contains(strings.ToUpper(example), "RETURNING") && !strings.Contains(example, ";") {
			a = ask(t.Context(), throughGORM(tx), example, nil)
		} else {
			done := tx.Exec(example)
			a.err, affected = done.Error, done.RowsAffected
		}
		rows = map[string][]string{}
		for _, table := range []string{"t_ent_order", "t_ent_order_detail", "t_ent_order_item", "t_region", "t_operator"} {
			if a.err == nil && strings.Contains(example, table) {
				all := ask(t.Context(), throughGORM(tx), "SELECT * FROM "+table, nil)
				if all.err != nil {
					t.Errorf("%s\n%v", example, all.err)
				}
				rows[table] = rowtext.Shown(all.rows)
				slices.Sort(rows[table])
			}
		}
		return a, affected, rows
	}
	got, gotAffected, gotRows := one(s.app.DB)
	if isRefusal(got.err) {
		*err = got.err
		return ""
	}
	want, wantAffected, wantRows := one(s.single)
	if d := f.differ(example, want, got); d != "" {
		return d
	}
	if !f.nothing && want.err == nil && wantAffected == 0 && len(want.rows) == 0 {
		return "the example changes nothing"
	}
	if gotAffected != wantAffected && !f.unlike {
		return fmt.Sprintf("%d rows affected instead of %d", gotAffected, wantAffected)
	}
	for table := range wantRows {
		if d := differ(wantRows[table], gotRows[table]); d != "" {
			return table + ": " + d
		}
	}
	return ""
}

// differ compares two answers, only in their columns where the form says so.
func (f *form) differ(example string, want, got answer) string {
	if f.columns && want.err == nil && got.err == nil {
		names := func(a answer) (names []string) {
			for _, c := range a.columns {
				name, _, _ := strings.Cut(c, " ")
				names = append(names, name)
			}
			return names
		}
		return differ(names(want), names(got))
	}
	if !f.nothing && want.err == nil && len(want.columns) > 0 && len(want.rows) == 0 {
		return "the example finds nothing"
	}
	q := query{sql: example}
	return q.differ(want, got, answer{}, nil)
}

// isRefusal reports whether the planner, not a server, gave the error.
func isRefusal(err error) bool {
	for _, class := range []error{
		sharding.ErrUnsupported, sharding.ErrNoShardingKey, sharding.ErrShardingKeyUpdate, sharding.ErrNoDataNode, sharding.ErrUnknownTable,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// both prepares or undoes something on every data source's logical tables and in
// the single database.
func (s *support) both(t *testing.T, statement string) {
	t.Helper()
	for name, db := range map[string]*gorm.DB{"sharded": s.app.DB, "single": s.single} {
		if err := db.WithContext(context.WithoutCancel(t.Context())).Exec(statement).Error; err != nil {
			t.Fatalf("%s, %s: %v", name, statement, err)
		}
	}
}

const supportHead = `
# SQL support

What becomes of each form of a statement on a sharded or broadcast table: where it leads to one node, where it needs several nodes of one data source, and where it needs several data sources. An empty cell was not tried: where a data source has one node of each table, the third column is the second. A cell names the kind of the route, as Plugin.Preview shows it; "refused" means that nothing is sent, and the last column has the error.

This table is written by a test: every form is in tests/orders/testdata/sql-support.txt with an example for each cell, which runs on MariaDB, sharded and in one database with the same rows, and what is answered here was the one database's answer. In the examples t_ent_order and t_ent_order_detail are bound by ent_id over four data sources, t_ent_order_item has eight tables in each, t_region is a broadcast table and t_operator lives in the default data source.

A statement that names no sharded, broadcast or placed table passes through to the default data source untouched.
`
