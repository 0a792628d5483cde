package rewrite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// The oracle is a database small enough to be right by inspection: it knows
// conditions with three-valued logic (evaluator_test.go), and joins by nested loops.
// Statements are run on all rows at once, and unit by unit on the rows that
// INSERT put into the unit's nodes; both must give the same rows.

var (
	fromPattern = regexp.MustCompile(`FROM (\w+) a0`)
	joinPattern = regexp.MustCompile(`(INNER|LEFT|RIGHT) JOIN (\w+) a\d ON (.*?) /\*on\*/`)
)

// query runs a SELECT in the oracle: FROM, joins in text order, WHERE. rows gives
// the rows of a table. The result is one line for each row, sorted.
func query(sql string, rows func(table string) []record) []string {
	body, where, _ := strings.Cut(sql, " WHERE ")
	var current []joined
	for _, r := range rows(fromPattern.FindStringSubmatch(body)[1]) {
		current = append(current, joined{r})
	}
	aliases := 1
	for _, j := range joinPattern.FindAllStringSubmatch(body, -1) {
		kind, right, on := j[1], rows(j[2]), newCondition(j[3], nil)
		matched := make([]bool, len(right))
		var out []joined
		for _, row := range current {
			found := false
			for i, r := range right {
				row[aliases] = r
				if on.holds(row) {
					out = append(out, row)
					found, matched[i] = true, true
				}
			}
			if kind == "LEFT" && !found {
				row[aliases] = nil
				out = append(out, row)
			}
		}
		for i, r := range right {
			if kind == "RIGHT" && !matched[i] {
				var row joined
				row[aliases] = r
				out = append(out, row)
			}
		}
		current = out
		aliases++
	}
	var result []string
	condition := newCondition(where, nil)
	for _, row := range current {
		if !condition.holds(row) {
			continue
		}
		line := ""
		for _, r := range row[:aliases] {
			id := "-"
			if r != nil {
				id = r["id"].n.RatString()
			}
			line += id + " "
		}
		result = append(result, line)
	}
	slices.Sort(result)
	return result
}

// oracleTables are sharded in different ways: t_o and t_d are bound, t_i is bound
// to them by its database, t_s by one column on both levels, t_w
// has more nodes than fit a word, t_u is bound to none.
func oraclePipeline(t testing.TB) *pipeline {
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0"}
	for i := range 3 {
		ds := fmt.Sprint("ds", i)
		cfg.DataSources[ds] = config.DataSource{DSN: config.DSN("test@tcp(localhost)/" + ds)}
	}
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	cfg.Sharding = config.Sharding{
		Algorithms: map[string]config.Algorithm{
			"mod3":  {Type: "MOD", Props: map[string]any{"shardingCount": 3}},
			"mod2":  {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
			"hash4": {Type: "HASH_MOD", Props: map[string]any{"shardingCount": 4, "hash": "xxhash64"}},
			"mod30": {Type: "MOD", Props: map[string]any{"shardingCount": 30}},
			"inl":   {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(k, 3)}"}},
			"inls":  {Type: "INLINE", Props: map[string]any{"expression": "t_s_${floorMod(k, 2)}"}},
		},
		Tables: map[string]config.Table{
			"t_o": {ActualDataNodes: "ds${0..2}.t_o_${0..1}", DatabaseStrategy: by("k", "mod3"), TableStrategy: by("m", "mod2")},
			"t_d": {ActualDataNodes: "ds${0..2}.t_d_${0..1}", DatabaseStrategy: by("k", "mod3"), TableStrategy: by("m", "mod2")},
			"t_i": {ActualDataNodes: "ds${0..2}.t_i_${0..3}", DatabaseStrategy: by("k", "mod3"), TableStrategy: by("k", "hash4")},
			"t_s": {ActualDataNodes: "ds${0..2}.t_s_${0..1}", DatabaseStrategy: by("k", "inl"), TableStrategy: by("k", "inls")},
			"t_w": {ActualDataNodes: "ds${0..2}.t_w_${0..29}", DatabaseStrategy: by("k", "mod3"), TableStrategy: by("m", "mod30")},
			"t_u": {ActualDataNodes: "ds0.t_u_${0..1}", TableStrategy: by("k", "mod2")},
		},
		BindingTables:   [][]string{{"t_o", "t_d"}},
		BroadcastTables: []string{"t_b"},
	}
	columns := []value.Column{columnOf(t, "id", "bigint"), columnOf(t, "k", "bigint"), columnOf(t, "m", "bigint"), columnOf(t, "v", "bigint")}
	table := value.NewTable(columns)
	return newPipeline(t, cfg, route.Meta(func(string) *value.Table { return table }))
}

var insertPattern = regexp.MustCompile(`INTO (\w+) `)

// fill inserts random rows through the pipeline, and returns the rows by logical
// table and by node.
func fill(t *testing.T, p *pipeline, r *rand.Rand) (logical, nodes map[string][]record) {
	logical, nodes = map[string][]record{}, map[string][]record{}
	for _, table := range []string{"t_o", "t_d", "t_i", "t_s", "t_w", "t_u", "t_b"} {
		for id := range 14 {
			k, m := r.IntN(9)-2, r.IntN(5)-1
			row := record{"id": integer(id), "k": integer(k), "m": integer(m), "v": integer(r.IntN(5))}
			if r.IntN(4) == 0 {
				row["v"] = cell{}
			}
			logical[table] = append(logical[table], row)
			e, err := p.run("INSERT INTO "+table+" (id, k, m) VALUES (?, ?, ?)", []any{int64(id), int64(k), int64(m)})
			if err != nil {
				t.Fatal(err)
			}
			if table != "t_b" && len(e.Units) != 1 {
				t.Fatalf("a row of %s goes to %d units", table, len(e.Units))
			}
			for _, u := range e.Units {
				node := u.DataSource + "." + insertPattern.FindStringSubmatch(u.SQL)[1]
				nodes[node] = append(nodes[node], row)
			}
		}
	}
	return logical, nodes
}

// generator writes random conditions and queries.
type generator struct{ *rand.Rand }

func (g generator) literal() string {
	switch g.IntN(12) {
	case 0:
		return "NULL"
	case 1:
		return "2.5"
	case 2:
		return fmt.Sprintf("'%d'", g.IntN(7))
	case 3:
		return "'x'"
	}
	return strconv.Itoa(g.IntN(9) - 2)
}

func (g generator) predicate(aliases []string) string {
	column := aliases[g.IntN(len(aliases))] + "." + [...]string{"k", "k", "k", "m", "m", "v"}[g.IntN(6)]
	switch g.IntN(11) {
	case 10:
		return column + " = " + aliases[g.IntN(len(aliases))] + "." + [...]string{"k", "m"}[g.IntN(2)]
	case 0, 1, 2:
		return column + " = " + g.literal()
	case 3:
		return g.literal() + " = " + column
	case 4, 5:
		list := make([]string, 1+g.IntN(4))
		for i := range list {
			list[i] = g.literal()
		}
		not := ""
		if g.IntN(4) == 0 {
			not = "NOT "
		}
		return column + " " + not + "IN (" + strings.Join(list, ",") + ")"
	case 6:
		not := ""
		if g.IntN(4) == 0 {
			not = "NOT "
		}
		return column + " " + not + "BETWEEN " + g.literal() + " AND " + g.literal()
	case 7:
		return column + " IS " + [...]string{"", "NOT "}[g.IntN(2)] + "NULL"
	case 8:
		return column + " <=> " + g.literal()
	}
	return column + " " + [...]string{"<", "<=", ">", ">=", "<>"}[g.IntN(5)] + " " + g.literal()
}

func (g generator) condition(aliases []string, depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.predicate(aliases)
	}
	switch g.IntN(6) {
	case 0:
		return "NOT (" + g.condition(aliases, depth-1) + ")"
	case 1, 2:
		return "(" + g.condition(aliases, depth-1) + " OR " + g.condition(aliases, depth-1) + ")"
	}
	return g.condition(aliases, depth-1) + " AND " + g.condition(aliases, depth-1)
}

