//go:build unix

package migrate_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding"
)

// Row is a model that fits every kind of table; Wider is the same a version later.
type Row struct {
	ID     int64     `gorm:"primaryKey;autoIncrement:false"`
	UserID int64     `gorm:"not null;index:idx_user"`
	At     time.Time `gorm:"not null"`
	Name   string    `gorm:"size:40;default:nobody;comment:the name"`
	Age    uint8     `gorm:"check:chk_age,age < 200"`
}

type Wider struct {
	ID     int64     `gorm:"primaryKey;autoIncrement:false"`
	UserID int64     `gorm:"not null;index:idx_user"`
	At     time.Time `gorm:"not null"`
	Name   string    `gorm:"size:60;not null;default:somebody;comment:its name;index:idx_name,length:10"`
	Age    uint16    `gorm:"check:chk_age,age < 200"`
	Note   string    `gorm:"size:20"`
	Code   string    `gorm:"size:20;unique"`
}

// step is a call of one method of gorm.Migrator. What it answers is compared; an
// error only as such.
type step struct {
	method string
	call   func(db *gorm.DB, table string) any
}

func says(err error) any { return err == nil }

func types(db *gorm.DB, value any) any {
	columns, err := db.Migrator().ColumnTypes(value)
	var b strings.Builder
	for _, c := range columns {
		kind, _ := c.ColumnType()
		length, hasLength := c.Length()
		precision, scale, hasDecimal := c.DecimalSize()
		null, _ := c.Nullable()
		primary, _ := c.PrimaryKey()
		unique, _ := c.Unique()
		initial, hasInitial := c.DefaultValue()
		comment, _ := c.Comment()
		auto, _ := c.AutoIncrement()
		fmt.Fprintln(&b, c.Name(), kind, c.DatabaseTypeName(), length, hasLength, precision, scale, hasDecimal, null, primary, unique, initial, hasInitial, comment, auto, c.ScanType())
	}
	return fmt.Sprint(b.String(), err)
}

func indexes(db *gorm.DB, value any) any {
	all, err := db.Migrator().GetIndexes(value)
	var b strings.Builder
	for _, i := range all {
		primary, _ := i.PrimaryKey()
		unique, _ := i.Unique()
		fmt.Fprintln(&b, i.Table(), i.Name(), i.Columns(), primary, unique, i.Option())
	}
	return fmt.Sprint(b.String(), err)
}

func field(db *gorm.DB, model any, name string) *schema.Field {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(model); err != nil {
		panic(err)
	}
	return stmt.Schema.LookUpField(name)
}

func columnOf(db *gorm.DB, model any, name string) gorm.ColumnType {
	columns, _ := db.Migrator().ColumnTypes(model)
	at := slices.IndexFunc(columns, func(c gorm.ColumnType) bool { return c.Name() == name })
	return columns[at]
}

