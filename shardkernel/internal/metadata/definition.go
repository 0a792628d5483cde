package metadata

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Logical gives what is named in an actual table its logical name.
type Logical interface {
	// Constraint returns the logical name of a foreign key or CHECK.
	Constraint(name string) string
	// Key returns the logical name of a key, which the server may have made for a
	// foreign key; foreign tells that there is one of its name.
	Key(name string, foreign bool) string
	// Table returns the logical name of a table that a foreign key references.
	Table(actual string) string
}

// Definition returns how an actual table is defined, in a form in which the
// tables of all nodes are equal if they are alike: line by line, first the
// columns in their order, then keys and constraints by their logical names, then
// the table's options and partitions; of a view the columns alone. It fails with
// ErrNoTable when there is no such table.
func Definition(ctx context.Context, db *sql.DB, d *dialect.Dialect, table string, names Logical) ([]string, error) {
	if d.Name == dialect.SQLite.Name {
		return sqliteDefinition(ctx, db, table)
	}
	var kind string
	err := db.QueryRowContext(ctx, "SELECT table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", table).Scan(&kind)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNoTable
	case err != nil:
		return nil, err
	case strings.HasSuffix(kind, "VIEW"): // its text names the schema, and who made it
		return viewDefinition(ctx, db, table)
	}
	text, err := CreateText(ctx, db, table)
	if err != nil {
		return nil, err
	}
	return normalize(text, names), nil
}

// CreateText returns the CREATE TABLE that a MySQL or MariaDB server shows for a
// table, without what its AUTO_INCREMENT has counted to. It fails with ErrNoTable
// when there is no such table.
func CreateText(ctx context.Context, db *sql.DB, table string) (string, error) {
	var name, text string
	err := db.QueryRowContext(ctx, "SHOW CREATE TABLE `"+strings.ReplaceAll(table, "`", "``")+"`").Scan(&name, &text)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1146 {
		return "", ErrNoTable
	}
	if err != nil {
		return "", err
	}
	// The options begin with the last line that a parenthesis begins before the
	// partitions do.
	options := strings.Index(text, "\n) ")
	if options < 0 {
		return text, nil
	}
	line, rest, more := strings.Cut(text[options+1:], "\n")
	text = text[:options+1] + counter.ReplaceAllString(line, "")
	if more {
		text += "\n" + rest
	}
	return text, nil
}

// Trigger returns the name of a trigger of a table, empty where it has none, or none
// that the account may see.
func Trigger(ctx context.Context, db *sql.DB, table string) (name string, err error) {
	err = db.QueryRowContext(ctx, "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = DATABASE() AND event_object_table = ? LIMIT 1", table).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return name, err
}

// TableNames returns the names of the tables in the schema of the connections,
// without views.
func TableNames(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type <> 'VIEW'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func viewDefinition(ctx context.Context, db *sql.DB, view string) ([]string, error) {
	columns, err := mysqlTable(ctx, db, view)
	if err != nil {
		return nil, err
	}
	lines := []string{"VIEW"}
	for i := range columns {
		c := &columns[i]
		lines = append(lines, fmt.Sprintf("`%s` %s null=%t %s", c.Name, c.Type, c.Nullable, c.Collation))
	}
	return lines, nil
}

// PrimaryKey returns the columns of a table's primary key, in lower case and in
// the key's order; none where the table has none.
func PrimaryKey(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT column_name FROM information_schema.statistics "+
		"WHERE table_schema = DATABASE() AND table_name = ? AND index_name = 'PRIMARY' ORDER BY seq_in_index", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, strings.ToLower(name))
	}
	return columns, rows.Err()
}

var (
	// constraintLine is a foreign key or CHECK, and what a foreign key references.
	constraintLine = regexp.MustCompile("^CONSTRAINT `((?:[^`]|``)*)` (FOREIGN KEY .* REFERENCES `((?:[^`]|``)*)` .*|CHECK .*)$")
	// keyLine is a key; the server names the one it makes for a foreign key after it.
	keyLine = regexp.MustCompile("^((?:[A-Z]+ )?KEY) `((?:[^`]|``)*)` (.*)$")
	// counter is the table option that grows with the rows.
	counter = regexp.MustCompile(`\bAUTO_INCREMENT=\d+ ?`)
)

// normalize takes what SHOW CREATE TABLE prints: a line for each column, key and
// constraint between one with the name and one with the options.
func normalize(text string, names Logical) []string {
	lines := strings.Split(text, "\n")
	foreign := foreignKeys(lines)
	columns := 1
	for i := 1; i < len(lines); i++ {
		line := strings.TrimSuffix(strings.TrimSpace(lines[i]), ",")
		switch {
		case strings.HasPrefix(line, "`"):
			columns = i + 1
		case strings.HasPrefix(line, ")"):
			line = counter.ReplaceAllString(line, "")
		default:
			line = logicalLine(line, names, foreign)
		}
		lines[i] = line
	}
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, ")") })
	if end > columns {
		// The order of keys is that in which they were made, and means nothing.
		slices.Sort(lines[columns:end])
	}
	return lines[1:]
}

// foreignKeys returns the names of the foreign keys, in lower case.
func foreignKeys(lines []string) map[string]bool {
	names := map[string]bool{}
	for _, line := range lines {
		if m := constraintLine.FindStringSubmatch(strings.TrimSuffix(strings.TrimSpace(line), ",")); m != nil && m[3] != "" {
			names[strings.ToLower(strings.ReplaceAll(m[1], "``", "`"))] = true
		}
	}
	return names
}

func logicalLine(line string, names Logical, foreign map[string]bool) string {
	if k := keyLine.FindStringSubmatch(line); k != nil {
		name := strings.ReplaceAll(k[2], "``", "`")
		return k[1] + " `" + names.Key(name, foreign[strings.ToLower(name)]) + "` " + k[3]
	}
	m := constraintLine.FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	of := func(group int) string { return strings.ReplaceAll(line[m[2*group]:m[2*group+1]], "``", "`") }
	rest := line[m[4]:]
	if m[6] >= 0 {
		rest = line[m[4]:m[6]] + names.Table(of(3)) + line[m[7]:]
	}
	return "CONSTRAINT `" + names.Constraint(of(1)) + "` " + rest
}

// sqliteDefinition describes the columns alone: SQLite keeps the text of the
// statement that made the table.
func sqliteDefinition(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	columns, err := readSQLite(ctx, db, table)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, ErrNoTable
	}
	var lines []string
	for i := range columns {
		c := &columns[i]
		lines = append(lines, fmt.Sprintf("%s %s null=%t generated=%t %s", c.Name, c.Type, c.Nullable, c.Generated, c.Collation))
	}
	return lines, nil
}
