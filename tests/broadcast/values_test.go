//go:build unix

package broadcast_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gormshard/sharding"
)

// Each value differs from the one beside it in what a comparison by the column's
// own rules, or a text of it that is too short, would not show.
var pairs = []struct{ column, first, second string }{
	{"varchar(20)", "'Abc'", "'abc'"},
	{"varchar(20)", "'résumé'", "'resume'"},
	{"varchar(20)", "'a'", "'a '"},
	{"varchar(20)", "''", "NULL"},
	{"varchar(20)", "'N'", "NULL"},
	{"varchar(20) COLLATE utf8mb4_unicode_ci", "'ß'", "'ss'"},
	{"varchar(20) CHARACTER SET latin1", "'a'", "'A'"},
	{"text", "'x,y'", "'x,Y'"},
	{"longtext", "REPEAT('x', 100000)", "CONCAT(REPEAT('x', 99999), 'X')"},
	{"varbinary(20)", "x'00'", "x'0000'"},
	{"varbinary(20)", "''", "NULL"},
	{"blob", "x'ff'", "x'fe'"},
	{"int", "0", "NULL"},
	{"bigint", "9007199254740993", "9007199254740992"},
	{"bigint unsigned", "18446744073709551615", "18446744073709551614"},
	{"int zerofill", "1", "2"},
	{"decimal(65,30)", "1.000000000000000000000000000001", "1.000000000000000000000000000002"},
	{"float", "16777217e-7", "16777219e-7"},
	{"double", "0.1", "0.10000000000000002"},
	{"double(10,2)", "0.1", "0.11"},
	{"date", "'0000-00-00'", "NULL"},
	{"datetime(6)", "'2024-01-01 00:00:00.000001'", "'2024-01-01 00:00:00.000002'"},
	{"timestamp(6) NULL", "FROM_UNIXTIME(1729990800)", "FROM_UNIXTIME(1729994400)"},
	{"timestamp NULL", "0", "NULL"},
	{"time(3)", "'-00:00:00.001'", "'00:00:00.001'"},
	{"year", "0", "2000"},
	{"enum('a','','c')", "''", "'none of them'"},
	{"set('a','b')", "'a,b'", "'b'"},
	{"set(" + members(64) + ")", "'m0,m63'", "'m63'"},
	{"bit(64)", "b'1000000000000000000000000000000000000000000000000000000000000001'", "b'1000000000000000000000000000000000000000000000000000000000000000'"},
	{"json", `'{"a": 1}'`, `'{"a":1}'`},
	{"point", "POINT(1, 2)", "POINT(1, 3)"},
	{"uuid", "'123e4567-e89b-12d3-a456-426614174000'", "'123e4567-e89b-12d3-a456-426614174001'"},
	{"inet6", "'::1'", "'::2'"},
}

// members are the members of a SET.
func members(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("'m%d'", i)
	}
	return strings.Join(list, ",")
}

func TestEveryTypeOfColumnIsComparedExactly(t *testing.T) {
	ddl := "CREATE TABLE t_all (id int PRIMARY KEY"
	for i, p := range pairs {
		ddl += fmt.Sprintf(", c%d %s", i, p.column)
	}
	c := newCopies(t, "types", []string{"t_all"}, ddl+")").open(t)
	// Row i has the first value of pair i, and of the others in turn both.
	for i := range pairs {
		values := make([]string, len(pairs))
		for n, p := range pairs {
			values[n] = p.first
			if n != i && i%2 == 0 {
				values[n] = p.second
			}
		}
		c.everywhere(t, fmt.Sprintf("INSERT INTO t_all VALUES (%d, %s)", i, strings.Join(values, ", ")))
	}
	if found := c.check(t, "t_all"); !found.Consistent() || found.Copies[2].Rows != uint64(len(pairs)) {
		t.Fatalf("equal copies: %s", found.String())
	}
	for i, p := range pairs {
		source := 1 + i%2
		c.run(t, source, fmt.Sprintf("UPDATE t_all SET c%d = %s WHERE id = %d", i, p.second, i))
		found := c.check(t, "t_all")
		want := fmt.Sprintf("(id) = (%d): different in ds%d\n", i, source)
		if found.Consistent() || len(found.Differences) != 1 || !strings.Contains(found.String(), want) {
			t.Errorf("%s, %s against %s: got %s\nwant %s", p.column, p.first, p.second, found.String(), want)
		}
		c.run(t, source, fmt.Sprintf("UPDATE t_all SET c%d = %s WHERE id = %d", i, p.first, i))
	}
	if found := c.check(t, "t_all"); !found.Consistent() {
		t.Errorf("mended copies: %s", found.String())
	}
}

func TestKeysOfEveryTypeAreNamed(t *testing.T) {
	for i, test := range []struct{ column, values, gone, shown string }{
		{"bigint unsigned", "1), (18446744073709551615", "18446744073709551615", "18446744073709551615"},
		{"varchar(20)", "'a'), ('b'), ('é')", "'é'", "é"},
		{"varchar(20) COLLATE utf8mb4_bin", "'a'), ('A')", "'A'", "A"},
		{"varbinary(20)", "x'00'), (x'0001')", "x'0001'", "0x0001"},
		{"decimal(20,5)", "1.5), (1.50001)", "1.50001", "1.50001"},
		{"double", "0.1), (0.30000000000000004)", "0.30000000000000004", "0.30000000000000004"},
		{"datetime(6)", "'2024-01-01'), ('2024-01-01 00:00:00.000001'", "'2024-01-01 00:00:00.000001'", "2024-01-01 00:00:00.000001"},
		{"enum('b','a')", "'a'), ('b')", "'b'", "b"},
		{"bit(8)", "b'1'), (b'10')", "b'10'", "2"},
		{"time", "'-01:00:00'), ('01:00:00')", "'-01:00:00'", "-01:00:00"},
	} {
		t.Run(test.column, func(t *testing.T) {
			values := "(" + strings.TrimSuffix(test.values, ")") + ")"
			c := newCopies(t, fmt.Sprintf("keys_%d", i), []string{"t_key"},
				"CREATE TABLE t_key (k "+test.column+" PRIMARY KEY, v int)", "INSERT INTO t_key (k) VALUES "+values).open(t)
			if found := c.check(t, "t_key"); !found.Consistent() {
				t.Fatal(found.String())
			}
			c.run(t, 2, "DELETE FROM t_key WHERE k = "+test.gone)
			found := c.check(t, "t_key")
			if len(found.Differences) != 1 {
				t.Fatal(found.String())
			}
			d := found.Differences[0]
			if d.Kind != sharding.BroadcastMissing || len(d.Key) != 1 || d.Key[0] != test.shown || strings.Join(d.DataSources, " ") != "ds2" {
				t.Errorf("got %+v, want %s missing in ds2", d, test.shown)
			}
		})
	}
}

func TestAKeyIsShownInItsOwnOrder(t *testing.T) {
	c := newCopies(t, "key_order", []string{"t_key"},
		"CREATE TABLE t_key (a varchar(10), b int, c varbinary(10), PRIMARY KEY (c, b, a))", "INSERT INTO t_key VALUES ('a', 1, x'00FF')").open(t)
	c.run(t, 1, "DELETE FROM t_key")
	found := c.check(t, "t_key")
	if len(found.Differences) != 1 {
		t.Fatal(found.String())
	}
	if key := strings.Join(found.Differences[0].Key, " "); strings.Join(found.Key, " ") != "c b a" || key != "0x00FF 1 a" {
		t.Errorf("%v is shown as %s", found.Key, key)
	}
}
