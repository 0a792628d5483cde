//go:build unix

package migrate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/gormshard/sharding"
)

// TestAutoMigrateOfRelatedModelsIsDoneAtOnce makes foreign keys in every node, and
// finds nothing to do the second time.
func TestAutoMigrateOfRelatedModelsIsDoneAtOnce(t *testing.T) {
	c := newCluster(t, "auto")
	a, plain := c.sharded(t), c.plain(t)
	models := []any{&Order{}, &Item{}, &Region{}, &Member{}, &Tag{}}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.SetupJoinTable(&Member{}, "Tags", &MemberTag{}); err != nil {
			t.Fatal(err)
		}
		if err := db.AutoMigrate(models...); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"t_order", "t_order_item", "t_region", "t_member", "t_member_tag"} {
		c.alike(t, "AutoMigrate", plain, table)
	}
	a.definitions()
	if err := a.AutoMigrate(models...); err != nil {
		t.Fatal(err)
	}
	if sent := a.definitions(); sent != nil {
		t.Errorf("the second AutoMigrate sent\n%s", strings.Join(sent, "\n"))
	}
	for table, value := range map[string]any{"t_order": &Order{}, "t_order_item": &Item{}, "t_member_tag": &MemberTag{}} {
		if got, want := indexes(a.DB, value), indexes(plain, value); got != want {
			t.Errorf("the indexes of %s are\n%s\ninstead of\n%s", table, got, want)
		}
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		m := db.Migrator()
		if !m.HasConstraint(&Order{}, "Items") || !m.HasConstraint(&Order{}, "Region") || !m.HasConstraint(&Item{}, "Number") {
			t.Error("a constraint is missing")
		}
		// A foreign key leaves its key behind, which has its name.
		if err := errors.Join(m.DropConstraint(&Order{}, "Region"), m.DropIndex(&Order{}, "fk_t_order_region"), m.DropConstraint(&Item{}, "Number")); err != nil {
			t.Error(err)
		}
	}
	c.alike(t, "DropConstraint", plain, "t_order")
	c.alike(t, "DropConstraint", plain, "t_order_item")
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Migrator().DropTable(&Item{}, &Order{}, &Region{}, &MemberTag{}, &Member{}, &Tag{}); err != nil {
			t.Error(err)
		}
		if db.Migrator().HasTable(&Order{}) {
			t.Error("a dropped table exists")
		}
	}
}

// lock keeps a node from being altered, until unlocked.
func (c *cluster) lock(t *testing.T, node string) (unlock func()) {
	t.Helper()
	_, table, _ := strings.Cut(node, ".")
	db := c.at(node)
	if definition(t, db, table) == nil { // a view in the table's place keeps it from being made
		exec(t, db, "CREATE VIEW "+table+" AS SELECT 1 AS x")
		return func() { exec(t, db, "DROP VIEW "+table) }
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES "+table+" READ"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	}
}

// Related is Unrelated with a foreign key.
type Unrelated struct {
	ID, UserID int64
	RegionID   *int64
}

type Related struct {
	ID, UserID int64
	RegionID   *int64
	Region     *Region
}

func (Unrelated) TableName() string { return "t_order" }
func (Related) TableName() string   { return "t_order" }

// migrate is AutoMigrate of a model of t_order.
func migrate(db *gorm.DB, model any) error {
	if _, named := model.(schema.Tabler); named {
		return db.AutoMigrate(model) // GORM panics at relations of a model with Table
	}
	return db.Table("t_order").AutoMigrate(model)
}

// halves are changes of a model, each by one statement of AutoMigrate.
var halves = map[string]struct{ before, after any }{
	"the table": {nil, &struct {
		ID, UserID int64
		Code       string `gorm:"size:20;index:idx_code"`
	}{}},
	"a column": {
		&struct{ ID, UserID int64 }{},
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20;default:x"`
		}{},
	},
	"the type of a column": {
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20"`
		}{},
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:40;not null;comment:longer"`
		}{},
	},
	"an index": {
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20"`
		}{},
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20;uniqueIndex:idx_code"`
		}{},
	},
	"a unique constraint": {
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20"`
		}{},
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20;unique"`
		}{},
	},
	"no unique constraint": {
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20;unique"`
		}{},
		&struct {
			ID, UserID int64
			Code       string `gorm:"size:20"`
		}{},
	},
	"a check": {
		&struct{ ID, UserID int64 }{},
		&struct {
			ID     int64
			UserID int64 `gorm:"check:chk_user,user_id > 0"`
		}{},
	},
	"a foreign key": {&Unrelated{}, &Related{}},
}

