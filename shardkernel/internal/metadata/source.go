package metadata

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Settings are what a data source's server says of itself, as far as it changes
// answers.
type Settings struct {
	DataSource string
	Flavour    string // MariaDB, MySQL, SQLite
	Version    string // as the server writes it
	// Dialect is the data source's, with what the server's version tells.
	Dialect *dialect.Dialect
	// LowerCaseTableNames is lower_case_table_names: table names are compared
	// with regard to case only where it is 0.
	LowerCaseTableNames int
	// DivPrecisionIncrement is div_precision_increment, the decimals that a
	// division adds.
	DivPrecisionIncrement int
	// MaxAllowedPacket is max_allowed_packet: the longest statement, argument or row,
	// in bytes.
	MaxAllowedPacket int64

	variables map[string]string
}

// compared are the variables that must be equal on all data sources, in the
// order in which differences are reported.
var compared = []string{
	"sql_mode", "time_zone", "character_set_client", "character_set_connection", "character_set_results", "collation_connection",
	"lower_case_table_names", "div_precision_increment", "max_sort_length", "group_concat_max_len", "sql_select_limit", "transaction_isolation",
	"default_week_format", "lc_time_names", "old_mode",
}

// refusedModes are the SQL modes under which a statement means something else
// than the planner reads in it.
var refusedModes = []string{"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE", "EMPTY_STRING_IS_NULL"}

// CheckSource asks a data source for its settings over a control connection. It
// refuses, with a *fault.ConfigError, settings under which statements would be
// misread; any other error is the driver's.
func CheckSource(ctx context.Context, name string, db *sql.DB, d *dialect.Dialect) (Settings, error) {
	s := Settings{DataSource: name, Dialect: d}
	if d.Name == dialect.SQLite.Name {
		s.Flavour = "SQLite"
		err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&s.Version)
		return s, err
	}
	if err := s.read(ctx, db); err != nil {
		return s, err
	}
	var major, minor int
	if n, _ := fmt.Sscanf(s.Version, "%d.%d", &major, &minor); n == 2 {
		known := *d
		known.Server = &dialect.Server{MariaDB: s.Flavour == "MariaDB", Series: major*10000 + minor*100}
		s.Dialect = &known
	}
	return s, s.check()
}

