package rewrite_test

import (
	"testing"

	"github.com/gormshard/sharding/config"
)

// clockService is the order service with a table sharded by time, and with columns
// that are left to the clock or to chance.
func clockService(t testing.TB) *pipeline {
	return orderService(t, func(cfg *config.Config, types map[string]string) {
		cfg.Sharding.Algorithms["event_year"] = config.Algorithm{Type: "INTERVAL", Props: map[string]any{
			"datetimePattern": "yyyy-MM-dd HH:mm:ss", "datetimeLower": "2025-01-01 00:00:00", "datetimeUpper": "2026-12-31 00:00:00",
			"suffixPattern": "yyyy", "amount": 1, "unit": "YEARS",
		}}
		cfg.Sharding.Tables["t_event"] = config.Table{
			ActualDataNodes: "ds1.t_event_${2025..2026}",
			TableStrategy:   &config.Strategy{Standard: &config.Standard{Column: "at", Algorithm: "event_year"}},
		}
		cfg.Sharding.Algorithms["shift_year"] = cfg.Sharding.Algorithms["event_year"]
		cfg.Sharding.Tables["t_shift"] = config.Table{
			ActualDataNodes: "ds1.t_shift_${2025..2026}",
			TableStrategy:   &config.Strategy{Standard: &config.Standard{Column: "ended", Algorithm: "shift_year"}},
		}
		types["t_shift"] = "id bigint,ended datetime on update,note varchar(64) general"
		cfg.Sharding.BroadcastTables = append(cfg.Sharding.BroadcastTables, "t_rate")
		types["t_event"] = "id bigint,at datetime,note varchar(64) general,made timestamp clocked"
		types["t_rate"] = "code varchar(20) binary,rate decimal(10,2),changed timestamp clocked,token uuid random"
	})
}