// TestAutoMigrateCompletesWhatAFailureLeft fails each kind of step on a node, the
// first and another, and runs AutoMigrate once more.
func TestAutoMigrateCompletesWhatAFailureLeft(t *testing.T) {
	for name, h := range halves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "half_"+strings.NewReplacer(" ", "_").Replace(name))
			a, plain := c.sharded(t), c.plain(t)
			failing := []string{"ds0.t_order_0", "ds1.t_order_1"}
			if !long() && name != "a column" {
				failing = failing[1:]
			}
			for i, node := range failing {
				for _, db := range []*gorm.DB{plain, a.DB} {
					if err := db.AutoMigrate(&Region{}); err != nil {
						t.Fatal(err)
					}
					if err := db.Migrator().DropTable("t_order"); i > 0 && err != nil {
						t.Fatal(err)
					}
					if h.before == nil {
						continue
					}
					if err := migrate(db, h.before); err != nil {
						t.Fatal(err)
					}
				}
				if err := migrate(plain, h.after); err != nil {
					t.Fatal(err)
				}
				unlock := c.lock(t, node)
				err := migrate(a.DB, h.after)
				var failed *sharding.NodesError
				if !errors.As(err, &failed) || len(failed.Nodes) != 1 || failed.Nodes[0].DataSource+"."+failed.Nodes[0].Table != node {
					t.Errorf("with %s locked: %v", node, err)
				}
				unlock()
				if err := migrate(a.DB, h.after); err != nil {
					t.Errorf("after %s failed: %v", node, err)
				}
				c.alike(t, node, plain, "t_order")
				a.definitions()
				if err := migrate(a.DB, h.after); err != nil {
					t.Error(err)
				}
				if sent := a.definitions(); sent != nil {
					t.Errorf("a third time it sent %q", sent)
				}
			}
		})
	}
}

// TestANodeWithAnotherColumnOfTheNameIsNamedUntilItIsMended: the first node, which
// GORM asks, stays as it was, so that no run passes over the one that differs.
func TestANodeWithAnotherColumnOfTheNameIsNamedUntilItIsMended(t *testing.T) {
	differing := []string{"ds0.t_order_0", "ds1.t_order_0"}
	if long() {
		differing = append(differing, "ds0.t_order_1")
	}
	for _, node := range differing {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "othertype_"+strings.ReplaceAll(node, ".", "_"))
			a, plain := c.sharded(t), c.plain(t)
			for _, db := range []*gorm.DB{plain, a.DB} {
				if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
					t.Fatal(err)
				}
			}
			exec(t, c.at(node), "ALTER TABLE "+node[4:]+" ADD COLUMN note datetime")
			first := node == nodes["t_order"][0] // GORM sees the column, and modifies it, which the others lack
			for range 2 {
				err := a.Table("t_order").AutoMigrate(&Later{})
				if first && (err == nil || !strings.Contains(err.Error(), "Unknown column 'note'")) || !first && (!errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), node)) {
					t.Errorf("got %v", err)
				}
			}
			exec(t, c.at(node), "ALTER TABLE "+node[4:]+" DROP COLUMN note")
			for _, db := range []*gorm.DB{plain, a.DB} {
				if err := db.Table("t_order").AutoMigrate(&Later{}); err != nil {
					t.Error(err)
				}
			}
			c.alike(t, "mended", plain, "t_order")
		})
	}
}

// TestAutoMigrateCompletesWhatACancelledOneLeft ends the context while a node is
// locked for real.
func TestAutoMigrateCompletesWhatACancelledOneLeft(t *testing.T) {
	c := newCluster(t, "cancelled")
	a, plain := c.sharded(t), c.plain(t)
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := c.pools[1].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES t_order_0 READ"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	err = a.WithContext(ctx).Table("t_order").AutoMigrate(&Wider{})
	var failed *sharding.NodesError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &failed) && slices.Contains(failed.Done, "ds0.t_order_0") {
		t.Errorf("got %v", err)
	}
	if _, err := lock.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Wider{}); err != nil {
			t.Error(err)
		}
	}
	c.alike(t, "after the cancelled one", plain, "t_order")
}

