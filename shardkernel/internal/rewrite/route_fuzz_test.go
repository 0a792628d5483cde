package rewrite_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// keyed is a type of sharding column: what is stored in it, by the text of the
// literal, and the algorithms that take it.
type keyed struct {
	name, typ  string
	exact      bool
	stored     []string
	literals   []string // what it is compared with beside what is stored
	algorithms []string
}

var keyedTypes = []keyed{
	{
		name: "bi", typ: "bigint",
		stored: []string{"0", "1", "2", "3", "4", "-1", "-2", "7", "10", "11", "9223372036854775807", "-9223372036854775808", "9007199254740993", "'5'", "'-3'", "6.0"},
		literals: []string{
			"'1'", "'01'", "' 2'", "'1abc'", "'abc'", "1.0", "1.5", "'1.5'", "TRUE", "FALSE", "18446744073709551615", "9007199254740992",
			"3 + 1", "10 - 3", "2 * 5", "9223372036854775806", "-9223372036854775807",
		},
		algorithms: []string{"mod", "inline", "java", "xx", "volume", "boundary", "slots", "ring"},
	},
	{
		name: "ub", typ: "bigint unsigned",
		stored:     []string{"0", "1", "2", "3", "7", "10", "18446744073709551615", "9223372036854775808", "9223372036854775807", "'4'"},
		literals:   []string{"-1", "'01'", "1.5", "'2.0'", "18446744073709551614", "TRUE", "5 + 5"},
		algorithms: []string{"mod", "java", "wide", "slots"},
	},
	{
		name: "ts", typ: "varchar(20) binary",
		stored:     []string{"'a'", "'A'", "'b'", "''", "'1'", "'01'", "'1abc'", "'10'", "'9'", "'a '"},
		literals:   []string{"1", "0", "'c'", "10", "1.0", "'aa'", "TRUE"},
		algorithms: []string{"java", "xx", "slots", "ring"},
	},
	{
		name: "te", typ: "varchar(20) general", exact: true,
		stored:     []string{"'a'", "'b'", "'10'", "'9'", "'abc'"},
		literals:   []string{"10", "'c'", "'aa'", "9.0"},
		algorithms: []string{"java", "xx"},
	},
	{
		name: "de", typ: "decimal(10,2)",
		stored:     []string{"0", "1", "1.50", "-2.25", "10", "'3.75'", "99999999.99"},
		literals:   []string{"1.5", "1.500", "1.25", "'1.5'", "'10'", "2", "10.0"},
		algorithms: []string{"java", "xx", "slots"},
	},
	{
		name: "dt", typ: "datetime",
		stored: []string{"'2021-01-01'", "'2022-12-31 23:59:59'", "'2023-01-01 00:00:00'", "'2024-02-29'", "20240105", "'2024-1-5'", "'2024-12-31T10:00:00'", "20210704103000"},
		literals: []string{
			"'2023-01-01'", "'20240105'", "20240229", "'2022-06-01'", "'2025-01-01'", "'2020-12-31 23:59:59'", "'1999-1-1'",
		},
		algorithms: []string{"interval", "auto", "xx", "slots"},
	},
}

// algorithmNamed configures an algorithm for tables that end in _0 to _3, or in
// the years 2021 to 2024.
func algorithmNamed(name, table string) config.Algorithm {
	props := map[string]any{}
	typ := ""
	switch name {
	case "mod":
		typ, props["shardingCount"] = "MOD", 4
	case "inline":
		typ, props["expression"] = "INLINE", table+"_${floorMod(k, 4)}"
	case "java":
		typ, props["shardingCount"] = "HASH_MOD", 4
	case "xx":
		typ, props["shardingCount"], props["hash"] = "HASH_MOD", 4, "xxhash64"
	case "volume":
		typ, props["rangeLower"], props["rangeUpper"], props["shardingVolume"] = "VOLUME_RANGE", 0, 8, 4
	case "boundary":
		typ, props["shardingRanges"] = "BOUNDARY_RANGE", []any{0, 3, 10}
	case "wide":
		typ, props["shardingRanges"] = "BOUNDARY_RANGE", []any{uint64(2), uint64(1) << 63, ^uint64(0)}
	case "slots":
		typ, props["slots"] = "SLOT_RANGE", 64
		props["hash"] = "xxhash64"
	case "ring":
		typ = "CONSISTENT_HASH"
	case "auto":
		typ, props["datetimeLower"], props["datetimeUpper"], props["shardingSeconds"] = "AUTO_INTERVAL", "2022-01-01 00:00:00", "2024-01-01 00:00:00", 365*24*3600
	case "interval":
		typ, props["datetimeLower"], props["datetimeUpper"] = "INTERVAL", "2021-01-01 00:00:00", "2024-12-31 23:59:59"
		props["suffixPattern"], props["amount"], props["unit"] = "yyyy", 1, "YEARS"
	}
	return config.Algorithm{Type: typ, Props: props}
}

