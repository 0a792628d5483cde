//go:build unix

package orders_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding"
)

// step is something an application does with GORM: it returns what it saw.
type step struct {
	name string
	run  func(db *gorm.DB) (any, error)
	// open allows a refusal.
	open bool
}

// find returns a step that reads models.
func find[T any](name string, build func(db *gorm.DB) *gorm.DB) step {
	return step{name: name, run: func(db *gorm.DB) (any, error) {
		var found []T
		tx := build(db).Find(&found)
		return []any{found, tx.RowsAffected}, tx.Error
	}}
}

var gormReads = []step{
	find[Order]("point", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id = ?", 4).Order("id") }),
	find[Order]("struct condition", func(db *gorm.DB) *gorm.DB { return db.Where(&Order{EntID: 4}).Order("id") }),
	find[Order]("map condition", func(db *gorm.DB) *gorm.DB { return db.Where(map[string]any{"ent_id": 5, "status": "new"}).Order("id") }),
	find[Order]("IN", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id IN ?", []int64{1, 2, 13}).Order("id") }),
	find[Order]("empty IN", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id IN ?", []int64{}).Order("id") }),
	find[Order]("IN of primary keys", func(db *gorm.DB) *gorm.DB { return db.Where([]int64{101, 102, 103, 160}).Order("id") }),
	find[Order]("not", func(db *gorm.DB) *gorm.DB { return db.Not("ent_id = ?", 4).Order("id") }),
	find[Order]("not IN", func(db *gorm.DB) *gorm.DB { return db.Not(map[string]any{"ent_id": []int64{4, 5}}).Order("id") }),
	find[Order]("or", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id = ?", 4).Or("ent_id = ?", 5).Order("id") }),
	find[Order]("grouped conditions", func(db *gorm.DB) *gorm.DB {
		return db.Where(db.Where("ent_id = ?", 4).Where(db.Where("status = ?", "new").Or("status IS NULL"))).Or(db.Where("ent_id = ?", 6)).Order("id")
	}),
	find[Order]("between", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id BETWEEN ? AND ?", 1, 6).Order("amount DESC, id") }),
	find[Order]("named argument", func(db *gorm.DB) *gorm.DB {
		return db.Where("ent_id = @ent OR region_id = @ent", map[string]any{"ent": 2}).Order("id")
	}),
	find[Order]("page", func(db *gorm.DB) *gorm.DB { return db.Order("name, id").Limit(10).Offset(20) }),
	find[Order]("page beyond the end", func(db *gorm.DB) *gorm.DB { return db.Order("id").Limit(10).Offset(2000) }),
	{name: "offset alone, which is no SQL of MySQL's", open: true, run: func(db *gorm.DB) (any, error) {
		return nil, db.Order("id").Offset(70).Find(&[]Order{}).Error
	}},
	find[Order]("order by clause", func(db *gorm.DB) *gorm.DB {
		return db.Order(clause.OrderByColumn{Column: clause.Column{Table: clause.CurrentTable, Name: "price"}, Desc: true}).Order("id")
	}),
	find[Order]("some columns", func(db *gorm.DB) *gorm.DB { return db.Select("id", "name").Order("amount, id") }),
	find[Order]("omit", func(db *gorm.DB) *gorm.DB { return db.Omit("name").Where("ent_id = 2").Order("id") }),
	find[Order]("table with alias", func(db *gorm.DB) *gorm.DB { return db.Table("t_ent_order AS o").Where("o.ent_id > ?", 5).Order("o.id") }),
	find[Order]("unscoped", func(db *gorm.DB) *gorm.DB { return db.Unscoped().Order("id").Limit(5) }),
	find[Order]("subquery in one node", func(db *gorm.DB) *gorm.DB {
		return db.Where("ent_id = 4 AND id IN (?)", db.Model(&Item{}).Select("order_id").Where("ent_id = 4")).Order("id")
	}),
	find[Item]("items of several enterprises", func(db *gorm.DB) *gorm.DB { return db.Where("ent_id IN ?", []int64{1, 5, 13, -8}).Order("id") }),
	find[Region]("broadcast", func(db *gorm.DB) *gorm.DB { return db.Order("id") }),
	find[Operator]("single", func(db *gorm.DB) *gorm.DB { return db.Order("id") }),
	find[Order]("preload", func(db *gorm.DB) *gorm.DB {
		return db.Preload("Region").Preload("Detail").Preload("Items", func(db *gorm.DB) *gorm.DB { return db.Order("id") }).Order("id").Limit(15)
	}),
	find[Order]("joins a broadcast relation", func(db *gorm.DB) *gorm.DB { return db.Joins("Region").Order("t_ent_order.id") }),
	find[Order]("inner joins a broadcast relation", func(db *gorm.DB) *gorm.DB {
		return db.InnerJoins("Region").Where("t_ent_order.ent_id = ?", 5).Order("t_ent_order.id")
	}),
	{name: "joins a relation by another column than the key", open: true, run: func(db *gorm.DB) (any, error) {
		var found []Order
		err := db.Joins("Detail").Order("t_ent_order.id").Find(&found).Error
		return found, err
	}},
	{name: "first, last, take", run: func(db *gorm.DB) (any, error) {
		var first, last, take Order
		err := errors.Join(db.First(&first).Error, db.Last(&last).Error, db.Where("ent_id = ?", 6).Take(&take, "id = ?", 110).Error)
		return []Order{first, last, take}, err
	}},
	{name: "first by primary key", run: func(db *gorm.DB) (any, error) {
		var o Order
		err := db.First(&o, 150).Error
		return o, err
	}},
	{name: "first of nothing", run: func(db *gorm.DB) (any, error) {
		var o Order
		return o, db.First(&o, "ent_id = ?", 3).Error
	}},
	{name: "first of nothing anywhere", run: func(db *gorm.DB) (any, error) {
		var o Order
		return o, db.First(&o, "id = ?", -1).Error
	}},
	{name: "counts", run: func(db *gorm.DB) (any, error) {
		var all, some, one, groups int64
		err := errors.Join(
			db.Model(&Order{}).Count(&all).Error,
			db.Model(&Order{}).Where("ent_id IN ? AND status = ?", []int64{1, 2, 4}, "new").Order("id").Count(&some).Error,
			db.Model(&Order{}).Where("ent_id = 4").Distinct("status").Count(&one).Error,
			db.Model(&Order{}).Group("region_id").Count(&groups).Error)
		return []int64{all, some, one, groups}, err
	}},
	{name: "pluck", run: func(db *gorm.DB) (any, error) {
		var names []*string
		var ids []int64
		err := errors.Join(db.Model(&Order{}).Order("amount DESC, id").Pluck("name", &names).Error,
			db.Model(&Item{}).Where("ent_id = ?", 5).Order("id").Pluck("order_id", &ids).Error)
		return []any{names, ids}, err
	}},
	{name: "maps", run: func(db *gorm.DB) (any, error) {
		var maps []map[string]any
		err := db.Model(&Order{}).Order("small DESC, id").Limit(12).Find(&maps).Error
		return maps, err
	}},
	{name: "one map", run: func(db *gorm.DB) (any, error) {
		one := map[string]any{}
		err := db.Table("t_ent_order").Where("ent_id = ?", 8).Order("id").Take(&one).Error
		return one, err
	}},
	{name: "scan of sums", run: func(db *gorm.DB) (any, error) {
		var totals []struct {
			RegionID *int64
			N        int64
			Total    *string
			Average  *float64
		}
		err := db.Model(&Order{}).Select("region_id, COUNT(*) AS n, SUM(amount) AS total, AVG(price) AS average").
			Group("region_id").Order("n DESC, region_id").Scan(&totals).Error
		return totals, err
	}},
	{name: "having", open: true, run: func(db *gorm.DB) (any, error) {
		var regions []*int64
		err := db.Model(&Order{}).Group("region_id").Having("COUNT(*) > ?", 12).Order("region_id").Pluck("region_id", &regions).Error
		return regions, err
	}},
	{name: "distinct over nodes", open: true, run: func(db *gorm.DB) (any, error) {
		var statuses []*string
		err := db.Model(&Order{}).Distinct("status").Order("status").Pluck("status", &statuses).Error
		return statuses, err
	}},
	{name: "batches", run: func(db *gorm.DB) (any, error) {
		var ids [][]int64
		var orders []Order
		tx := db.Where("amount IS NOT NULL").FindInBatches(&orders, 9, func(*gorm.DB, int) error {
			var batch []int64
			for _, o := range orders {
				batch = append(batch, o.ID)
			}
			ids = append(ids, batch)
			return nil
		})
		return []any{ids, tx.RowsAffected}, tx.Error
	}},
	{name: "rows and ScanRows", run: func(db *gorm.DB) (any, error) {
		rows, err := db.Model(&Order{}).Where("ent_id IN ?", []int64{1, 2}).Order("id").Rows()
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var orders []Order
		for rows.Next() {
			var o Order
			if err := db.ScanRows(rows, &o); err != nil {
				return nil, err
			}
			orders = append(orders, o)
		}
		return orders, rows.Err()
	}},
	{name: "row", run: func(db *gorm.DB) (any, error) {
		var n, one int64
		var low string
		err := errors.Join(db.Raw("SELECT COUNT(*), MIN(amount) FROM t_ent_order").Row().Scan(&n, &low),
			db.Raw("SELECT COUNT(*) FROM t_ent_order WHERE ent_id = ?", 4).Row().Scan(&one))
		return []any{n, low, one}, err
	}},
	{name: "raw scan", run: func(db *gorm.DB) (any, error) {
		var orders []Order
		err := db.Raw("SELECT * FROM t_ent_order WHERE ent_id IN (@a, @b) ORDER BY id", map[string]any{"a": 1, "b": 6}).Scan(&orders).Error
		return orders, err
	}},
	{name: "join of binding tables", run: func(db *gorm.DB) (any, error) {
		var lines []struct {
			ID      int64
			Address *string
			Region  *string
			Product *string
		}
		err := db.Table("t_ent_order o").Select("i.id, d.address, r.name AS region, i.product").
			Joins("JOIN t_ent_order_detail d ON d.ent_id = o.ent_id AND d.order_id = o.id").
			Joins("JOIN t_ent_order_item i ON i.ent_id = o.ent_id AND i.order_id = o.id").
			Joins("LEFT JOIN t_region r ON r.id = o.region_id").
			Order("i.id").Scan(&lines).Error
		return lines, err
	}},
	{name: "first or init", run: func(db *gorm.DB) (any, error) {
		var found, made Order
		err := errors.Join(db.Where("ent_id = ?", 4).Order("id").FirstOrInit(&found).Error,
			db.Where(Order{EntID: 3}).Attrs(Order{State: "x"}).FirstOrInit(&made).Error)
		return []Order{found, made}, err
	}},
	{name: "connection", run: func(db *gorm.DB) (any, error) {
		var n int64
		var o Order
		err := db.Connection(func(conn *gorm.DB) error {
			return errors.Join(conn.Model(&Order{}).Count(&n).Error, conn.Order("id").First(&o, "ent_id = ?", 4).Error)
		})
		return []any{n, o}, err
	}},
	{name: "unknown column", run: func(db *gorm.DB) (any, error) {
		return nil, db.Where("nothing = 1").Find(&[]Order{}).Error
	}},
}

// outcome is what a step saw, in a form that shows every difference.
func outcome(v any, err error) string {
	var mine []string
	for _, known := range []error{gorm.ErrRecordNotFound, gorm.ErrDuplicatedKey, gorm.ErrMissingWhereClause, gorm.ErrForeignKeyViolated} {
		if errors.Is(err, known) {
			mine = append(mine, known.Error())
		}
	}
	if err != nil && mine == nil {
		mine = []string{serverError(err)}
	}
	text, jsonErr := json.MarshalIndent(v, "", " ")
	if jsonErr != nil {
		text = []byte(jsonErr.Error())
	}
	return fmt.Sprintf("%s\nerror %q", text, mine)
}

type configuration struct {
	name   string
	params []string // of the DSNs
	gorm   gorm.Config
}

// configurations are the ways an application may open GORM.
var configurations = []configuration{
	{name: "prepared"},
	{name: "interpolated", params: []string{"interpolateParams=true"}},
	{name: "PrepareStmt", gorm: gorm.Config{PrepareStmt: true}},
	{name: "SkipDefaultTransaction", gorm: gorm.Config{SkipDefaultTransaction: true, TranslateError: true}},
}

func TestGORMReadsGiveWhatOneDatabaseGives(t *testing.T) {
	c := sampleCluster(t)
	for _, conf := range configurations {
		t.Run(conf.name, func(t *testing.T) {
			forSingle, forSharded := conf.gorm, conf.gorm
			single := c.openSingle(t, &forSingle, conf.params...)
			a := c.open(t, c.config(conf.params...), &forSharded)
			for _, s := range gormReads {
				t.Run(s.name, func(t *testing.T) {
					wantValue, wantErr := s.run(single.WithContext(t.Context()))
					a.trace.take()
					value, err := s.run(a.WithContext(t.Context()))
					if s.open && errors.Is(err, sharding.ErrUnsupported) {
						t.Log(err)
						return
					}
					if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
						t.Errorf("single:\n%s\nsharded (%v):\n%s\nunits:\n%s", want, err, got, a.trace)
					}
				})
			}
			inTx := slices.DeleteFunc(slices.Clone(gormReads), func(s step) bool { return s.name == "connection" })
			t.Run("in a transaction", func(t *testing.T) {
				err := a.WithContext(t.Context()).Transaction(func(tx *gorm.DB) error {
					for _, s := range inTx {
						wantValue, wantErr := s.run(single.WithContext(t.Context()))
						value, err := s.run(tx)
						if s.open && errors.Is(err, sharding.ErrUnsupported) {
							continue
						}
						if want, got := outcome(wantValue, wantErr), outcome(value, err); want != got {
							t.Errorf("%s\nsingle:\n%s\nsharded (%v):\n%s", s.name, want, err, got)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}
