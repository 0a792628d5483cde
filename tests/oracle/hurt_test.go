//go:build unix

package oracle_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheTablesHaveEveryType: those of geometry are one to the protocol.
func TestTheTablesHaveEveryType(t *testing.T) {
	has := map[string]bool{}
	for _, table := range tables {
		for _, c := range table.columns {
			has[strings.ToLower(regexp.MustCompile(`^\w+`).FindString(c.ddl))] = true
			for _, unsigned := range []string{" unsigned", " zerofill"} {
				has[unsigned] = has[unsigned] || strings.Contains(c.ddl, unsigned)
			}
		}
	}
	for _, want := range []string{
		"tinyint", "smallint", "mediumint", "int", "bigint", "boolean", " unsigned", " zerofill", "bit",
		"decimal", "float", "double", "date", "time", "datetime", "timestamp", "year",
		"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json",
		"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "point",
	} {
		if !has[want] {
			t.Errorf("no column is a %s", want)
		}
	}
}

// TestTheRowsHoldWhatHurts, and not the lists alone from which they are drawn.
func TestTheRowsHoldWhatHurts(t *testing.T) {
	for name, tt := range map[string]struct {
		table  *table
		column string
		values []any
	}{
		"NULL and empty text":            {orders, "name", []any{nil, ""}},
		"case":                           {orders, "name", []any{"a", "A"}},
		"accents":                        {orders, "name", []any{"a", "á"}},
		"trailing spaces, and below":     {orders, "name", []any{"a", "a ", "a\t"}},
		"negatives":                      {orders, "uid", []any{-12, int64(math.MinInt64) + 3}},
		"beyond 2^53":                    {orders, "uid", []any{int64(1) << 53, int64(1)<<53 + 1}},
		"the largest BIGINT UNSIGNED":    {orders, "big", []any{uint64(math.MaxUint64)}},
		"all digits of DECIMAL(65,30)":   {kinds, "d65", []any{"99999999999999999999999999999999999.999999999999999999999999999999", "0.000000000000000000000000000001"}},
		"zero dates":                     {kinds, "dt", []any{"0000-00-00", "2024-00-00"}},
		"negative and long times":        {kinds, "t0", []any{"-00:00:01", "838:59:59"}},
		"texts that are alike for long":  {orders, "txt", []any{strings.Repeat("x", 2000) + "1", strings.Repeat("x", 2000) + "2"}},
		"an empty text that is no NULL":  {kinds, "en", []any{nil, ""}},
		"the text NULL":                  {orders, "name", []any{nil, "NULL"}},
		"a quote, a backslash, wildcard": {orders, "name", []any{"a'b", `a\b`, "%"}},
	} {
		at := slices.IndexFunc(tt.table.columns, func(c column) bool { return c.name == tt.column })
		for _, value := range tt.values {
			if !slices.ContainsFunc(rowsOf(tt.table), func(row []any) bool { return row[at] == value }) {
				t.Errorf("%s: no row of %s has %q in %s", name, tt.table.name, value, tt.column)
			}
		}
	}
}

// node is where a row of orders is, by its key and by hand.
func (top topology) node(key any) [2]int64 {
	n, err := strconv.ParseInt(fmt.Sprint(key), 10, 64)
	if err != nil {
		panic(err)
	}
	floorMod := func(n, by int64) int64 { return ((n % by) + by) % by }
	return [2]int64{floorMod(n, int64(top.sources)), floorMod(n/4, int64(top.tables))}
}

// TestGroupsAreSplitOverTheNodesAndSomeNodesAreEmpty: a group that one node holds alone
// would be merged by doing nothing.
func TestGroupsAreSplitOverTheNodesAndSomeNodesAreEmpty(t *testing.T) {
	at := func(name string) int {
		return slices.IndexFunc(orders.columns, func(c column) bool { return c.name == name })
	}
	for _, tt := range []struct {
		name  string
		empty bool
		split []string // columns whose groups are each on all nodes that have rows
	}{
		{"two", false, []string{"status", "region_id", "yr", "price", "flags"}},
		{"together", false, []string{"status", "region_id", "yr", "flags"}},
		{"byid", false, []string{"status", "region_id", "yr"}},
		{"eight", true, []string{"status"}},
		{"sixteen", true, nil},
	} {
		top := topologies[slices.IndexFunc(topologies, func(top topology) bool { return top.name == tt.name })]
		key := at(top.keys(orders)[0])
		filled := map[[2]int64]bool{}
		for _, row := range rowsOf(orders) {
			filled[top.node(row[key])] = true
		}
		if empty := len(filled) < top.sources*top.tables; empty != tt.empty {
			t.Errorf("%s: rows are on %d nodes of %d", top.name, len(filled), top.sources*top.tables)
		}
		for _, name := range tt.split {
			groups := map[any]map[[2]int64]bool{}
			for _, row := range rowsOf(orders) {
				value := row[at(name)]
				if groups[value] == nil {
					groups[value] = map[[2]int64]bool{}
				}
				groups[value][top.node(row[key])] = true
			}
			for value, nodes := range groups {
				if len(nodes) < len(filled) {
					t.Errorf("%s: the group %s = %v is on %d nodes of %d", top.name, name, value, len(nodes), len(filled))
				}
			}
		}
	}
}
