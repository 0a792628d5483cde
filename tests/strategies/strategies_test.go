//go:build unix

package strategies_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/hint"
)

const genes = `
  tables:
    t_bill:
      actualDataNodes: ds0.t_bill_${0..1}, ds1.t_bill_${2..3}
      tableStrategy: {complex: {columns: [id, user_id], algorithm: bill}}
      keyGenerate: {column: id, generator: gene}
    t_line:
      actualDataNodes: ds0.t_line_${0..1}, ds1.t_line_${2..3}
      tableStrategy: {complex: {columns: [bill_id, user_id], algorithm: line}}
  bindingTables: [[t_bill, t_line]]
  algorithms:
    bill: {type: GENE, props: {idColumn: id, ownerColumn: user_id}}
    line: {type: GENE, props: {idColumn: bill_id, ownerColumn: user_id}}
  keyGenerators:
    gene: {type: GENE_SNOWFLAKE, props: {ownerColumn: user_id}}
`

type bill struct {
	ID     int64
	UserID int64
	Total  int
}

func (bill) TableName() string { return "t_bill" }

// TestGenesAreMadeForModelsMapsAndRows lets the generator, whose worker id is
// leased, make the keys in each of the ways in which GORM inserts.
func TestGenesAreMadeForModelsMapsAndRows(t *testing.T) {
	s := open(t, "gene", genes, "t_bill (id bigint PRIMARY KEY, user_id bigint NOT NULL, total int)", "t_line (id bigint PRIMARY KEY, bill_id bigint, user_id bigint, price int)")
	bills := []bill{{UserID: 1, Total: 10}, {UserID: 300, Total: 20}, {UserID: 600, Total: 30}, {UserID: 900, Total: 40}, {UserID: -1, Total: 50}}
	if err := s.db.Create(&bills).Error; err != nil {
		t.Fatal(err)
	}
	one := map[string]any{"user_id": "77", "total": 60}
	if err := s.db.Model(&bill{}).Create(one).Error; err != nil {
		t.Fatal(err)
	}
	result, err := s.pool.ExecContext(t.Context(), "INSERT INTO t_bill (total, user_id) VALUES (70, ?)", 1023)
	if err != nil {
		t.Fatal(err)
	}
	last, err := result.LastInsertId()
	if err != nil || last>>12&0x3ff != 1023 {
		t.Errorf("the raw row has key %d, %v, which does not carry slot 1023", last, err)
	}
	bills = append(bills, bill{ID: one["id"].(int64), UserID: 77, Total: 60}, bill{ID: last, UserID: 1023, Total: 70})
	for i, b := range bills {
		if _, err := s.single.ExecContext(t.Context(), "INSERT INTO t_bill VALUES (?, ?, ?)", b.ID, b.UserID, b.Total); err != nil {
			t.Fatal(err)
		}
		s.exec(t, "INSERT INTO t_line (id, bill_id, user_id, price) VALUES (?, ?, ?, ?)", i, b.ID, b.UserID, i*3)
	}
	for _, b := range bills {
		for query, arg := range map[string]int64{"id": b.ID, "user_id": b.UserID} {
			if n := s.units(t.Context(), t, "SELECT * FROM t_bill WHERE "+query+" = ?", arg); n != 1 {
				t.Errorf("%s = %d goes to %d nodes", query, arg, n)
			}
			s.same(t, "SELECT * FROM t_bill WHERE "+query+" = ?", arg)
		}
		s.same(t, "SELECT b.total, l.price FROM t_bill b JOIN t_line l ON l.bill_id = b.id WHERE b.user_id = ?", b.UserID)
	}
	s.same(t, "SELECT b.total, l.price FROM t_bill b JOIN t_line l ON l.bill_id = b.id")
	s.same(t, "SELECT COUNT(*), SUM(l.price) FROM t_line l JOIN t_bill b ON b.user_id = l.user_id AND b.id = l.bill_id WHERE b.id > ?", bills[0].ID)
	s.exec(t, "UPDATE t_bill SET total = total + 1 WHERE id IN (?, ?)", bills[0].ID, bills[2].ID)
	s.exec(t, "DELETE FROM t_bill WHERE user_id = ?", bills[3].UserID)
	s.same(t, "SELECT * FROM t_bill")

	foreign := bill{ID: bills[0].ID, UserID: 300}
	if err := s.db.Create(&foreign).Error; !errors.Is(err, sharding.ErrNoDataNode) {
		t.Errorf("an id with another owner's slot: %v", err)
	}
	if err := s.db.Model(&bill{}).Create(map[string]any{"total": 1}).Error; !errors.Is(err, sharding.ErrNoShardingKey) {
		t.Errorf("a row without owner: %v", err)
	}
}

