//go:build unix

package oracle_test

import (
	"strings"
	"testing"
)

// TestALostRowIsFoundAndShownWithAllThatLeadsToIt: rows of one node are taken away
// behind the back of the code under test, as if a merge had lost them.
func TestALostRowIsFoundAndShownWithAllThatLeadsToIt(t *testing.T) {
	clusters := newClusters(t, "planted", topologies[4])
	if _, err := clusters[0].nodes[1].ExecContext(t.Context(), "DELETE FROM orders"); err != nil {
		t.Fatal(err)
	}
	r := newReport()
	problem := ""
	for seed := uint64(1); problem == "" && seed <= 40; seed++ {
		problem = judge(t.Context(), clusters, seed, typical, r)
	}
	for _, part := range []string{
		"text, way ", "two, ", // protocol, way, cluster
		"single", "sharded", // both results
		"\nSELECT ", "\nargs ", "\nroute: all nodes, ", "\nunits\n  ds", // the statement and its way
		"\nreduced\n  SELECT ",
	} {
		if !strings.Contains(problem, part) {
			t.Errorf("no %q in %q", part, problem)
		}
	}
	if _, reduced, _ := strings.Cut(problem, "\nreduced\n"); strings.Contains(reduced, "does not happen again") {
		t.Errorf("not reduced: %s", reduced)
	}
	if r.all[scattered][typical][wrong] == 0 {
		t.Errorf("nothing is counted as wrong: %s", r)
	}
}
