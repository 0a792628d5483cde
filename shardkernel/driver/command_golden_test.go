package driver_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewriteCommands = flag.Bool("rewrite", false, "write testdata/commands.txt anew")

// TestGoldenCommands holds testdata/commands.txt: a statement that no table
// routes, or that uses its session, then ----, then what happens to it on a
// connection of its own (what it becomes, or why it is refused), and, where it
// differs, on the pool.
func TestGoldenCommands(t *testing.T) {
	const file = "testdata/commands.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		query, want, _ := strings.Cut(block, "\n----\n")
		query = strings.TrimSuffix(query, "\n----")
		if strings.HasPrefix(query, "# ") {
			out.WriteString(block + "\n\n")
			continue
		}
		got := held(t, query)
		if pool := pooled(t, query); pool != got {
			got += "\npool: " + pool
		}
		if got != want && !*rewriteCommands {
			t.Errorf("%s\n---- got\n%s\n---- want\n%s", query, got, want)
		}
		fmt.Fprintf(&out, "%s\n----\n%s\n\n", query, got)
	}
	if *rewriteCommands {
		if err := os.WriteFile(file, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// held runs a statement on a connection of its own, with another one behind it
// that shows what became of its node connections.
func held(t *testing.T, query string) string {
	c := open(t)
	conn := c.take(t)
	if _, err := conn.ExecContext(t.Context(), query); err != nil {
		return "error: " + err.Error()
	}
	if _, err := conn.ExecContext(t.Context(), "UPDATE t_order SET a = 1 WHERE order_id = 3"); err != nil {
		return "then error: " + err.Error()
	}
	out := c.outcome(t, query)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	return out
}

func pooled(t *testing.T, query string) string {
	c := open(t)
	if _, err := c.ExecContext(t.Context(), query); err != nil {
		return "error: " + err.Error()
	}
	if _, err := c.ExecContext(t.Context(), "UPDATE t_order SET a = 1 WHERE order_id = 3"); err != nil {
		return "then error: " + err.Error()
	}
	return c.outcome(t, query)
}

// outcome is the plan of a statement and what was sent, with the numbers of the
// connections.
func (c *cluster) outcome(t *testing.T, query string) string {
	var out []string
	if ex, err := c.kernel.Plan(t.Context(), nil, query, nil); err != nil {
		out = append(out, "plan error: "+err.Error())
	} else {
		out = append(out, string(ex.Kind)+": "+ex.Reason)
	}
	for i := range c.node {
		for _, text := range c.sent(i) {
			out = append(out, fmt.Sprintf("ds%d %s", i, text))
		}
	}
	return strings.Join(out, "\n")
}