func (s *Settings) read(ctx context.Context, db *sql.DB) error {
	names := "'" + strings.Join(compared, "', '") + "', 'tx_isolation', 'version', 'version_comment', 'system_time_zone', 'sql_auto_is_null', 'innodb_rollback_on_timeout', 'max_allowed_packet'"
	rows, err := db.QueryContext(ctx, "SHOW SESSION VARIABLES WHERE Variable_name IN ("+names+")")
	if err != nil {
		return err
	}
	defer rows.Close()
	s.variables = make(map[string]string)
	for rows.Next() {
		var name, setting string
		if err := rows.Scan(&name, &setting); err != nil {
			return err
		}
		s.variables[strings.ToLower(name)] = setting
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := s.checkLimit(); err != nil {
		return err
	}
	s.Version = s.variables["version"]
	s.Flavour = "MySQL"
	if isMariaDB(s.Version) || isMariaDB(s.variables["version_comment"]) {
		s.Flavour = "MariaDB"
	}
	if _, ok := s.variables["transaction_isolation"]; !ok { // the older name
		s.variables["transaction_isolation"] = s.variables["tx_isolation"]
	}
	if s.variables["time_zone"] == "SYSTEM" {
		s.variables["time_zone"] = "SYSTEM (" + s.variables["system_time_zone"] + ")"
	}
	if s.LowerCaseTableNames, err = s.number("lower_case_table_names"); err != nil {
		return err
	}
	if s.DivPrecisionIncrement, err = s.number("div_precision_increment"); err != nil {
		return err
	}
	packet, err := s.number("max_allowed_packet")
	s.MaxAllowedPacket = int64(packet)
	return err
}

// checkLimit refuses a sql_select_limit: every node would cut its own rows, also
// those that a merge needs or another data source is given. It cuts the variables
// off as well, of which the version is among the last.
func (s *Settings) checkLimit() error {
	limit, err := strconv.ParseUint(s.variables["sql_select_limit"], 10, 64)
	if _, complete := s.variables["version"]; complete && (err != nil || limit >= math.MaxUint32) {
		return nil
	}
	return &fault.ConfigError{
		Path: "dataSources." + s.DataSource, Reason: "sql_select_limit is set: every node would cut its own rows",
		Remedy: "set sql_select_limit=DEFAULT in the DSN or on the server, and use LIMIT",
	}
}

func (s *Settings) number(name string) (int, error) {
	n, err := strconv.Atoi(s.variables[name])
	if err != nil {
		return 0, fmt.Errorf("the server's %s: %w", name, err)
	}
	return n, nil
}

func (s *Settings) check() error {
	path := "dataSources." + s.DataSource
	for _, mode := range refusedModes {
		if s.hasMode(mode) {
			return &fault.ConfigError{Path: path, Reason: "sql_mode holds " + mode + ", which is not supported", Remedy: "set sql_mode without it in the DSN or on the server"}
		}
	}
	if on := s.variables["sql_auto_is_null"]; on == "ON" || on == "1" {
		return &fault.ConfigError{Path: path, Reason: "sql_auto_is_null is on: IS NULL would find the last inserted row", Remedy: "set sql_auto_is_null=0 in the DSN or on the server"}
	}
	if on := s.variables["innodb_rollback_on_timeout"]; on == "ON" || on == "1" {
		return &fault.ConfigError{Path: path, Reason: "innodb_rollback_on_timeout is on: a lock timeout would undo one data source's part of a transaction unnoticed", Remedy: "start the server without it, as is the default"}
	}
	return nil
}

func (s *Settings) hasMode(mode string) bool {
	for m := range strings.SplitSeq(s.variables["sql_mode"], ",") {
		if strings.EqualFold(m, mode) {
			return true
		}
	}
	return false
}

// Equal reports, as a *fault.ConfigError, what differs between s and the
// settings of another data source such that answers would differ. Versions
// differ when their first two numbers do.
func (s Settings) Equal(other Settings) error {
	var diff []string
	differ := func(what, mine, theirs string) {
		if mine != theirs {
			diff = append(diff, fmt.Sprintf("%s is %q here and %q in %s", what, mine, theirs, other.DataSource))
		}
	}
	differ("the server", s.Flavour, other.Flavour)
	if s.Flavour == other.Flavour {
		differ("the version", series(s.Version), series(other.Version))
	}
	for _, name := range compared {
		differ(name, s.variables[name], other.variables[name])
	}
	if len(diff) == 0 {
		return nil
	}
	return &fault.ConfigError{
		Path:   "dataSources." + s.DataSource,
		Reason: "the servers would answer differently: " + strings.Join(diff, ", "),
		Remedy: "make them equal, in the DSNs or on the servers",
	}
}

// TakesRows reports whether the server can be given rows as JSON without a change in
// any of them: it has JSON_TABLE, and speaks to the client in all of Unicode.
func (s Settings) TakesRows() bool {
	for _, name := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
		if s.variables[name] != "utf8mb4" {
			return false
		}
	}
	switch s.Flavour {
	case "MariaDB":
		return s.atLeast(10, 6, 0)
	case "MySQL":
		return s.atLeast(8, 0, 4)
	}
	return false
}

// atLeast reports whether the version is this or a later one.
func (s Settings) atLeast(version ...int) bool {
	var have [3]int
	if n, _ := fmt.Sscanf(s.Version, "%d.%d.%d", &have[0], &have[1], &have[2]); n < len(version) {
		return false
	}
	return slices.Compare(have[:], version) >= 0
}

// Returning reports whether the server knows INSERT … RETURNING: MariaDB from 10.5
// on, and SQLite.
func (s Settings) Returning() bool {
	return s.Flavour == "SQLite" || s.Flavour == "MariaDB" && s.atLeast(10, 5, 0)
}

// series returns the first two numbers of a version.
func series(version string) string {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	return first + "." + second
}

// Fractions is what the server does with fractional seconds too fine for a
// column.
func (s Settings) Fractions() value.Fractions {
	switch s.Flavour {
	case "MariaDB":
		if s.hasMode("TIME_ROUND_FRACTIONAL") {
			return value.FractionsRound
		}
		return value.FractionsCut
	case "MySQL":
		if s.hasMode("TIME_TRUNCATE_FRACTIONAL") {
			return value.FractionsCut
		}
		return value.FractionsRound
	}
	return value.FractionsUnknown
}
