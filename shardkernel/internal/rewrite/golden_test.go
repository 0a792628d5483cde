package rewrite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

var rewriteGolden = flag.Bool("rewrite", false, "write what the golden files should hold")

// orderService is the configuration of an order service: orders and details by
// enterprise over four databases, items over eight tables in each as well.
func orderService(t testing.TB, more ...func(cfg *config.Config, types map[string]string)) *pipeline {
	t.Helper()
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0", Schema: "orders"}
	for i := range 4 {
		ds := fmt.Sprint("ds", i)
		cfg.DataSources[ds] = config.DataSource{DSN: config.DSN("test@tcp(localhost)/" + ds)}
	}
	by := func(algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: algorithm}}
	}
	cfg.Sharding = config.Sharding{
		Algorithms: map[string]config.Algorithm{
			"ent_database": {Type: "INLINE", Props: map[string]any{"expression": "ds${ent_id % 4}"}},
			"item_table":   {Type: "INLINE", Props: map[string]any{"expression": "t_ent_order_item_${ent_id.intdiv(4) % 8}"}},
			"user_mod":     {Type: "MOD", Props: map[string]any{"shardingCount": 2}},

			"archive_database": {Type: "HINT_INLINE", Props: map[string]any{"expression": "ds${value % 2}"}},
			"archive_table":    {Type: "HINT_INLINE", Props: map[string]any{"expression": "t_archive_${value}"}},
		},
		KeyGenerators: map[string]config.KeyGenerator{"counter": {Type: "COUNTER"}},
		Tables: map[string]config.Table{
			"t_ent_order":        {ActualDataNodes: "ds${0..3}.t_ent_order", DatabaseStrategy: by("ent_database")},
			"t_ent_order_detail": {ActualDataNodes: "ds${0..3}.t_ent_order_detail", DatabaseStrategy: by("ent_database")},
			"t_ent_order_item": {
				ActualDataNodes: "ds${0..3}.t_ent_order_item_${0..7}", DatabaseStrategy: by("ent_database"), TableStrategy: by("item_table"),
				KeyGenerate: &config.KeyGenerate{Column: "id", Generator: "counter"},
			},
			// Sharded by another column, so bound to none of the above.
			"t_user": {ActualDataNodes: "ds1.t_user_${0..1}", TableStrategy: &config.Strategy{Standard: &config.Standard{Column: "user_id", Algorithm: "user_mod"}}},
			// Sharded by hints alone.
			"t_archive": {
				ActualDataNodes:  "ds${0..1}.t_archive_${2023..2024}",
				DatabaseStrategy: &config.Strategy{Hint: &config.Hint{Algorithm: "archive_database"}},
				TableStrategy:    &config.Strategy{Hint: &config.Hint{Algorithm: "archive_table"}},
			},
		},
		BindingTables:   [][]string{{"t_ent_order", "t_ent_order_detail"}},
		BroadcastTables: []string{"t_region"},
		SingleTables:    map[string]string{"t_operator": "ds0"},
	}
	types := map[string]string{
		"t_ent_order": "id bigint,ent_id bigint,order_no varchar(64) general,code varchar(20) binary,remark varchar(64) unicode,status int," +
			"amount decimal(10,2),kind enum,extra json,region_id bigint,operator_id bigint,created_at datetime," +
			"changed_at timestamp,rate float,ratio double,flags bit unindexed,token uuid,exact decimal(30,20)",
		"t_ent_order_detail": "id bigint,ent_id bigint,order_id bigint,address varchar(64) general",
		"t_ent_order_item":   "id bigint,ent_id bigint,order_id bigint,sku varchar(20) binary,qty int,price decimal(10,2)",
		"t_region":           "id bigint auto_increment,name varchar(64) general unique",
		"t_operator":         "id bigint,name varchar(64) general",
		"t_user":             "user_id bigint,name varchar(64) general",
		"t_archive":          "id bigint,name varchar(64) general",
	}
	for _, add := range more {
		add(cfg, types)
	}
	tables := map[string]*value.Table{}
	for name, list := range types {
		var columns []value.Column
		for _, def := range strings.Split(digits.ReplaceAllString(list, "($1.$2)"), ",") {
			column, typ, _ := strings.Cut(def, " ")
			columns = append(columns, columnOf(t, column, typ))
		}
		tables[name] = value.NewTable(columns)
	}
	return newPipeline(t, cfg, route.Meta(func(name string) *value.Table { return tables[name] }))
}

// digits are those of a DECIMAL.
var digits = regexp.MustCompile(`\((\d+),(\d+)\)`)

