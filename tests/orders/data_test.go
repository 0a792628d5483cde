//go:build unix

package orders_test

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gormshard/sharding/tests/mariadb"
)

// row is one row of a table: the values by column.
type row struct {
	table   string
	ent     int64
	columns string
	values  []any
}

// enterprises leave ds3 without a row. Negative ids, ids beyond 32 bits and the
// ends of the range are among them.
var enterprises = []int64{
	-8, -7, -6, -4, -3, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 1 << 40, math.MinInt64, math.MaxInt64 - 1,
}

var (
	texts = []any{
		nil, "", "a", "A", "a ", "B", "ä", "b", "Ä", "Z", "z ", "ß", "ss", "a\t", "aa", "AB", "10", "9", "NULL", "日本",
	}
	decimals = []any{nil, "0", "-0.00001", "9", "10", "1.5", "-7.34", "93.95", "12345678901234.56789", "-99999999999999.99999", "0.33333"}
	numbers  = []any{nil, 0, 1, -1, 9, 10, 100, 127, -128}
	bigs     = []any{nil, 0, 1, uint64(math.MaxUint64), uint64(math.MaxInt64), uint64(1 << 63), 42}
	ratios   = []any{nil, 0.0, -1.5, float64(1 << 40), 0.5, 1024.25, 3.0}
	rates    = []any{nil, 0.0, -2.5, 16777216.0, 16777210.0, 1234567.0, 0.125, 3.0} // one more digit than FLOAT shows as text
	days     = []any{nil, "1999-12-31", "2024-02-29", "2026-01-01", "0001-01-01", "2026-01-02"}
	clocks   = []any{nil, "-01:00:00", "09:00:00", "100:00:00", "00:00:00", "23:59:59"}
	moments  = []any{nil, "2026-01-01 00:00:00.000", "2026-01-01 00:00:00.100", "2026-01-01 00:00:00.020", "1999-12-31 23:59:59.999", "2024-02-29 12:00:00.500"}
	statuses = []any{nil, "paid", "new", "cancelled"}
	rawBytes = []any{nil, []byte{}, []byte("a"), []byte("A"), []byte{0}, []byte{255, 0}}
	bits     = []any{nil, 0, 1, 2, 256, 1023}
)

// long texts share more characters than a merge could look at cheaply, and one
// of them is longer than max_sort_length.
func notes() []any {
	return []any{nil, "", "short", strings.Repeat("x", 300) + "a", strings.Repeat("x", 300) + "B", strings.Repeat("x", 300) + "c", strings.Repeat("Y", 600)}
}

// sampleRows are the rows of the read-only cluster: the same at every run.
func sampleRows() []row {
	random := rand.New(rand.NewPCG(2, 7))
	pick := func(from []any) any { return from[random.IntN(len(from))] }
	notes := notes()
	var rows []row
	add := func(table string, ent int64, columns string, values ...any) {
		rows = append(rows, row{table, ent, columns, values})
	}
	item := int64(0)
	for i := range 76 {
		id := int64(100 + i)
		ent := enterprises[i%len(enterprises)]
		add("t_ent_order", ent,
			"id, ent_id, region_id, name, code, label, title, note, status, amount, price, ratio, rate, big, small, bits, raw, day, clock, created_at, changed_at",
			id, ent, pick([]any{nil, 1, 2, 3, 9}), texts[i%len(texts)], asciiOnly(pick(texts)), pick(texts), pick(texts), pick(notes),
			pick(statuses), pick(decimals), pick([]any{nil, "1", "1", "2", "7.34", "-0.01"}), pick(ratios), pick(rates), pick(bigs), pick(numbers),
			pick(bits), pick(rawBytes), pick(days), pick(clocks), pick(moments), pick(moments))
		if i%3 != 0 {
			add("t_ent_order_detail", ent, "order_id, ent_id, address, weight", id, ent, pick(texts), pick([]any{nil, "0.001", "12.5", "-1"}))
		}
		for range random.IntN(4) {
			item++
			add("t_ent_order_item", ent, "id, ent_id, order_id, product, price, count",
				item, ent, id, pick(texts), pick([]any{nil, "1.10", "2.25", "0.01", "-3"}), pick([]any{nil, 0, 1, 2, 3}))
		}
	}
	return rows
}

func asciiOnly(v any) any {
	if s, ok := v.(string); ok && strings.ContainsFunc(s, func(r rune) bool { return r > 127 }) {
		return "non-ascii"
	}
	return v
}

var regions = []row{
	{table: "t_region", columns: "id, name", values: []any{1, "North"}},
	{table: "t_region", columns: "id, name", values: []any{2, "south"}},
	{table: "t_region", columns: "id, name", values: []any{3, nil}},
	{table: "t_region", columns: "id, name", values: []any{4, "East"}},
}

var operators = []row{
	{table: "t_operator", columns: "id, name", values: []any{1, "Ada"}},
	{table: "t_operator", columns: "id, name", values: []any{2, "Grace"}},
}

// load stores rows where they belong, without the code under test.
func (c *cluster) load(t *testing.T, rows []row) {
	t.Helper()
	var nodes [databases]*sql.DB
	for i := range nodes {
		nodes[i] = c.pool(t, i, "interpolateParams=true")
	}
	single := c.pool(t, -1, "interpolateParams=true")
	for _, r := range rows {
		insert(t, single, r.table, r)
		switch r.table {
		case "t_region":
			for _, node := range nodes {
				insert(t, node, r.table, r)
			}
		case "t_operator":
			insert(t, nodes[0], r.table, r)
		case "t_ent_order_item":
			insert(t, nodes[databaseOf(r.ent)], itemTableOf(r.ent), r)
		default:
			insert(t, nodes[databaseOf(r.ent)], r.table, r)
		}
	}
}

func insert(t *testing.T, pool *sql.DB, table string, r row) {
	t.Helper()
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(r.values)), ", ")
	if _, err := pool.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, r.columns, marks), r.values...); err != nil {
		t.Fatalf("%s %v: %v", table, r.values, err)
	}
}

// sample is the read-only cluster with sampleRows, made once for all tests.
var sample struct {
	once sync.Once
	*cluster
}

func sampleCluster(t *testing.T) *cluster {
	t.Helper()
	servers := mariadb.Shared(t, 2)
	sample.once.Do(func() {
		made := newCluster(t, "sample", servers)
		made.load(t, append(append(sampleRows(), regions...), operators...))
		sample.cluster = made
	})
	if sample.cluster == nil {
		t.Fatal("the sample cluster could not be made")
	}
	return sample.cluster
}
