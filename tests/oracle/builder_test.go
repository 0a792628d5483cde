//go:build unix

package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
)

// boughtOrder and boughtItem are rows as an application has them.
type boughtOrder struct {
	UID      int64 `gorm:"column:uid;primaryKey;autoIncrement:false"`
	ID       int64 `gorm:"column:id;primaryKey;autoIncrement:false"`
	RegionID *int
	Name     *string
	Price    *float64
	Amount   *string
	Big      *uint64
	Small    *int8
	Status   *string
	Day      *string // a driver without parseTime gives texts
	At       *string
	Items    []boughtItem `gorm:"foreignKey:UID,OrderID;references:UID,ID"`
}

func (boughtOrder) TableName() string { return "orders" }

type boughtItem struct {
	UID     int64 `gorm:"column:uid;primaryKey;autoIncrement:false"`
	ID      int64 `gorm:"column:id;primaryKey;autoIncrement:false"`
	OrderID *int64
	Product *string
	Qty     *int
	Cost    *string
}

func (boughtItem) TableName() string { return "items" }

// built is a query of GORM's builder. It is made on both sides by the same steps.
type built struct {
	steps []func(*gorm.DB) *gorm.DB
	// finish ends it and returns what the caller gets.
	finish func(*gorm.DB) (any, error)
	rows   bool // by Rows, so that the answer is compared as that of any query
}

func (b *built) on(db *gorm.DB) *gorm.DB {
	for _, step := range b.steps {
		db = step(db)
	}
	return db
}

func (b *built) then(step func(*gorm.DB) *gorm.DB) { b.steps = append(b.steps, step) }

// builder makes a query of GORM's builder.
func (g *generator) builder() *built {
	b := &built{}
	items := g.in(25)
	b.then(func(db *gorm.DB) *gorm.DB {
		if items {
			return db.Model(&boughtItem{})
		}
		return db.Model(&boughtOrder{})
	})
	alias := "orders"
	if items {
		alias = "items"
	}
	joined := !items && g.in(25)
	if joined {
		join := one(g, "JOIN items ON items.uid = orders.uid AND items.order_id = orders.id", "LEFT JOIN items ON items.uid = orders.uid AND items.order_id = orders.id AND items.qty > ?", "JOIN region ON region.id = orders.region_id")
		b.then(func(db *gorm.DB) *gorm.DB { return db.Joins(join, make([]any, strings.Count(join, "?"))...) })
	}
	for range g.IntN(3) {
		b.then(g.builderCondition(alias, items))
	}
	total := alias + ".uid, " + alias + ".id"
	limit := g.in(50)
	if limit {
		size, skip := 1+g.IntN(20), g.IntN(2)*g.IntN(10)
		b.then(func(db *gorm.DB) *gorm.DB {
			db = db.Limit(size)
			if skip > 0 {
				db = db.Offset(skip)
			}
			return db
		})
	}
	order := one(g, total, alias+".id DESC, "+alias+".uid")
	ordered := func(db *gorm.DB) *gorm.DB { return db.Order(order) }
	switch n := g.IntN(8); {
	case n == 0:
		if limit { // of one row, whatever it is
			b.steps = b.steps[:len(b.steps)-1]
		}
		distinct := g.in(30)
		b.finish = func(db *gorm.DB) (any, error) {
			var n int64
			if distinct {
				db = db.Distinct(alias + ".uid")
			}
			err := db.Count(&n).Error
			return n, err
		}
	case n == 1:
		if joined {
			order += ", 1"
		}
		b.then(ordered)
		column := one(g, "uid", "id")
		b.finish = func(db *gorm.DB) (any, error) {
			var values []*string
			tx := db.Pluck(alias+"."+column, &values)
			return []any{values, tx.RowsAffected}, tx.Error
		}
	case n <= 3 && !items && !joined:
		b.then(ordered)
		preload := g.in(50)
		b.finish = func(db *gorm.DB) (any, error) {
			if preload {
				db = db.Preload("Items", func(db *gorm.DB) *gorm.DB { return db.Order("items.id") })
			}
			var found []boughtOrder
			tx := db.Find(&found)
			return []any{found, tx.RowsAffected}, tx.Error
		}
	case n == 4 && !joined:
		b.finish = func(db *gorm.DB) (any, error) {
			found := map[string]any{}
			tx := db.Order(order).Take(&found)
			return []any{found, tx.RowsAffected}, tx.Error
		}
	case n <= 6 && !items:
		key := one(g, "orders.status", "orders.uid", "orders.region_id", "orders.day", "DATE(orders.at)", "orders.name")
		having := g.in(30)
		by := one(g, "", "n DESC", key)
		b.then(func(db *gorm.DB) *gorm.DB {
			db = db.Select(key + " AS k, COUNT(*) AS n, SUM(orders.price) AS paid, MAX(orders.id) AS last").Group(key)
			if having {
				db = db.Having("COUNT(*) > ?", 1)
			}
			if by != "" {
				db = db.Order(by)
			}
			return db
		})
		b.rows = true
	default:
		columns := one(g, alias+".*", alias+".uid, "+alias+".id", "UPPER("+alias+".uid) AS u, "+alias+".id + 1 AS next")
		distinct := g.in(15)
		b.then(func(db *gorm.DB) *gorm.DB {
			if distinct {
				return db.Distinct(alias+".uid", alias+".id").Order(order)
			}
			return ordered(db.Select(columns))
		})
		b.rows = true
	}
	return b
}

