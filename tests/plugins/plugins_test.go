//go:build unix

package plugins_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-gorm/caches/v4"
	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/dbresolver"
	"gorm.io/plugin/opentelemetry/tracing"
	"gorm.io/plugin/optimisticlock"
	gormprometheus "gorm.io/plugin/prometheus"
	"gorm.io/plugin/soft_delete"

	"github.com/gormshard/sharding"
)

// note is a plain model.
type note struct {
	ID      int64
	OwnerID int64
	Text    string
}

func (note) TableName() string { return "t_note" }

const noteColumns = "text varchar(100) NOT NULL, UNIQUE KEY text (owner_id, text)"

func TestOneSpanOfEachLogicalStatement(t *testing.T) {
	cfg, _ := owned(t, "spans", map[string]string{"t_note": noteColumns})
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	db := open(t, cfg, gorm.Config{})
	must(t, db.Use(tracing.NewPlugin(tracing.WithTracerProvider(provider), tracing.WithoutMetrics())))
	for _, test := range []struct {
		name string
		call func(db *gorm.DB) error
		want string // the start of the statement
	}{
		{"Create over nodes", func(db *gorm.DB) error {
			return db.Create(&[]note{{OwnerID: 1, Text: "a"}, {OwnerID: 2, Text: "b"}, {OwnerID: 3, Text: "c"}}).Error
		}, "INSERT INTO `t_note`"},
		{"Find of all nodes", func(db *gorm.DB) error { return db.Order("id").Find(&[]note{}).Error }, "SELECT * FROM `t_note` ORDER BY id"},
		{"First", func(db *gorm.DB) error { return db.First(&note{}, "owner_id = ?", 1).Error }, "SELECT * FROM `t_note` WHERE owner_id = 1"},
		{"Update", func(db *gorm.DB) error { return db.Model(&note{}).Where("owner_id = 1").Update("text", "x").Error }, "UPDATE `t_note`"},
		{"Exec", func(db *gorm.DB) error { return db.Exec("DELETE FROM t_note WHERE owner_id = 3").Error }, "DELETE FROM t_note"},
		{"Row", func(db *gorm.DB) error { var n int; return db.Raw("SELECT COUNT(*) FROM t_note").Row().Scan(&n) }, "SELECT COUNT(*) FROM t_note"},
		{"Delete", func(db *gorm.DB) error { return db.Where("owner_id > 0").Delete(&note{}).Error }, "DELETE FROM `t_note`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spans.Reset()
			ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
			must(t, test.call(db.WithContext(ctx)))
			parent.End()
			var statements []string
			for _, span := range spans.GetSpans() {
				if span.Name == "parent" {
					continue
				}
				if span.Parent.SpanID() != parent.SpanContext().SpanID() {
					t.Errorf("span %s does not belong to the caller's", span.Name)
				}
				for _, attribute := range span.Attributes {
					if key := string(attribute.Key); key == "db.statement" || key == "db.query.text" {
						statements = append(statements, attribute.Value.AsString())
					}
				}
			}
			if len(statements) != 1 || !strings.HasPrefix(statements[0], test.want) {
				t.Errorf("statements of spans %q, want one that begins %q", statements, test.want)
			}
		})
	}
}

func TestPrometheusReadsTheLogicalPool(t *testing.T) {
	cfg, _ := owned(t, "stats", map[string]string{"t_note": noteColumns})
	db := open(t, cfg, gorm.Config{})
	plugin := gormprometheus.New(gormprometheus.Config{DBName: "logical", RefreshInterval: 3600})
	must(t, db.Use(plugin))
	must(t, db.Create(&note{OwnerID: 1, Text: "a"}).Error)
	pool, err := db.DB()
	must(t, err)
	tx := db.Begin()
	defer tx.Rollback()
	plugin.DBStats.Set(pool.Stats())
	families, err := prometheus.DefaultGatherer.Gather()
	must(t, err)
	seen := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			seen[family.GetName()] = metric.GetGauge().GetValue()
		}
	}
	if seen["gorm_dbstats_in_use"] != 1 {
		t.Errorf("connections in use %v, want 1, the transaction's: %v", seen["gorm_dbstats_in_use"], seen)
	}
}

// flagged is deleted softly by a flag, milli by a time in milliseconds.
type (
	flagged struct {
		ID      int64
		OwnerID int64
		Name    string
		Deleted soft_delete.DeletedAt `gorm:"softDelete:flag"`
	}
	milli struct {
		ID        int64
		OwnerID   int64
		Name      string
		DeletedAt soft_delete.DeletedAt `gorm:"softDelete:milli"`
	}
)

func (flagged) TableName() string { return "t_flagged" }
func (milli) TableName() string   { return "t_milli" }

