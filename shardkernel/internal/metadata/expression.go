package metadata

import (
	"context"
	"database/sql"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

const (
	// longText is the length of a text of which it is not known how long it may be.
	longText = 1<<31 - 1
	// numericCoercibility is what COERCIBILITY gives for values that are no texts.
	numericCoercibility = 5
)

// Expression asks a MySQL server, over a control connection, for what it knows of
// an expression: the query gives its COLLATION, its COERCIBILITY and the
// expression itself, in one row. Errors are the driver's.
func Expression(ctx context.Context, db *sql.DB, query string, args []any) (*value.Column, error) {
	c, coercibility, err := readExpression(ctx, db, query, args)
	if err != nil {
		return nil, err
	}
	if c.Class == value.ClassText && coercibility == numericCoercibility {
		// UUID, INET6 and their like are shown as texts and ordered by what they hold.
		c.Class = value.ClassOther
	}
	server := new(collations)
	if c.Class == value.ClassText || c.Class == value.ClassBinary {
		if server, err = readCollations(ctx, db, []mysqlColumn{c}); err != nil {
			return nil, err
		}
	}
	c.Name = "given by the expression" // for messages
	server.order(&c)
	if f, bytes := familyOf(c.Collation); f == familySimple && bytes == 1 && c.PadSpace && strings.HasSuffix(c.Collation, "_bin") {
		// Its sort keys of expressions are filled up with zeros, those of columns with
		// spaces. Measured on MariaDB 10.11.
		c.SortRefused = "the server does not sort an expression of collation " + c.Collation + " by the order in which it compares"
	}
	return &c.Column, nil
}

func readExpression(ctx context.Context, db *sql.DB, query string, args []any) (c mysqlColumn, coercibility int, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return c, 0, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return c, 0, err
	}
	var shown any
	for rows.Next() {
		if err := rows.Scan(&c.Collation, &coercibility, &shown); err != nil {
			return c, 0, err
		}
	}
	c.Type = strings.ToLower(types[len(types)-1].DatabaseTypeName())
	base, unsigned := strings.CutPrefix(c.Type, "unsigned ")
	c.Class, c.Bits = value.ClassOf(base)
	c.Unsigned, c.Nullable = unsigned, true
	c.characterSet, _, _ = strings.Cut(c.Collation, "_")
	switch c.Class {
	case value.ClassText, value.ClassBinary:
		c.characters, c.octets = longText, longText
	case value.ClassOther:
		if base == "null" { // no value at all
			c.Class = value.ClassInteger
		}
	}
	if c.Class != value.ClassText {
		c.Collation = ""
	}
	return c, coercibility, rows.Err()
}