// keyedPipeline has a table type_algorithm for every pair, sharded by k, one
// whose database goes by k and whose table by m (two), one that goes by k on both
// levels (same), one that goes by k and m together (complex), and one that goes
// by another algorithm from a threshold on (grown).
func keyedPipeline(t testing.TB) (p *pipeline, tables []string) {
	t.Helper()
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: "ds0"}
	for i := range 4 {
		ds := fmt.Sprint("ds", i)
		cfg.DataSources[ds] = config.DataSource{DSN: config.DSN("test@tcp(localhost)/" + ds)}
	}
	cfg.Sharding = config.Sharding{Tables: map[string]config.Table{}, Algorithms: map[string]config.Algorithm{}}
	columns := map[string]*value.Table{}
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	known := func(table, typ string) {
		tables = append(tables, table)
		unsigned := strings.TrimSuffix(typ, " unsigned")
		k := columnOf(t, "k", unsigned)
		k.Unsigned = unsigned != typ
		columns[table] = value.NewTable([]value.Column{k, columnOf(t, "m", "bigint"), columnOf(t, "v", "bigint")})
	}
	for _, kt := range keyedTypes {
		for _, name := range kt.algorithms {
			table := kt.name + "_" + name
			cfg.Sharding.Algorithms[table] = algorithmNamed(name, table)
			nodes := "ds0." + table + "_${0..3}"
			if name == "interval" {
				nodes = "ds0." + table + "_${2021..2024}"
			}
			strategy := by("k", table)
			if kt.exact {
				strategy.TextKey = config.TextKeyExact
			}
			cfg.Sharding.Tables[table] = config.Table{ActualDataNodes: nodes, TableStrategy: strategy}
			known(table, kt.typ)
		}
	}
	for name, modulus := range map[string]int{"mod2": 2, "mod3": 3, "mod4": 4} {
		cfg.Sharding.Algorithms[name] = config.Algorithm{Type: "MOD", Props: map[string]any{"shardingCount": modulus}}
	}
	cfg.Sharding.Tables["bi_two"] = config.Table{ActualDataNodes: "ds${0..3}.bi_two_${0..2}", DatabaseStrategy: by("k", "mod4"), TableStrategy: by("m", "mod3")}
	cfg.Sharding.Tables["bi_same"] = config.Table{ActualDataNodes: "ds${0..3}.bi_same_${0..1}", DatabaseStrategy: by("k", "mod4"), TableStrategy: by("k", "mod2")}
	cfg.Sharding.Algorithms["sum"] = config.Algorithm{Type: "COMPLEX_INLINE", Props: map[string]any{"expression": "bi_complex_${floorMod(k + m, 4)}"}}
	cfg.Sharding.Algorithms["grown"] = config.Algorithm{Type: "THRESHOLD", Props: map[string]any{"threshold": 3, "below": "mod2", "above": "mod4"}}
	cfg.Sharding.Tables["bi_complex"] = config.Table{
		ActualDataNodes: "ds0.bi_complex_${0..3}",
		TableStrategy:   &config.Strategy{Complex: &config.Complex{Columns: []string{"k", "m"}, Algorithm: "sum"}},
	}
	cfg.Sharding.Tables["bi_grown"] = config.Table{ActualDataNodes: "ds0.bi_grown_${0..3}", TableStrategy: by("k", "grown")}
	known("bi_complex", "bigint")
	known("bi_grown", "bigint")
	known("bi_two", "bigint")
	known("bi_same", "bigint")
	return newPipeline(t, cfg, route.Meta(func(name string) *value.Table { return columns[name] })), tables
}

// decisions is a source of random numbers that takes a byte for each, and so
// lets a fuzzer change one decision at a time. Behind the last byte every
// decision is the first choice.
type decisions struct{ left []byte }

func (d *decisions) Uint64() uint64 {
	next := byte(0)
	if len(d.left) > 0 {
		next, d.left = d.left[0], d.left[1:]
	}
	return uint64(next)<<56 | 1<<56 - 1
}

