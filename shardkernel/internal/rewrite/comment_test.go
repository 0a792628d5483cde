package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// proveComments fails unless a statement with comments in it is sent the same
// way whether it is planned with them, or without them and they are put back.
func proveComments(t *testing.T, p *pipeline, sql string, args []any) {
	gaps := gapsOf(sql)
	if len(gaps) == 0 || strings.ContainsAny(sql, "#") || strings.Contains(sql, "--") || strings.Contains(sql, "/*") {
		return
	}
	texts := []string{commented(sql, gaps[:1]), commented(sql, gaps[len(gaps)-1:]), commented(sql, gaps), "-- a\n" + sql + " # z"}
	if p.dialect.Name != "mysql" {
		texts = texts[:3]
	}
	for _, text := range texts {
		key, comments := parse.Uncomment(text, p.dialect)
		p.keys.last = 0
		e, keyErr := p.run(key, args)
		p.keys.last = 0
		want, err := p.run(text, args)
		switch {
		case err != nil: // inside an expression that is not understood with it, say
			continue
		case keyErr != nil:
			t.Errorf("%s\nis refused without its comments:\n%v", text, keyErr)
			continue
		}
		e.EachText(func(sent string) string { return parse.Recomment(sent, comments) })
		if got, want := printExecution(e), printExecution(want); got != want {
			t.Errorf("%s\nbecame, with its comments put back,\n%s\ninstead of\n%s", text, got, want)
		}
	}
}

// gapsOf returns the positions of spaces outside of quotes that do not stand
// before a parenthesis, where a comment may change what a name is.
func gapsOf(sql string) []int {
	var gaps []int
	quote := byte(0)
	for i := range len(sql) {
		switch c := sql[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == ' ' && i+1 < len(sql) && sql[i+1] != '(':
			gaps = append(gaps, i)
		}
	}
	return gaps
}

// commented returns sql with a comment in each of the gaps.
func commented(sql string, gaps []int) string {
	var b strings.Builder
	at := 0
	for i, gap := range gaps {
		fmt.Fprintf(&b, "%s /* c%d */", sql[at:gap], i)
		at = gap
	}
	return b.String() + sql[at:]
}
