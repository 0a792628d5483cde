//go:build unix

package orders_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// stored reads the items of the nodes by their id.
func stored(t *testing.T, c *cluster) map[int64]Item {
	t.Helper()
	found := map[int64]Item{}
	for i := range databases {
		pool := c.pool(t, i)
		for n := range itemTables {
			rows := ask(t.Context(), pooled(pool), fmt.Sprintf("SELECT id, ent_id, product FROM t_ent_order_item_%d", n), nil)
			if rows.err != nil {
				t.Fatal(rows.err)
			}
			for _, r := range rows.rows {
				item := Item{ID: r[0].(int64), EntID: r[1].(int64)}
				if r[2] != nil {
					item.Product = ptr(string(r[2].([]byte)))
				}
				if _, twice := found[item.ID]; twice {
					t.Errorf("id %d is there twice", item.ID)
				}
				found[item.ID] = item
			}
		}
	}
	return found
}

// TestGeneratedKeysAreOnTheModelsTheyBelongTo creates items without keys in every
// form, over nodes that do not come in the order of the models.
func TestGeneratedKeysAreOnTheModelsTheyBelongTo(t *testing.T) {
	c := writeCluster(t)
	ents := []int64{6, 1, 39, 4, -1, 5, 2, 8, 7}
	items := func() []Item {
		var out []Item
		for i, ent := range ents {
			out = append(out, Item{EntID: ent, Product: ptr(fmt.Sprint("product ", i))})
		}
		return out
	}
	forms := map[string]func(db *gorm.DB) ([]Item, error){
		"one": func(db *gorm.DB) ([]Item, error) {
			one := items()[0]
			err := db.Create(&one).Error
			return []Item{one}, err
		},
		"slice": func(db *gorm.DB) ([]Item, error) {
			all := items()
			err := db.Create(&all).Error
			return all, err
		},
		"slice of pointers": func(db *gorm.DB) ([]Item, error) {
			all := items()
			var pointers []*Item
			for i := range all {
				pointers = append(pointers, &all[i])
			}
			err := db.Create(pointers).Error
			return all, err
		},
		"some with keys": func(db *gorm.DB) ([]Item, error) {
			all := items()
			all[2].ID, all[5].ID = 77, 78
			err := db.Create(&all).Error
			if all[2].ID != 77 || all[5].ID != 78 {
				t.Errorf("the keys of the application became %d and %d", all[2].ID, all[5].ID)
			}
			return all, err
		},
		"batches": func(db *gorm.DB) ([]Item, error) {
			all := items()
			err := db.CreateInBatches(&all, 4).Error
			return all, err
		},
		"maps": func(db *gorm.DB) ([]Item, error) {
			var maps []map[string]any
			for _, item := range items() {
				maps = append(maps, map[string]any{"ent_id": item.EntID, "order_id": 0, "product": *item.Product})
			}
			err := db.Table("t_ent_order_item").Create(maps).Error
			var out []Item
			for i, m := range maps {
				id, _ := m["id"].(int64)
				out = append(out, Item{ID: id, EntID: ents[i], Product: items()[i].Product})
			}
			return out, err
		},
		"with the order": func(db *gorm.DB) ([]Item, error) {
			all := items()[:1]
			o := Order{EntID: ents[0], Items: all}
			err := db.Create(&o).Error
			if o.ID == 0 || o.Items[0].OrderID != o.ID {
				t.Errorf("the order got key %d and its item the order %d", o.ID, o.Items[0].OrderID)
			}
			return o.Items, err
		},
		"upsert": func(db *gorm.DB) ([]Item, error) {
			all := items()
			err := db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&all).Error
			return all, err
		},
	}
	for _, conf := range configurations {
		forSharded := conf.gorm
		a := c.open(t, c.config(conf.params...), &forSharded)
		for form, create := range forms {
			t.Run(conf.name+" "+form, func(t *testing.T) {
				c.clear(t)
				made, err := create(a.WithContext(t.Context()))
				if err != nil {
					t.Fatal(err)
				}
				there := stored(t, c)
				if len(there) != len(made) {
					t.Errorf("%d rows of %d models", len(there), len(made))
				}
				for _, item := range made {
					row, ok := there[item.ID]
					if item.ID == 0 || !ok || row.EntID != item.EntID || *row.Product != *item.Product {
						t.Errorf("model %d of enterprise %d, %s; row %v of enterprise %d", item.ID, item.EntID, *item.Product, ok, row.EntID)
					}
				}
			})
		}
	}
}

