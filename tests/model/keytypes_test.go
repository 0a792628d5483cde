//go:build unix

package model_test

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding/config"
)

// Gene has an id that carries the slot of its user.
type Gene struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
	Qty    int
}

// TableName returns the logical table.
func (Gene) TableName() string { return "t_gene" }

// Mixed is a Gene whose actual table is chosen by the user alone.
type Mixed Gene

// TableName returns the logical table.
func (Mixed) TableName() string { return "t_mixed" }

// Event is in the table of its year.
type Event struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID    int64
	At        time.Time
	Qty       int
	DeletedAt gorm.DeletedAt
}

// TableName returns the logical table.
func (Event) TableName() string { return "t_event" }

// Name has a key whose letters of both cases are equal.
type Name struct {
	Name   string `gorm:"primaryKey"`
	UserID int64
	Qty    int
}

// TableName returns the logical table.
func (Name) TableName() string { return "t_name" }

// uuid is stored as its sixteen bytes.
type uuid [16]byte

func newUUID(n byte) (u uuid) {
	u[0], u[7], u[15] = 0xff, '\'', n
	return u
}

// Value implements driver.Valuer.
func (u uuid) Value() (driver.Value, error) { return u[:], nil }

// Scan implements sql.Scanner.
func (u *uuid) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(u) {
		return fmt.Errorf("%v is no uuid", v)
	}
	copy(u[:], b)
	return nil
}

// String implements fmt.Stringer.
func (u uuid) String() string { return hex.EncodeToString(u[:]) }

// Thing has a key of sixteen bytes.
type Thing struct {
	ID     uuid `gorm:"primaryKey"`
	UserID *int64
	Qty    int
}

// TableName returns the logical table.
func (Thing) TableName() string { return "t_thing" }

// Seat has a key of a text and a number, which may be zero, behind an embedded
// struct.
type Seat struct {
	Place `gorm:"embedded"`
	Owner Owner `gorm:"embedded;embeddedPrefix:user_"`
	Qty   int
}

// Place is the key of a Seat.
type Place struct {
	Hall string `gorm:"primaryKey"`
	No   int    `gorm:"primaryKey;autoIncrement:false"`
}

// Owner holds the sharding column of a Seat.
type Owner struct{ ID int64 }

// TableName returns the logical table.
func (Seat) TableName() string { return "t_seat" }

// Coupon has a second unique key.
type Coupon struct {
	ID        int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID    int64
	Code      string
	Qty       int
	DeletedAt gorm.DeletedAt
}

// TableName returns the logical table.
func (Coupon) TableName() string { return "t_coupon" }

// account is stored by a serializer as a number.
type account struct{ number int64 }

type accountSerializer struct{}

// Scan implements schema.SerializerInterface.
func (accountSerializer) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, v any) error {
	n, err := strconv.ParseInt(fmt.Sprintf("%s", v), 10, 64)
	if i, ok := v.(int64); ok {
		n, err = i, nil
	}
	if err != nil {
		return err
	}
	field.ReflectValueOf(ctx, dst).Set(reflect.ValueOf(account{n}))
	return nil
}

// Value implements schema.SerializerValuerInterface.
func (accountSerializer) Value(_ context.Context, _ *schema.Field, _ reflect.Value, v any) (any, error) {
	return v.(account).number, nil
}

// Entry has a sharding column with a serializer.
type Entry struct {
	ID      int64   `gorm:"primaryKey;autoIncrement:false"`
	Account account `gorm:"column:user_id;serializer:account"`
	Qty     int
}

// TableName returns the logical table.
func (Entry) TableName() string { return "t_entry" }

func init() { schema.RegisterSerializer("account", accountSerializer{}) }