// TestANodeThatIsNewGetsTheTable adds a node whose table nobody has made, and
// changes the model at the same time.
func TestANodeThatIsNewGetsTheTable(t *testing.T) {
	c := newCluster(t, "fresh")
	a, plain := c.sharded(t), c.plain(t)
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, c.pools[1], "DROP TABLE t_order_1")
	if a.Migrator().HasTable("t_order") {
		t.Error("a table that a node lacks exists")
	}
	if err := a.Table("t_order").AutoMigrate(&Row{}); err != nil {
		t.Error(err)
	}
	c.alike(t, "a new node", plain, "t_order")
}

// Later is Row two versions later: with a column in the middle, one that is wider and
// one less, which GORM leaves where it is.
type Later struct {
	ID     int64     `gorm:"primaryKey;autoIncrement:false"`
	UserID int64     `gorm:"not null;index:idx_user"`
	Note   string    `gorm:"size:20;index:idx_note"`
	At     time.Time `gorm:"not null"`
	Name   string    `gorm:"size:60;default:nobody;comment:the name"`
}

// TestANewNodeAndANewModelAreToldAndMendedByTheNextRun: the new node is made like the
// others, whichever it is, so that the migrator finds what is to be altered on all.
func TestANewNodeAndANewModelAreToldAndMendedByTheNextRun(t *testing.T) {
	fresh := nodes["t_order"]
	if !long() {
		fresh = []string{fresh[0], fresh[3]}
	}
	for _, node := range fresh {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "fresh_"+strings.ReplaceAll(node, ".", "_"))
			a, plain := c.sharded(t), c.plain(t)
			for _, db := range []*gorm.DB{plain, a.DB} {
				if err := db.Table("t_order").AutoMigrate(&Row{}); err != nil {
					t.Fatal(err)
				}
			}
			exec(t, c.at(node), "DROP TABLE "+node[4:])
			err := a.Table("t_order").AutoMigrate(&Later{})
			if !errors.Is(err, sharding.ErrPartialDDL) || !errors.Is(err, sharding.ErrSchemaDrift) || !strings.Contains(err.Error(), "made like that on "+node) {
				t.Errorf("the first run: %v", err)
			}
			c.alike(t, "the first run", plain, "t_order")
			for _, db := range []*gorm.DB{plain, a.DB} {
				if err := db.Table("t_order").AutoMigrate(&Later{}); err != nil {
					t.Error(err)
				}
			}
			c.alike(t, "the second run", plain, "t_order")
			// A model that is not newer than the others is no difference, though their
			// columns stand in another order, and they have more.
			exec(t, c.at(node), "DROP TABLE "+node[4:])
			if err := a.Table("t_order").AutoMigrate(&Later{}); err != nil {
				t.Error(err)
			}
			c.alike(t, "another new node", plain, "t_order")
			a.definitions()
			if err := a.Table("t_order").AutoMigrate(&Later{}); err != nil {
				t.Error(err)
			}
			if sent := a.definitions(); sent != nil {
				t.Errorf("a further run sent %q", sent)
			}
			for _, pool := range c.pools {
				var left int
				if err := pool.QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '\\_sharding%'").Scan(&left); err != nil || left > 0 {
					t.Errorf("%d tables are left, %v", left, err)
				}
			}
		})
	}
}

// TestANewNodeOfRelatedTablesGetsTheirConstraints adds a data source with all tables
// but the broadcast one's rows.
func TestANewNodeOfRelatedTablesGetsTheirConstraints(t *testing.T) {
	c := newCluster(t, "newsource")
	a, plain := c.sharded(t), c.plain(t)
	models := []any{&Order{}, &Item{}, &Region{}}
	for _, db := range []*gorm.DB{plain, a.DB} {
		if err := db.AutoMigrate(models...); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, c.pools[0], "DROP TABLE t_order_item_0, t_order_item_1", "DROP TABLE t_order_0, t_order_1", "DROP TABLE t_region")
	if err := a.AutoMigrate(models...); err != nil {
		t.Error(err)
	}
	for _, table := range []string{"t_order", "t_order_item", "t_region"} {
		c.alike(t, "a new data source", plain, table)
	}
}
