package metadata

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

func read(t *testing.T, db *sql.DB, d *dialect.Dialect) (*value.Table, error) {
	t.Helper()
	reader := NewReader(func(name string) (*sql.DB, *dialect.Dialect, error) {
		if name != "ds0" {
			t.Errorf("asked for data source %q", name)
		}
		return db, d, nil
	})
	return reader(context.Background(), "ds0", "t_0")
}

const (
	askColumns    = "SELECT column_name"
	askCollations = "SELECT @@max_sort_length"
	askPadding    = "SELECT collation_name, pad_attribute"
	askDefinition = "SELECT sql FROM sqlite_master"
	askXinfo      = "SELECT name, type"
)

// row is a row of information_schema.columns, as MariaDB 10.11 gives it.
func row(name, columnType, dataType string, precision, scale, fraction, characters, octets int64, charset, collation, nullable, extra string) []driver.Value {
	key := ""
	if extra == "auto_increment" {
		key = "PRI"
	}
	return []driver.Value{name, []byte(columnType), dataType, precision, scale, fraction, characters, octets, charset, collation, nullable, key, extra, "", int64(0), int64(0)}
}

// withDefault is a row with a column_default.
func withDefault(row []driver.Value, initial string) []driver.Value {
	row[len(row)-3] = initial
	return row
}