// keyTypes is the layout of tables with unlike keys.
var keyTypes = layout{
	definitions: map[string]string{
		"t_gene":   "id bigint PRIMARY KEY, user_id bigint NOT NULL, qty int NOT NULL",
		"t_mixed":  "id bigint PRIMARY KEY, user_id bigint NOT NULL, qty int NOT NULL",
		"t_event":  "id bigint PRIMARY KEY, user_id bigint NOT NULL, at datetime(3) NOT NULL, qty int NOT NULL, deleted_at datetime(3)",
		"t_name":   "name varchar(32) COLLATE utf8mb4_general_ci PRIMARY KEY, user_id bigint NOT NULL, qty int NOT NULL",
		"t_thing":  "id binary(16) PRIMARY KEY, user_id bigint, qty int NOT NULL",
		"t_seat":   "hall varchar(16) COLLATE utf8mb4_general_ci, no int, user_id bigint NOT NULL, qty int NOT NULL, PRIMARY KEY (hall, no)",
		"t_coupon": "id bigint PRIMARY KEY, user_id bigint NOT NULL, code varchar(16) NOT NULL, qty int NOT NULL, deleted_at datetime(3), UNIQUE KEY code (user_id, code)",
		"t_entry":  "id bigint PRIMARY KEY, user_id bigint NOT NULL, qty int NOT NULL",
	},
	nodes: map[string][]string{"t_event": {"t_event_2025", "t_event_2026"}},
	misplaced: map[string]string{
		"t_gene":   "user_id % 1024 DIV 512 <> %d OR 0 <> %d",
		"t_mixed":  "user_id % 1024 DIV 512 <> %d OR user_id % 2 <> %d",
		"t_event":  "user_id % 2 <> %d OR YEAR(at) - 2025 <> %d",
		"t_name":   "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_thing":  "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_seat":   "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_coupon": "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
		"t_entry":  "user_id % 2 <> %d OR user_id DIV 2 % 2 <> %d",
	},
	rules: keyTypeRules,
	seed:  seedKeyTypes,
}

func keyTypeRules(trust bool) config.Sharding {
	gene := &config.Strategy{Complex: &config.Complex{Columns: []string{"id", "user_id"}, Algorithm: "gene"}}
	s := config.Sharding{
		Tables: map[string]config.Table{
			"t_gene":  {ActualDataNodes: "ds${0..1}.t_gene_0", DatabaseStrategy: gene, TrustModel: trust},
			"t_mixed": {ActualDataNodes: "ds${0..1}.t_mixed_${0..1}", DatabaseStrategy: gene, TableStrategy: standard("user_id", "mixed"), TrustModel: trust},
			"t_event": {ActualDataNodes: "ds${0..1}.t_event_${2025..2026}", DatabaseStrategy: standard("user_id", "source"), TableStrategy: standard("at", "year"), TrustModel: trust},
		},
		Algorithms: map[string]config.Algorithm{
			"gene":   {Type: "GENE", Props: map[string]any{"idColumn": "id", "ownerColumn": "user_id"}},
			"mixed":  inline("t_mixed_${user_id % 2}"),
			"source": inline("ds${user_id % 2}"),
			"year": {Type: "INTERVAL", Props: map[string]any{
				"datetimePattern": "yyyy", "datetimeLower": "2025", "datetimeUpper": "2026", "suffixPattern": "yyyy", "amount": 1, "unit": "YEARS",
			}},
		},
	}
	for _, table := range []string{"t_name", "t_thing", "t_seat", "t_coupon", "t_entry"} {
		s.Algorithms[table] = inline(table + "_${user_id.intdiv(2) % 2}")
		s.Tables[table] = config.Table{
			ActualDataNodes: "ds${0..1}." + table + "_${0..1}", DatabaseStrategy: standard("user_id", "source"), TableStrategy: standard("user_id", table), TrustModel: trust,
		}
	}
	return s
}

// gene returns an id with the slot of a user.
func gene(user, n int64) int64 { return 1<<40 | user%1024<<12 | n }

// year returns a time of 2025 for odd numbers, of 2026 for even ones.
func year(n int64) time.Time {
	return time.Date(2026-int(n%2), time.Month(n), 3, 4, 5, 6, 789_000_000, time.UTC)
}

