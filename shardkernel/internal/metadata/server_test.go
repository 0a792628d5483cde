package metadata

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// serverDSN names an empty database, with parameters, for the tests against a
// real server. tests/metadata runs them.
const serverDSN = "SHARDING_TEST_MYSQL_DSN"

func server(t *testing.T, params string) *sql.DB {
	t.Helper()
	dsn := os.Getenv(serverDSN)
	if dsn == "" {
		t.Skip(serverDSN + " is not set; tests/metadata sets it")
	}
	db, err := sql.Open("mysql", dsn+params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func table(t *testing.T, db *sql.DB, name string) *value.Table {
	t.Helper()
	reader := NewReader(func(string) (*sql.DB, *dialect.Dialect, error) { return db, dialect.MySQL, nil })
	table, err := reader(context.Background(), "ds0", name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestServerTellsItsSettings(t *testing.T) {
	db := server(t, "")
	s, err := CheckSource(context.Background(), "ds0", db, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version == "" || s.Fractions() == value.FractionsUnknown {
		t.Errorf("%+v", s)
	}
	for _, name := range compared {
		if _, ok := s.variables[name]; !ok {
			t.Errorf("the server has no %s", name)
		}
	}
	if err := s.Equal(s); err != nil {
		t.Error(err)
	}
	quotes := server(t, "&sql_mode=%27ANSI_QUOTES%27")
	if _, err := CheckSource(context.Background(), "ds0", quotes, dialect.MySQL); err == nil {
		t.Error("ANSI_QUOTES was accepted")
	}
}

const everyType = "CREATE TABLE every_type (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, n INT, t TINYINT(1), d DECIMAL(10,2) NOT NULL, f DOUBLE, " +
	"s VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, l LONGTEXT CHARACTER SET utf8mb4, " +
	"b BINARY(3), vb VARBINARY(3), day DATE, dt DATETIME(3), y YEAR, e ENUM('a','b'), bits BIT(3), g INT AS (n + 1) STORED, " +
	"UNIQUE (n, d), KEY (f))"

func TestServerColumnsAreRead(t *testing.T) {
	db := server(t, "")
	run(t, db, "DROP TABLE IF EXISTS every_type", everyType)
	columns := table(t, db, "every_type")
	for name, want := range map[string]func(*value.Column) bool{
		"id": func(c *value.Column) bool {
			return c.Class == value.ClassInteger && c.Bits == 64 && c.Unsigned && c.AutoIncrement && !c.Nullable && c.Unique
		},
		"n": func(c *value.Column) bool {
			return c.Class == value.ClassInteger && c.Bits == 32 && !c.Unsigned && c.Nullable && c.Unique
		},
		"t": func(c *value.Column) bool { return c.Class == value.ClassInteger && c.Bits == 8 },
		"d": func(c *value.Column) bool {
			return c.Class == value.ClassDecimal && c.Precision == 10 && c.Scale == 2 && !c.Nullable && c.Unique
		},
		"f": func(c *value.Column) bool { return c.Class == value.ClassFloat && !c.Unique },
		"s": func(c *value.Column) bool {
			return c.Class == value.ClassText && c.Length == 20 && c.PadSpace && len(c.SpaceWeight) > 0 && c.WeightRefused == ""
		},
		"c": func(c *value.Column) bool { return c.Class == value.ClassText && string(c.SpaceWeight) == "\x00\x20" },
		"l": func(c *value.Column) bool {
			return c.Class == value.ClassText && c.WeightRefused == "" && c.WeightLimit > 0
		},
		"b":    func(c *value.Column) bool { return c.Class == value.ClassBinary && c.Length == 3 && c.Binary() },
		"day":  func(c *value.Column) bool { return c.Class == value.ClassDate },
		"dt":   func(c *value.Column) bool { return c.Class == value.ClassDateTime && c.Scale == 3 },
		"y":    func(c *value.Column) bool { return c.Class == value.ClassYear },
		"e":    func(c *value.Column) bool { return c.Class == value.ClassEnum },
		"bits": func(c *value.Column) bool { return c.Class == value.ClassBit },
		"g":    func(c *value.Column) bool { return c.Generated },
	} {
		c, ok := columns.Column(name)
		if !ok || !want(c) {
			t.Errorf("%s was read as %+v", name, c)
		}
	}
}

// stored is what TestServerComparesAsForeseen keeps in each column.
var stored = map[string][]any{
	"i":  {0, 1, -1, 12, 2024, 20240105, 9007199254740991, 9007199254740992, 9007199254740993, 9007199254740994, int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64) - 1, 1152921504606846977, 1152921504606846976},
	"u":  {0, 1, 12, uint64(math.MaxUint64), uint64(math.MaxUint64) - 1, uint64(math.MaxInt64), uint64(math.MaxInt64) + 1, 9007199254740993},
	"n":  {0, 1, -1, 12, math.MaxInt32, math.MinInt32},
	"t":  {0, 1, -1, 12, 127, -128},
	"de": {"0", "1", "1.5", "-1.5", "12", "0.01", "99999999.99"},
	"s":  {"", "a", "a ", "A", "a\t", "ä", "1", "01", "中", "😀"},
	"sn": {"", "a", "a ", "A", "a\t", "1", "中"},
	"c":  {"", "a", "A", "b", "1"},
	"cn": {"", "a", "A", "b", "1"},
	"la": {"", "a", "é", "1"},
	"b":  {"", "a", "abc"},
	"vb": {"", "a", "a ", "abc"},
	"d":  {"2024-01-05", "2024-01-06", "2024-02-29", "1000-01-01", "9999-12-31"},
	"dt": {"2024-01-05 00:00:00", "2024-01-05 10:00:00", "2024-01-05 10:00:01", "2024-01-06 00:00:00"},
	"d3": {"2024-01-05 00:00:00", "2024-01-05 10:00:00", "2024-01-05 10:00:00.123", "2024-01-05 10:00:00.124"},
	"y":  {1901, 2024, 2155, 1970},
}

// tried are the arguments that every column is compared with.
var tried = []any{
	0, 1, -1, 12, uint64(math.MaxUint64), uint64(math.MaxUint64) - 1, int64(math.MaxInt64), int64(math.MinInt64), 128, 2024, 24, 20240105, int64(20240105100000), true, false,
	0.0, 1.0, 1.5, -1.5, 9007199254740992.0, 9007199254740994.0, 1e18, 1152921504606846976.0, 20240105.0, float32(1.5),
	"", " ", "0", "1", "01", " 1", "1 ", "\t1", "1\n", "+1", "1.0", "1.", ".5", "1.5", "-1.5", "1e0", "1abc", "abc", "0x01", "-0", "--1", "+ 1",
	"9007199254740992", "9007199254740993", "9007199254740993.0", "9007199254740992.5", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "1152921504606846977", "1152921504606846976.5", "1.00000000000000000000001", "127", "128", "4294967296",
	"a", "A", "a ", "a  ", "a\t", "ä", "é", "中", "😀", "b", "abc", "a\x00\x00", []byte("a"), []byte("1"), []byte("é"), []byte("中"), json.Number("12"), []byte("2024-01-05"),
	"2024", "24", "2024-01-05", "2024-1-5", "2024/01/05", "20240105", "20240105100000", "2024-01-05 10:00:00", "2024-01-05T10:00:00", "2024-1-5 10:0:0", "2024-01-05 10:00:00.5",
	"2024-01-05 10:00:00.123", "2024-01-05 10:00:00.1234", "2024-01-05 10:00:00.0000009", "2024-01-05 23:59:59.9", "2024-01-05 10:00:00.123000", "24-01-05", "2024-02-30", "99999999.99",
	time.Date(2024, 1, 5, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 5, 10, 0, 0, 0, time.UTC), time.Date(2024, 1, 5, 18, 0, 0, 0, time.FixedZone("east", 8*3600)),
	time.Date(2024, 1, 5, 10, 0, 0, 123_000_000, time.UTC), time.Date(2024, 1, 5, 10, 0, 0, 123_456_789, time.UTC), time.Date(2024, 1, 5, 10, 0, 0, 999_999_999, time.UTC),
}

const comparedTable = "CREATE TABLE compared (id INT AUTO_INCREMENT PRIMARY KEY, i BIGINT, u BIGINT UNSIGNED, n INT, t TINYINT, de DECIMAL(10,2), " +
	"s VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, sn VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, " +
	"c CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, cn CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, la VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin, " +
	"b BINARY(3), vb VARBINARY(3), d DATE, dt DATETIME, d3 DATETIME(3), y YEAR)"

// TestServerComparesAsForeseen stores values and compares every column with
// every argument, over each way of sending arguments: the rows the server finds
// must all have the Value that Compare gives, and lie in the range of Bound.
// What Store gives must be what the server then holds.
func TestServerComparesAsForeseen(t *testing.T) {
	for mode, params := range map[string]string{"prepared": "", "interpolated": "&interpolateParams=true"} {
		t.Run(mode, func(t *testing.T) {
			db := server(t, "&parseTime=false"+params)
			run(t, db, "DROP TABLE IF EXISTS compared", comparedTable)
			settings, err := CheckSource(context.Background(), "ds0", db, dialect.MySQL)
			if err != nil {
				t.Fatal(err)
			}
			columns := table(t, db, "compared")
			narrowed := 0
			conv := value.Converter{Fractions: settings.Fractions()}
			for name, values := range stored {
				col, ok := columns.Column(name)
				if !ok {
					t.Fatalf("no column %s", name)
				}
				keys := make(map[int64]algorithm.Value)
				for _, v := range values {
					key, err := conv.Store(v, col)
					if err != nil && name != "la" {
						t.Fatalf("Store(%v, %s): %v", v, name, err)
					}
					if err != nil {
						key = algorithm.Text(v.(string))
					}
					keys[insert(t, db, name, v)] = key
				}
				for _, arg := range tried {
					narrowed += compareOnServer(t, db, conv, col, keys, arg)
					storeOnServer(t, db, conv, col, arg)
				}
				run(t, db, "DELETE FROM compared")
			}
			if narrowed < 200 {
				t.Errorf("only %d comparisons found rows and were narrowed", narrowed)
			}
		})
	}
}

func insert(t *testing.T, db *sql.DB, column string, v any) int64 {
	t.Helper()
	result, err := db.Exec("INSERT INTO compared ("+column+") VALUES (?)", v)
	if err != nil {
		t.Fatalf("storing %v in %s: %v", v, column, err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func compareOnServer(t *testing.T, db *sql.DB, conv value.Converter, col *value.Column, keys map[int64]algorithm.Value, arg any) (narrowed int) {
	t.Helper()
	for _, form := range []string{"= ?", "IN (?, NULL)", "BETWEEN ? AND ?"} {
		args := []any{arg}
		if strings.HasPrefix(form, "BETWEEN") {
			args = append(args, arg)
		}
		found := find(t, db, "SELECT id FROM compared WHERE "+col.Name+" "+form, args...)
		v, match := conv.Compare(arg, col)
		if match == value.MatchValue && len(found) > 0 {
			narrowed++
		}
		for _, id := range found {
			if match == value.MatchValue && keys[id] != v {
				t.Errorf("%s %s with %T %#v finds %v, but Compare gives %v, match %d", col.Type, form, arg, arg, keys[id], v, match)
			}
		}
	}
	for _, operator := range []string{"<", "<=", ">", ">="} {
		lower, open := operator[0] == '>', len(operator) == 1
		bound, excl, ok := conv.Bound(arg, col, lower, open)
		if !ok {
			continue
		}
		for _, id := range find(t, db, "SELECT id FROM compared WHERE "+col.Name+" "+operator+" ?", arg) {
			order, comparable := keys[id].Compare(bound)
			if !lower {
				order = -order
			}
			if !comparable || order < 0 || order == 0 && excl {
				t.Errorf("%s %s %T %#v finds %v, outside of the bound %v, excl %t", col.Type, operator, arg, arg, keys[id], bound, excl)
			}
		}
	}
	return narrowed
}

// storeOnServer stores arg where Store foresees a Value, and compares it with
// the Value of what the server then holds.
func storeOnServer(t *testing.T, db *sql.DB, conv value.Converter, col *value.Column, arg any) {
	t.Helper()
	want, err := conv.Store(arg, col)
	if err != nil {
		return
	}
	id := insert(t, db, col.Name, arg)
	var held any
	if err := db.QueryRow("SELECT "+col.Name+" FROM compared WHERE id = ?", id).Scan(&held); err != nil {
		t.Fatal(err)
	}
	got, err := conv.Store(held, col)
	if err != nil || got != want {
		t.Errorf("%s: Store(%T %#v) = %v, but the server holds %s (%v, %v)", col.Type, arg, arg, want, held, got, err)
	}
	run(t, db, fmt.Sprintf("DELETE FROM compared WHERE id = %d", id))
}

func find(t *testing.T, db *sql.DB, query string, args ...any) (ids []int64) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil // such as an illegal mix of collations: the server's to say
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if rows.Err() != nil {
		return nil
	}
	return ids
}

// TestServerOrdersByPaddedWeights proves, for the collations that are trusted,
// that weights padded with the weight of a space compare as the server does.
func TestServerOrdersByPaddedWeights(t *testing.T) {
	db := server(t, "&interpolateParams=true")
	random := rand.New(rand.NewPCG(1, 2))
	// Letters in cases and accents, blanks and control characters, expansions,
	// contractions, ignorable characters, other scripts and planes.
	alphabet := []rune("aAäbzß \t\x01\u00a0e\u0301chllæœﷺ中文ñij😀𝒳\u00ad\u200dЖжıİ")
	for _, collation := range trustedOn(t, db) {
		characterSet, _, _ := strings.Cut(collation, "_")
		pad := !strings.Contains(collation, "_nopad_") && !strings.Contains(collation, "0900")
		letters := alphabet
		if characterSet == "latin1" {
			letters = []rune("aAäbzß \t\x01\u00a0éñçÆæÿ")
		} else if characterSet == "ascii" {
			letters = []rune("aAbzZ \t\x01~0")
		}
		var space []byte
		cast := func(marker string) string {
			return "CONVERT(" + marker + " USING " + characterSet + ") COLLATE " + collation
		}
		if err := db.QueryRow("SELECT WEIGHT_STRING(" + cast("' '") + ")").Scan(&space); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			a, b := text(random, letters), text(random, letters)
			if random.IntN(3) == 0 {
				b = a + text(random, letters)
			}
			var order int
			var wa, wb []byte
			err := db.QueryRow("SELECT CASE WHEN "+cast("?")+" < "+cast("?")+" THEN -1 WHEN "+cast("?")+" = "+cast("?")+" THEN 0 ELSE 1 END, WEIGHT_STRING("+cast("?")+"), WEIGHT_STRING("+cast("?")+")",
				a, b, a, b, a, b).Scan(&order, &wa, &wb)
			if err != nil {
				t.Fatalf("%s: %v", collation, err)
			}
			if pad {
				for len(wa) < len(wb) {
					wa = append(wa, space...)
				}
				for len(wb) < len(wa) {
					wb = append(wb, space...)
				}
			}
			if got := bytes.Compare(wa, wb); got != order {
				t.Errorf("%s: the server orders %q and %q as %d, their weights %x and %x as %d", collation, a, b, order, wa, wb, got)
				break
			}
		}
	}
}

func text(random *rand.Rand, letters []rune) string {
	runes := make([]rune, random.IntN(5))
	for i := range runes {
		runes[i] = letters[random.IntN(len(letters))]
	}
	return string(runes)
}

// trustedOn lists the collations of the server whose order is trusted.
func trustedOn(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.Query("SELECT collation_name FROM information_schema.collations")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "uca1400_") { // listed without its character sets
			name = "utf8mb4_" + name
		}
		if f, _ := familyOf(name); f == familySimple || f == familyUCA {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(names) < 10 {
		t.Fatalf("only %v", names)
	}
	return names
}
