//go:build unix

package inquiry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
)

type user struct {
	UserID int64
	Name   string
	Age    uint
}

func (user) TableName() string { return "t_user" }

// migratorSays is everything that the migrator's reading methods say of a table.
func migratorSays(db *gorm.DB, table any) []string {
	m := db.Migrator()
	said := []string{
		fmt.Sprint("table ", m.HasTable(table)),
		fmt.Sprint("columns ", m.HasColumn(table, "id"), m.HasColumn(table, "name"), m.HasColumn(table, "absent")),
		fmt.Sprint("indexes ", m.HasIndex(table, "idx_user"), m.HasIndex(table, "uni_name"), m.HasIndex(table, "idx_name"), m.HasIndex(table, "absent")),
		fmt.Sprint("constraints ", m.HasConstraint(table, "fk_order"), m.HasConstraint(table, "ck_qty"), m.HasConstraint(table, "uni_name"), m.HasConstraint(table, "absent")),
	}
	columns, err := m.ColumnTypes(table)
	said = append(said, fmt.Sprint("column types ", err != nil))
	for _, c := range columns {
		kind, _ := c.ColumnType()
		length, hasLength := c.Length()
		precision, scale, hasDecimal := c.DecimalSize()
		null, hasNull := c.Nullable()
		primary, _ := c.PrimaryKey()
		unique, _ := c.Unique()
		def, hasDefault := c.DefaultValue()
		comment, _ := c.Comment()
		said = append(said, fmt.Sprint(c.Name(), " ", kind, " ", c.DatabaseTypeName(), " ", length, hasLength, precision, scale, hasDecimal,
			null, hasNull, primary, unique, " ", def, hasDefault, " ", comment, " ", c.ScanType()))
	}
	indexes, err := m.GetIndexes(table)
	said = append(said, fmt.Sprint("indexes ", err != nil))
	for _, i := range indexes {
		primary, _ := i.PrimaryKey()
		unique, _ := i.Unique()
		said = append(said, fmt.Sprint(i.Table(), " ", i.Name(), " ", i.Columns(), primary, unique))
	}
	kind, err := m.TableType(table)
	if err == nil {
		comment, _ := kind.Comment()
		said = append(said, fmt.Sprint(kind.Schema(), " ", kind.Name(), " ", kind.Type(), " ", comment))
	}
	return said
}

func TestMigratorReadsAsFromOneDatabase(t *testing.T) {
	s := newShop(t)
	db, _, trace := s.sharded(t, s.config("shop"))
	reference := s.single(t)
	for _, table := range []any{&user{}, "t_user", "t_order", "t_item", "t_region", "t_operator", "t_log", "v_region", "absent"} {
		want := migratorSays(reference, table)
		_ = trace.String()
		got := migratorSays(db, table)
		if !slices.Equal(want, got) {
			t.Errorf("%v:\n  %s\ninstead of\n  %s\nsent%s", table, strings.Join(got, "\n  "), strings.Join(want, "\n  "), trace)
		}
	}
	if got, want := db.Migrator().CurrentDatabase(), reference.Migrator().CurrentDatabase(); got != want {
		t.Errorf("the current database is %q instead of %q", got, want)
	}
	got, err := db.Migrator().GetTables()
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Migrator().GetTables()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the tables are %q instead of %q", got, want)
	}
}

// Without a logical schema in the configuration that of the default data source
// takes its place, also for a table that is in another one.
func TestMigratorReadsWithoutALogicalSchema(t *testing.T) {
	s := newShop(t)
	db, _, trace := s.sharded(t, s.config(""))
	reference := s.single(t)
	if name := db.Migrator().CurrentDatabase(); name != "shop_0" {
		t.Errorf("the current database is %q", name)
	}
	for _, table := range []any{"t_user", "t_item", "t_region", "t_operator", "t_log"} {
		want := migratorSays(reference, table)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "shop ", "shop_0 ")
		}
		_ = trace.String()
		if got := migratorSays(db, table); !slices.Equal(want, got) {
			t.Errorf("%v:\n  %s\ninstead of\n  %s\nsent%s", table, strings.Join(got, "\n  "), strings.Join(want, "\n  "), trace)
		}
	}
	got, err := db.Migrator().GetTables()
	slices.Sort(got)
	if want := []string{"t_item", "t_log", "t_operator", "t_order", "t_region", "t_user", "v_region"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the tables are %q, %v", got, err)
	}
}
