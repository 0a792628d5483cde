package metadata

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// mysqlColumns asks for the columns of one table of the current schema. Every
// value it gives is one that MySQL and MariaDB both know. A key over an
// expression has no column name, which makes NULL of the last two values.
const mysqlColumns = "SELECT column_name, column_type, data_type, COALESCE(numeric_precision, 0), COALESCE(numeric_scale, 0), " +
	"COALESCE(datetime_precision, 0), COALESCE(character_maximum_length, 0), COALESCE(character_octet_length, 0), " +
	"COALESCE(character_set_name, ''), COALESCE(collation_name, ''), is_nullable, column_key, extra, COALESCE(column_default, ''), " +
	"COALESCE(column_name IN (SELECT column_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0), TRUE), " +
	"COALESCE(column_name NOT IN (SELECT column_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?), FALSE) " +
	"FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position"

// mysqlColumn is a column with what is needed only while it is read.
type mysqlColumn struct {
	value.Column
	characterSet string
	characters   int64 // the most it may hold
	octets       int64
}

func readMySQL(ctx context.Context, db *sql.DB, table string) ([]value.Column, error) {
	columns, err := mysqlTable(ctx, db, table)
	if err != nil {
		return nil, err
	}
	server, err := readCollations(ctx, db, columns)
	if err != nil {
		return nil, err
	}
	out := make([]value.Column, len(columns))
	for i := range columns {
		server.order(&columns[i])
		out[i] = columns[i].Column
	}
	return out, nil
}

func mysqlTable(ctx context.Context, db *sql.DB, table string) (columns []mysqlColumn, err error) {
	rows, err := db.QueryContext(ctx, mysqlColumns, table, table, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c mysqlColumn
		var dataType, nullable, key, extra, initial string
		var precision, scale, fraction int64
		err := rows.Scan(&c.Name, &c.Type, &dataType, &precision, &scale, &fraction, &c.characters, &c.octets, &c.characterSet, &c.Collation, &nullable, &key, &extra, &initial, &c.Unique, &c.Unindexed)
		if err != nil {
			return nil, err
		}
		c.Name = strings.ToLower(c.Name)
		c.Type = strings.ToLower(c.Type)
		c.Class, c.Bits = value.ClassOf(strings.ToLower(dataType))
		switch c.Class {
		case value.ClassInteger:
			c.Unsigned = strings.Contains(c.Type, "unsigned")
		case value.ClassDecimal:
			c.Precision, c.Scale = int(precision), int(scale)
		case value.ClassDateTime, value.ClassTimestamp, value.ClassTime:
			c.Scale = int(fraction)
		case value.ClassText, value.ClassBinary:
			c.Length = int(min(c.characters, 1<<31-1))
		}
		c.Nullable = strings.EqualFold(nullable, "YES")
		// Without a primary key the first unique one over columns that are not NULL
		// is shown as it, and is as good.
		c.Primary = key == "PRI"
		extra = strings.ToUpper(extra)
		c.AutoIncrement = strings.Contains(extra, "AUTO_INCREMENT")
		// DEFAULT_GENERATED is MySQL's word for a default that is an expression.
		c.Generated = strings.Contains(extra, "VIRTUAL GENERATED") || strings.Contains(extra, "STORED GENERATED")
		c.Invisible = strings.Contains(extra, "INVISIBLE")
		c.OnUpdate = strings.Contains(extra, "ON UPDATE")
		c.Clocked, c.Random = readDefault(strings.ToLower(initial + " " + extra))
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// readDefault finds in a column's default, and in what else is told of it, calls
// of the clock and of functions that give something else each time. One found too
// many, as in a text, costs a round trip or a refusal, no more.
func readDefault(text string) (clocked, random bool) {
	for _, call := range []string{"current_timestamp", "now(", "localtime", "curdate(", "current_date", "curtime(", "current_time", "utc_", "unix_timestamp("} {
		clocked = clocked || strings.Contains(text, call)
	}
	for _, call := range []string{"uuid", "rand(", "random_bytes(", "sys_guid(", "sysdate(", "nextval(", "next value", "user(", "connection_id("} {
		random = random || strings.Contains(text, call)
	}
	return clocked, random
}

// collations is what a server says of the collations of a table.
type collations struct {
	maxSortLength int64
	padSpace      map[string]bool
	space         map[string][]byte // weight of a space
}

// readCollations asks for the collations of the text columns.
func readCollations(ctx context.Context, db *sql.DB, columns []mysqlColumn) (*collations, error) {
	server := &collations{padSpace: make(map[string]bool), space: make(map[string][]byte)}
	var names []string
	query := "SELECT @@max_sort_length, VERSION()"
	for _, c := range columns {
		if c.Class != value.ClassText || c.Collation == "" {
			continue
		}
		if _, seen := server.padSpace[c.Collation]; seen {
			continue
		}
		if !isWord(c.Collation) || !isWord(c.characterSet) { // they become part of a statement
			return nil, fmt.Errorf("unexpected name of collation %q or character set %q", c.Collation, c.characterSet)
		}
		server.padSpace[c.Collation] = true
		names = append(names, c.Collation)
		query += ", HEX(WEIGHT_STRING(CONVERT(' ' USING " + c.characterSet + ") COLLATE " + c.Collation + "))"
	}
	var version string
	weights := make([]sql.NullString, len(names))
	into := []any{&server.maxSortLength, &version}
	for i := range weights {
		into = append(into, &weights[i])
	}
	if err := db.QueryRowContext(ctx, query).Scan(into...); err != nil {
		return nil, err
	}
	for i, name := range names {
		weight, err := hex.DecodeString(weights[i].String)
		if err != nil {
			return nil, fmt.Errorf("weight of a space in %s: %w", name, err)
		}
		server.space[name] = weight
	}
	if isMariaDB(version) {
		for _, name := range names {
			server.padSpace[name] = !strings.Contains(name, "_nopad_") && name != "binary"
		}
		return server, nil
	}
	return server, server.readPadAttributes(ctx, db)
}

func isMariaDB(version string) bool { return strings.Contains(strings.ToLower(version), "mariadb") }

// readPadAttributes asks MySQL, which unlike MariaDB has a column for it.
func (s *collations) readPadAttributes(ctx context.Context, db *sql.DB) error {
	if len(s.padSpace) == 0 {
		return nil
	}
	names := make([]any, 0, len(s.padSpace))
	for name := range s.padSpace {
		names = append(names, name)
	}
	rows, err := db.QueryContext(ctx, "SELECT collation_name, pad_attribute FROM information_schema.collations WHERE collation_name IN (?"+
		strings.Repeat(", ?", len(names)-1)+")", names...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, attribute string
		if err := rows.Scan(&name, &attribute); err != nil {
			return err
		}
		s.padSpace[name] = !strings.EqualFold(attribute, "NO PAD")
	}
	return rows.Err()
}

func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}
