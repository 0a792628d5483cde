// Package rowtext reads the result of a query so that two results can be
// compared with all that a driver tells of them.
package rowtext

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Read reads and closes rows. Each column is described by its name and types.
// The error is the first of reading and closing; what was read before it is
// returned as well.
func Read(rows *sql.Rows) (columns []string, values [][]any, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	for _, c := range types {
		nullable, hasNullable := c.Nullable()
		precision, scale, hasDecimal := c.DecimalSize()
		length, hasLength := c.Length()
		columns = append(columns, fmt.Sprintf("%s %s scan=%v null=%v/%v decimal=%d,%d/%v length=%d/%v",
			c.Name(), c.DatabaseTypeName(), c.ScanType(), nullable, hasNullable, precision, scale, hasDecimal, length, hasLength))
	}
	for rows.Next() {
		row := make([]any, len(types))
		into := make([]any, len(types))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return columns, values, err
		}
		values = append(values, row)
	}
	return columns, values, rows.Err()
}

// Lines reads and closes rows, each as one line of the texts of its values.
func Lines(rows *sql.Rows) (lines []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	lines = []string{}
	texts := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range texts {
		into[i] = &texts[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		words := make([]string, len(columns))
		for i, text := range texts {
			words[i] = text.String
			if !text.Valid {
				words[i] = "NULL"
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines, rows.Err()
}

// Show writes a row so that different values and types look different.
func Show(row []any) string {
	parts := make([]string, len(row))
	for i, v := range row {
		switch v := v.(type) {
		case nil:
			parts[i] = "NULL"
		case []byte:
			parts[i] = "b" + strconv.Quote(string(v))
		case string:
			parts[i] = "s" + strconv.Quote(v)
		case time.Time:
			parts[i] = v.Format("2006-01-02T15:04:05.999999999 MST")
		default:
			parts[i] = fmt.Sprintf("%T(%v)", v, v)
		}
	}
	return strings.Join(parts, " | ")
}

// Shown writes every row, see Show.
func Shown(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = Show(r)
	}
	return out
}

// Differ says in which of its first rows one sequence differs from another; it is
// empty when they are equal.
func Differ(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, single %d\n", len(got), len(want))
	differences := 0
	for i := range max(len(want), len(got)) {
		w, g := "(none)", "(none)"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			if differences++; differences > 3 {
				break
			}
			fmt.Fprintf(&b, "  row %d\n    single  %s\n    sharded %s\n", i, w, g)
		}
	}
	return b.String()
}
