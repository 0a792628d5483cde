//go:build unix

package app_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
)

// recorder is a logger that keeps what it is told.
type recorder struct {
	mu     sync.Mutex
	traces []string // of GORM: rows and SQL
	lines  []string // level and text
}

func (r *recorder) LogMode(logger.LogLevel) logger.Interface { return r }

func (r *recorder) line(level, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, level+" "+fmt.Sprintf(format, args...))
}

func (r *recorder) Info(_ context.Context, format string, args ...any) {
	r.line("info", format, args...)
}

func (r *recorder) Warn(_ context.Context, format string, args ...any) {
	r.line("warn", format, args...)
}

func (r *recorder) Error(_ context.Context, format string, args ...any) {
	r.line("error", format, args...)
}

func (r *recorder) Trace(_ context.Context, _ time.Time, f func() (string, int64), _ error) {
	sql, rows := f()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traces = append(r.traces, fmt.Sprintf("%d %s", rows, savepoint.ReplaceAllString(sql, "SAVEPOINT sp")))
}

// GORM gives every savepoint a name of its own.
var savepoint = regexp.MustCompile(`SAVEPOINT sp\d+`)

// ParamsFilter is what logger.Config.ParameterizedQueries makes of it.
func (r *recorder) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

// take returns what was told since the last call.
func (r *recorder) take() (traces, lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	traces, lines = r.traces, r.lines
	r.traces, r.lines = nil, nil
	return traces, lines
}

const secret = "s3cret-value"

// calls are finishers of every kind. Their values hold the secret.
var calls = []struct {
	name  string
	units []string // data source and rows of each unit, sorted
	call  func(db *gorm.DB) error
}{
	{"Create", []string{"ds1 rows 1"}, func(db *gorm.DB) error {
		return db.Create(&user{ID: 11, OwnerID: 1, Email: secret}).Error
	}},
	{"Create over nodes", []string{"ds0 rows 1", "ds1 rows 1", "ds1 rows 1"}, func(db *gorm.DB) error {
		return db.Create(&[]user{{ID: 12, OwnerID: 1, Email: secret + "2"}, {ID: 13, OwnerID: 2, Email: secret}, {ID: 14, OwnerID: 3, Email: secret}}).Error
	}},
	{"First of one node", []string{"ds1 rows 1"}, func(db *gorm.DB) error {
		return db.First(&user{}, "owner_id = ? AND email = ?", 1, secret).Error
	}},
	{"First of none", []string{"ds1 rows 0"}, func(db *gorm.DB) error {
		if err := db.First(&user{}, "owner_id = ? AND email = ?", 1, secret+"x").Error; err != gorm.ErrRecordNotFound { // GORM's own value
			return fmt.Errorf("found: %w", err)
		}
		return nil
	}},
	{"Find of all nodes", []string{"ds0 rows 0", "ds0 rows 1", "ds1 rows 1", "ds1 rows 2"}, func(db *gorm.DB) error {
		return db.Order("id").Find(&[]user{}, "email LIKE ?", secret+"%").Error
	}},
	{"Count", nil, func(db *gorm.DB) error {
		var n int64
		return db.Model(&user{}).Where("email LIKE ?", secret+"%").Count(&n).Error
	}},
	{"Row", []string{"ds1 rows 1"}, func(db *gorm.DB) error {
		var id int64
		return db.Raw("SELECT id FROM t_user WHERE owner_id = ? AND email = ?", 1, secret).Row().Scan(&id)
	}},
	{"Update of all nodes", []string{"ds0 rows 0", "ds0 rows 1", "ds1 rows 1", "ds1 rows 2"}, func(db *gorm.DB) error {
		return db.Model(&user{}).Where("email LIKE ?", secret+"%").Update("balance", 4711).Error
	}},
	{"upsert", []string{"ds0 rows 0", "ds0 rows 0", "ds1 rows 0", "ds1 rows 1"}, func(db *gorm.DB) error {
		return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&user{ID: 11, OwnerID: 1, Email: secret, Balance: 7}).Error
	}},
	{"Preload", []string{"ds1 rows 0", "ds1 rows 2"}, func(db *gorm.DB) error {
		return db.Preload("Items", "owner_id = ?", 1).Find(&[]user{}, "owner_id = ?", 1).Error
	}},
	{"Transaction", []string{"ds0 rows 1", "ds1 rows 1"}, func(db *gorm.DB) error {
		return db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&item{ID: 11, OwnerID: 1, UserID: 11, Title: secret}).Error; err != nil {
				return err
			}
			return tx.Transaction(func(tx *gorm.DB) error { return tx.First(&user{}, "owner_id = ?", 2).Error })
		})
	}},
	{"Exec", []string{"ds1 rows 1"}, func(db *gorm.DB) error {
		return db.Exec("UPDATE t_item SET title = ? WHERE owner_id = ?", secret+"3", 1).Error
	}},
	{"broadcast", []string{"ds0 rows 1", "ds1 rows 1"}, func(db *gorm.DB) error { return db.Create(&region{ID: 11, Name: secret}).Error }},
	{"duplicate key", []string{"ds1 rows 0"}, func(db *gorm.DB) error {
		if err := db.Create(&user{ID: 15, OwnerID: 1, Email: secret}).Error; err == nil {
			return fmt.Errorf("no error")
		}
		return nil
	}},
	{"Delete of all nodes", nil, func(db *gorm.DB) error {
		if err := db.Where("title LIKE ?", secret+"%").Delete(&item{}).Error; err != nil {
			return err
		}
		return db.Where("email LIKE ?", secret+"%").Delete(&user{}).Error
	}},
}

