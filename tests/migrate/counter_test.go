//go:build unix

package migrate_test

import (
	"slices"
	"strings"
	"testing"

	gormmysql "gorm.io/driver/mysql"

	"github.com/gormshard/sharding/config"
)

// Counted is GORM's usual model: MySQL's dialector makes its key AUTO_INCREMENT.
type Counted struct {
	ID     uint
	UserID int64
}

// TestAutoIncrementWithoutAGeneratorIsReportedAtStart tells of tables of several
// nodes alone.
func TestAutoIncrementWithoutAGeneratorIsReportedAtStart(t *testing.T) {
	c := newCluster(t, "counter")
	a := c.sharded(t)
	for _, table := range []string{"t_order", "t_member", "t_ent", "t_region", "t_audit"} {
		if err := a.Table(table).AutoMigrate(&Counted{}); err != nil {
			t.Fatal(err)
		}
	}
	cfg := c.config()
	cfg.Props.PreloadTables = true
	member := cfg.Sharding.Tables["t_member"]
	member.KeyGenerate = &config.KeyGenerate{Column: "id", Generator: "segment"}
	cfg.Sharding.Tables["t_member"] = member
	cfg.Sharding.KeyGenerators = map[string]config.KeyGenerator{"segment": {Type: "SEGMENT", Props: map[string]any{"table": "t_member"}}}
	again := c.open(t, cfg, gormmysql.Open(string(cfg.DataSources["ds0"].DSN)))
	warned := slices.DeleteFunc(again.Warnings(), func(w string) bool { return !strings.Contains(w, "AUTO_INCREMENT") })
	slices.Sort(warned)
	if len(warned) != 2 || !strings.Contains(warned[0], "column id of table t_ent ") || !strings.Contains(warned[1], "column id of table t_order ") ||
		!strings.Contains(warned[1], "keyGenerate: {column: id, …} to sharding.tables.t_order") {
		t.Errorf("warned %q", warned)
	}
	// The copies of a broadcast table get one number.
	region := Counted{UserID: 3}
	if err := again.Table("t_region").Create(&region).Error; err != nil || region.ID == 0 {
		t.Errorf("a broadcast row is %v, %v", region, err)
	}
	if err := again.Table("t_order").Create(&Counted{UserID: 3}).Error; err == nil || !strings.Contains(err.Error(), "keyGenerate") {
		t.Errorf("without a key: %v", err)
	}
}