// spellings are texts of which some are equal in some collation.
var spellings = []string{
	"Bob", "bob", "BOB ", "bob  ", "boß", "boss", "BOSS", "é", "e", "E", "a", "a\u00a0", "a\t", "", " ", "10", "１０", "Straße", "STRASSE", "ÀB", "ab", "\u3042", "\u30a2", "𝔸", "A",
}

func TestEqualTextsAreFoundWhateverTheirSpelling(t *testing.T) {
	collations := []string{"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_general_nopad_ci", "utf8mb4_unicode_nopad_ci", "utf8mb4_bin", "latin1_swedish_ci"}
	sharded, tables := "  tables:\n", []string(nil)
	for i, collation := range collations {
		for _, textKey := range []string{"weight", "binary"} {
			name := fmt.Sprintf("t_%s%d", textKey, i)
			sharded += fmt.Sprintf("    %s: {actualDataNodes: 'ds${0..1}.%s', databaseStrategy: {standard: {column: name, algorithm: hash}, textKey: %s}}\n", name, name, textKey)
			tables = append(tables, name+" (id int, name varchar(30) COLLATE "+collation+")")
		}
	}
	s := open(t, "text", sharded+"  algorithms: {hash: {type: SLOT_RANGE}}\n")
	for _, ddl := range tables { // the parser knows MySQL's collations only
		for _, pool := range append(s.nodes, s.single) {
			if _, err := pool.ExecContext(t.Context(), "CREATE TABLE "+ddl); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, collation := range collations {
		var texts []string
		for _, text := range spellings {
			if collation != "latin1_swedish_ci" || len(text) == len([]rune(text)) {
				texts = append(texts, text)
			}
		}
		for _, textKey := range []string{"weight", "binary"} {
			name := fmt.Sprintf("t_%s%d", textKey, i)
			for id, text := range texts {
				s.exec(t, "INSERT INTO "+name+" (id, name) VALUES (?, ?)", id, text)
			}
			counts := map[int]int{}
			for node := range s.nodes {
				counts[len(lines(t.Context(), t, s.nodes[node], "SELECT id FROM "+name))]++
			}
			if counts[0] > 0 {
				t.Errorf("%s of %s: all rows are on one node", textKey, collation)
			}
			for _, text := range texts {
				s.same(t, "SELECT id FROM "+name+" WHERE name = ?", text)
				s.same(t, "SELECT id FROM "+name+" WHERE name IN (?, 'boss', 'nobody')", text)
				if n := s.units(t.Context(), t, "SELECT id FROM "+name+" WHERE name = ?", text); textKey == "weight" && n != 1 {
					t.Errorf("%s: = %q goes to %d nodes", collation, text, n)
				}
			}
			if textKey == "weight" {
				s.same(t, "SELECT a.id, b.id FROM "+name+" a JOIN "+name+" b ON a.name = b.name")
				s.exec(t, "UPDATE "+name+" SET id = id + 100 WHERE name = 'BOB'")
				s.same(t, "SELECT id FROM "+name)
			}
		}
	}
}

const others = `
  tables:
    t_visit:
      actualDataNodes: ds${0..1}.t_visit_${0..2}
      databaseStrategy: {standard: {column: tenant_id, algorithm: two}}
      tableStrategy: {complex: {columns: [tenant_id, day], algorithm: by_day}}
    t_doc:
      actualDataNodes: ds${0..1}.t_doc_${0..1}
      databaseStrategy: {hint: {algorithm: two}}
      tableStrategy: {hint: {algorithm: doc}}
    t_event:
      actualDataNodes: ds0.t_event_${0..1}, ds1.t_event_${2..3}
      tableStrategy: {complex: {columns: [made_at, id], algorithm: grown}}
  autoTables:
    t_auto: {dataSources: "ds${0..1}", strategy: {standard: {column: id, algorithm: five}}}
    t_item: {dataSources: "ds${0..1}", strategy: {standard: {column: auto_id, algorithm: five}}}
  bindingTables: [[t_auto, t_item]]
  algorithms:
    two: {type: MOD, props: {shardingCount: 2}}
    four: {type: MOD, props: {shardingCount: 4}}
    five: {type: MOD, props: {shardingCount: 5}}
    by_day: {type: COMPLEX_INLINE, props: {expression: "t_visit_${floorMod(tenant_id + day, 3)}"}}
    doc: {type: HINT_INLINE, props: {expression: "t_doc_${value}"}}
    grown: {type: THRESHOLD, props: {column: made_at, threshold: "2024-01-01", below: two, above: four}}
`

func TestOtherStrategiesAnswerAsOneDatabase(t *testing.T) {
	s := open(t, "other", others, "t_visit (id bigint PRIMARY KEY, tenant_id bigint, day int)", "t_doc (id bigint PRIMARY KEY, body varchar(20))",
		"t_event (id bigint PRIMARY KEY, made_at datetime)", "t_auto (id bigint PRIMARY KEY, what int)", "t_item (id bigint PRIMARY KEY, auto_id bigint)")
	for i := range 40 {
		s.exec(t, "INSERT INTO t_visit (id, tenant_id, day) VALUES (?, ?, ?)", i, i%7-2, i%11)
		s.exec(t, "INSERT INTO t_event (made_at, id) VALUES (?, ?)", fmt.Sprintf("%d-%02d-01 00:00:00", 2023+i%2, 1+i%12), i)
		s.exec(t, "INSERT INTO t_auto (id, what) VALUES (?, ?)", i-9, i%3)
		s.exec(t, "INSERT INTO t_item (id, auto_id) VALUES (?, ?)", i, i%13-4)
	}
	for _, query := range []string{
		"SELECT * FROM t_visit WHERE tenant_id = 3 AND day = 2",
		"SELECT * FROM t_visit WHERE tenant_id IN (-2, 3) AND day IN (1, 2, NULL)",
		"SELECT * FROM t_visit WHERE tenant_id IN (-2, 3) OR day = 4 AND tenant_id > 1",
		"SELECT * FROM t_visit WHERE (tenant_id, day) IN ((3, 2), (0, 1), (-1, 8))",
		"SELECT * FROM t_visit WHERE tenant_id BETWEEN -1 AND 1 AND day BETWEEN 2 AND 5",
		"SELECT COUNT(*), MAX(id) FROM t_visit WHERE tenant_id >= 2",
		"SELECT * FROM t_event WHERE id = 5",
		"SELECT * FROM t_event WHERE id IN (5, 6, 7) AND made_at >= '2024-01-01'",
		"SELECT * FROM t_event WHERE made_at < '2024-01-01' AND id < 20",
		"SELECT * FROM t_event WHERE made_at BETWEEN '2023-12-01' AND '2024-01-01'",
		"SELECT a.id, i.id FROM t_auto a JOIN t_item i ON i.auto_id = a.id",
		"SELECT a.id, i.id FROM t_auto a LEFT JOIN t_item i ON i.auto_id = a.id WHERE a.id BETWEEN -3 AND 2",
		"SELECT what, COUNT(*) FROM t_auto GROUP BY what",
	} {
		s.same(t, query)
	}
	s.exec(t, "UPDATE t_visit SET day = 5, tenant_id = 3 WHERE tenant_id = 3 AND day = 2")
	s.exec(t, "DELETE FROM t_event WHERE made_at >= '2024-06-01' AND id IN (5, 9, 13, 17)")
	s.same(t, "SELECT * FROM t_visit")
	s.same(t, "SELECT * FROM t_event")
}

func TestHintedValuesChooseTheNode(t *testing.T) {
	s := open(t, "hinted", others, "t_doc (id bigint PRIMARY KEY, body varchar(20))", "t_visit (id bigint PRIMARY KEY, tenant_id bigint, day int)")
	at := func(database, table int) []string {
		ctx := hint.TableValue(hint.DatabaseValue(t.Context(), "t_doc", database), "t_doc", table)
		if _, err := s.pool.ExecContext(ctx, "INSERT INTO t_doc (id, body) VALUES (?, 'x')", database*10+table); err != nil {
			t.Fatal(err)
		}
		return lines(ctx, t, s.pool, "SELECT id FROM t_doc")
	}
	for database := range 2 {
		for table := range 2 {
			if got := at(database, table); len(got) != 1 || got[0] != fmt.Sprint(database*10+table) {
				t.Errorf("the node of the hints %d, %d has %q", database, table, got)
			}
		}
	}
	if got := lines(t.Context(), t, s.pool, "SELECT id FROM t_doc"); len(got) != 4 {
		t.Errorf("without a hint: %q", got)
	}
	if _, err := s.pool.ExecContext(t.Context(), "INSERT INTO t_doc (id, body) VALUES (99, 'x')"); !errors.Is(err, sharding.ErrNoShardingKey) {
		t.Errorf("INSERT without a hint: %v", err)
	}
	ctx := hint.TableValue(t.Context(), "t_visit", map[string]any{"tenant_id": 3, "day": int32(2)})
	if n := s.units(ctx, t, "SELECT * FROM t_visit WHERE tenant_id = 4"); n != 1 {
		t.Errorf("a hint for two columns leads to %d nodes", n)
	}
	ctx = hint.DatabaseValue(t.Context(), "t_visit", 0)
	if _, err := s.pool.ExecContext(ctx, "DELETE FROM t_visit WHERE tenant_id = 3"); !errors.Is(err, sharding.ErrUnsupported) {
		t.Errorf("a write beside its hint: %v", err)
	}
}
