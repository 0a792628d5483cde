//go:build unix

package zoo_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gormshard/sharding/tests/rowtext"
)

var writeSupport = flag.Bool("support", false, "write docs/gorm-support.md")

const supportTable = "../../docs/gorm-support.md"

// answers are what became of the features by placement: nil, or the refusal.
type answers map[string]map[placement]error

// cells are the answers of this run, without the variants'.
var cells = answers{}

func (a answers) set(w *way, feature string, refusal error) {
	if w.variant != &usual {
		return
	}
	if a[feature] == nil {
		a[feature] = map[placement]error{}
	}
	a[feature][w.placement] = refusal
}

// columns are the placements in the table, from left to right.
var columns = []placement{sharded, bound, broadcast, single}

// complete reports whether all features have run on all placements.
func (a answers) complete() bool {
	for _, s := range sections {
		for _, f := range s.of {
			if len(a[f.name]) != len(columns)+1 { // and plain
				return false
			}
		}
	}
	return true
}

// table is docs/gorm-support.md.
func (a answers) table() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(supportHead) + "\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| what | sharded | bound | broadcast | single | where refused |\n|---|---|---|---|---|---|\n", s.title)
		for _, f := range s.of {
			row := []string{f.name}
			var reasons []string
			for _, p := range columns {
				cell := "yes"
				if err := a[f.name][p]; err != nil {
					cell = "refused"
					reason := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "sharding: "), "\n", "; ")
					if !slices.Contains(reasons, reason) {
						reasons = append(reasons, reason)
					}
				}
				row = append(row, cell)
			}
			row = append(row, strings.ReplaceAll(strings.Join(reasons, "; "), "|", "\\|"))
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	return b.String()
}

// checkSupport holds docs/gorm-support.md against the answers, or writes it.
func checkSupport(t *testing.T) {
	t.Helper()
	if !cells.complete() {
		return // some tests were left out, or have failed
	}
	text := cells.table()
	if *writeSupport {
		if err := os.WriteFile(supportTable, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(supportTable)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != text {
		t.Errorf("%s is stale: run `go test ./tests/zoo -run Features -support` and read the difference\n%s",
			supportTable, rowtext.Differ(strings.Split(string(written), "\n"), strings.Split(text, "\n")))
	}
}

const supportHead = `
# GORM support

What becomes of each thing that GORM offers, by where the tables live. "yes" means that the same assertions hold as with plain GORM on one MariaDB database; "refused" means an error before anything is sent, which the last column has.

This table is written by a test: tests/zoo runs every row on plain GORM and on four placements of the same models. *sharded*: users are sharded by id and what they own by the user's id, in two tables of two data sources each, and the tables are not bound to each other; companies and languages are broadcast tables. *bound*: the same, with ` + "`bindingTables`" + ` of all of them. *broadcast*: all tables are in both data sources. *single*: all tables are in one data source that is not the default one.

The suite runs also with PrepareStmt, with SkipDefaultTransaction, without RETURNING as on MySQL, and on SQLite, which refuses more (tests/zoo/refusal_test.go). What SQL is answered is in [sql-support.md](sql-support.md).
`
