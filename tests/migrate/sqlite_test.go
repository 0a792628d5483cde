//go:build unix

package migrate_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// TestSQLiteMakesTablesThatAreCalledAlikeInEveryFile runs AutoMigrate as the quick
// start could.
func TestSQLiteMakesTablesThatAreCalledAlikeInEveryFile(t *testing.T) {
	dir := t.TempDir()
	by := func(column, algorithm string) *config.Strategy {
		return &config.Strategy{Standard: &config.Standard{Column: column, Algorithm: algorithm}}
	}
	cfg := &config.Config{
		DataSources: map[string]config.DataSource{
			"ds0": {Driver: "sqlite", DSN: config.DSN(filepath.Join(dir, "ds0.db"))},
			"ds1": {Driver: "sqlite", DSN: config.DSN(filepath.Join(dir, "ds1.db"))},
		},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_order": {ActualDataNodes: "ds${0..1}.t_order_${0..1}", DatabaseStrategy: by("user_id", "database"), TableStrategy: by("user_id", "order")},
				"t_ent":   {ActualDataNodes: "ds${0..1}.t_ent", DatabaseStrategy: by("user_id", "database")},
			},
			BroadcastTables: []string{"t_region"},
			SingleTables:    map[string]string{"t_audit": "ds1"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${floorMod(user_id, 2)}"}},
				"order":    {Type: "INLINE", Props: map[string]any{"expression": "t_order_${floorMod(user_id.intdiv(2), 2)}"}},
			},
		},
	}
	plugin := sharding.Register(cfg, sharding.WithDialector("sqlite", sqlite.Open))
	db, err := gorm.Open(sqlite.Open(string(cfg.DataSources["ds0"].DSN)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close() })
	for _, table := range []string{"t_ent", "t_region", "t_audit", "t_plain"} {
		for range 2 {
			if err := db.Table(table).AutoMigrate(&Lite{}); err != nil {
				t.Errorf("%s: %v", table, err)
			}
		}
		if !db.Migrator().HasTable(table) {
			t.Errorf("%s does not exist", table)
		}
	}
	if err := errors.Join(db.Table("t_ent").Create(&[]Lite{{1, 1, "a"}, {2, 2, "b"}}).Error, db.Table("t_region").Create(&Lite{1, 1, "a"}).Error); err != nil {
		t.Error(err)
	}
	for i, table := range map[string]string{"ds0": "t_ent", "ds1": "t_region"} {
		var n int64
		if err := plugin.DataSource(i).Table(table).Count(&n).Error; err != nil || n != 1 {
			t.Errorf("%s holds %d rows of %s, %v", i, n, table, err)
		}
	}
	// The list of tables knows no logical names.
	err = db.Raw("SELECT count(*) FROM sqlite_master WHERE name = ?", "t_order").Row().Err()
	var refused *sharding.UnsupportedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Remedy, "DataSource") {
		t.Errorf("a table that files call otherwise: %v", err)
	}
}

// Lite is a model that every data source of SQLite can make.
type Lite struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64 `gorm:"index"`
	Name   string
}