func seedKeyTypes(db *gorm.DB) error {
	var genes []Gene
	var mixed []Mixed
	var events []Event
	var names []Name
	var things []Thing
	var seats []Seat
	var coupons []Coupon
	var entries []Entry
	for i := int64(1); i <= 8; i++ {
		user := i * 131
		genes, mixed = append(genes, Gene{gene(user, 1), user, 1}), append(mixed, Mixed{gene(user, 1), user, 1})
		events, names = append(events, Event{ID: i, UserID: i / 2, At: year(i), Qty: 1}), append(names, Name{fmt.Sprint("name", i), i, 1})
		things = append(things, Thing{newUUID(byte(i)), &i, 1})
		seats = append(seats, Seat{Place{fmt.Sprint("h", i/3), int(i % 3)}, Owner{i}, 1})
		coupons, entries = append(coupons, Coupon{ID: i, UserID: i, Code: "a", Qty: 1}), append(entries, Entry{i, account{i}, 1})
	}
	return errors.Join(
		db.Create(&genes).Error, db.Create(&mixed).Error, db.Create(&events).Error, db.Create(&names).Error,
		db.Create(&things).Error, db.Create(&seats).Error, db.Create(&coupons).Error, db.Create(&entries).Error,
	)
}

// of makes a write of a model of its own.
func of[T any](m T, run func(db *gorm.DB, m *T) *gorm.DB) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB {
		mine := m
		return run(db, &mine)
	}
}

func save[T any](db *gorm.DB, m *T) *gorm.DB { return db.Save(m) }

func remove[T any](db *gorm.DB, m *T) *gorm.DB { return db.Delete(m) }

func updateQty[T any](db *gorm.DB, m *T) *gorm.DB { return db.Model(m).Update("qty", 7) }

// g returns what a write of the generics API answers.
func g(rows int, err error) *gorm.DB { return &gorm.DB{Error: err, RowsAffected: int64(rows)} }