func TestDefaultsThatAreNoConstantsAreTold(t *testing.T) {
	column := func(extra, initial string) []driver.Value {
		return withDefault(row("c", "varchar(8)", "int", 10, 0, 0, 0, 0, "", "", "YES", extra), initial)
	}
	db, _ := open(t,
		answer{query: askColumns, rows: [][]driver.Value{
			column("", "current_timestamp()"), column("DEFAULT_GENERATED on update CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"), column("on update current_timestamp(6)", "NULL"),
			column("", "uuid()"), column("DEFAULT_GENERATED", "rand()"), column("", "7"), column("INVISIBLE", ""),
		}},
		answer{query: askCollations, rows: [][]driver.Value{{int64(1024), "10.11.19-MariaDB"}}},
	)
	table, err := read(t, db, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range table.Columns {
		if c.Clocked != (i < 3) || c.Random != (i == 3 || i == 4) || c.Invisible != (i == 6) {
			t.Errorf("column %d: %+v", i, c)
		}
	}
}

func TestMySQLColumnsAreUnderstood(t *testing.T) {
	db, f := open(t,
		answer{query: askColumns, rows: [][]driver.Value{
			row("ID", "bigint(20) unsigned", "bigint", 20, 0, 0, 0, 0, "", "", "NO", "auto_increment"),
			row("flag", "tinyint(1)", "tinyint", 3, 0, 0, 0, 0, "", "", "YES", ""),
			row("price", "decimal(10,2)", "decimal", 10, 2, 0, 0, 0, "", "", "YES", "DEFAULT_GENERATED"),
			row("ratio", "double", "double", 22, 0, 0, 0, 0, "", "", "YES", ""),
			row("name", "varchar(64)", "varchar", 0, 0, 0, 64, 256, "utf8mb4", "utf8mb4_general_ci", "NO", ""),
			row("code", "varchar(8)", "varchar", 0, 0, 0, 8, 32, "utf8mb4", "utf8mb4_nopad_bin", "NO", ""),
			row("hash", "varbinary(16)", "varbinary", 0, 0, 0, 16, 16, "", "", "NO", ""),
			row("made", "datetime(3)", "datetime", 0, 0, 3, 0, 0, "", "", "NO", ""),
			row("day", "date", "date", 0, 0, 0, 0, 0, "", "", "NO", ""),
			row("twice", "int(11)", "int", 10, 0, 0, 0, 0, "", "", "YES", "VIRTUAL GENERATED"),
			row("kind", "enum('a','b')", "enum", 0, 0, 0, 1, 4, "utf8mb4", "utf8mb4_general_ci", "YES", ""),
			row("place", "point", "point", 0, 0, 0, 0, 0, "", "", "YES", ""),
		}},
		answer{query: askCollations, rows: [][]driver.Value{{int64(1024), "10.11.19-MariaDB-0+deb12u1", "0020", "000020"}}},
	)
	table, err := read(t, db, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	want := []value.Column{
		{Name: "id", Type: "bigint(20) unsigned", Class: value.ClassInteger, Bits: 64, Unsigned: true, Primary: true, AutoIncrement: true},
		{Name: "flag", Type: "tinyint(1)", Class: value.ClassInteger, Bits: 8, Nullable: true},
		{Name: "price", Type: "decimal(10,2)", Class: value.ClassDecimal, Precision: 10, Scale: 2, Nullable: true},
		{Name: "ratio", Type: "double", Class: value.ClassFloat, Nullable: true},
		{Name: "name", Type: "varchar(64)", Class: value.ClassText, Length: 64, Collation: "utf8mb4_general_ci", PadSpace: true, SpaceWeight: []byte{0, 0x20}},
		{Name: "code", Type: "varchar(8)", Class: value.ClassText, Length: 8, Collation: "utf8mb4_nopad_bin"},
		{Name: "hash", Type: "varbinary(16)", Class: value.ClassBinary, Length: 16},
		{Name: "made", Type: "datetime(3)", Class: value.ClassDateTime, Scale: 3},
		{Name: "day", Type: "date", Class: value.ClassDate},
		{Name: "twice", Type: "int(11)", Class: value.ClassInteger, Bits: 32, Nullable: true, Generated: true},
		{Name: "kind", Type: "enum('a','b')", Class: value.ClassEnum, Collation: "utf8mb4_general_ci", Nullable: true},
		{Name: "place", Type: "point", Class: value.ClassOther, Nullable: true},
	}
	for i, w := range want {
		got := table.Columns[i]
		if refused := got.WeightRefused != ""; refused != (w.Class == value.ClassEnum || w.Class == value.ClassOther) {
			t.Errorf("%s: WeightRefused %q", w.Name, got.WeightRefused)
		}
		got.WeightRefused = ""
		if !reflect.DeepEqual(got, w) {
			t.Errorf("%s:\n got %+v\nwant %+v", w.Name, got, w)
		}
	}
	if len(f.args[0]) != 3 || f.args[0][0].Value != "t_0" || f.args[0][1].Value != "t_0" {
		t.Errorf("asked for table %v", f.args[0])
	}
	if !strings.Contains(f.asked[1], "HEX(WEIGHT_STRING(CONVERT(' ' USING utf8mb4) COLLATE utf8mb4_general_ci))") {
		t.Errorf("weight of a space: %s", f.asked[1])
	}
}

func TestMySQLTellsThePadAttribute(t *testing.T) {
	db, _ := open(t,
		answer{query: askColumns, rows: [][]driver.Value{
			row("a", "varchar(8)", "varchar", 0, 0, 0, 8, 32, "utf8mb4", "utf8mb4_0900_ai_ci", "NO", ""),
			row("b", "varchar(8)", "varchar", 0, 0, 0, 8, 32, "utf8mb4", "utf8mb4_unicode_ci", "NO", ""),
		}},
		answer{query: askCollations, rows: [][]driver.Value{{int64(1024), "8.4.3", "0209", "0209"}}},
		answer{query: askPadding, rows: [][]driver.Value{{"utf8mb4_0900_ai_ci", "NO PAD"}, {"utf8mb4_unicode_ci", "PAD SPACE"}}},
	)
	table, err := read(t, db, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	a, b := table.Columns[0], table.Columns[1]
	if a.PadSpace || a.SpaceWeight != nil {
		t.Errorf("utf8mb4_0900_ai_ci pads: %+v", a)
	}
	if !b.PadSpace || string(b.SpaceWeight) != "\x02\x09" {
		t.Errorf("utf8mb4_unicode_ci does not pad: %+v", b)
	}
}

func TestReaderErrorsNameTheNode(t *testing.T) {
	broken := errors.New("broken")
	text := row("a", "varchar(8)", "varchar", 0, 0, 0, 8, 32, "utf8mb4", "utf8mb4_bin", "NO", "")
	odd := row("a", "varchar(8)", "varchar", 0, 0, 0, 8, 32, "utf8mb4", "x; DROP TABLE t", "NO", "")
	for name, c := range map[string]struct {
		answers []answer
		want    error
	}{
		"no table":          {[]answer{{query: askColumns}, {query: askCollations, rows: [][]driver.Value{{int64(1024), "10.11.19-MariaDB"}}}}, ErrNoTable},
		"refused":           {[]answer{{query: askColumns, err: broken}}, broken},
		"cut in the middle": {[]answer{{query: askColumns, rows: [][]driver.Value{text}, err: broken}}, broken},
		"no weights":        {[]answer{{query: askColumns, rows: [][]driver.Value{text}}, {query: askCollations, err: broken}}, broken},
		"padding cut":       {[]answer{{query: askColumns, rows: [][]driver.Value{text}}, {query: askCollations, rows: [][]driver.Value{{int64(1024), "8.4.3", "20"}}}, {query: askPadding, err: broken}}, broken},
		"odd collation":     {[]answer{{query: askColumns, rows: [][]driver.Value{odd}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := open(t, c.answers...)
			_, err := read(t, db, dialect.MySQL)
			var node *fault.NodeError
			if !errors.As(err, &node) || node.DataSource != "ds0" || node.Table != "t_0" {
				t.Errorf("the node is not named: %v", err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("err = %v, want %v", err, c.want)
			}
		})
	}
}

func TestSQLiteColumnsFollowAffinity(t *testing.T) {
	xinfo := [][]driver.Value{
		{"Id", "INTEGER", int64(0), int64(1), int64(0), int64(1)},
		{"ent_id", "BIGINT", int64(1), int64(0), int64(0), int64(0)},
		{"name", "VARCHAR(64)", int64(0), int64(0), int64(0), int64(0)},
		{"amount", "decimal(10,2)", int64(0), int64(0), int64(0), int64(0)},
		{"done", "numeric", int64(0), int64(0), int64(0), int64(0)},
		{"ratio", "REAL", int64(0), int64(0), int64(0), int64(0)},
		{"made", "datetime", int64(0), int64(0), int64(0), int64(0)},
		{"body", "BLOB", int64(0), int64(0), int64(0), int64(0)},
		{"any", "", int64(0), int64(0), int64(0), int64(0)},
		{"twice", "INT", int64(0), int64(0), int64(2), int64(0)},
	}
	want := []value.Column{
		{Name: "id", Type: "integer", Class: value.ClassInteger, Bits: 64, Primary: true, AutoIncrement: true, Unique: true},
		{Name: "ent_id", Type: "bigint", Class: value.ClassInteger, Bits: 64},
		{Name: "name", Type: "varchar(64)", Class: value.ClassText, Nullable: true},
		{Name: "amount", Type: "decimal(10,2)", Class: value.ClassDecimal, Precision: 10, Scale: 2, Nullable: true},
		{Name: "done", Type: "numeric", Class: value.ClassDecimal, Nullable: true},
		{Name: "ratio", Type: "real", Class: value.ClassFloat, Nullable: true},
		{Name: "made", Type: "datetime", Class: value.ClassOther, Nullable: true},
		{Name: "body", Type: "blob", Class: value.ClassOther, Nullable: true},
		{Name: "any", Type: "", Class: value.ClassOther, Nullable: true},
		{Name: "twice", Type: "int", Class: value.ClassInteger, Bits: 64, Nullable: true, Generated: true},
	}
	db, _ := open(t, answer{query: askDefinition, rows: [][]driver.Value{{"CREATE TABLE t_0 (…)"}}}, answer{query: askXinfo, rows: xinfo})
	table, err := read(t, db, dialect.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		w.Flexible = true
		if got := table.Columns[i]; !reflect.DeepEqual(got, w) {
			t.Errorf("%s:\n got %+v\nwant %+v", w.Name, got, w)
		}
		if c := &table.Columns[i]; c.Class == value.ClassText && !c.Binary() {
			t.Errorf("%s does not compare by bytes", c.Name)
		}
	}
}

func TestSQLiteCollationIsRefused(t *testing.T) {
	db, _ := open(t,
		answer{query: askDefinition, rows: [][]driver.Value{{"CREATE TABLE t_0 (name text collate nocase)"}}},
		answer{query: askXinfo, rows: [][]driver.Value{{"name", "text", int64(0), int64(0), int64(0), int64(0)}}})
	table, err := read(t, db, dialect.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.Columns[0].WeightRefused, "collation") {
		t.Errorf("WeightRefused = %q", table.Columns[0].WeightRefused)
	}
}

func TestSQLiteWithoutTheTable(t *testing.T) {
	db, _ := open(t, answer{query: askDefinition}, answer{query: askXinfo})
	if _, err := read(t, db, dialect.SQLite); !errors.Is(err, ErrNoTable) {
		t.Errorf("err = %v, want ErrNoTable", err)
	}
}