// steps call every method of gorm.Migrator but those on views and RenameTable.
var steps = []step{
	{"CurrentDatabase", func(db *gorm.DB, _ string) any { return db.Migrator().CurrentDatabase() }},
	{"FullDataTypeOf", func(db *gorm.DB, _ string) any {
		return db.Migrator().FullDataTypeOf(field(db, &Wider{}, "Name")).SQL
	}},
	{"GetTypeAliases", func(db *gorm.DB, _ string) any { return db.Migrator().GetTypeAliases("bool") }},
	{"HasTable", func(db *gorm.DB, table string) any { return db.Migrator().HasTable(table) }},
	{"CreateTable", func(db *gorm.DB, _ string) any { return says(db.Migrator().CreateTable(&Row{})) }},
	{"CreateTable", func(db *gorm.DB, _ string) any { return says(db.Migrator().CreateTable(&Row{})) }},
	{"HasTable", func(db *gorm.DB, table string) any {
		return []bool{db.Migrator().HasTable(table), db.Migrator().HasTable(&Row{}), db.Table("absent").Migrator().HasTable("absent")}
	}},
	{"TableType", func(db *gorm.DB, table string) any {
		kind, err := db.Migrator().TableType(table)
		if err != nil {
			return err
		}
		comment, hasComment := kind.Comment()
		return fmt.Sprint(kind.Schema(), kind.Name(), kind.Type(), comment, hasComment)
	}},
	{"ColumnTypes", func(db *gorm.DB, _ string) any { return types(db, &Row{}) }},
	{"AddColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().AddColumn(&Wider{}, "Note")) }},
	{"AddColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().AddColumn(&Wider{}, "Note")) }},
	{"AddColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().AddColumn(&Wider{}, "Code")) }},
	{"HasColumn", func(db *gorm.DB, table string) any {
		m := db.Migrator()
		return []bool{m.HasColumn(&Wider{}, "Note"), m.HasColumn(table, "note"), m.HasColumn(table, "absent")}
	}},
	{"AlterColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().AlterColumn(&Wider{}, "Age")) }},
	{"MigrateColumn", func(db *gorm.DB, _ string) any {
		return says(db.Migrator().MigrateColumn(&Wider{}, field(db, &Wider{}, "Name"), columnOf(db, &Wider{}, "name")))
	}},
	{"MigrateColumnUnique", func(db *gorm.DB, _ string) any {
		return says(db.Migrator().MigrateColumnUnique(&Wider{}, field(db, &Wider{}, "Code"), columnOf(db, &Wider{}, "code")))
	}},
	{"ColumnTypes", func(db *gorm.DB, table string) any { return types(db, table) }},
	{"RenameColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().RenameColumn(&Wider{}, "note", "remark")) }},
	{"DropColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().DropColumn(&Wider{}, "remark")) }},
	{"DropColumn", func(db *gorm.DB, _ string) any { return says(db.Migrator().DropColumn(&Wider{}, "remark")) }},
	{"CreateIndex", func(db *gorm.DB, _ string) any { return says(db.Migrator().CreateIndex(&Wider{}, "idx_name")) }},
	{"HasIndex", func(db *gorm.DB, table string) any {
		m := db.Migrator()
		return []bool{m.HasIndex(&Wider{}, "idx_name"), m.HasIndex(table, "idx_user"), m.HasIndex(table, "absent")}
	}},
	{"GetIndexes", func(db *gorm.DB, table string) any { return indexes(db, table) }},
	{"RenameIndex", func(db *gorm.DB, _ string) any {
		return says(db.Migrator().RenameIndex(&Wider{}, "idx_name", "idx_by_name"))
	}},
	{"DropIndex", func(db *gorm.DB, _ string) any {
		m := db.Migrator()
		return []any{says(m.DropIndex(&Wider{}, "idx_by_name")), says(m.DropIndex(&Wider{}, "absent"))}
	}},
	{"HasConstraint", func(db *gorm.DB, table string) any {
		m := db.Migrator()
		return []bool{m.HasConstraint(&Row{}, "chk_age"), m.HasConstraint(&Wider{}, "Code"), m.HasConstraint(table, "absent")}
	}},
	{"DropConstraint", func(db *gorm.DB, _ string) any {
		m := db.Migrator()
		return []any{says(m.DropConstraint(&Row{}, "chk_age")), m.HasConstraint(&Row{}, "chk_age"), says(m.DropConstraint(&Wider{}, "Code"))}
	}},
	{"CreateConstraint", func(db *gorm.DB, _ string) any {
		m := db.Migrator()
		return []any{says(m.CreateConstraint(&Row{}, "chk_age")), m.HasConstraint(&Row{}, "Age"), says(m.CreateConstraint(&Wider{}, "Code"))}
	}},
	{"AutoMigrate", func(db *gorm.DB, _ string) any { return says(db.Migrator().AutoMigrate(&Wider{})) }},
	{"AutoMigrate", func(db *gorm.DB, _ string) any { return says(db.Migrator().AutoMigrate(&Row{})) }},
	{"AutoMigrate", func(db *gorm.DB, _ string) any { return says(db.Migrator().AutoMigrate(&Wider{}, &Row{})) }},
	{"GetIndexes", func(db *gorm.DB, table string) any { return indexes(db, table) }},
	{"GetTables", func(db *gorm.DB, _ string) any {
		tables, err := db.Migrator().GetTables()
		slices.Sort(tables)
		return fmt.Sprint(tables, err)
	}},
	{"DropTable", func(db *gorm.DB, table string) any {
		return []any{says(db.Migrator().DropTable(&Row{})), db.Migrator().HasTable(table), says(db.Migrator().DropTable(table))}
	}},
}

func TestEveryMigratorMethodDoesOnAllNodesWhatItDoesOnOneDatabase(t *testing.T) {
	few := slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
		return !slices.Contains([]string{"CreateTable", "AutoMigrate", "ColumnTypes", "GetIndexes", "DropTable"}, s.method)
	})
	of := map[string][]step{"t_order": steps, "t_region": few}
	if long() {
		maps.Copy(of, map[string][]step{"t_audit": steps, "t_ent": few, "t_event": few, "t_log": few})
	}
	for table, steps := range of {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "m_"+table)
			a, plain := c.sharded(t), c.plain(t)
			for i, s := range steps {
				want, got := s.call(plain.Table(table), table), s.call(a.Table(table), table)
				what := fmt.Sprintf("step %d, %s", i, s.method)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s says\n  %v\ninstead of\n  %v\n%s", what, got, want, strings.Join(a.definitions(), "\n"))
				}
				c.alike(t, what, plain, table)
			}
		})
	}
}