func TestOneTraceOfEachLogicalStatement(t *testing.T) {
	c := newCluster(t, "traces")
	for _, prepared := range []bool{false, true} {
		one, two := &recorder{}, &recorder{}
		plain := c.plain(t, &gorm.Config{Logger: one, PrepareStmt: prepared})
		sharded := c.open(t, c.config(), &gorm.Config{Logger: two, PrepareStmt: prepared})
		empty(t, plain)
		empty(t, sharded)
		one.take()
		two.take()
		for _, call := range calls {
			for _, db := range []*gorm.DB{plain, sharded} {
				if err := call.call(db); err != nil {
					t.Fatalf("%s: %v", call.name, err)
				}
			}
			want, _ := one.take()
			got, lines := two.take()
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: traces\n%s\nwant\n%s", call.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(lines) > 0 && call.name != "Create" { // warned once of the unique key by owner, or not at all
				t.Errorf("%s: lines %q without sqlShow", call.name, lines)
			}
		}
	}
}

// summary is the data sources and rows of the lines of units, sorted.
func summary(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	for _, line := range lines {
		_, line, found := strings.Cut(line, "sharding: ")
		parts := strings.Split(line, " | ")
		if !found || len(parts) < 4 {
			t.Errorf("line %q is not of a unit", line)
			continue
		}
		if _, err := time.ParseDuration(parts[1]); err != nil {
			t.Errorf("line %q: %v", line, err)
		}
		if !strings.Contains(parts[3], "t_user_") && !strings.Contains(parts[3], "t_item_") && !strings.Contains(parts[3], "t_region") {
			t.Errorf("line %q does not show the actual SQL", line)
		}
		out = append(out, parts[0]+" "+parts[2])
	}
	return sorted(out)
}

