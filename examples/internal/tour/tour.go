package tour

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/examples/internal/service"
)

// Run walks through the order service on db and prints every step to out. It
// fails on the first result that differs from what one database would give.
func Run(ctx context.Context, out io.Writer, rec *Recorder, plugin *sharding.Plugin, db *gorm.DB) error {
	t := &tour{printer: printer{out: out, rec: rec}, plugin: plugin, db: db.WithContext(ctx), service: service.New(db)}
	for _, step := range []func(context.Context) error{
		t.reference, t.place, t.read, t.page, t.several, t.largest, t.totals,
		t.shipping, t.pay, t.rollback, t.purge, t.preview, t.refusal,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nAll %d steps gave what one database would have given.\n", t.steps)
	return nil
}

type tour struct {
	printer
	plugin  *sharding.Plugin
	db      *gorm.DB
	service service.Service
	first   int64 // id of enterprise 1001's first order
}

// orders are what the tour places: enterprise, region, status, amount in cents.
var orders = []struct {
	ent, region int64
	status      string
	amount      int64
	items       int
}{
	{1001, 1, "new", 12_000, 2},
	{1002, 2, "new", 8_050, 1},
	{1001, 1, "paid", 3_000, 1},
	{1003, 1, "paid", 45_000, 3},
	{1004, 2, "cancelled", 700, 1},
	{1001, 2, "new", 9_900, 1},
	{1002, 1, "paid", 15_000, 2},
	{1003, 2, "cancelled", 2_500, 1},
}

func (t *tour) reference(context.Context) error {
	return t.step("regions are broadcast to every database; operators live in the default one", func() (any, error) {
		regions := []service.Region{{ID: 1, Name: "North"}, {ID: 2, Name: "South"}}
		tx := t.db.Create(&regions)
		if err := expect(tx.Error, tx.RowsAffected, int64(2)); err != nil {
			return nil, err
		}
		if err := t.db.Create(&service.Operator{ID: 1, Name: "Ada"}).Error; err != nil {
			return nil, err
		}
		var found []service.Region
		err := t.db.Order("id").Find(&found).Error
		return found, expect(err, len(found), 2)
	})
}

func (t *tour) place(ctx context.Context) error {
	at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for i, o := range orders {
		title := fmt.Sprintf("place order %d of %d: order, detail and items in one transaction", i+1, len(orders))
		place := func() (any, error) {
			order := service.Order{EntID: o.ent, RegionID: o.region, Status: o.status, Amount: o.amount, CreatedAt: at.Add(time.Duration(i) * time.Minute)}
			items := make([]service.Item, o.items)
			for j := range items {
				items[j] = service.Item{Product: fmt.Sprintf("product %d", j+1), Price: o.amount / int64(o.items), Count: 1}
			}
			err := t.service.Place(ctx, &order, "12 Harbour Road", items)
			if i == 0 {
				t.first = order.ID
			}
			return order, expect(err, order.ID != 0, true)
		}
		if i == 0 { // one is enough to read
			if err := t.step(title, place); err != nil {
				return err
			}
			continue
		}
		if _, err := place(); err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
	}
	return nil
}

func (t *tour) read(ctx context.Context) error {
	return t.step("read one order: one database is asked", func() (any, error) {
		order, err := t.service.Order(ctx, 1001, t.first)
		return order, expect(err, order.Amount, int64(12_000))
	})
}

func (t *tour) page(ctx context.Context) error {
	return t.step("list an enterprise's orders, page 2 with 2 a page: LIMIT and OFFSET stay as they are", func() (any, error) {
		page, err := t.service.Page(ctx, 1001, 1, 2)
		return page, expect(err, amounts(page), "12000")
	})
}

func (t *tour) several(ctx context.Context) error {
	return t.step("list the orders of three enterprises: the IN list is split", func() (any, error) {
		found, err := t.service.Of(ctx, 1001, 1002, 1003)
		return found, expect(err, amounts(found), "12000 8050 3000 45000 9900 15000 2500")
	})
}

func (t *tour) largest(ctx context.Context) error {
	return t.step("the largest orders of all enterprises, 3 of them after the first 2: every database is asked for 5, the merge skips", func() (any, error) {
		found, err := t.service.Largest(ctx, 3, 2)
		return found, expect(err, amounts(found), "12000 9900 8050")
	})
}

func (t *tour) totals(ctx context.Context) error {
	return t.step("sums by status over all enterprises: partial sums are merged, averages are weighed", func() (any, error) {
		totals, err := t.service.Totals(ctx)
		got := ""
		for _, s := range totals {
			got += fmt.Sprintf("%s %d %d %.0f; ", s.Status, s.Orders, s.Total, s.Average)
		}
		return totals, expect(err, got, "cancelled 2 3200 1600; new 3 29950 9983; paid 3 63000 21000; ")
	})
}

func (t *tour) shipping(ctx context.Context) error {
	return t.step("join orders (4 nodes), items (32 nodes) and regions (broadcast) of one enterprise", func() (any, error) {
		lines, err := t.service.Shipping(ctx, 1001)
		return lines, expect(err, len(lines), 4)
	})
}

func (t *tour) pay(ctx context.Context) error {
	return t.step("update one order", func() (any, error) {
		n, err := t.service.Pay(ctx, 1001, t.first)
		return fmt.Sprintf("%d row changed", n), expect(err, n, int64(1))
	})
}

func (t *tour) rollback(ctx context.Context) error {
	return t.step("an order that fails half-way leaves nothing", func() (any, error) {
		order := service.Order{EntID: 1001, RegionID: 1, Status: "new", Amount: 1}
		err := t.service.Place(ctx, &order, "nowhere", []service.Item{{Product: "none left"}})
		if !errors.Is(err, service.ErrOutOfStock) {
			return nil, fmt.Errorf("expected the error that it is out of stock, got %w", err)
		}
		var n int64
		err = t.db.Model(&service.Order{}).Count(&n).Error
		return fmt.Sprintf("%d orders, as before", n), expect(err, n, int64(len(orders)))
	})
}

func (t *tour) purge(ctx context.Context) error {
	return t.step("delete the cancelled orders of all enterprises: four databases, all or nothing", func() (any, error) {
		n, err := t.service.Purge(ctx)
		return fmt.Sprintf("%d rows deleted", n), expect(err, n, int64(2))
	})
}

func (t *tour) preview(ctx context.Context) error {
	return t.step("Preview tells where a statement would go and sends nothing", func() (any, error) {
		p, err := t.plugin.Preview(ctx, "SELECT * FROM t_ent_order_item WHERE ent_id IN (?, ?)", 1001, 1002)
		if err != nil {
			return nil, err
		}
		type unit struct{ Kind, DataSource, SQL, Args string }
		units := make([]unit, len(p.Units))
		for i, u := range p.Units {
			units[i] = unit{p.Kind, u.DataSource, u.SQL, fmt.Sprint(u.Args)}
		}
		return units, expect(nil, len(units), 2)
	})
}

func (t *tour) refusal(context.Context) error {
	return t.step("what cannot be done exactly is refused before anything is sent", func() (any, error) {
		err := t.db.Exec("UPDATE t_ent_order SET status = ? ORDER BY id LIMIT 1", "paid").Error
		if !errors.Is(err, sharding.ErrUnsupported) {
			return nil, fmt.Errorf("expected ErrUnsupported, got %w", err)
		}
		return err.Error(), nil
	})
}

func amounts(orders []service.Order) string {
	s := ""
	for i, o := range orders {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprint(o.Amount)
	}
	return s
}

// expect fails when err is set or got is not want.
func expect[T comparable](err error, got, want T) error {
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}