var keyTypeWrites = []write{
	{name: "save a gene", run: of(Gene{gene(262, 1), 262, 5}, save), units: 1},
	{name: "save a new gene", run: of(Gene{gene(262, 2), 262, 5}, save), units: 2},
	{name: "save a gene with the slot of another", run: of(Gene{gene(262, 3), 655, 5}, save), unsupported: true},
	{name: "save genes", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Gene{{gene(262, 1), 262, 5}, {gene(655, 1), 655, 6}, {gene(655, 2), 655, 6}})
	}},
	{name: "update a gene", run: of(Gene{gene(262, 1), 262, 5}, updateQty), units: 1},
	{name: "update a gene by its id alone", run: of(Gene{ID: gene(262, 1)}, updateQty), units: 1},
	{name: "delete a gene", run: of(Gene{gene(655, 1), 655, 5}, remove), units: 1},
	{name: "save a mixed gene", run: of(Mixed{gene(262, 1), 262, 5}, save), units: 1},
	{name: "save a new mixed gene", run: of(Mixed{gene(262, 2), 262, 5}, save)},
	{name: "update a mixed gene", run: of(Mixed{gene(262, 1), 262, 5}, updateQty), units: 1},
	{name: "delete a mixed gene of a changed user in the slot", run: of(Mixed{gene(262, 1), 262 + 1024, 5}, remove)},
	{name: "save a mixed gene of another user in the slot", run: of(Mixed{gene(131, 1), 131 + 1024, 5}, save)},

	{name: "save an event", run: of(Event{ID: 3, UserID: 1, At: year(3), Qty: 5}, save), units: 1},
	{name: "save an event of a new time in its year", run: of(Event{ID: 3, UserID: 1, At: year(5), Qty: 5}, save), units: 1},
	{name: "save an event of another year", run: of(Event{ID: 3, UserID: 1, At: year(4), Qty: 5}, save), refused: true},
	{name: "save a new event", run: of(Event{ID: 30, UserID: 1, At: year(4), Qty: 5}, save)},
	{name: "save a new event of the last moment", run: of(Event{ID: 30, UserID: 1, At: time.Date(2025, 12, 31, 23, 59, 59, 999_900_000, time.UTC)}, save)},
	{name: "save a new event in another zone", run: of(Event{ID: 30, UserID: 1, At: time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 7200))}, save)},
	{name: "save an event without a time", run: of(Event{ID: 30, UserID: 1}, save), unsupported: true},
	{name: "update an event", run: of(Event{ID: 3, UserID: 1, At: year(3)}, updateQty), units: 1},
	{name: "update an event of which the time is not known", run: of(Event{ID: 3, UserID: 1}, updateQty)},
	{name: "update the time of an event", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Event{ID: 3, UserID: 1, At: year(3)}).Update("at", year(7))
	}, units: 2},
	{name: "update the time of an event to another year", run: func(db *gorm.DB) *gorm.DB {
		return db.Model(&Event{ID: 3, UserID: 1, At: year(3)}).Update("at", year(6))
	}, refused: true},
	{name: "delete an event", run: of(Event{ID: 3, UserID: 1, At: year(3)}, remove), units: 1},
	{name: "save a deleted event", run: func(db *gorm.DB) *gorm.DB {
		if err := db.Delete(&Event{ID: 3, UserID: 1, At: year(3)}).Error; err != nil {
			panic(err)
		}
		return db.Save(&Event{ID: 3, UserID: 1, At: year(3), Qty: 6})
	}},
	{name: "delete a deleted event for good", run: func(db *gorm.DB) *gorm.DB {
		if err := db.Delete(&Event{ID: 3, UserID: 1, At: year(3)}).Error; err != nil {
			panic(err)
		}
		return db.Unscoped().Delete(&Event{ID: 3, UserID: 1, At: year(3)})
	}},

	{name: "save a name", run: of(Name{"name3", 3, 5}, save)},
	{name: "save a name in capitals", run: of(Name{"NAME3", 3, 5}, save)},
	{name: "save a name in capitals for another user", run: of(Name{"NAME3", 4, 5}, save), refused: true},
	{name: "save a name with a space for another user", run: of(Name{"name3 ", 2, 5}, save), refused: true},
	{name: "save a new name", run: of(Name{"new", 4, 5}, save)},
	{name: "save names in capitals", run: func(db *gorm.DB) *gorm.DB { return db.Save([]Name{{"NAME3", 3, 5}, {"Other", 4, 5}}) }},
	{name: "save names, one of another user", run: func(db *gorm.DB) *gorm.DB { return db.Save([]Name{{"Other", 4, 5}, {"NAME3", 2, 5}}) }, refused: true},
	{name: "save names that are equal", run: func(db *gorm.DB) *gorm.DB { return db.Save([]Name{{"other", 4, 5}, {"Other", 2, 5}}) }, refused: true},
	{name: "update a name in capitals", run: of(Name{"NAME3", 3, 5}, updateQty)},
	{name: "update a name of a changed user", run: of(Name{"NAME3", 2, 5}, updateQty)},
	{name: "delete a name in capitals", run: of(Name{"NAME3", 3, 5}, remove)},
	{name: "delete names", run: func(db *gorm.DB) *gorm.DB { return db.Delete([]Name{{"NAME3", 3, 5}, {"name4", 2, 5}}) }},

	{name: "save a thing", run: of(Thing{newUUID(3), at[int64](3), 5}, save)},
	{name: "save a thing of another user", run: of(Thing{newUUID(3), at[int64](4), 5}, save), refused: true},
	{name: "save a new thing", run: of(Thing{newUUID(30), at[int64](4), 5}, save)},
	{name: "save a new thing of user 0", run: of(Thing{newUUID(30), at[int64](0), 5}, save)},
	{name: "save a thing of nobody", run: of(Thing{newUUID(3), nil, 5}, save), unsupported: true},
	{name: "save things", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]*Thing{{newUUID(3), at[int64](3), 5}, {newUUID(31), at[int64](2), 5}})
	}},
	{name: "update a thing", run: of(Thing{newUUID(3), at[int64](3), 5}, updateQty)},
	{name: "update a thing of which the user is not known", run: of(Thing{newUUID(3), nil, 5}, updateQty)},
	{name: "updates of a thing", run: of(Thing{newUUID(3), at[int64](3), 5}, func(db *gorm.DB, m *Thing) *gorm.DB { return db.Updates(m) })},
	{name: "delete a thing", run: of(Thing{newUUID(3), at[int64](3), 5}, remove)},
	{name: "delete things", run: func(db *gorm.DB) *gorm.DB {
		return db.Delete([]*Thing{{newUUID(3), at[int64](3), 5}, {newUUID(4), nil, 5}})
	}},

	{name: "save a seat", run: of(Seat{Place{"h1", 1}, Owner{4}, 5}, save)},
	{name: "save the seat 0", run: of(Seat{Place{"h1", 0}, Owner{3}, 5}, save)},
	{name: "save a seat in capitals of another user", run: of(Seat{Place{"H1", 1}, Owner{5}, 5}, save), refused: true},
	{name: "save a new seat", run: of(Seat{Place{"h1", 9}, Owner{4}, 5}, save)},
	{name: "save seats", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Seat{{Place{"h1", 1}, Owner{4}, 5}, {Place{"h1", 0}, Owner{3}, 5}, {Place{"h7", 0}, Owner{2}, 5}})
	}},
	{name: "update a seat", run: of(Seat{Place{"H1", 1}, Owner{4}, 5}, updateQty)},
	{name: "delete the seat 0", run: of(Seat{Place{"h1", 0}, Owner{3}, 5}, remove)},
	{name: "delete seats", run: func(db *gorm.DB) *gorm.DB {
		return db.Delete([]Seat{{Place{"h1", 1}, Owner{4}, 5}, {Place{"h2", 0}, Owner{6}, 5}})
	}},

	{name: "save a coupon under the code of another of the user", run: of(Coupon{ID: 30, UserID: 3, Code: "A", Qty: 5}, save)},
	{name: "save a coupon with the code of another user", run: of(Coupon{ID: 30, UserID: 9, Code: "a", Qty: 5}, save)},
	{name: "save the coupon of another with a code that is taken", run: of(Coupon{ID: 4, UserID: 3, Code: "a", Qty: 5}, save), refused: true},
	{name: "save a coupon under a code that is taken in its node", run: func(db *gorm.DB) *gorm.DB {
		if err := db.Create(&Coupon{ID: 40, UserID: 3, Code: "b"}).Error; err != nil {
			panic(err)
		}
		return db.Save(&Coupon{ID: 41, UserID: 3, Code: "b", Qty: 5})
	}},
	{name: "save coupons with a code that is taken", run: func(db *gorm.DB) *gorm.DB {
		return db.Save([]Coupon{{ID: 30, UserID: 3, Code: "a", Qty: 5}, {ID: 31, UserID: 4, Code: "c", Qty: 5}})
	}},
	{name: "do nothing to a code that is taken", run: func(db *gorm.DB) *gorm.DB {
		return db.Clauses(clause.OnConflict{DoNothing: true}).Create([]Coupon{{ID: 30, UserID: 3, Code: "a", Qty: 5}, {ID: 31, UserID: 4, Code: "c"}})
	}},
	{name: "save a deleted coupon", run: func(db *gorm.DB) *gorm.DB {
		if err := db.Delete(&Coupon{ID: 3, UserID: 3}).Error; err != nil {
			panic(err)
		}
		return db.Save(&Coupon{ID: 3, UserID: 3, Code: "z", Qty: 6})
	}},

	{name: "save an entry", run: of(Entry{3, account{3}, 5}, save)},
	{name: "save an entry of another account", run: of(Entry{3, account{4}, 5}, save), refused: true},
	{name: "save a new entry", run: of(Entry{30, account{4}, 5}, save)},
	{name: "save entries", run: func(db *gorm.DB) *gorm.DB { return db.Save([]Entry{{3, account{3}, 5}, {31, account{2}, 5}}) }},
	{name: "update an entry", run: of(Entry{3, account{3}, 5}, updateQty), units: 1},
	{name: "update an entry of a changed account", run: of(Entry{3, account{5}, 5}, updateQty)},
	{name: "delete an entry", run: of(Entry{3, account{3}, 5}, remove), units: 1},

	{name: "generics: updates where a model says", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Entry](db).Where(&Entry{ID: 3}).Updates(db.Statement.Context, Entry{Qty: 5}))
	}},
	{name: "generics: updates with the account", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Entry](db).Where("id = ?", 3).Updates(db.Statement.Context, Entry{Account: account{3}, Qty: 5}))
	}},
	{name: "generics: updates with another account", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Entry](db).Where("id = ?", 3).Updates(db.Statement.Context, Entry{Account: account{4}, Qty: 5}))
	}, refused: true},
	{name: "generics: update of a coupon", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Coupon](db).Where(&Coupon{ID: 3, UserID: 3}).Update(db.Statement.Context, "qty", 9))
	}, units: 1},
	{name: "generics: delete of a thing", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Thing](db).Where(&Thing{ID: newUUID(3)}).Delete(db.Statement.Context))
	}},
	{name: "generics: soft delete", run: func(db *gorm.DB) *gorm.DB {
		return g(gorm.G[Event](db).Where(&Event{ID: 3, At: year(3)}).Delete(db.Statement.Context))
	}},
	{name: "generics: create on conflict", run: func(db *gorm.DB) *gorm.DB {
		err := gorm.G[Coupon](db, clause.OnConflict{UpdateAll: true}).Create(db.Statement.Context, &Coupon{ID: 3, UserID: 3, Code: "x"})
		return &gorm.DB{Error: err}
	}},
	{name: "generics: create on conflict elsewhere", run: func(db *gorm.DB) *gorm.DB {
		err := gorm.G[Coupon](db, clause.OnConflict{UpdateAll: true}).Create(db.Statement.Context, &Coupon{ID: 3, UserID: 4, Code: "x"})
		return &gorm.DB{Error: err}
	}, refused: true},
}