func TestSQLShowTellsOfEveryUnit(t *testing.T) {
	c := newCluster(t, "sqlshow")
	cfg := c.config()
	cfg.Props.SQLShow = true
	r := &recorder{}
	db := c.open(t, cfg, &gorm.Config{Logger: r})
	empty(t, db)
	var all []string
	for _, call := range calls {
		r.take()
		if err := call.call(db); err != nil {
			t.Fatalf("%s: %v", call.name, err)
		}
		_, lines := r.take()
		all = append(all, lines...)
		if got := summary(t, lines); call.units != nil && strings.Join(got, ", ") != strings.Join(call.units, ", ") {
			t.Errorf("%s: units %q, want %q\n%s", call.name, got, call.units, strings.Join(lines, "\n"))
		}
	}
	text := strings.Join(all, "\n")
	if strings.Contains(text, secret) || strings.Contains(text, "4711") {
		t.Errorf("the lines show values of arguments:\n%s", text)
	}
	if !strings.Contains(text, "error sharding: ds1") || !strings.Contains(text, "Error 1062 (23000)") {
		t.Errorf("no line tells of the duplicate key:\n%s", text)
	}
}

func TestRowsThatAreLeftHalfReadAreTold(t *testing.T) {
	c := newCluster(t, "half")
	cfg := c.config()
	cfg.Props.SQLShow, cfg.Props.MaxConnectionsPerQuery = true, 2 // a cursor for each table
	r := &recorder{}
	db := c.open(t, cfg, &gorm.Config{Logger: r})
	fill(t, db)
	for _, where := range []string{"owner_id = 1", "id > 0"} {
		r.take()
		rows, err := db.Model(&user{}).Where(where).Order("id").Rows()
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal("no row", rows.Err())
		}
		_, ended := r.take() // nodes without a row
		if slices.ContainsFunc(ended, func(line string) bool { return !strings.Contains(line, " rows 0 ") }) {
			t.Errorf("%s: told of before its end: %q", where, ended)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if _, lines := r.take(); len(lines) == 0 {
			t.Errorf("%s: not told of at its end", where)
		}
	}
}

func TestSlowUnitsAreWarnedOf(t *testing.T) {
	c := newCluster(t, "slow")
	for _, show := range []bool{false, true} {
		cfg := c.config()
		cfg.Props.SQLShow, cfg.Props.SlowUnit = show, 150*time.Millisecond
		r := &recorder{}
		db := c.open(t, cfg, &gorm.Config{Logger: r})
		fill(t, db)
		find := func(db *gorm.DB) error { return db.Find(&[]user{}, "owner_id = 3 AND SLEEP(0.3) = 0").Error }
		for way, slowly := range map[string]func() error{
			"the pool":      func() error { return find(db) },
			"a transaction": func() error { return db.Transaction(find) },
		} {
			r.take()
			if err := slowly(); err != nil {
				t.Fatal(err)
			}
			slow := 0
			_, lines := r.take()
			for _, line := range lines {
				if strings.HasPrefix(line, "warn sharding: slow") {
					slow++
					if !strings.Contains(line, "ds1 | ") {
						t.Errorf("%q does not name the slow data source", line)
					}
				}
			}
			if slow != 1 {
				t.Errorf("%s, sqlShow %t: %d lines of slow units, want 1: %q", way, show, slow, lines)
			}
		}
	}
}

func TestUnitTraceKnowsRowsWhereItCan(t *testing.T) {
	c := newCluster(t, "unittrace")
	var mu sync.Mutex
	var rows []int64
	db := c.open(t, c.config(), nil, sharding.WithUnitTrace(func(_ context.Context, u sharding.UnitTrace) {
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, u.Rows)
		if u.Elapsed < u.Answered || u.Answered <= 0 {
			t.Errorf("%s: answered after %s, ended after %s", u.SQL, u.Answered, u.Elapsed)
		}
	}))
	fill(t, db)
	for _, test := range []struct {
		where string
		want  string
	}{{"owner_id = 1", "[-1]"}, {"owner_id IN (1, 2)", "[1 2]"}} {
		mu.Lock()
		rows = nil
		mu.Unlock()
		if err := db.Order("id").Find(&[]user{}, test.where).Error; err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		if got := fmt.Sprint(sorted(rows)); got != test.want {
			t.Errorf("%s: rows %s, want %s", test.where, got, test.want)
		}
		mu.Unlock()
	}
}