// TestReturnedDefaultsAreOnTheModelsTheyBelongTo: RETURNING rows of several nodes
// come back in the order of the models.
func TestReturnedDefaultsAreOnTheModelsTheyBelongTo(t *testing.T) {
	c := writeCluster(t)
	c.clear(t)
	for i := range databases {
		pool := c.pool(t, i)
		if _, err := pool.ExecContext(t.Context(), fmt.Sprintf("ALTER TABLE t_ent_order ALTER state SET DEFAULT 'of ds%d'", i)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := pool.Exec("ALTER TABLE t_ent_order ALTER state SET DEFAULT 'fresh'"); err != nil {
				t.Error(err)
			}
		})
	}
	a := c.open(t, c.config(), nil)
	orders := batch()
	for i := range orders {
		orders[i].ID = 0
	}
	if err := a.Create(&orders).Error; err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		if want := fmt.Sprint("of ds", databaseOf(o.EntID)); o.ID == 0 || o.State != want {
			t.Errorf("the order of enterprise %d has key %d and state %q, want %q", o.EntID, o.ID, o.State, want)
		}
	}
}

// TestInsertsWithoutTheKeyColumnGetOne: as text, the column is added.
func TestInsertsWithoutTheKeyColumnGetOne(t *testing.T) {
	c := writeCluster(t)
	for _, params := range [][]string{nil, {"interpolateParams=true"}} {
		c.clear(t)
		pool, _ := c.openSQL(t, c.config(params...))
		one, err := pool.ExecContext(t.Context(), "INSERT INTO t_ent_order_item (ent_id, order_id) VALUES (?, ?)", 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		several, err := pool.ExecContext(t.Context(), "INSERT INTO t_ent_order_item (ent_id, order_id) VALUES (6, 1), (7, ?), (4, 1), (5, 1)", 1)
		if err != nil {
			t.Fatal(err)
		}
		zeros, err := pool.ExecContext(t.Context(), "INSERT INTO t_ent_order_item (id, ent_id, order_id) VALUES (NULL, 6, 1), (0, 7, 1), (DEFAULT, 4, 1), (99, 5, 1)")
		if err != nil {
			t.Fatal(err)
		}
		explicit, err := pool.ExecContext(t.Context(), "INSERT INTO t_ent_order_item (id, ent_id, order_id) VALUES (1001, 6, 1), (1002, 7, 1)")
		if err != nil {
			t.Fatal(err)
		}
		there := stored(t, c)
		if len(there) != 11 || there[0].ID != 0 {
			t.Errorf("%d rows, one of them with key 0: %v", len(there), there[0])
		}
		for name, result := range map[string]interface {
			LastInsertId() (int64, error)
			RowsAffected() (int64, error)
		}{"one row": one, "several": several, "zeros": zeros, "explicit": explicit} {
			id, err := result.LastInsertId()
			n, _ := result.RowsAffected()
			ent := map[string]int64{"one row": 5, "several": 6, "zeros": 6, "explicit": 7}[name]
			rows := map[string]int64{"one row": 1, "several": 4, "zeros": 4, "explicit": 2}[name]
			if err != nil || n != rows || there[id].EntID != ent || there[id].ID == 0 {
				t.Errorf("%s: last insert id %d of enterprise %d, %d rows, %v; want the first generated or the last explicit key, of enterprise %d, and %d rows", name, id, there[id].EntID, n, err, ent, rows)
			}
		}
	}
}

// TestTheDefaultDatabaseNumbersItsOwnTables: AUTO_INCREMENT of a single table.
func TestTheDefaultDatabaseNumbersItsOwnTables(t *testing.T) {
	c := writeCluster(t)
	c.clear(t)
	a := c.open(t, c.config(), nil)
	operators := []Operator{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	one := Operator{Name: "d"}
	if err := errors.Join(a.Create(&operators).Error, a.Create(&one).Error); err != nil {
		t.Fatal(err)
	}
	ids := []int64{operators[0].ID, operators[1].ID, operators[2].ID, one.ID}
	if ids[0] == 0 || !slices.IsSorted(ids) || ids[3] != ids[0]+3 {
		t.Errorf("keys %v", ids)
	}
}

// TestABatchWithABadRowLeavesNothing, in an application that forgoes GORM's own
// transactions too.
func TestABatchWithABadRowLeavesNothing(t *testing.T) {
	c := writeCluster(t)
	for _, translate := range []bool{false, true} {
		for _, skip := range []bool{false, true} {
			c.reset(t)
			before := c.contents(t)
			a := c.open(t, c.config(), &gorm.Config{SkipDefaultTransaction: skip, TranslateError: translate})
			orders := append(batch(), Order{ID: 106, EntID: 1})
			err := a.Create(&orders).Error
			if errors.Is(err, gorm.ErrDuplicatedKey) != translate || serverError(err) != "server error 1062" {
				t.Errorf("TranslateError %v: %v", translate, err)
			}
			var nodes *sharding.NodesError
			if !errors.As(err, &nodes) || len(nodes.Nodes) != 1 || nodes.Nodes[0].DataSource != "ds1" {
				t.Errorf("the error does not name the node: %v", err)
			}
			c.contents(t).unchanged(t, before)

			one := a.Create(&Order{ID: 106, EntID: 1}).Error
			if errors.Is(one, gorm.ErrDuplicatedKey) != translate {
				t.Errorf("one node, TranslateError %v: %v", translate, one)
			}
			if pool, _ := c.openSQL(t, c.config()); true {
				_, err = pool.Exec("INSERT INTO t_ent_order_detail (order_id, ent_id) VALUES (5000, 4), (107, 2), (5001, 5)")
				if serverError(err) != "server error 1062" {
					t.Errorf("as text: %v", err)
				}
			}
			c.contents(t).unchanged(t, before)
		}
	}
}

// TestWithoutImplicitTransactionsGoodNodesKeepTheirRows: the application has
// chosen so.
func TestWithoutImplicitTransactionsGoodNodesKeepTheirRows(t *testing.T) {
	c := writeCluster(t)
	c.reset(t)
	cfg := c.config()
	cfg.Transaction.Implicit = ptr(false)
	pool, _ := c.openSQL(t, cfg)
	_, err := pool.ExecContext(t.Context(), "INSERT INTO t_ent_order_detail (order_id, ent_id) VALUES (107, 2), (5001, 5)")
	if serverError(err) != "server error 1062" {
		t.Errorf("the insert gave %v", err)
	}
	if n := len(rowsOf(t, c.pool(t, 2), "t_ent_order_detail WHERE order_id = 5001", "order_id")); n != 0 {
		t.Errorf("%d rows on a node they do not belong to", n)
	}
}

// TestWritesThatCannotBeRoutedAreRefused names the class of each and proves that
// nothing was sent.
func TestWritesThatCannotBeRoutedAreRefused(t *testing.T) {
	c := sampleCluster(t)
	cfg := c.config()
	cfg.Sharding.Algorithms["database"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "ds${ent_id % 4}"}}
	a := c.open(t, cfg, nil)
	if err := a.First(&Order{}).Error; err != nil { // reads settings and columns
		t.Fatal(err)
	}
	a.trace.take()
	for text, want := range map[string]error{
		"INSERT INTO t_ent_order (id) VALUES (1000)":                                              sharding.ErrNoShardingKey,
		"INSERT INTO t_ent_order (id, ent_id) VALUES (1000, NULL)":                                sharding.ErrNoShardingKey,
		"INSERT INTO t_ent_order (id, ent_id) VALUES (1000, 4), (1001, DEFAULT)":                  sharding.ErrNoShardingKey,
		"INSERT INTO t_ent_order (id, ent_id) VALUES (1000, 2 + id)":                              sharding.ErrUnsupported,
		"INSERT INTO t_ent_order (id, ent_id) VALUES (1000, -3)":                                  sharding.ErrNoDataNode,
		"INSERT INTO t_ent_order (id, ent_id) VALUES (106, 1) ON DUPLICATE KEY UPDATE ent_id = 2": sharding.ErrShardingKeyUpdate,
		"UPDATE t_ent_order SET ent_id = 7 WHERE name = 'a'":                                      sharding.ErrShardingKeyUpdate,
		"UPDATE t_ent_order SET ent_id = ent_id + 1":                                              sharding.ErrShardingKeyUpdate,
		"UPDATE t_ent_order SET ent_id = 5 WHERE ent_id = 4":                                      sharding.ErrShardingKeyUpdate,
		"UPDATE t_ent_order SET name = 'x' LIMIT 1":                                               sharding.ErrUnsupported,
		"UPDATE t_ent_order SET name = RAND(3)":                                                   sharding.ErrUnsupported,
		"UPDATE t_ent_order SET small = (SELECT COUNT(*) FROM t_ent_order_item)":                  sharding.ErrUnsupported,
		"DELETE FROM t_ent_order ORDER BY id LIMIT 3":                                             sharding.ErrUnsupported,
		"DELETE o FROM t_ent_order o JOIN t_ent_order_detail d ON d.order_id = o.id":              sharding.ErrUnsupported,
		"INSERT INTO t_region (id, name) VALUES (20, UUID())":                                     sharding.ErrUnsupported,
		"INSERT INTO t_region (id, name) SELECT id, name FROM t_ent_order":                        sharding.ErrUnsupported,
		"UPDATE t_region SET name = 'x' ORDER BY id LIMIT 1":                                      sharding.ErrUnsupported,
		"LOAD DATA INFILE 'x' INTO TABLE t_ent_order":                                             sharding.ErrUnsupported,
		"SELECT id FROM t_ent_order WHERE":                                                        sharding.ErrUnsupported,
		"SELEC id FROM t_ent_order":                                                               sharding.ErrUnsupported,
		"SELECT id FROM t_ent_order LIMIT 1 FOR UPDATE SKIP LOCKED":                               sharding.ErrUnsupported,
		"SELECT * FROM other.t_ent_order":                                                         sharding.ErrUnsupported,
		"PREPARE x FROM 'SELECT * FROM t_ent_order'":                                              sharding.ErrUnsupported,
	} {
		if err := a.WithContext(t.Context()).Exec(text).Error; !errors.Is(err, want) {
			t.Errorf("%s\ngave %v, want %v", text, err, want)
		}
	}
	if err := a.Create(&Order{ID: 1000, EntID: math.MinInt64 + 1}).Error; !errors.Is(err, sharding.ErrNoDataNode) {
		t.Errorf("a model without a node gave %v", err)
	}
	if err := a.Create(&[]Order{{ID: 1000, EntID: 4}, {ID: 1001, EntID: -1}}).Error; !errors.Is(err, sharding.ErrNoDataNode) {
		t.Errorf("a batch with a row without a node gave %v", err)
	}
	if units := a.trace.take(); len(units) > 0 {
		t.Errorf("something was sent: %v", units)
	}
	// Where rows would lose their node the node is asked whether there are any.
	if err := a.WithContext(t.Context()).Exec("UPDATE t_ent_order SET ent_id = NULL WHERE ent_id = 4").Error; !errors.Is(err, sharding.ErrShardingKeyUpdate) {
		t.Errorf("rows without a node gave %v", err)
	}
	if units := a.trace.take(); len(units) != 1 || !strings.HasPrefix(units[0].SQL, "SELECT 1 FROM ") {
		t.Errorf("more than a question was sent: %v", units)
	}
}
