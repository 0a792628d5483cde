//go:build unix

package inquiry_test

import (
	"strings"
	"testing"

	"github.com/gormshard/sharding/config"
)

type note struct {
	ID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Owner int64  `gorm:"index:idx_owner"`
	Qty   int    `gorm:"check:ck_note,qty > 0"`
	Sku   string `gorm:"size:20;uniqueIndex:uni_sku"`
}

func (note) TableName() string { return "t_note" }

// What AutoMigrate made, the migrator's questions find again.
func TestAutoMigrateFindsNothingToDoTheSecondTime(t *testing.T) {
	s := newShop(t)
	cfg := s.config("shop")
	by := &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "two"}}
	cfg.Sharding.Tables["t_note"] = config.Table{ActualDataNodes: "ds1.t_note_${0..1}", TableStrategy: by}
	db, _, trace := s.sharded(t, cfg)
	defer func() {
		if err := db.Exec("DROP TABLE IF EXISTS t_note").Error; err != nil {
			t.Error(err)
		}
	}()
	for _, want := range []bool{true, false} {
		_ = trace.String()
		if err := db.AutoMigrate(&note{}); err != nil {
			t.Fatal(err, trace)
		}
		sent := trace.String()
		if changed := strings.Contains(sent, "CREATE") || strings.Contains(sent, "ALTER"); changed != want {
			t.Errorf("tables were changed: %v, want %v\nsent%s", changed, want, sent)
		}
	}
}
