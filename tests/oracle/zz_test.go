//go:build unix

package oracle_test

import "testing"

func TestZZ(t *testing.T) {
	c := newCluster(t, "zz", topologies[0])
	c.fill(t)
	for _, q := range []string{
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 8.5 AND 9.5",
		"SELECT DISTINCT uid FROM items WHERE uid >= 8.5 AND uid <= 9.5",
		"SELECT DISTINCT uid FROM items WHERE uid > 8.5 AND uid < 9.5",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN '8.5' AND '9.5'",
		"SELECT DISTINCT uid FROM items WHERE uid >= '8.5' AND uid <= '9.5'",
		"SELECT DISTINCT uid FROM items WHERE uid > '8.5' AND uid < '9.5'",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 8.5e0 AND 9.5e0",
		"SELECT DISTINCT uid FROM items WHERE uid >= 8.5e0 AND uid <= 9.5e0",
		"SELECT DISTINCT uid FROM items WHERE uid > 8.5e0 AND uid < 9.5e0",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 7.5 AND 8.4",
		"SELECT DISTINCT uid FROM items WHERE uid >= 7.5 AND uid <= 8.4",
		"SELECT DISTINCT uid FROM items WHERE uid > 7.5 AND uid < 8.4",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 8.6 AND 8.9",
		"SELECT DISTINCT uid FROM items WHERE uid >= 8.6 AND uid <= 8.9",
		"SELECT DISTINCT uid FROM items WHERE uid > 8.6 AND uid < 8.9",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN '8.6' AND '8.9'",
		"SELECT DISTINCT uid FROM items WHERE uid >= '8.6' AND uid <= '8.9'",
		"SELECT DISTINCT uid FROM items WHERE uid > '8.6' AND uid < '8.9'",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 8.6e0 AND 8.9e0",
		"SELECT DISTINCT uid FROM items WHERE uid >= 8.6e0 AND uid <= 8.9e0",
		"SELECT DISTINCT uid FROM items WHERE uid > 8.6e0 AND uid < 8.9e0",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 11.5 AND 11.9",
		"SELECT DISTINCT uid FROM items WHERE uid >= 11.5 AND uid <= 11.9",
		"SELECT DISTINCT uid FROM items WHERE uid > 11.5 AND uid < 11.9",
		"SELECT DISTINCT uid FROM items WHERE uid BETWEEN 11.4 AND 11.6",
		"SELECT DISTINCT uid FROM items WHERE uid >= 11.4 AND uid <= 11.6",
		"SELECT DISTINCT uid FROM items WHERE uid > 11.4 AND uid < 11.6",
		"SELECT DISTINCT uid FROM items WHERE uid <=> 8.5",
		"SELECT DISTINCT uid FROM items WHERE uid <=> '8.5'",
		"SELECT uid FROM items WHERE (uid, id) IN ((8.5, 18),(8.5,39))",
		"SELECT uid FROM items WHERE (uid, id) = (8.5, 18)",
		"SELECT uid FROM items WHERE uid = 8.5 OR uid = 11.5",
		"SELECT uid FROM items WHERE uid IN (8.5)",
		"SELECT uid FROM items WHERE uid IN ('8.5')",
		"SELECT uid FROM items WHERE uid = 8.5 AND id = 18",
		"SELECT DISTINCT uid FROM items WHERE uid = '9abc'",
		"SELECT DISTINCT uid FROM items WHERE uid = '9.4abc'",
		"SELECT DISTINCT uid FROM items WHERE uid = 'abc'",
		"SELECT DISTINCT uid FROM items WHERE uid = ''",
		"SELECT DISTINCT uid FROM items WHERE uid = ' 9'",
		"SELECT DISTINCT uid FROM items WHERE uid = '9 '",
		"SELECT DISTINCT uid FROM items WHERE uid = '1e1'",
		"SELECT DISTINCT uid FROM items WHERE uid = '0x9'",
		"SELECT DISTINCT k FROM wide WHERE k = -1",
		"SELECT DISTINCT k FROM wide WHERE k = '-1'",
		"SELECT DISTINCT k FROM wide WHERE k = 18446744073709551616",
		"SELECT DISTINCT k FROM wide WHERE k = '18446744073709551616'",
		"SELECT DISTINCT k FROM wide WHERE k = 1e30",
		"SELECT DISTINCT k FROM wide WHERE k = -0.4",
		"SELECT DISTINCT k FROM wide WHERE k >= -1 AND k <= 1",
		"SELECT DISTINCT uid FROM items WHERE uid = 9223372036854775808",
		"SELECT DISTINCT uid FROM items WHERE uid = 9223372036854775801",
		"SELECT DISTINCT uid FROM items WHERE uid = '9223372036854775800.4'",
		"SELECT DISTINCT uid FROM items WHERE uid = 9007199254740992.5",
		"SELECT DISTINCT uid FROM items WHERE uid = 9007199254740993.0",
		"SELECT DISTINCT uid FROM items WHERE uid = 9007199254740992e0",
		"SELECT DISTINCT uid FROM items WHERE uid = DATE'2024-01-01'",
		"SELECT oid, COUNT(*) FROM notes WHERE oid = 2147483648",
		"SELECT DISTINCT oid FROM notes WHERE oid = 1.5",
		"SELECT DISTINCT oid FROM notes WHERE uid = 9 AND oid = 1.5",
	} {
		a := read(c.prepared.single.QueryContext(t.Context(), q))
		t.Log(q, a.err, len(a.rows), shown(a.rows[:min(6, len(a.rows))]))
		continue
		for _, r := range shown(a.rows[:min(3, len(a.rows))]) {
			t.Log("    ", r)
		}
	}
}