func TestWritesByKeysOfEveryTypeAreThoseOfOneDatabase(t *testing.T) {
	c := newClusterOf(t, "keytypes", &keyTypes)
	in := modes[:1]
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		in = modes
	}
	for _, m := range in {
		t.Run(m.name, func(t *testing.T) {
			p := c.open(t, m)
			p.must(t, p.seed(p.plain))
			p.must(t, p.seed(p.sharded))
			p.seeded = p.compare(t)
			for _, w := range keyTypeWrites {
				t.Run(w.name, func(t *testing.T) {
					p.sent.take()
					p.write(t, w, m.name == "default")
				})
			}
		})
	}
}

// Models of every key type are found on their node, by key and value as they are
// bound.
func TestReadsByKeysOfEveryTypeAreThoseOfOneDatabase(t *testing.T) {
	p := newClusterOf(t, "keyreads", &keyTypes).open(t, mode{returning: true})
	p.must(t, p.seed(p.plain))
	p.must(t, p.seed(p.sharded))
	for _, tt := range []struct {
		name  string
		model any
		units int
	}{
		{"gene", &Gene{ID: gene(262, 1), UserID: 262}, 1},
		{"mixed gene", &Mixed{ID: gene(262, 1), UserID: 262}, 1},
		{"event", &Event{ID: 3, UserID: 1, At: year(3)}, 1},
		{"event of a changed time", &Event{ID: 3, UserID: 1, At: year(4)}, 4},
		{"name", &Name{Name: "name3", UserID: 3}, 0},
		{"name in capitals", &Name{Name: "NAME3", UserID: 3}, 0},
		{"thing", &Thing{ID: newUUID(3), UserID: at[int64](3)}, 1},
		{"seat", &Seat{Place: Place{"h1", 1}, Owner: Owner{4}}, 0},
		{"coupon", &Coupon{ID: 3, UserID: 3}, 1},
		{"entry", &Entry{ID: 3, Account: account{3}}, 1},
		{"entry of a changed account", &Entry{ID: 3, Account: account{4}}, 4},
	} {
		read := func(db *gorm.DB) string {
			m := reflect.New(reflect.TypeOf(tt.model).Elem())
			m.Elem().Set(reflect.ValueOf(tt.model).Elem())
			done := db.First(m.Interface())
			row, err := json.Marshal(m.Interface())
			return fmt.Sprintf("%s %d %v %v", row, done.RowsAffected, done.Error, err)
		}
		want := read(p.plain)
		p.sent.take()
		got := read(p.sharded)
		if sent := p.sent.take(); tt.units > 0 && len(sent) != tt.units {
			t.Errorf("%s: the nodes got %d statements, want %d:\n%s", tt.name, len(sent), tt.units, strings.Join(sent, "\n"))
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", tt.name, got, want)
		}
	}
}