func TestSoftDelete(t *testing.T) {
	cfg, _ := owned(t, "soft", map[string]string{
		"t_flagged": "name varchar(50) NOT NULL, deleted bigint NOT NULL DEFAULT 0",
		"t_milli":   "name varchar(50) NOT NULL, deleted_at bigint NOT NULL DEFAULT 0, UNIQUE KEY name (owner_id, name, deleted_at)",
	})
	db := open(t, cfg, gorm.Config{TranslateError: true})
	for owner := range int64(4) {
		must(t, db.Create(&flagged{OwnerID: owner, Name: "a"}).Error)
		must(t, db.Create(&milli{OwnerID: owner, Name: "a"}).Error)
	}
	counts := func(model any, want, unscoped int64) {
		t.Helper()
		var n, all int64
		must(t, db.Model(model).Count(&n).Error)
		must(t, db.Unscoped().Model(model).Count(&all).Error)
		if n != want || all != unscoped {
			t.Errorf("%T: %d rows, %d with deleted ones; want %d and %d", model, n, all, want, unscoped)
		}
	}
	for _, model := range []any{&flagged{}, &milli{}} {
		for _, where := range []string{"owner_id = 1", "owner_id IN (1, 2)"} {
			must(t, db.Where(where).Delete(model).Error)
		}
		counts(model, 2, 4)
	}
	// A unique key with the time of deletion lets the name be used again.
	if err := db.Create(&milli{OwnerID: 3, Name: "a"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("a name that is in use: %v", err)
	}
	must(t, db.Create(&[]milli{{OwnerID: 1, Name: "a"}, {OwnerID: 2, Name: "a"}}).Error)
	counts(&milli{}, 4, 6)
	must(t, db.Unscoped().Where("deleted_at > 0").Delete(&milli{}).Error)
	counts(&milli{}, 4, 4)
}

// versioned has an optimistic lock.
type versioned struct {
	ID      int64
	OwnerID int64
	Amount  int
	Version optimisticlock.Version
}

func (versioned) TableName() string { return "t_versioned" }

func TestOptimisticLock(t *testing.T) {
	cfg, _ := owned(t, "lock", map[string]string{"t_versioned": "amount int NOT NULL, version bigint NOT NULL"})
	db := open(t, cfg, gorm.Config{})
	for owner := range int64(4) {
		must(t, db.Create(&versioned{OwnerID: owner}).Error)
		var one, other versioned
		must(t, db.First(&one, "owner_id = ?", owner).Error)
		must(t, db.First(&other, "owner_id = ?", owner).Error)
		for _, test := range []struct {
			by   *gorm.DB
			row  *versioned
			want int64
		}{
			{db.Where("owner_id = ?", owner), &one, 1},
			{db.Where("owner_id = ?", owner), &other, 0}, // of a version that is gone
			{db, &other, 0},
		} {
			done := test.by.Model(test.row).Updates(&versioned{Amount: 10})
			if done.Error != nil || done.RowsAffected != test.want {
				t.Errorf("owner %d: %d rows affected, %v; want %d", owner, done.RowsAffected, done.Error, test.want)
			}
		}
	}
	// Each adds one as often as it succeeds at once.
	var wg sync.WaitGroup
	var succeeded int64
	var mu sync.Mutex
	must(t, db.Model(&versioned{}).Where("owner_id = 3").UpdateColumn("amount", 0).Error)
	for range 8 {
		wg.Go(func() {
			for range 5 {
				var row versioned
				if err := db.First(&row, "owner_id = 3").Error; err != nil {
					t.Error(err)
					return
				}
				done := db.Model(&row).Where("owner_id = 3").Updates(map[string]any{"amount": row.Amount + 1})
				if done.Error != nil {
					t.Error(done.Error)
					return
				}
				mu.Lock()
				succeeded += done.RowsAffected
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var row versioned
	must(t, db.First(&row, "owner_id = 3").Error)
	if int64(row.Amount) != succeeded {
		t.Errorf("amount %d after %d updates that succeeded", row.Amount, succeeded)
	}
}

// memory is a cache of reads.
type memory struct{ sync.Map }

func (m *memory) Get(_ context.Context, key string, q *caches.Query[any]) (*caches.Query[any], error) {
	text, ok := m.Load(key)
	if !ok {
		return nil, nil
	}
	return q, q.Unmarshal(text.([]byte))
}

func (m *memory) Store(_ context.Context, key string, val *caches.Query[any]) error {
	text, err := val.Marshal()
	if err == nil {
		m.Map.Store(key, text)
	}
	return err
}

func (m *memory) Invalidate(context.Context) error {
	m.Clear()
	return nil
}

func TestCachedReads(t *testing.T) {
	cfg, server := owned(t, "caches", map[string]string{"t_note": noteColumns})
	db := open(t, cfg, gorm.Config{})
	cache := &memory{}
	must(t, db.Use(&caches.Caches{Conf: &caches.Config{Easer: true, Cacher: cache}}))
	must(t, db.Create(&[]note{{OwnerID: 1, Text: "a"}, {OwnerID: 2, Text: "b"}, {OwnerID: 3, Text: "c"}}).Error)
	read := func(where string) string {
		t.Helper()
		var notes []note
		must(t, db.Order("owner_id").Find(&notes, where).Error)
		out := ""
		for _, n := range notes {
			out += n.Text
		}
		return out
	}
	for where, want := range map[string]string{"owner_id = 1": "a", "id > 0": "abc"} {
		for range 2 {
			if got := read(where); got != want {
				t.Errorf("%s: %s, want %s", where, got, want)
			}
		}
	}
	// What is cached is not asked for again, and forgotten with a write.
	run(t, server.DSN("caches_1"), "UPDATE t_note_0 SET text = 'z' WHERE owner_id = 1")
	if got := read("id > 0"); got != "abc" {
		t.Errorf("%s was not read from the cache", got)
	}
	must(t, db.Model(&note{}).Where("owner_id = 2").Update("text", "y").Error)
	if got := read("id > 0"); got != "zyc" {
		t.Errorf("%s after a write, want zyc", got)
	}
	var wg sync.WaitGroup
	for range 16 { // the easer lets one of them ask
		wg.Go(func() {
			var n int64
			if err := db.Model(&note{}).Count(&n).Error; err != nil || n != 3 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
	wg.Wait()
}

func TestDBResolverIsRefusedInBothOrders(t *testing.T) {
	cfg, server := owned(t, "resolver", map[string]string{"t_note": noteColumns})
	refused := func(err error) {
		t.Helper()
		if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), "readwriteSplitting") {
			t.Errorf("error %v, want a refusal that names readwriteSplitting", err)
		}
	}
	t.Run("before", func(t *testing.T) {
		db, err := gorm.Open(mysql.Open(server.DSN("resolver_0")), &gorm.Config{Logger: logger.Discard})
		must(t, err)
		must(t, db.Use(dbresolver.Register(dbresolver.Config{})))
		refused(db.Use(sharding.Register(cfg)))
		pool, err := db.DB()
		must(t, err)
		must(t, pool.Close())
	})
	t.Run("after, with replicas", func(t *testing.T) {
		db := open(t, cfg, gorm.Config{})
		pool, err := sql.Open("mysql", server.DSN("resolver_1")) // dbresolver leaves pools of its own open when it fails
		must(t, err)
		defer pool.Close()
		replica := dbresolver.Config{Replicas: []gorm.Dialector{mysql.New(mysql.Config{Conn: pool})}}
		refused(db.Use(dbresolver.Register(replica)))
		refused(db.Find(&[]note{}).Error)
	})
	t.Run("after", func(t *testing.T) {
		db := open(t, cfg, gorm.Config{})
		must(t, db.Create(&note{OwnerID: 1, Text: "before"}).Error)
		must(t, db.Use(dbresolver.Register(dbresolver.Config{})))
		for name, use := range map[string]func() error{
			"Create": func() error { return db.Create(&note{OwnerID: 1, Text: "a"}).Error },
			"Find":   func() error { return db.Find(&[]note{}).Error },
			"Update": func() error { return db.Model(&note{}).Where("owner_id = 1").Update("text", "b").Error },
			"Delete": func() error { return db.Where("owner_id = 1").Delete(&note{}).Error },
			"Exec":   func() error { return db.Exec("DELETE FROM t_note").Error },
			"Raw":    func() error { var n int; return db.Raw("SELECT COUNT(*) FROM t_note").Scan(&n).Error },
			"Rows": func() error {
				rows, err := db.Model(&note{}).Rows()
				if err != nil {
					return err
				}
				return errors.Join(rows.Err(), rows.Close())
			},
			"Transaction": func() error {
				return db.Transaction(func(tx *gorm.DB) error { return tx.Create(&note{OwnerID: 1, Text: "c"}).Error })
			},
		} {
			t.Run(name, func(t *testing.T) { refused(use()) })
		}
		var left string
		source := sharding.Of(db).DataSource("ds1")
		must(t, source.Raw("SELECT GROUP_CONCAT(text) FROM t_note_0").Scan(&left).Error)
		if left != "before" {
			t.Errorf("rows %q, want the one written before", left)
		}
	})
}

func TestAllPluginsTogether(t *testing.T) {
	cfg, _ := owned(t, "together", map[string]string{"t_note": noteColumns, "t_milli": "name varchar(50) NOT NULL, deleted_at bigint NOT NULL DEFAULT 0"})
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	db := open(t, cfg, gorm.Config{PrepareStmt: true, Plugins: map[string]gorm.Plugin{
		"gorm:caches":     &caches.Caches{Conf: &caches.Config{Cacher: &memory{}}},
		"otelgorm":        tracing.NewPlugin(tracing.WithTracerProvider(provider), tracing.WithoutMetrics()),
		"gorm:prometheus": gormprometheus.New(gormprometheus.Config{DBName: "together", RefreshInterval: uint32(time.Hour / time.Second)}),
	}})
	for owner := range int64(4) {
		must(t, db.Transaction(func(tx *gorm.DB) error {
			if err := tx.Create(&note{OwnerID: owner, Text: "a"}).Error; err != nil {
				return err
			}
			return tx.Create(&milli{OwnerID: owner, Name: fmt.Sprint(owner)}).Error
		}))
	}
	for range 2 {
		var notes []note
		must(t, db.Order("owner_id").Find(&notes).Error)
		if len(notes) != 4 || notes[3].OwnerID != 3 {
			t.Errorf("notes %v", notes)
		}
	}
	if len(spans.GetSpans()) == 0 {
		t.Error("no spans")
	}
}
