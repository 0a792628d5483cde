//go:build unix

package reload_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// A DATETIME is placed by its text, which no time zone changes. A TIMESTAMP, whose
// text is another one in another zone, places no rows: what is there already is looked
// for everywhere.
func TestAnotherTimeZoneOfTheSessionsMovesNoRow(t *testing.T) {
	s := newShop(t, "zone")
	byMonth := &config.Strategy{Standard: &config.Standard{Column: "at", Algorithm: "by_month"}}
	for table, is := range map[string]string{"t_event": "timestamp NOT NULL DEFAULT '2024-01-01 00:00:00'", "t_visit": "datetime NOT NULL"} {
		for _, month := range []string{"202401", "202402"} {
			s.run(t, 1, fmt.Sprintf("CREATE TABLE %s_%s (id bigint PRIMARY KEY, at %s)", table, month, is))
		}
	}
	zone := func(is string) func(*config.Config) {
		return func(cfg *config.Config) {
			for i := range 2 {
				cfg.DataSources[fmt.Sprintf("ds%d", i)] = config.DataSource{DSN: config.DSN(s.server.DSN(fmt.Sprintf("%s_%d", s.name, i), "time_zone=%27"+is+"%27"))}
			}
		}
	}
	s.reload(t, func(cfg *config.Config) {
		zone("%2B00:00")(cfg)
		for _, table := range []string{"t_event", "t_visit"} {
			cfg.Sharding.Tables[table] = config.Table{ActualDataNodes: "ds1." + table + "_${['202401', '202402']}", TableStrategy: byMonth}
		}
		cfg.Sharding.Algorithms["by_month"] = config.Algorithm{Type: "INTERVAL", Props: map[string]any{
			"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-02-29 23:59:59", "suffixPattern": "yyyyMM", "unit": "MONTHS",
		}}
	})
	if err := s.db.Exec("INSERT INTO t_event (id, at) VALUES (1, '2024-01-31 23:30:00')").Error; !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("a TIMESTAMP has placed a row: %v", err)
	}
	if err := s.db.Exec("INSERT INTO t_visit (id, at) VALUES (1, '2024-01-31 23:30:00')").Error; err != nil {
		t.Fatal(err)
	}
	event := s.raw(t, 1) // of the servers' zone, so that the instant is said by the session
	if _, err := event.ExecContext(t.Context(), "SET STATEMENT time_zone = '+00:00' FOR INSERT INTO t_event_202401 (id, at) VALUES (1, '2024-01-31 23:30:00')"); err != nil {
		t.Fatal(err)
	}
	found := func(table, at string) {
		t.Helper()
		var n int
		if err := s.db.Raw("SELECT COUNT(*) FROM "+table+" WHERE at = ?", at).Scan(&n).Error; err != nil || n != 1 {
			t.Errorf("%d rows of %s, %v, want the one of %s", n, table, err, at)
		}
	}
	found("t_event", "2024-01-31 23:30:00")
	found("t_visit", "2024-01-31 23:30:00")
	s.reload(t, zone("%2B01:00"))
	found("t_event", "2024-02-01 00:30:00")
	found("t_visit", "2024-01-31 23:30:00")
}
