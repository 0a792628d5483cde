package rewrite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// FuzzPipeline proves that no text makes the planner panic, that what is sent is
// the statement with nothing but the intended changes, each marker with its own
// argument, and that the caller's arguments stay as they are.
func FuzzPipeline(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(data), "\n\n") {
			directive, rest, found := strings.Cut(block, "\n")
			if sql, _, ok := strings.Cut(rest, "\n----"); found && ok && strings.HasPrefix(directive, "route") {
				f.Add(sql, int64(5), false)
			}
		}
	}
	p := orderService(f)
	f.Fuzz(func(t *testing.T, sql string, arg int64, sqlite bool) {
		p := *p
		if sqlite {
			p.dialect = dialect.SQLite
		}
		c, err := p.compile(sql)
		if err != nil {
			return
		}
		args := make([]any, len(c.program.Statement().Markers))
		for i := range args {
			args[i] = arg + int64(i)
		}
		e, err := c.run(args)
		if err != nil {
			return
		}
		for i := range args {
			if args[i] != arg+int64(i) {
				t.Fatalf("%q changed argument %d", sql, i)
			}
		}
		for _, u := range e.Units {
			if _, err := p.compile(u.SQL); err != nil {
				return // actual names may be words the parser keeps
			}
		}
		if faults := spliceFaults(c, e, args); len(faults) > 0 {
			t.Fatalf("%q %s", sql, faults[0])
		}
	})
}