func (g *generator) builderCondition(alias string, items bool) func(*gorm.DB) *gorm.DB {
	uid, id := one(g, users...), one(g, orderIDs...)
	name, status, day := one(g, texts[1:]...), one(g, statuses[1:]...), one(g, days[1:]...)
	uids := []any{one(g, users...), one(g, users...), uid}
	at := func(column string) string { return alias + "." + column }
	if items && g.in(60) {
		return one(g,
			func(db *gorm.DB) *gorm.DB { return db.Where("product = ?", name) },
			func(db *gorm.DB) *gorm.DB { return db.Where("qty > ? OR cost < ?", 1, "2.25") },
			func(db *gorm.DB) *gorm.DB {
				return db.Where("(uid, order_id) IN (?)", db.Session(&gorm.Session{NewDB: true}).Model(&boughtOrder{}).Select("uid, id").Where("status = ?", status))
			},
			func(db *gorm.DB) *gorm.DB { return db.Where(&boughtItem{UID: 9}) },
		)
	}
	if !items && g.in(60) {
		return one(g,
			func(db *gorm.DB) *gorm.DB { return db.Where("orders.status = ?", status) },
			func(db *gorm.DB) *gorm.DB { return db.Where(map[string]any{"orders.status": status}) },
			func(db *gorm.DB) *gorm.DB { return db.Where("orders.name LIKE ?", "a%") },
			func(db *gorm.DB) *gorm.DB { return db.Where("orders.day BETWEEN ? AND ?", "2020-01-01", day) },
			func(db *gorm.DB) *gorm.DB { return db.Where("orders.price > ?", 1.5).Or("orders.name = ?", name) },
			func(db *gorm.DB) *gorm.DB { return db.Where("orders.region_id IS NULL") },
			func(db *gorm.DB) *gorm.DB {
				return db.Where("EXISTS (?)", db.Session(&gorm.Session{NewDB: true}).Table("items s").Select("1").Where("s.uid = orders.uid AND s.order_id = orders.id"))
			},
			func(db *gorm.DB) *gorm.DB {
				return db.Where("orders.price >= (?)", db.Session(&gorm.Session{NewDB: true}).Model(&boughtOrder{}).Select("AVG(price)"))
			},
			func(db *gorm.DB) *gorm.DB {
				return db.Where("orders.at >= ? AND orders.at < ?", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
			},
		)
	}
	return one(g,
		func(db *gorm.DB) *gorm.DB { return db.Where(at("uid")+" = ?", uid) },
		func(db *gorm.DB) *gorm.DB { return db.Where(at("uid")+" IN ?", uids) },
		func(db *gorm.DB) *gorm.DB { return db.Where(at("id")+" IN ?", []any{id, 1, 2, 3, 5, 8, 13}) },
		func(db *gorm.DB) *gorm.DB { return db.Not(at("uid")+" = ?", uid) },
		func(db *gorm.DB) *gorm.DB {
			return db.Where(at("uid")+" = @u OR "+at("id")+" > @i", map[string]any{"u": uid, "i": id})
		},
		func(db *gorm.DB) *gorm.DB {
			return db.Where(clause.Eq{Column: clause.Column{Table: alias, Name: "uid"}, Value: uid})
		},
		func(db *gorm.DB) *gorm.DB { return db.Where(at("id")+" > ?", id) },
	)
}

// run runs it and never panics.
func (b *built) run(db *gorm.DB) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if b.rows {
		a := read(b.on(db).Rows())
		return a, a.err
	}
	return b.finish(b.on(db))
}

