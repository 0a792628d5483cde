package callbacks

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// warnings keeps what GORM's logger is told.
type warnings struct {
	logger.Interface
	list []string
}

func (w *warnings) Warn(_ context.Context, format string, args ...any) {
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

func TestTableThatIsCalledNearlyLikeOneWithARuleIsWarnedOf(t *testing.T) {
	db := open(t, &counter{}, &gorm.Config{DryRun: true})
	log := &warnings{Interface: logger.Discard}
	db.Logger = log
	for _, sql := range []string{
		"CREATE TABLE `t_orders` (`id` bigint)", "CREATE TABLE `t_order` (`id` bigint)", "CREATE TABLE `a`.`t_orders` (`id` bigint)",
		"INSERT INTO `t_orders` VALUES (1)", "CREATE TABLE `t_orders", "CREATE TABLE `",
	} {
		if err := db.Exec(sql).Error; err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"sharding: table t_orders has no rule and is made in ds0 alone; t_order has one: did you mean it? Where not, list the table in sharding.singleTables"}
	if !slices.Equal(log.list, want) {
		t.Errorf("warnings %q", log.list)
	}
}