// TestGoldenRoutes runs testdata/*.txt: after a line "route" with the
// arguments, optionally with "sqlite", "nometa", "described", "first", "gather", "markers=n"
// or a hint such as "table=t_doc:3" before them, comes the
// statement, then ----, then what it becomes. A blank line ends a case, # begins
// a comment.
func TestGoldenRoutes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	total := 0
	services := map[string]*pipeline{"strategies.txt": strategyService(t), "clocks.txt": clockService(t)}
	orders := orderService(t)
	for _, file := range files {
		p := orders
		if own := services[filepath.Base(file)]; own != nil {
			p = own
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
				out.WriteString(runGolden(t, *p, block, &total) + "\n\n")
			}
			if *rewriteGolden {
				if err := os.WriteFile(file, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if total < 80 {
		t.Errorf("%d golden cases, want at least 80", total)
	}
}

// runGolden runs one block and returns it with what it became.
func runGolden(t *testing.T, p pipeline, block string, total *int) string {
	lines := strings.Split(strings.Trim(block, "\n"), "\n")
	first := 0
	for first < len(lines) && strings.HasPrefix(lines[first], "#") {
		first++
	}
	if first == len(lines) {
		return strings.Join(lines, "\n")
	}
	directive, found := strings.CutPrefix(lines[first], "route")
	if !found {
		t.Fatalf("no directive in block:\n%s", block)
	}
	end := first + 1
	for end < len(lines) && lines[end] != "----" {
		end++
	}
	sql := strings.Join(lines[first+1:end], "\n")
	want := ""
	if end < len(lines) {
		want = strings.Join(lines[end+1:], "\n")
	}
	p.keys.last = 0
	var args []any
	for _, word := range splitWords(directive) {
		switch word {
		case "sqlite":
			p.dialect = dialect.SQLite
		case "nometa":
			p.meta = nil
		case "described":
			p.describe = describeByName
		case "first":
			p.precedes = true
		case "gather":
			p.gathers = true
		default:
			if p.addHint(word) {
				break
			}
			if n, ok := strings.CutPrefix(word, "markers="); ok {
				few := *p.dialect
				few.MaxMarkers, _ = strconv.Atoi(n)
				p.dialect = &few
				break
			}
			args = append(args, goldenArg(word))
		}
	}
	given := append([]any(nil), args...)
	e, err := p.run(sql, args)
	got := ""
	if err != nil {
		got = "error: " + err.Error()
	} else {
		got = strings.TrimSuffix(printExecution(e), "\n")
		proveSplices(t, &p, sql, args)
		proveComments(t, &p, sql, args)
	}
	*total++
	if fmt.Sprint(args) != fmt.Sprint(given) {
		t.Errorf("%s\nthe caller's arguments became %v", sql, args)
	}
	if got != want && !*rewriteGolden {
		t.Errorf("route%s\n%s\n---- got\n%s\n---- want\n%s", directive, sql, got, want)
	}
	return strings.Join(lines[:end], "\n") + "\n----\n" + got
}

// addHint reads database=t:1,2, table=t:3 and node=t:ds0.t_1, where * stands for
// all tables; it reports false for any other word. A value for a complex strategy
// is written column>value&column>value.
func (p *pipeline) addHint(word string) bool {
	what, rest, ok := strings.Cut(word, "=")
	logical, list, colon := strings.Cut(rest, ":")
	if !ok || !colon {
		return false
	}
	table, _ := p.set.Table(logical)
	if logical == "*" {
		logical = ""
	}
	if p.hints == nil {
		p.hints = new(route.Hints)
	}
	i := slices.IndexFunc(p.hints.Values, func(v route.HintValues) bool { return v.Logical == logical })
	if i < 0 {
		i = len(p.hints.Values)
		p.hints.Values = append(p.hints.Values, route.HintValues{Logical: logical})
	}
	switch v := &p.hints.Values[i]; what {
	case "database":
		v.Database = goldenValues(list)
	case "table":
		v.Table = goldenValues(list)
	case "node":
		n := slices.IndexFunc(table.Nodes, func(n rule.Node) bool { return n.DataSource+"."+n.Table == list })
		v.Node = &table.Nodes[n]
	default:
		return false
	}
	return true
}

func goldenValues(list string) []any {
	var values []any
	for _, text := range strings.Split(list, ",") {
		if !strings.Contains(text, ">") {
			values = append(values, goldenArg(text))
			continue
		}
		columns := map[string]any{}
		for _, pair := range strings.Split(text, "&") {
			column, text, _ := strings.Cut(pair, ">")
			columns[column] = goldenArg(text)
		}
		values = append(values, columns)
	}
	return values
}

// proveLabels compares the labels of the columns: names of actual tables must not
// show in them (semantics row 28).
func proveLabels(t *testing.T, before, after *parse.Statement, spliced string) {
	if before.Select == nil || after.Select == nil {
		return
	}
	for i := range before.Select.Items {
		if want, got := before.Select.Items[i].Label, after.Select.Items[i].Label; want != got {
			t.Errorf("%s\nbecame\n%s\nin which the label of column %d is %q instead of %q", before.Text, spliced, i+1, got, want)
		}
	}
}

// splitWords splits at spaces outside of single quotes.
func splitWords(s string) []string {
	quoted := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

func goldenArg(word string) any {
	if text, ok := strings.CutPrefix(word, "'"); ok {
		return strings.TrimSuffix(text, "'")
	}
	if word == "null" {
		return nil
	}
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(word, 10, 64); err == nil {
		return u
	}
	if f, err := strconv.ParseFloat(word, 64); err == nil {
		return f
	}
	return word
}
