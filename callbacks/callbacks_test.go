package callbacks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	gormcallbacks "gorm.io/gorm/callbacks"
	"gorm.io/gorm/utils/tests"

	"github.com/gormshard/sharding/internal/fault"
)

// counter generates 101, 102, … for the column id of t_order.
type counter struct {
	last int64
	err  error
}

func (c *counter) KeyColumn(table string) (column, owner string, ok bool) {
	return "id", "", table == "t_order"
}

func (c *counter) ShardingColumns(table string) []string {
	if table != "t_order" {
		return nil
	}
	return []string{"title"}
}

func (c *counter) Associated(string, string, string) (columns, others []string) { return nil, nil }

func (c *counter) NextKey(context.Context, string, any) (any, error) {
	c.last++
	return 100 + c.last, c.err
}

func (c *counter) KeyGenerator(string) string { return "numbers (COUNTER)" }

func (c *counter) Mistaken(table string) (near, dataSource string) {
	if table == "t_orders" {
		return "t_order", "ds0"
	}
	return "", ""
}

func (c *counter) Release() {}

type order struct {
	ID    int64
	Title string
	hook  bool
}

func (order) TableName() string { return "t_order" }

func (o *order) BeforeCreate(*gorm.DB) error {
	if o.hook {
		o.ID = 7
	}
	return nil
}

// dialector is GORM's dummy with the translation of an error by its text.
type dialector struct{ tests.DummyDialector }

func (dialector) Translate(err error) error {
	if strings.Contains(err.Error(), "1062") {
		return gorm.ErrDuplicatedKey
	}
	return err
}

func open(t *testing.T, keys Rules, cfg *gorm.Config) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(dialector{}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	gormcallbacks.RegisterDefaultCallbacks(db, &gormcallbacks.Config{})
	if err := Register(db, func() Rules { return keys }); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestKeysAreSetBeforeTheInsertIsBuilt(t *testing.T) {
	db := open(t, &counter{}, &gorm.Config{DryRun: true})
	one := order{Title: "one"}
	batch := []*order{{Title: "two"}, {ID: 5}, {hook: true}, {Title: "three"}}
	for _, dest := range []any{&one, &batch} {
		if err := db.Create(dest).Error; err != nil {
			t.Fatal(err)
		}
	}
	got := []int64{one.ID}
	for _, o := range batch {
		got = append(got, o.ID)
	}
	if want := "[101 102 5 7 103]"; fmt.Sprint(got) != want {
		t.Errorf("keys %v, want %s: zero keys are generated in order, others stay", got, want)
	}
}

func TestKeysOfMaps(t *testing.T) {
	db := open(t, &counter{}, &gorm.Config{DryRun: true})
	one, batch := map[string]any{"title": "a"}, []map[string]any{{"ID": 0}, {"id": 9}, {"Id": nil, "title": "b"}}
	for _, dest := range []any{one, &batch} {
		if err := db.Model(&order{}).Create(dest).Error; err != nil {
			t.Fatal(err)
		}
	}
	if one["id"] != int64(101) || batch[0]["ID"] != int64(102) || batch[1]["id"] != 9 || batch[2]["Id"] != int64(103) {
		t.Errorf("maps %v, %v: the key is set under the name the map uses", one, batch)
	}
}

func TestOmittedKeyIsLeftToTheKernel(t *testing.T) {
	db := open(t, &counter{}, &gorm.Config{DryRun: true})
	o := order{Title: "a"}
	if err := db.Select("Title").Create(&o).Error; err != nil {
		t.Fatal(err)
	}
	if o.ID != 0 {
		t.Errorf("key %d on the model of an INSERT that leaves it out", o.ID)
	}
}

func TestOtherTablesAreLeftAlone(t *testing.T) {
	keys := &counter{}
	db := open(t, keys, &gorm.Config{DryRun: true})
	if err := db.Table("t_other").Create(&order{Title: "a"}).Error; err != nil {
		t.Fatal(err)
	}
	if keys.last != 0 {
		t.Error("a key was generated for a table without a rule")
	}
}

func TestFailingGeneratorStopsTheInsert(t *testing.T) {
	failure := errors.New("clock went back")
	db := open(t, &counter{err: failure}, &gorm.Config{DryRun: true})
	if err := db.Create(&[]order{{}, {}}).Error; !errors.Is(err, failure) {
		t.Errorf("error %v, want the generator's", err)
	}
}

func TestTranslationReachesThroughTheErrorOfSeveralNodes(t *testing.T) {
	nodes := &fault.NodesError{Nodes: []*fault.NodeError{{DataSource: "ds1", Table: "t_order_1", Err: errors.New("Error 1062: duplicate")}}}
	for _, translate := range []bool{true, false} {
		db := open(t, &counter{}, &gorm.Config{TranslateError: translate})
		db.Error = nodes
		translateError(db)
		if got := errors.Is(db.Error, gorm.ErrDuplicatedKey); got != translate {
			t.Errorf("TranslateError %t: %v matches ErrDuplicatedKey: %t", translate, db.Error, got)
		}
		var found *fault.NodesError
		if !errors.As(db.Error, &found) || !strings.Contains(db.Error.Error(), "ds1.t_order_1") {
			t.Errorf("error %v does not name the node any more", db.Error)
		}
	}
}

// owned generates keys that are those of counter and the owner's value together.
type owned struct{ counter }

func (*owned) KeyColumn(table string) (column, owner string, ok bool) {
	return "id", "title", table == "t_order"
}

func (c *owned) NextKey(ctx context.Context, table string, owner any) (any, error) {
	key, err := c.counter.NextKey(ctx, table, nil)
	return key.(int64)*10 + int64(len(fmt.Sprint(owner))), err
}

func TestKeysAreMadeForTheOwnerOfTheRow(t *testing.T) {
	keys := &owned{}
	db := open(t, keys, &gorm.Config{DryRun: true})
	batch := []order{{Title: "four"}, {Title: "a"}, {ID: 7, Title: "b"}}
	if err := db.Create(&batch).Error; err != nil {
		t.Fatal(err)
	}
	if batch[0].ID != 1014 || batch[1].ID != 1021 || batch[2].ID != 7 {
		t.Errorf("keys of models: %+v", batch)
	}
	rows := []map[string]any{{"Title": "abc"}, {"title": "ab"}, {"state": 1}}
	if err := db.Model(&order{}).Create(rows).Error; err != nil {
		t.Fatal(err)
	}
	if rows[0]["id"] != int64(1033) || rows[1]["id"] != int64(1042) {
		t.Errorf("keys of maps: %v", rows)
	}
	if _, set := rows[2]["id"]; set || keys.last != 4 {
		t.Error("a row without an owner got a key; the kernel says what is missing")
	}
	o := order{Title: "left out"}
	if err := db.Omit("Title").Create(&o).Error; err != nil || o.ID != 0 {
		t.Errorf("an INSERT without the owner: key %d, %v", o.ID, err)
	}
}