func (g generator) query() string {
	tables := []string{"t_o", "t_d", "t_i", "t_s", "t_w", "t_u", "t_b", "t_o", "t_d", "t_i"}
	table := func() string { return tables[g.IntN(len(tables))] }
	aliases := []string{"a0"}
	sql := "SELECT a0.id FROM " + table() + " a0"
	var equal []string // what WHERE equates in place of ON
	for n := g.IntN(4); n > 0; n-- {
		alias := fmt.Sprint("a", len(aliases))
		kind := [...]string{"INNER", "INNER", "LEFT", "LEFT", "RIGHT"}[g.IntN(5)]
		sql += " " + kind + " JOIN " + table() + " " + alias + " ON "
		other := aliases[g.IntN(len(aliases))]
		on := []string{alias + ".k = " + other + ".k", other + ".m = " + alias + ".m"}
		switch g.IntN(9) {
		case 7, 8:
			on = []string{alias + ".k = " + other + ".k", aliases[g.IntN(len(aliases))] + ".k = " + alias + ".k"}
		case 0:
			on = on[:1]
		case 1:
			on = on[1:]
		case 2:
			on = []string{alias + ".v = " + other + ".m"}
		case 3:
			on = append(on, g.predicate(append(aliases, alias)))
		case 4:
			on[1] = aliases[g.IntN(len(aliases))] + ".m = " + alias + ".m"
		}
		if g.IntN(6) == 0 {
			equal = append(equal, on...)
			on = []string{"1 = 1"}
		}
		sql += strings.Join(on, " AND ") + " /*on*/"
		aliases = append(aliases, alias)
	}
	if g.IntN(8) > 0 {
		equal = append(equal, g.condition(aliases, 1+g.IntN(3)))
	}
	if len(equal) > 0 {
		sql += " WHERE " + strings.Join(equal, " AND ")
	}
	return sql
}

// TestUnitsGiveWhatOneDatabaseGives routes random queries over random rows. A
// failure prints the seed.
func TestUnitsGiveWhatOneDatabaseGives(t *testing.T) {
	const rounds, queries = 4, 500
	p := oraclePipeline(t)
	one, several, refused := 0, 0, 0
	for round := range rounds {
		seed := uint64(round)
		r := rand.New(rand.NewPCG(seed, 42))
		logical, nodes := fill(t, p, r)
		g := generator{r}
		for range queries {
			sql := g.query()
			e, err := p.run(sql, nil)
			if err != nil {
				if !errors.Is(err, fault.ErrUnsupported) {
					t.Fatalf("seed %d\n%s\n%v", seed, sql, err)
				}
				refused++
				continue
			}
			if e.Kind == plan.KindUnited { // no SQL for the evaluator of this test
				refused++
				continue
			}
			if len(e.Units) == 1 {
				one++
			} else {
				several++
			}
			want := query(sql, func(table string) []record { return logical[table] })
			var got []string
			for _, u := range e.Units {
				got = append(got, query(u.SQL, func(table string) []record { return nodes[u.DataSource+"."+table] })...)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d\n%s\n%s\ngot  %v\nwant %v", seed, sql, printExecution(e), got, want)
			}
		}
	}
	t.Logf("%d queries on one node, %d on several, %d refused", one, several, refused)
	if one < 200 || several < 400 {
		t.Errorf("too few queries were answered to prove anything: %d on one node, %d on several", one, several)
	}
}
