//go:build unix

package migrate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
)

// Base is embedded.
type Base struct {
	CreatedAt time.Time
	UpdatedAt *time.Time     `gorm:"precision:6"`
	DeletedAt gorm.DeletedAt `gorm:"index:idx_deleted"`
}

// Rich has what GORM's tags can say of a column, a key and a table.
type Rich struct {
	ID       uint64    `gorm:"primaryKey;autoIncrement:false;comment:the key"`
	UserID   int64     `gorm:"primaryKey;autoIncrement:false;index:idx_user_at,priority:1"`
	At       time.Time `gorm:"type:datetime(3);not null;primaryKey;index:idx_user_at,priority:2,sort:desc,comment:by time"`
	Code     string    `gorm:"size:20;not null;default:'a b';uniqueIndex:uni_code_user,priority:2"`
	User2    int64     `gorm:"column:user_2;uniqueIndex:uni_code_user,priority:1;check:chk_user2,user_2 >= 0"`
	Words    string    `gorm:"type:text;index:idx_words,class:FULLTEXT"`
	Prefix   string    `gorm:"size:200;index:idx_prefix,length:10,type:btree"`
	Price    float64   `gorm:"type:decimal(10,2);not null;default:1.50"`
	Ratio    float32
	Flag     bool      `gorm:"default:true"`
	Small    int8      `gorm:"default:3"`
	Kind     string    `gorm:"type:enum('a','b');default:'a'"`
	Blob     []byte    `gorm:"size:100"`
	Double   int64     `gorm:"->;type:bigint GENERATED ALWAYS AS (user_2 * 2) STORED"`
	Uni      *string   `gorm:"size:30;unique"`
	Stamp    time.Time `gorm:"default:current_timestamp(3)"`
	Left     string    `gorm:"size:10;embeddedPrefix:x"`
	Ignored  string    `gorm:"-:migration"`
	Base     `gorm:"embeddedPrefix:b_"`
	Quantity int `gorm:"check:chk_both,quantity > 0 AND quantity < 1000"`
}

// Richer is Rich a version later.
type Richer struct {
	ID       uint64    `gorm:"primaryKey;autoIncrement:false;comment:the key"`
	UserID   int64     `gorm:"primaryKey;autoIncrement:false;index:idx_user_at,priority:1"`
	At       time.Time `gorm:"type:datetime(3);not null;primaryKey;index:idx_user_at,priority:2,sort:desc,comment:by time"`
	Code     string    `gorm:"size:30;not null;default:'c';uniqueIndex:uni_code_user,priority:2"`
	User2    int64     `gorm:"column:user_2;uniqueIndex:uni_code_user,priority:1;check:chk_user2,user_2 >= 0"`
	Words    string    `gorm:"type:mediumtext;index:idx_words,class:FULLTEXT"`
	Prefix   string    `gorm:"size:200;index:idx_prefix_2,length:12"`
	Price    float64   `gorm:"type:decimal(12,3);not null;default:2.500;comment:new"`
	Flag     bool      `gorm:"default:false"`
	Small    int16     `gorm:"default:4"`
	Kind     string    `gorm:"type:enum('a','b','c');default:'b'"`
	Blob     []byte    `gorm:"size:200"`
	Uni      *string   `gorm:"size:30"`
	Stamp    time.Time `gorm:"default:null"`
	Extra    string    `gorm:"size:10;not null;default:'';unique;check:chk_extra,extra <> 'x'"`
	Base     `gorm:"embeddedPrefix:b_"`
	Quantity int `gorm:"check:chk_both,quantity > 0 AND quantity < 1000"`
}

func asked(db *gorm.DB, table string) string {
	m := db.Table(table).Migrator()
	var b strings.Builder
	for _, name := range []string{"idx_user_at", "uni_code_user", "idx_words", "idx_prefix", "uni_" + table + "_uni", "PRIMARY", "chk_user2"} {
		fmt.Fprint(&b, name, m.HasIndex(table, name), m.HasConstraint(table, name), " ")
	}
	for _, name := range []string{"Double", "double", "b_created_at", "Ignored", "at", "AT"} {
		fmt.Fprint(&b, name, m.HasColumn(&Rich{}, name), m.HasColumn(table, name), " ")
	}
	kind, err := m.TableType(table)
	comment, ok := "", false
	if err == nil {
		comment, ok = kind.Comment()
	}
	return fmt.Sprintln(b.String(), comment, ok, err, m.HasTable(table)) + fmt.Sprint(types(db.Table(table), table), indexes(db.Table(table), table))
}

// TestARichModelIsMigratedOnEveryKindOfTableAsOnOneDatabase makes it, looks at it,
// migrates it, and goes back.
func TestARichModelIsMigratedOnEveryKindOfTableAsOnOneDatabase(t *testing.T) {
	tables := []string{"t_order"}
	if long() {
		tables = append(tables, "t_region", "t_audit", "t_plain", "t_ent", "t_event", "t_log")
	}
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "rich_"+table)
			a, plain := c.sharded(t), c.plain(t)
			const options = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC COMMENT='it''s rich' DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci"
			steps := []struct {
				what string
				run  func(db *gorm.DB) error
			}{
				{"create", func(db *gorm.DB) error {
					return db.Set("gorm:table_options", options).Table(table).AutoMigrate(&Rich{})
				}},
				{"again", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Rich{}) }},
				{"once more", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Rich{}) }},
				{"later", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Richer{}) }},
				{"later, again", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Richer{}) }},
				{"later, once more", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Richer{}) }},
				{"rename", func(db *gorm.DB) error { return db.Table(table).Migrator().RenameColumn(&Richer{}, "extra", "more") }},
				{"rename of a key", func(db *gorm.DB) error {
					return db.Table(table).Migrator().RenameIndex(&Richer{}, "idx_prefix_2", "idx_prefix_3")
				}},
				{"drop of a column with keys", func(db *gorm.DB) error { return db.Table(table).Migrator().DropColumn(&Richer{}, "prefix") }},
				{"drop of a generated column", func(db *gorm.DB) error { return db.Table(table).Migrator().DropColumn(table, "double") }},
				{"drop of a check", func(db *gorm.DB) error { return db.Table(table).Migrator().DropConstraint(&Richer{}, "chk_both") }},
				{"create of a check", func(db *gorm.DB) error { return db.Table(table).Migrator().CreateConstraint(&Richer{}, "chk_both") }},
				{"back", func(db *gorm.DB) error { return db.Table(table).AutoMigrate(&Rich{}) }},
			}
			for _, s := range steps {
				a.definitions()
				got, want := s.run(a.DB), s.run(plain)
				if (got == nil) != (want == nil) {
					t.Errorf("%s: %v, instead of %v", s.what, got, want)
				}
				if sent := a.definitions(); strings.HasSuffix(s.what, "once more") && sent != nil {
					t.Errorf("%s sent\n%s", s.what, strings.Join(sent, "\n"))
				}
				c.alike(t, s.what, plain, table)
				if got, want := asked(a.DB, table), asked(plain, table); got != want {
					t.Errorf("%s: asked, it says\n%s\ninstead of\n%s", s.what, got, want)
				}
			}
			tables, err := a.Migrator().GetTables()
			if err != nil || !slices.Contains(tables, table) || slices.ContainsFunc(tables, func(n string) bool { return n != table && strings.HasPrefix(n, table) }) {
				t.Errorf("tables %q, %v", tables, err)
			}
		})
	}
}
