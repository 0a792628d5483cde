//go:build unix

package placement_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/tests/mariadb"
)

const (
	rowsOfAKey = 1_000  // SHARDING_TEST_LONG: 10,000
	inBatches  = 250    // rows of one INSERT
	inLists    = 100    // values of one IN
	ranges     = 8      // BETWEENs of a table
	singles    = 40     // values asked for alone; SHARDING_TEST_LONG: all
	reference  = "ref_" // prefix of the unsharded tables
)

// set is a type of key with its rows, which are the same under every algorithm.
type set struct {
	key
	values []any // of row n; no two are equal
	found  map[string][]int64
}

// place is a set stored under one algorithm.
type place struct {
	*set
	table   string
	tables  []string // actual ones
	complex bool     // the place depends on n as well
}

func TestRowsOfEveryAlgorithmAndKeyAreFoundWhereTheyWerePut(t *testing.T) {
	count, alone := rowsOfAKey, singles
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		count, alone = 10*rowsOfAKey, 10*rowsOfAKey
	}
	server := mariadb.Shared(t, 1)[0]
	if err := server.CreateDatabase(t.Context(), "placement"); err != nil {
		t.Fatal(err)
	}
	plain, err := sql.Open("mysql", server.DSN("placement", "multiStatements=true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close() })
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {DSN: config.DSN(server.DSN("placement")), MaxOpenConns: 8, MaxIdleConns: 8}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{Tables: map[string]config.Table{}, Algorithms: map[string]config.Algorithm{
			below: {Type: "MOD", Props: map[string]any{"shardingCount": 2}},
			above: {Type: "HASH_MOD", Props: map[string]any{"shardingCount": 4}},
		}},
	}
	var places []place
	var ddl []string
	for i := range keys {
		s := &set{key: keys[i], found: map[string][]int64{}}
		s.fill(rand.New(rand.NewPCG(11, uint64(i))), count)
		// Hundreds of tables are made sooner in memory; where a row goes and what a
		// condition finds is no matter of the engine.
		columns := " (n bigint NOT NULL PRIMARY KEY, k " + s.ddl + ") ENGINE = MEMORY"
		ddl = append(ddl, "CREATE TABLE "+reference+s.name+columns)
		for _, algorithm := range s.algorithms {
			p := place{set: s, table: s.name + "_by_" + algorithm}
			m := methodOf(algorithm, p.table, s.name == "unsigned")
			if m.tables == nil {
				m.tables = []string{"0", "1", "2", "3"}
			}
			var nodes []string
			for _, ending := range m.tables {
				p.tables = append(p.tables, p.table+"_"+ending)
				nodes = append(nodes, "ds0."+p.table+"_"+ending)
				ddl = append(ddl, "CREATE TABLE "+p.table+"_"+ending+columns)
			}
			strategy := &config.Strategy{Standard: &config.Standard{Column: "k", Algorithm: p.table}}
			if m.complex {
				strategy, p.complex = &config.Strategy{Complex: &config.Complex{Columns: []string{"k", "n"}, Algorithm: p.table}}, true
			}
			strategy.TextKey = s.textKey
			cfg.Sharding.Tables[p.table] = config.Table{ActualDataNodes: strings.Join(nodes, ","), TableStrategy: strategy}
			cfg.Sharding.Algorithms[p.table] = config.Algorithm{Type: m.typ, Props: m.props}
			places = append(places, p)
		}
	}
	if _, err := plain.ExecContext(t.Context(), strings.Join(ddl, ";\n")); err != nil {
		t.Fatal(err)
	}
	db, err := gorm.Open(mysql.Open(server.DSN("placement")), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
	if err != nil {
		t.Fatal(err)
	}
	plugin := sharding.Register(cfg)
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	seen := map[*set]bool{}
	for _, p := range places {
		if !seen[p.set] {
			seen[p.set] = true
			p.insert(t, db, reference+p.name) // no table of the configuration: passes through
		}
		t.Run(p.table, func(t *testing.T) {
			if p.refused {
				err := db.Table(p.table).Create(map[string]any{"n": 0, "k": p.values[0]}).Error
				if !errors.Is(err, sharding.ErrUnsupported) {
					t.Errorf("error %v, want a refusal of the type", err)
				}
				return
			}
			p.insert(t, db, p.table)
			p.checkNodes(t, plain, plugin)
			p.checkReads(t, db, alone)
		})
	}
	t.Logf("%d tables of %d rows, %d values of each asked for alone", len(places), count, min(alone, count))
}

// fill makes the rows.
func (s *set) fill(r *rand.Rand, count int) {
	taken := map[string]bool{}
	for len(s.values) < count {
		v := s.random(r)
		if id := fmt.Sprint(v); !taken[id] || s.name == "date" { // there are fewer days than rows
			taken[id] = true
			s.values = append(s.values, v)
		}
	}
}

// given is a value in one of the ways an application may give it.
func (s *set) given(n int) any {
	if form := n % (1 + len(s.forms)); form > 0 {
		return s.forms[form-1](s.values[n])
	}
	return s.values[n]
}

// insert stores all rows in batches through GORM.
func (s *set) insert(t *testing.T, db *gorm.DB, table string) {
	t.Helper()
	rows := make([]map[string]any, len(s.values))
	for n := range rows {
		rows[n] = map[string]any{"n": n, "k": s.given(n)}
	}
	for batch := range slices.Chunk(rows, inBatches) {
		if err := db.Table(table).Create(batch).Error; err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
}

// checkNodes reads every actual table and routes what is stored in it: every row
// is in one table, and that is where its value leads.
func (p *place) checkNodes(t *testing.T, plain *sql.DB, plugin *sharding.Plugin) {
	total, used, foreign := 0, 0, 0
	for _, actual := range p.tables {
		rows, err := plain.QueryContext(t.Context(), "SELECT k, n FROM "+actual+" WHERE n >= ?", 0) // prepared, so that types are kept
		if err != nil {
			t.Fatal(err)
		}
		before := total
		for rows.Next() {
			var stored any
			var n int64
			if err := rows.Scan(&stored, &n); err != nil {
				t.Fatal(err)
			}
			total++
			from, where, args := "SELECT n FROM ", " WHERE k = ?", []any{stored}
			if p.name == "decimal" { // a text is compared as DOUBLE, and leads everywhere
				where, args = fmt.Sprintf(" WHERE k = %s", stored), nil
			}
			if p.complex {
				where, args = where+" AND n = ?", append(args, n)
			}
			preview, err := plugin.Preview(t.Context(), from+p.table+where, args...)
			if err != nil {
				t.Fatalf("%v: %v", stored, err)
			}
			if p.open {
				continue
			}
			if len(preview.Units) != 1 || preview.Units[0].SQL != from+actual+where {
				if foreign++; foreign <= 3 {
					t.Errorf("%s holds %q, which leads to %d units, the first is %s", actual, stored, len(preview.Units), preview.Units[0].SQL)
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		_ = rows.Close()
		if total > before {
			used++
		}
	}
	if foreign > 0 {
		t.Errorf("%d rows are in a table that their value does not lead to alone", foreign)
	}
	if total != len(p.values) {
		t.Errorf("the actual tables hold %d rows, of %d", total, len(p.values))
	}
	if used < 2 {
		t.Errorf("all rows are in %d table: that proves little", used)
	}
}

// checkReads asks for values alone, in lists and in ranges.
func (p *place) checkReads(t *testing.T, db *gorm.DB, alone int) {
	r := rand.New(rand.NewPCG(3, 5))
	for i := range min(alone, len(p.values)) {
		n := i
		if alone < len(p.values) {
			n = r.IntN(len(p.values))
		}
		p.check(t, db, fmt.Sprint("= ", n), n, "k = ?", p.given(n))
	}
	for from := 0; from < len(p.values); from += inLists {
		list := make([]any, 0, inLists)
		for n := from; n < min(from+inLists, len(p.values)); n++ {
			list = append(list, p.given(n))
		}
		p.check(t, db, fmt.Sprint("in ", from), from, "k IN ?", list)
	}
	for i := range ranges {
		// Neighbours among a few have a range of few values between them, too.
		from, to := p.values[i*7%len(p.values)], p.values[(i*13+1)%len(p.values)]
		if i%3 == 0 {
			to = from
		}
		p.check(t, db, fmt.Sprint("between ", i), -1, "k BETWEEN ? AND ?", from, to)
		p.check(t, db, fmt.Sprint("beside ", i), -1, "k > ? AND k <= ?", to, from)
		p.check(t, db, fmt.Sprint("above ", i), -1, "k >= ?", from)
	}
}

// check compares the rows of a condition with those of the unsharded table,
// whose answer is kept under a name; row n, if it is not -1, must be among them.
func (p *place) check(t *testing.T, db *gorm.DB, name string, n int, condition string, args ...any) {
	t.Helper()
	read := func(table string) (found []int64) {
		if err := db.Table(table).Where(condition, args...).Order("n").Pluck("n", &found).Error; err != nil {
			t.Fatalf("%s WHERE %s %v: %v", table, condition, args, err)
		}
		return found
	}
	want, known := p.found[name]
	if !known {
		want = read(reference + p.name)
		p.found[name] = want
	}
	if n >= 0 && !slices.Contains(want, int64(n)) {
		t.Errorf("WHERE %s %v finds %v in the unsharded table, without row %d", condition, args, want, n)
	}
	if got := read(p.table); !slices.Equal(got, want) {
		t.Errorf("WHERE %s %v\nfinds rows %v\ninstead of  %v", condition, args, got, want)
	}
}
