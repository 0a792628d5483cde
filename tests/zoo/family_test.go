//go:build unix

package zoo_test

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// family returns a user with something in every association, all of it new and
// named after the user.
func family(name string) *User {
	return &User{
		Name: name, Age: 18,
		Account:   Account{Number: name + ".account"},
		Company:   Company{Name: name + ".company"},
		Pets:      []*Pet{{Name: name + ".cat", Toy: Toy{Name: name + ".mouse"}}, {Name: name + ".dog"}},
		Toys:      []Toy{{Name: name + ".ball"}, {Name: name + ".kite"}},
		Manager:   &User{Name: name + ".boss"},
		Team:      []User{{Name: name + ".ann"}, {Name: name + ".bob"}},
		Languages: []Language{{Code: name, Name: "of " + name}, {Code: "en", Name: "English"}},
		Friends:   []*User{{Name: name + ".pal"}, {Name: name + ".mate"}},
		Orders:    []Order{{Amount: 10}, {Amount: 20}},
	}
}

// families stores families.
func (w *way) families(names ...string) (users []*User) {
	w.t.Helper()
	for _, name := range names {
		u := family(name)
		w.must(w.db.Create(u).Error)
		users = append(users, u)
	}
	return users
}

// told are the columns by which rows of a table are told, the first of them a
// name; a user's, a pet's or a company's id is told by its name.
var told = map[string][]string{
	"users":        {"name", "company_id", "manager_id"},
	"accounts":     {"number", "user_id"},
	"pets":         {"name", "user_id"},
	"toys":         {"name", "owner_id", "owner_type"},
	"companies":    {"name"},
	"languages":    {"code", "name"},
	"orders":       {"amount", "user_id"},
	"user_speaks":  {"user_id", "language_code"},
	"user_friends": {"user_id", "friend_id"},
	"clubs":        {"name"},
	"memberships":  {"user_id", "club_id", "role"},
}

// namedBy are the tables whose names tell an id.
var namedBy = map[string]string{
	"company_id": "companies", "manager_id": "users", "user_id": "users", "friend_id": "users", "owner_id": "users", "club_id": "clubs",
}

// rows tells every row of a table as the databases hold it, in order: a row that is
// stored twice is told twice. A NULL or an id of no row is -, and a row that is softly
// deleted ends in †.
func (w *way) rows(table string) []string {
	w.t.Helper()
	columns := told[table]
	query := columns
	deleted := slices.Contains([]string{"users", "accounts", "pets", "toys", "memberships"}, table)
	if deleted {
		query = append(slices.Clone(columns), "deleted_at IS NOT NULL")
	}
	var out []string
	for _, row := range w.read(table, strings.Join(query, ", ")) {
		for i, column := range columns {
			if from := namedBy[column]; from != "" {
				if column == "owner_id" && row[i+1] == "pets" {
					from = "pets"
				}
				row[i] = w.nameOf(from, row[i])
			}
		}
		if deleted {
			if row[len(columns)] == "1" {
				row[len(columns)] = "†"
			} else {
				row = row[:len(columns)]
			}
		}
		out = append(out, strings.Join(row, " "))
	}
	slices.Sort(out)
	return out
}

func (w *way) nameOf(table, id string) string {
	w.t.Helper()
	for _, row := range w.read(table, "id, name") {
		if row[0] == id {
			return row[1]
		}
	}
	return "-"
}

// read returns columns of all rows of a table as texts, from the databases
// themselves. The copies of a broadcast table have to be alike.
func (w *way) read(table, columns string) (out [][]string) {
	w.t.Helper()
	for i, pool := range w.pools {
		if w.placement == broadcast && i > 0 {
			order := " ORDER BY " + columns
			if copied, first := w.records(pool, "SELECT "+columns+" FROM "+table+order), w.records(w.pools[0], "SELECT "+columns+" FROM "+table+order); !reflect.DeepEqual(copied, first) {
				w.t.Errorf("%s is %v in a copy, and %v in the first", table, copied, first)
			}
			break
		}
		for _, actual := range w.actual[i] {
			if actual != table && !(w.sharded() && strings.HasPrefix(actual, table+"_") && owners[table] != "" && len(actual) == len(table)+2) {
				continue
			}
			out = append(out, w.records(pool, fmt.Sprintf("SELECT %s FROM %s", columns, actual))...)
		}
		if w.sharded() && owners[table] == "" && len(out) > 0 {
			break // a broadcast table is the same everywhere
		}
	}
	return out
}

func (w *way) records(pool *sql.DB, query string) (out [][]string) {
	w.t.Helper()
	rows, err := pool.QueryContext(w.t.Context(), query)
	w.must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	w.must(err)
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		w.must(rows.Scan(into...))
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
			if !v.Valid {
				row[i] = "-"
			}
		}
		out = append(out, row)
	}
	w.must(rows.Err())
	return out
}

// holds fails the test unless a table holds exactly these rows, in any order, as
// rows tells them.
func (w *way) holds(table string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	if got := w.rows(table); !slices.Equal(got, want) {
		w.t.Errorf("%s holds\n\t%s\nwant\n\t%s", table, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// everything tells the rows of all tables.
func (w *way) everything() string {
	w.t.Helper()
	var b strings.Builder
	for _, table := range tables {
		if told[table] == nil {
			continue
		}
		for _, row := range w.rows(table) {
			fmt.Fprintln(&b, table, row)
		}
	}
	return b.String()
}

// unchanged runs something that fails, and fails the test where a table is not as
// it was.
func (w *way) unchanged(run func() error) error {
	w.t.Helper()
	before := w.everything()
	err := run()
	if after := w.everything(); err != nil && after != before {
		w.t.Errorf("after %v the tables hold\n%s\nand held\n%s", err, after, before)
	}
	return err
}

// limited reports whether tables are sharded over SQLite, which is not given the
// rows of other databases and does not tell which rows it skips.
func (w *way) limited() bool { return w.variant.sqlite && w.sharded() }

// whole is a session that saves associations in full.
func whole(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{FullSaveAssociations: true}) }

// petNames and the like are what a test asserts on models.
func petNames[P Pet | *Pet](pets []P) string {
	return named(pets, func(p P) string {
		if one, ok := any(p).(Pet); ok {
			return one.Name
		}
		return any(p).(*Pet).Name
	})
}

func userNames[U User | *User](users []U) string {
	return named(users, func(u U) string {
		if one, ok := any(u).(User); ok {
			return one.Name
		}
		return any(u).(*User).Name
	})
}

func codes(languages []Language) string {
	return named(languages, func(l Language) string { return l.Code })
}

func toyNames(toys []Toy) string { return named(toys, func(t Toy) string { return t.Name }) }

// named returns what each is called, in order of these names.
func named[T any](all []T, name func(T) string) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = name(one)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
