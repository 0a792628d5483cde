package metadata

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// defaults are the variables of a fresh MariaDB 10.11.
func defaults() map[string]string {
	return map[string]string{
		"version": "10.11.19-MariaDB-0+deb12u1", "version_comment": "Debian 12",
		"sql_mode":  "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
		"time_zone": "SYSTEM", "system_time_zone": "UTC",
		"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "character_set_results": "utf8mb4", "collation_connection": "utf8mb4_general_ci",
		"lower_case_table_names": "0", "div_precision_increment": "4", "max_allowed_packet": "16777216", "max_sort_length": "1024", "group_concat_max_len": "1048576",
		"sql_select_limit": "18446744073709551615", "sql_auto_is_null": "OFF", "tx_isolation": "REPEATABLE-READ",
	}
}

func check(t *testing.T, name string, change map[string]string) (Settings, error) {
	t.Helper()
	variables := defaults()
	maps.Copy(variables, change)
	var rows [][]driver.Value
	for name, setting := range variables {
		rows = append(rows, []driver.Value{name, setting})
	}
	db, _ := open(t, answer{query: "SHOW SESSION VARIABLES", rows: rows})
	return CheckSource(context.Background(), name, db, dialect.MySQL)
}

func TestModesThatChangeTheMeaningOfAStatementAreRefused(t *testing.T) {
	for name, setting := range map[string]string{
		"ANSI_QUOTES":          "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI",
		"NO_BACKSLASH_ESCAPES": "NO_BACKSLASH_ESCAPES",
		"PIPES_AS_CONCAT":      "STRICT_TRANS_TABLES,PIPES_AS_CONCAT",
		"HIGH_NOT_PRECEDENCE":  "HIGH_NOT_PRECEDENCE",
	} {
		_, err := check(t, "ds1", map[string]string{"sql_mode": setting})
		var config *fault.ConfigError
		if !errors.As(err, &config) || config.Path != "dataSources.ds1" || !strings.Contains(config.Reason, name) {
			t.Errorf("sql_mode %s: %v", setting, err)
		}
	}
	for _, name := range []string{"sql_auto_is_null", "innodb_rollback_on_timeout"} {
		if _, err := check(t, "ds1", map[string]string{name: "ON"}); !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, limit := range []string{"0", "10", "1000000"} {
		if _, err := check(t, "ds1", map[string]string{"sql_select_limit": limit}); !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), "sql_select_limit") {
			t.Errorf("sql_select_limit %s: %v", limit, err)
		}
	}
	s, err := check(t, "ds1", map[string]string{"lower_case_table_names": "1"})
	if err != nil || s.LowerCaseTableNames != 1 || s.DivPrecisionIncrement != 4 {
		t.Errorf("the defaults: %+v, %v", s, err)
	}
	if _, err := check(t, "ds1", map[string]string{"div_precision_increment": ""}); err == nil {
		t.Error("a server without div_precision_increment was accepted")
	}
}

// A server cuts off what it says of its variables, too.
func TestAListOfVariablesThatIsCutOffIsNoticed(t *testing.T) {
	db, _ := open(t, answer{query: "SHOW SESSION VARIABLES", rows: [][]driver.Value{{"character_set_client", "utf8mb4"}}})
	if _, err := CheckSource(context.Background(), "ds1", db, dialect.MySQL); !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), "sql_select_limit") {
		t.Errorf("err = %v", err)
	}
}

func TestServersMustAgree(t *testing.T) {
	first, err := check(t, "ds0", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change map[string]string
		equal  bool
	}{
		"nothing":              {nil, true},
		"another patch level":  {map[string]string{"version": "10.11.6-MariaDB"}, true},
		"another series":       {map[string]string{"version": "11.4.2-MariaDB"}, false},
		"another server":       {map[string]string{"version": "8.4.3", "version_comment": "MySQL Community Server - GPL", "transaction_isolation": "REPEATABLE-READ"}, false},
		"time zone":            {map[string]string{"time_zone": "+08:00"}, false},
		"system time zone":     {map[string]string{"system_time_zone": "CST"}, false},
		"fixed time zone":      {map[string]string{"time_zone": "+08:00", "system_time_zone": "CST"}, false},
		"sql_mode":             {map[string]string{"sql_mode": "STRICT_TRANS_TABLES"}, false},
		"collation":            {map[string]string{"collation_connection": "utf8mb4_unicode_ci"}, false},
		"character set":        {map[string]string{"character_set_connection": "latin1"}, false},
		"table names":          {map[string]string{"lower_case_table_names": "1"}, false},
		"div_precision":        {map[string]string{"div_precision_increment": "6"}, false},
		"max_sort_length":      {map[string]string{"max_sort_length": "64"}, false},
		"group_concat_max_len": {map[string]string{"group_concat_max_len": "1024"}, false},
		"isolation":            {map[string]string{"tx_isolation": "READ-COMMITTED"}, false},
		"week format":          {map[string]string{"default_week_format": "3"}, false},
		"names of days":        {map[string]string{"lc_time_names": "de_DE"}, false},
	} {
		other, err := check(t, "ds1", c.change)
		if err != nil {
			t.Fatal(err)
		}
		err = other.Equal(first)
		if (err == nil) != c.equal {
			t.Errorf("%s: Equal = %v", name, err)
		}
		var config *fault.ConfigError
		if err != nil && (!errors.As(err, &config) || config.Path != "dataSources.ds1" || !strings.Contains(err.Error(), "ds0")) {
			t.Errorf("%s: the data sources are not named: %v", name, err)
		}
	}
}

func TestFractionsFollowTheServer(t *testing.T) {
	for _, c := range []struct {
		version, mode string
		want          value.Fractions
	}{
		{"10.11.19-MariaDB", "", value.FractionsCut},
		{"10.11.19-MariaDB", "TIME_ROUND_FRACTIONAL", value.FractionsRound},
		{"8.4.3", "", value.FractionsRound},
		{"8.4.3", "TIME_TRUNCATE_FRACTIONAL", value.FractionsCut},
	} {
		s, err := check(t, "ds0", map[string]string{"version": c.version, "sql_mode": c.mode})
		if err != nil || s.Fractions() != c.want {
			t.Errorf("%s %s: %d, %v; want %d", c.version, c.mode, s.Fractions(), err, c.want)
		}
	}
}

func TestSQLiteTellsItsVersion(t *testing.T) {
	db, _ := open(t, answer{query: "SELECT sqlite_version()", rows: [][]driver.Value{{"3.50.0"}}})
	s, err := CheckSource(context.Background(), "ds0", db, dialect.SQLite)
	if err != nil || s.Flavour != "SQLite" || s.Version != "3.50.0" || s.Fractions() != value.FractionsUnknown {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestUnreachableSourceGivesTheDriversError(t *testing.T) {
	broken := errors.New("broken")
	db, _ := open(t, answer{query: "SHOW", err: broken})
	if _, err := CheckSource(context.Background(), "ds0", db, dialect.MySQL); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}