// text is what GORM makes of it, but for what the finisher adds.
func (b *built) text(db *gorm.DB) fragment {
	tx := b.on(db.Session(&gorm.Session{DryRun: true})).Find(&[]map[string]any{})
	return f(tx.Dialector.Explain(tx.Statement.SQL.String(), tx.Statement.Vars...))
}

// judgeBuilt runs a query of the builder on both sides of every cluster.
func judgeBuilt(ctx context.Context, clusters []*cluster, plain map[*pair]*gorm.DB, seed uint64, r *report) (problems []string) {
	g := newGenerator(seed, clusters[0].schema())
	b := g.builder()
	for _, c := range clusters {
		for protocol, p := range map[string]*pair{"prepared": c.prepared, "interpolated": c.interpolated} {
			text := b.text(plain[p])
			l := label(text.text(), c.keys)
			want, wantErr := b.run(plain[p].WithContext(ctx))
			c.trace.take()
			got, gotErr := b.run(p.sharded.WithContext(ctx))
			units := c.trace.take()
			at := c.place(ctx, p, text.text(), nil, gotErr, units)
			if why, ok := refused(gotErr); ok {
				if len(units) > 0 { // unless it is a Preload
					why = "late: " + why
				}
				r.count(typical, at, &l, refusedHere)
				r.refuse(at, why, text.text())
				continue
			}
			difference := ""
			switch {
			case gotErr != nil && strings.HasPrefix(gotErr.Error(), "panic"):
				difference = gotErr.Error()
			case (wantErr == nil) != (gotErr == nil), errors.Is(wantErr, gorm.ErrRecordNotFound) != errors.Is(gotErr, gorm.ErrRecordNotFound):
				difference = fmt.Sprintf("error %v instead of %v", gotErr, wantErr)
			case wantErr != nil:
				difference = otherError(wantErr, gotErr)
			case b.rows:
				q := &query{statement: text, folded: l.has[featGroup]}
				q.outline()
				var everything answer
				if all := ranked(text); all.sql != "" {
					everything = askPlain(ctx, p.single, all.text(), nil, strings.Contains(text.sql, "?"))
				}
				difference = q.differ(want.(answer), got.(answer), everything)
			case !reflect.DeepEqual(want, got):
				difference = fmt.Sprintf("\n  single  %s\n  sharded %s", shown(want), shown(got))
			}
			if difference == "" {
				v := answered
				if wantErr != nil {
					v = failed
				}
				r.count(typical, at, &l, v)
				continue
			}
			r.count(typical, at, &l, wrong)
			problems = append(problems, fmt.Sprintf("%s, %s: %s\n%s\n%sunits\n  %s", protocol, c.name, difference, text.text(), route(ctx, p, text.text(), nil), strings.Join(units, "\n  ")))
		}
	}
	return problems
}

func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return shortened(string(text))
}

// TestGeneratedBuildersAnswerAsUnsharded runs queries of GORM's builder.
func TestGeneratedBuildersAnswerAsUnsharded(t *testing.T) {
	clusters := newClusters(t, "built", topologies[0], topologies[2], topologies[3], topologies[6])
	plain := map[*pair]*gorm.DB{}
	for _, c := range clusters {
		for _, p := range []*pair{c.prepared, c.interpolated} {
			db, err := gorm.Open(mysql.New(mysql.Config{Conn: p.single}), &gorm.Config{Logger: logger.Discard})
			if err != nil {
				t.Fatal(err)
			}
			plain[p] = db
		}
	}
	r := newReport()
	failures := 0
	for seed := range seeds(t, 50, 0.1) {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		problems := judgeBuilt(ctx, clusters, plain, seed, r)
		cancel()
		for _, problem := range problems {
			if failures++; failures <= 20 {
				t.Errorf("seed %d: %s\nrerun: ORACLE_SEED=%d ORACLE_N=1 go test -run '^%s$' ./tests/oracle\n", seed, problem, seed, t.Name())
			}
		}
	}
	t.Log(r)
}
