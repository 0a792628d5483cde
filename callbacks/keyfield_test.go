package callbacks

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/internal/fault"
)

// fixed always generates the same key.
type fixed struct {
	counter
	key any
}

func (*fixed) KeyColumn(string) (column, owner string, ok bool)    { return "id", "", true }
func (f *fixed) NextKey(context.Context, string, any) (any, error) { return f.key, nil }
func (f *fixed) KeyGenerator(string) string                        { return "g (TYPE)" }
func (*fixed) ShardingColumns(string) []string                     { return nil }

type (
	number32 int32
	// base36 stores a number as text.
	base36 string
	// cutting cuts off what it is given, without an error.
	cutting int32
	// shifted holds another number than it stores.
	shifted int64
)

func (b base36) Value() (driver.Value, error) { return string(b), nil }
func (b *base36) Scan(v any) error            { *b = base36(strconv.FormatInt(v.(int64), 36)); return nil }

func (c cutting) Value() (driver.Value, error) { return int64(c), nil }
func (c *cutting) Scan(v any) error            { *c = cutting(v.(int64)); return nil } //nolint:gosec // what the test is about

func (s shifted) Value() (driver.Value, error) { return int64(s) - 1, nil }
func (s *shifted) Scan(v any) error            { *s = shifted(v.(int64) + 1); return nil }

type of[T any] struct {
	ID T `gorm:"primaryKey;autoIncrement:false"`
}

type embedded struct {
	Inner *of[int32] `gorm:"embedded"`
}

const flake = int64(1334567890123456789)

func TestKeyThatDoesNotFitItsFieldIsRefused(t *testing.T) {
	tests := map[string]struct {
		create func(*testing.T, any) error
		key    any
		fits   bool
	}{
		"int64":             {one[int64], flake, true},
		"uint64":            {one[uint64], flake, true},
		"int":               {one[int], flake, true},
		"string":            {one[string], flake, true},
		"pointer":           {one[*int64], flake, true},
		"nullable":          {one[sql.NullInt64], flake, true},
		"text of a number":  {one[base36], flake, true},
		"own type":          {one[shifted], flake, true},
		"small key":         {one[int8], int64(127), true},
		"small in uint16":   {one[uint16], int64(65535), true},
		"float exactly":     {one[float64], int64(1 << 53), true},
		"text":              {one[string], "0a-b", true},
		"number as text":    {one[int64], "42", true},
		"large unsigned":    {one[uint64], uint64(math.MaxUint64), true},
		"int32":             {one[int32], flake, false},
		"uint32":            {one[uint32], flake, false},
		"int16":             {one[int16], int64(1 << 15), false},
		"int8":              {one[int8], int64(128), false},
		"named int32":       {one[number32], flake, false},
		"pointer to int32":  {one[*int32], flake, false},
		"nullable int32":    {one[sql.NullInt32], flake, false},
		"type that cuts":    {one[cutting], flake, false},
		"float64":           {one[float64], flake, false},
		"bool":              {one[bool], flake, false},
		"negative":          {one[uint64], int64(-1), false},
		"unsigned in int64": {one[int64], uint64(math.MaxUint64), false},
		"UUID":              {one[int64], "0190a3c4-1111-7000-8000-000000000000", false},
		"octal as text":     {one[int64], "010", false},
		"UUID, nullable":    {one[sql.NullInt64], "0190a3c4-1111-7000-8000-000000000000", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.create(t, test.key)
			if test.fits {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, fault.ErrUnsupported) {
				t.Fatalf("error %v", err)
			}
			for _, want := range []string{"key of ", "generator g (TYPE) makes", ".ID", "make the field"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// one creates a model whose key is a T, and holds it against what was told.
func one[T any](t *testing.T, key any) error {
	t.Helper()
	db := open(t, &fixed{key: key}, &gorm.Config{DryRun: true})
	model := of[T]{}
	err := db.Table("t_order").Create(&model).Error
	if empty := reflect.ValueOf(model.ID).IsZero(); empty != (err != nil) {
		t.Errorf("key %v left on the model, error %v", model.ID, err)
	}
	return err
}

func TestRefusedKeySaysWhatToChange(t *testing.T) {
	type Order struct{ ID int32 }
	for key, want := range map[any]string{
		flake: "sharding: unsupported: key of orders.id: what generator g (TYPE) makes does not fit the field Order.ID (int32); make the field int64, or use a generator of smaller keys, such as SEGMENT",
		"a-b": "sharding: unsupported: key of orders.id: generator g (TYPE) makes text, the field Order.ID is int32; make the field a string, or use a generator of numbers, such as SNOWFLAKE",
	} {
		db := open(t, &fixed{key: key}, &gorm.Config{DryRun: true})
		batch := []*Order{{ID: 3}, {}}
		if err := db.Create(batch).Error; fmt.Sprint(err) != want {
			t.Errorf("error\n%v, want\n%s", err, want)
		}
		if batch[1].ID != 0 {
			t.Errorf("a part of the key, %d, is on the model", batch[1].ID)
		}
	}
}

func TestKeyOfAnEmbeddedModelIsHeldAgainstItsField(t *testing.T) {
	db := open(t, &fixed{key: flake}, &gorm.Config{DryRun: true})
	if err := db.Table("t_order").Create(&embedded{}).Error; !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}
