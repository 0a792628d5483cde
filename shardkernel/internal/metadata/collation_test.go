package metadata

import (
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

func TestTextIsOrderedOnlyWhereItsWeightsAreKnown(t *testing.T) {
	for _, c := range []struct {
		columnType, collation string
		characters, octets    int64
		refused               string // part of the reason
		limit                 int
	}{
		{"varchar(255)", "utf8mb4_general_ci", 255, 1020, "", 0},
		{"varchar(256)", "utf8mb4_general_ci", 256, 1024, "", 510},
		{"varchar(340)", "utf8mb3_bin", 340, 1020, "", 0},
		{"varchar(255)", "utf8mb4_bin", 255, 1020, "", 0},
		{"varchar(1020)", "latin1_swedish_ci", 1020, 1020, "", 0},
		{"varchar(1021)", "latin1_swedish_ci", 1021, 1021, "", 1020},
		{"longtext", "utf8mb4_bin", 4294967295, 4294967295, "", 765},
		{"varchar(15)", "utf8mb4_unicode_ci", 15, 60, "", 0},
		{"varchar(255)", "utf8mb4_unicode_ci", 255, 1020, "", 1020},
		{"varchar(255)", "utf8mb4_0900_ai_ci", 255, 1020, "", 1020},
		{"varchar(255)", "utf8mb4_de_pb_0900_ai_ci", 255, 1020, "", 1020},
		{"varchar(255)", "utf8mb4_uca1400_ai_ci", 255, 1020, "", 1020},
		{"varchar(255)", "utf8mb4_uca1400_swedish_nopad_ai_ci", 255, 1020, "", 1020},
		{"varchar(600)", "utf8mb4_swedish_ci", 600, 2400, "", 1020},
		{"varchar(10)", "utf8mb4_uca1400_as_cs", 10, 40, "several passes", 0},
		{"varchar(10)", "utf8mb4_uca1400_ai_cs", 10, 40, "several passes", 0},
		{"varchar(10)", "utf8mb4_0900_as_cs", 10, 40, "several passes", 0},
		{"varchar(10)", "utf8mb4_thai_520_w2", 10, 40, "several passes", 0},
		{"varchar(10)", "latin2_czech_cs", 10, 10, "not known", 0},
		{"varchar(10)", "latin1_german2_ci", 10, 10, "not known", 0},
		{"varchar(10)", "gbk_chinese_ci", 10, 20, "not known", 0},
		{"varchar(10)", "utf8mb4_something_ci", 10, 40, "not known", 0},
	} {
		s := &collations{maxSortLength: 1024, padSpace: map[string]bool{c.collation: true}}
		col := &mysqlColumn{Column: value.Column{Name: "name", Type: c.columnType, Class: value.ClassText, Collation: c.collation}, characters: c.characters, octets: c.octets}
		s.order(col)
		if (c.refused == "") != (col.WeightRefused == "") || !strings.Contains(col.WeightRefused, c.refused) || col.WeightLimit != c.limit {
			t.Errorf("%s %s: refused %q, limit %d; want %q, %d", c.columnType, c.collation, col.WeightRefused, col.WeightLimit, c.refused, c.limit)
		}
		if col.WeightRefused != "" && !strings.Contains(col.WeightRefused, "name") {
			t.Errorf("the column is not named: %q", col.WeightRefused)
		}
	}
}

func TestLongBinaryIsOrderedUpToTheSortKey(t *testing.T) {
	s := &collations{maxSortLength: 1024}
	for octets, limit := range map[int64]int{16: 0, 1020: 0, 1021: 1020, 65535: 1020} {
		col := &mysqlColumn{Column: value.Column{Class: value.ClassBinary}, characters: octets, octets: octets}
		if s.order(col); col.WeightRefused != "" || col.WeightLimit != limit {
			t.Errorf("%d bytes: refused %q, limit %d; want %d", octets, col.WeightRefused, col.WeightLimit, limit)
		}
	}
}
