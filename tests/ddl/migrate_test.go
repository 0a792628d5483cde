//go:build unix

package ddl_test

import (
	"slices"
	"strings"
	"testing"
)

// Region, Order and WideOrder are models of GORM; WideOrder is Order a version
// later.
type Region struct {
	ID   int64  `gorm:"primaryKey;autoIncrement:false"`
	Name string `gorm:"size:50;index"`
}

func (Region) TableName() string { return "t_region" }

type Order struct {
	ID       int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID   int64 `gorm:"index:idx_user"`
	RegionID *int64
	Amount   int64 `gorm:"check:chk_amount,amount >= 0"`
	Region   *Region
}

func (Order) TableName() string { return "t_order" }

type WideOrder struct {
	ID     int64  `gorm:"primaryKey;autoIncrement:false"`
	UserID int64  `gorm:"index:idx_user"`
	Note   string `gorm:"size:10;uniqueIndex:uni_note"`
}

func (WideOrder) TableName() string { return "t_order" }

// definitions returns the DDL among the statements that were sent.
func definitions(sent []string) []string {
	var out []string
	for _, s := range sent {
		_, text, _ := strings.Cut(s, " ")
		switch verb, _, _ := strings.Cut(text, " "); verb {
		case "CREATE", "ALTER", "DROP":
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func TestGORMsMigratorDefinesEveryNode(t *testing.T) {
	c := newCluster(t, "migrate")
	a := c.open(t, c.config())
	step := func(what string, err error, want ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got := definitions(a.Take())
		if !slices.Equal(got, want) {
			t.Errorf("%s sent\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	everywhere := func(pattern string) []string {
		var out []string
		for _, source := range []string{"ds0", "ds1"} {
			for _, table := range []string{"t_order_0", "t_order_1"} {
				out = append(out, source+" "+strings.ReplaceAll(pattern, "{}", table))
			}
		}
		return out
	}
	if err := a.AutoMigrate(&Region{}, &Order{}); err != nil {
		t.Fatal(err)
	}
	if got := definitions(a.Take()); len(got) != 6 {
		t.Errorf("AutoMigrate sent %q", got)
	}
	step("AutoMigrate once more", a.AutoMigrate(&Region{}, &Order{}))
	step("a later version", a.AutoMigrate(&WideOrder{}), slices.Sorted(slices.Values(append(
		everywhere("ALTER TABLE `{}` ADD `note` varchar(10)"), everywhere("CREATE UNIQUE INDEX `uni_note` ON `{}`(`note`)")...)))...)
	step("DropConstraint", a.Migrator().DropConstraint(&Order{}, "Region"), everywhere("ALTER TABLE `{}` DROP CONSTRAINT `fk_t_order_region_{}`")...)
	step("RenameColumn", a.Migrator().RenameColumn(&WideOrder{}, "note", "remark"), everywhere("ALTER TABLE `{}` CHANGE `note` `remark` varchar(10)")...)
	step("DropColumn", a.Migrator().DropColumn(&WideOrder{}, "remark"), everywhere("ALTER TABLE `{}` DROP COLUMN `remark`")...)
	step("DropIndex", a.Migrator().DropIndex(&Order{}, "idx_user"), everywhere("DROP INDEX `idx_user` ON `{}`")...)
	if err := a.Migrator().RenameTable("t_order", "t_orders"); err == nil {
		t.Error("RenameTable renamed a configured table")
	}
}