// placed writes random conditions over the columns of one type.
type placed struct {
	generator
	keyed *keyed
	row   cell // the sharding value of the row that is stored
	args  []any
}

// value writes a literal, or a marker whose argument is the same value.
func (p *placed) value(literal string) string {
	if strings.Contains(literal[1:], " ") && literal[0] != '\'' || p.IntN(2) == 0 {
		return literal
	}
	arg, ok := argumentOf(literal, p.IntN(3))
	if !ok {
		return literal
	}
	p.args = append(p.args, arg)
	return "?"
}

// argumentOf is a literal as an application may bind it.
func argumentOf(literal string, form int) (any, bool) {
	switch {
	case literal == "NULL":
		return nil, true
	case literal == "TRUE", literal == "FALSE":
		return literal == "TRUE", true
	case literal[0] == '\'':
		text := strings.Trim(literal, "'")
		if at, ok := readTime(text); ok && form == 1 {
			return at, true
		}
		if form == 2 {
			return []byte(text), true
		}
		return text, true
	}
	if n := literalCell(literal).n; n.IsInt() && !strings.Contains(literal, ".") {
		switch i := n.Num(); {
		case form == 1 && i.IsUint64():
			return i.Uint64(), true
		case i.IsInt64():
			return i.Int64(), true
		case i.IsUint64():
			return i.Uint64(), true
		}
	}
	return nil, false // a decimal that is bound is a text, which compares in another way
}

func (p *placed) pick(from []string) string { return from[p.IntN(len(from))] }

// operand is what the column is compared with.
func (p *placed) operand(column string) string {
	switch {
	case p.IntN(12) == 0:
		return p.value("NULL")
	case column == "k" && p.IntN(3) == 2:
		return p.value(p.near())
	case column == "k" && p.IntN(3) > 0:
		return p.value(p.pick(p.keyed.stored))
	case column == "k":
		return p.value(p.pick(p.keyed.literals))
	}
	return p.value(fmt.Sprint(p.IntN(7) - 2))
}

// near is a value at or beside that of the row.
func (p *placed) near() string {
	switch p.row.kind {
	case kindNumber:
		n := new(big.Rat).Add(p.row.n, [...]*big.Rat{big.NewRat(0, 1), big.NewRat(-1, 2), big.NewRat(1, 2), big.NewRat(-1, 1), big.NewRat(1, 1)}[p.IntN(5)])
		text := strings.TrimSuffix(strings.TrimRight(n.FloatString(2), "0"), ".")
		if p.keyed.name == "ub" && n.Sign() < 0 || p.IntN(4) < 3 {
			return text
		}
		return "'" + text + "'"
	case kindTime:
		at := p.row.at.Add([...]time.Duration{0, -time.Second, time.Second, -24 * time.Hour, 24 * time.Hour}[p.IntN(5)])
		return at.Format([...]string{"'2006-01-02 15:04:05'", "'2006-1-2T15:4:5'", "20060102150405"}[p.IntN(3)])
	}
	return "'" + p.row.text + "'"
}

func (p *placed) predicate() string {
	column := [...]string{"k", "k", "k", "m", "v"}[p.IntN(5)]
	name, not := "a0."+column, ""
	if p.IntN(4) == 3 {
		not = "NOT "
	}
	list := func(one func() string) string {
		members := make([]string, 1+p.IntN(4))
		for i := range members {
			members[i] = one()
		}
		return strings.Join(members, ",")
	}
	one := func() string { return p.operand(column) }
	switch p.IntN(10) {
	case 0, 1:
		return name + " = " + one()
	case 2, 3:
		return name + " " + not + "IN (" + list(one) + ")"
	case 4:
		return name + " " + not + "BETWEEN " + one() + " AND " + one()
	case 5:
		return name + " <=> " + one()
	case 6:
		return name + " IS " + not + "NULL"
	case 7:
		return one() + " " + [...]string{"=", "<", "<=", ">", ">="}[p.IntN(5)] + " " + name
	case 8:
		return "(a0.k, a0.m) IN (" + list(func() string { return "(" + p.operand("k") + "," + p.operand("m") + ")" }) + ")"
	}
	return name + " " + [...]string{"<", "<=", ">", ">=", "<>"}[p.IntN(5)] + " " + one()
}