// TestTheStepsCallEveryMethod keeps the list above complete.
func TestTheStepsCallEveryMethod(t *testing.T) {
	elsewhere := []string{"CreateView", "DropView", "RenameTable"}
	methods := reflect.TypeFor[gorm.Migrator]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !slices.Contains(elsewhere, name) && !slices.ContainsFunc(steps, func(s step) bool { return s.method == name }) {
			t.Errorf("no step calls %s", name)
		}
	}
}

func TestViewsAndNewNamesOfConfiguredTablesAreRefusedBeforeAnythingIsSent(t *testing.T) {
	c := newCluster(t, "m_refused")
	a := c.sharded(t)
	for _, table := range []string{"t_order", "t_region", "t_audit", "t_plain"} {
		if err := a.Table(table).Migrator().CreateTable(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	a.definitions()
	for what, err := range map[string]error{
		"CreateView sharded":   a.Migrator().CreateView("v", gorm.ViewOption{Query: a.Table("t_order")}),
		"CreateView broadcast": a.Migrator().CreateView("v", gorm.ViewOption{Query: a.Table("t_region")}),
		"RenameTable sharded":  a.Migrator().RenameTable("t_order", "t_orders"),
		"RenameTable onto":     a.Migrator().RenameTable("t_plain", "t_order"),
		"RenameTable bcast":    a.Migrator().RenameTable("t_region", "t_regions"),
		"DropColumn of a rule": a.Table("t_order").Migrator().DropColumn(&Row{}, "user_id"),
	} {
		var refused *sharding.UnsupportedError
		if !errors.As(err, &refused) || refused.Reason == "" || refused.Remedy == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if sent := a.definitions(); sent != nil {
		t.Errorf("sent %q", sent)
	}
	// What concerns the default data source alone is none of the plugin's.
	m := a.Migrator()
	for what, err := range map[string]error{
		"CreateView":  m.CreateView("v_plain", gorm.ViewOption{Query: a.Table("t_plain").Where("age > ?", 3)}),
		"DropView":    m.DropView("v_plain"),
		"RenameTable": m.RenameTable("t_plain", "t_other"),
	} {
		if err != nil && what != "DropView" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
