package metadata

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// readSQLite reads the columns of a table of the main database. SQLite stores a
// value of any type in any column; the declared type only says what is
// converted, by rules of its own.
func readSQLite(ctx context.Context, db *sql.DB, table string) ([]value.Column, error) {
	refused, err := sqliteCollation(ctx, db, table)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT name, type, "notnull", pk, hidden, pk > 0 OR EXISTS (SELECT 1 FROM pragma_index_list(?) l, pragma_index_info(l.name) i`+
		` WHERE l."unique" AND (i.name IS NULL OR i.name = x.name)) FROM pragma_table_xinfo(?) x WHERE hidden <> 1 ORDER BY cid`, table, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []value.Column
	keys, key := 0, 0
	for rows.Next() {
		var c value.Column
		var notNull, primary, hidden int
		if err := rows.Scan(&c.Name, &c.Type, &notNull, &primary, &hidden, &c.Unique); err != nil {
			return nil, err
		}
		c.Name = strings.ToLower(c.Name)
		c.Type = strings.ToLower(c.Type)
		c.Class = sqliteClass(c.Type)
		c.Flexible = true
		c.Nullable = notNull == 0
		c.Generated = hidden > 1
		switch c.Class {
		case value.ClassInteger:
			c.Bits = 64
		case value.ClassDecimal:
			c.Precision, c.Scale = sqliteDigits(c.Type)
		case value.ClassText:
			c.WeightRefused = refused
		}
		c.Primary = primary > 0
		if c.Primary {
			keys, key = keys+1, len(columns)
		}
		columns = append(columns, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if keys == 1 && columns[key].Type == "integer" { // another name of the rowid
		columns[key].AutoIncrement = true
		columns[key].Nullable = false
	}
	return columns, nil
}

// sqliteCollation returns why text of the table cannot be compared by its bytes,
// or nothing. A COLLATE anywhere in the table's definition counts for all of its
// columns.
func sqliteCollation(ctx context.Context, db *sql.DB, table string) (refused string, err error) {
	var definition sql.NullString
	err = db.QueryRowContext(ctx, "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", table).Scan(&definition)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	if strings.Contains(strings.ToUpper(definition.String), "COLLATE") {
		return fmt.Sprintf("the definition of table %s names a collation, and SQLite does not tell how it orders", table), nil
	}
	return "", nil
}

// sqliteClass follows SQLite's rules for the affinity of a declared type, but
// for dates: how a driver writes them differs from driver to driver.
func sqliteClass(declared string) value.Class {
	has := func(part string) bool { return strings.Contains(declared, part) }
	switch {
	case has("int"):
		return value.ClassInteger
	case has("char"), has("clob"), has("text"):
		return value.ClassText
	case has("blob"), declared == "":
		return value.ClassOther
	case has("real"), has("floa"), has("doub"):
		return value.ClassFloat
	case has("date"), has("time"):
		return value.ClassOther
	}
	return value.ClassDecimal
}

// sqliteDigits reads decimal(10,2). Without digits nothing with a fraction can
// be converted exactly.
func sqliteDigits(declared string) (precision, scale int) {
	_, digits, _ := strings.Cut(declared, "(")
	digits, _, _ = strings.Cut(digits, ")")
	first, second, _ := strings.Cut(digits, ",")
	precision, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0, 0
	}
	scale, _ = strconv.Atoi(strings.TrimSpace(second))
	return precision, scale
}