func (p *placed) condition(depth int) string {
	if depth == 0 {
		return p.predicate()
	}
	switch p.IntN(7) {
	case 0, 1:
		return p.predicate()
	case 2:
		return "NOT (" + p.condition(depth-1) + ")"
	case 3, 4:
		return "(" + p.condition(depth-1) + " OR " + p.condition(depth-1) + ")"
	}
	return p.condition(depth-1) + " AND " + p.condition(depth-1)
}

var unitPattern = regexp.MustCompile(`(?:FROM|UPDATE|INTO) (\w+)(?: a0|\b)`)

// findPlacedRow stores one random row and asks for it with a random condition:
// the node that holds it must be asked, once, with a condition that is true of
// the row exactly when the one given is.
func findPlacedRow(t *testing.T, p *pipeline, tables []string, source rand.Source) (outcome string) {
	t.Helper()
	r := rand.New(source)
	table := tables[r.IntN(len(tables))]
	g := &placed{generator: generator{r}}
	for i := range keyedTypes {
		if strings.HasPrefix(table, keyedTypes[i].name+"_") {
			g.keyed = &keyedTypes[i]
		}
	}
	k, m, v := g.pick(g.keyed.stored), fmt.Sprint(r.IntN(7)-2), fmt.Sprint(r.IntN(7)-2)
	if r.IntN(4) == 3 {
		v = "NULL"
	}
	insert := "INSERT INTO " + table + " (k, m, v) VALUES (" + g.value(k) + ", " + g.value(m) + ", " + v + ")"
	e, err := p.run(insert, g.args)
	if err != nil {
		if errors.Is(err, fault.ErrUnsupported) || errors.Is(err, fault.ErrNoDataNode) {
			return "not stored"
		}
		t.Fatalf("%s %v: %v", insert, g.args, err)
	}
	if len(e.Units) != 1 {
		t.Fatalf("%s %v goes to %d units", insert, g.args, len(e.Units))
	}
	node := e.Units[0].DataSource + "." + unitPattern.FindStringSubmatch(e.Units[0].SQL)[1]
	stored := literalCell(k)
	if g.keyed.name == "dt" {
		stored = cell{kind: kindTime, at: stored.at}
	} else if !strings.HasPrefix(g.keyed.typ, "varchar") {
		stored.kind = kindNumber
	}
	g.row = stored
	row := joined{record{"k": stored, "m": literalCell(m), "v": literalCell(v)}}

	g.args = nil
	where := g.condition([...]int{0, 0, 1, 1, 2, 3}[r.IntN(6)])
	sql := "SELECT a0.k FROM " + table + " a0 WHERE " + where
	if r.IntN(4) == 3 {
		sql = "UPDATE " + table + " a0 SET a0.v = 1 WHERE " + where
	}
	want := newCondition(where, g.args).holds(row)
	if e, err = p.run(sql, g.args); err != nil {
		if !errors.Is(err, fault.ErrUnsupported) {
			t.Fatalf("%s %v: %v", sql, g.args, err)
		}
		return "refused"
	}
	found := 0
	for _, u := range e.Units {
		if u.DataSource+"."+unitPattern.FindStringSubmatch(u.SQL)[1] != node {
			continue
		}
		_, unitWhere, _ := strings.Cut(u.SQL, " WHERE ")
		if newCondition(unitWhere, u.Args).holds(row) {
			found++
		}
	}
	if found > 1 || (found == 1) != want {
		t.Fatalf("the row of\n%s\nis in %s, and\n%s %v\nwhich is %t of it, finds it %d times:\n%s", insert, node, sql, g.args, want, found, printExecution(e))
	}
	if want {
		return "found"
	}
	return "not meant"
}

// FuzzRoute proves that a row is found where it was put. Every byte is a
// decision: which table, what is stored, which condition.
func FuzzRoute(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		seed := make([]byte, 20+r.IntN(60))
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	p, tables := keyedPipeline(f)
	f.Fuzz(func(t *testing.T, choices []byte) {
		findPlacedRow(t, p, tables, &decisions{left: choices})
	})
}

func TestPlacedRowsAreFound(t *testing.T) {
	const rounds = 20_000
	p, tables := keyedPipeline(t)
	outcomes := map[string]int{}
	began := time.Now()
	for seed := range uint64(rounds) {
		outcomes[findPlacedRow(t, p, tables, rand.NewPCG(seed, 7))]++
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%v in %v", outcomes, time.Since(began))
	if outcomes["found"] < rounds/8 {
		t.Errorf("only %d rows were asked for: %v", outcomes["found"], outcomes)
	}
}
