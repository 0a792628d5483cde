//go:build unix

package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// logged keeps what is logged.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := strings.Contains(strings.Join(l.lines, "\n"), text)
	l.lines = nil
	return found
}

func TestPropertiesSwitchAtOnceAndReturnToTheirDefaults(t *testing.T) {
	s := newShop(t, "props")
	if err := s.db.Create(&[]Order{{UserID: 1}, {UserID: 2}}).Error; err != nil {
		t.Fatal(err)
	}
	all := func() error { return s.db.Find(&[]Order{}).Error }
	for _, tt := range []struct {
		change func(*config.Config)
		denied error
	}{
		{func(c *config.Config) { c.Props.MaxNodes = 1 }, sharding.ErrScatterDenied},
		{func(c *config.Config) { c.Props = config.Props{} }, nil},
		{func(c *config.Config) { c.Props.Audit = []config.AuditRule{config.AuditRequireShardingKey} }, sharding.ErrNoShardingKey},
		{func(c *config.Config) { c.Props.Audit = nil }, nil},
		{func(c *config.Config) { c.Props.MaxMergeRows = 1 }, nil},
	} {
		s.reload(t, tt.change)
		if err := all(); !errors.Is(err, tt.denied) {
			t.Errorf("%+v: error %v, want %v", s.plugin.Config().Props, err, tt.denied)
		}
	}
	if err := s.db.Raw("SELECT amount, COUNT(*) FROM t_order GROUP BY amount, id ORDER BY COUNT(*)").Scan(&[]map[string]any{}).Error; !errors.Is(err, sharding.ErrTooManyRows) {
		t.Errorf("with maxMergeRows: %v", err)
	}
}

func TestPoolsKeepTheirConnectionsAndTakeTheirSizes(t *testing.T) {
	s := newShop(t, "pools")
	id := func(tx *gorm.DB) (id int64) {
		t.Helper()
		if err := tx.Raw("SELECT CONNECTION_ID() FROM t_order WHERE user_id = 1 UNION SELECT CONNECTION_ID() LIMIT 1").Scan(&id).Error; err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := id(s.db)
	s.reload(t, func(c *config.Config) {
		ds := c.DataSources["ds1"]
		ds.MaxOpenConns, ds.MaxIdleConns, ds.ConnMaxLifetime = 3, 2, time.Hour
		c.DataSources["ds1"] = ds
	})
	if after := id(s.db); after != before {
		t.Errorf("connection %d, then %d", before, after)
	}
	for _, ds := range s.plugin.Status().DataSources {
		if want := map[string]int{"ds0": 20, "ds1": 3}[ds.Name]; ds.Pool.MaxOpenConnections != want {
			t.Errorf("%s: at most %d connections, want %d", ds.Name, ds.Pool.MaxOpenConnections, want)
		}
		if text := fmt.Sprintf("%v %+v %s", ds, ds, ds.DSN); strings.Contains(text, s.server.Password()) {
			t.Error("the status shows a password")
		}
	}
	if text := fmt.Sprintf("%+v", s.plugin.Config()); strings.Contains(text, s.server.Password()) {
		t.Error("the configuration shows a password")
	}
	s.reload(t, func(c *config.Config) { // other parameters, so another pool
		ds := c.DataSources["ds1"]
		ds.DSN += "&maxAllowedPacket=1000000"
		c.DataSources["ds1"] = ds
	})
	if after := id(s.db); after == before {
		t.Error("the pool of a changed DSN goes on")
	}
	s.drained(t)
}

func TestATableAndADataSourceAppearLive(t *testing.T) {
	s := newShop(t, "appear")
	extra := s.database(t, 2)
	s.run(t, 2, "CREATE TABLE t_extra_1 (id bigint PRIMARY KEY)")
	s.run(t, 0, "CREATE TABLE t_extra_0 (id bigint PRIMARY KEY)")
	if err := s.db.Exec("INSERT INTO t_extra VALUES (1)").Error; err == nil {
		t.Fatal("the table is there already")
	}
	fingerprint := s.plugin.Status().Fingerprint
	s.reload(t, func(c *config.Config) {
		c.DataSources["ds2"] = extra
		c.Sharding.Tables["t_extra"] = config.Table{
			ActualDataNodes:  "ds0.t_extra_0, ds2.t_extra_1",
			DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "by_extra"}},
		}
		c.Sharding.Algorithms["by_extra"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "ds${id % 2 * 2}"}}
	})
	if s.plugin.Status().Fingerprint == fingerprint {
		t.Error("the fingerprint of the rules stays the same")
	}
	if err := s.db.Exec("INSERT INTO t_extra VALUES (1), (2), (3)").Error; err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.raw(t, 2).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t_extra_1").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows in the new data source, error %v", n, err)
	}
	// One whose server answers otherwise than the others does not come in.
	err := s.plugin.Reload(s.changed(func(c *config.Config) {
		ds := extra
		ds.DSN += "&sql_mode=%27%27"
		c.DataSources["ds3"] = ds
	}))
	if !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("a data source with another sql_mode: %v", err)
	}
	if s.plugin.DataSource("ds3") != nil {
		t.Error("it is there")
	}
}

func TestRulesChangeForTablesThatMayBeRerouted(t *testing.T) {
	s := newShop(t, "reroute")
	change := func(c *config.Config) {
		c.Sharding.Algorithms["by_table"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "t_order_${user_id.intdiv(4) % 2}"}}
	}
	cfg := s.changed(change)
	err := s.plugin.Reload(cfg)
	if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), `sharding.tables.t_order.tableStrategy`) || !strings.Contains(err.Error(), `AllowRerouting("t_order")`) {
		t.Errorf("error %v", err)
	}
	if err := s.plugin.Reload(cfg, sharding.AllowRerouting("t_item")); !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("error %v", err)
	}
	if got := s.plugin.Status(); got.Reloads.Err == nil || got.Reloads.Failed != 2 || got.Generation != 1 {
		t.Errorf("status %+v", got)
	}
	if err := s.plugin.Reload(cfg, sharding.AllowRerouting("t_order")); err != nil {
		t.Fatal(err)
	}
	if err := s.plugin.Reload(cfg); err != nil {
		t.Errorf("the configuration in force: %v", err)
	}
	preview, err := s.plugin.Preview(t.Context(), "SELECT * FROM t_order WHERE user_id = 4")
	if err != nil || !strings.Contains(preview.Units[0].SQL, "t_order_1") {
		t.Errorf("%+v, error %v", preview, err)
	}
}

// A replica that the application has switched off stays so, also when its pool is
// made anew, and when it is switched while a reload is under way.
func TestReloadsKeepHowGroupsAreSwitched(t *testing.T) {
	s := newShop(t, "switched")
	one := s.cfg.DataSources["ds1"]
	copied := func(suffix string) config.DataSource { return config.DataSource{DSN: one.DSN + config.DSN(suffix)} }
	s.reload(t, func(c *config.Config) {
		c.DataSources["p"], c.DataSources["r"] = one, copied("&readTimeout=50s")
		delete(c.DataSources, "ds1")
		c.ReadwriteSplitting = config.ReadwriteSplitting{
			Groups: map[string]config.Group{"ds1": {Primary: "p", Replicas: []string{"r"}}}, Health: config.Health{Off: true},
		}
	})
	if err := s.plugin.DisableReplica("r", true); err != nil {
		t.Fatal(err)
	}
	s.reload(t, func(c *config.Config) { c.DataSources["r"] = copied("&readTimeout=51s") })
	if states := s.plugin.Replicas(); !states[0].Disabled {
		t.Errorf("replicas %+v", states)
	}
	// A reload asks a new data source for its server's settings, before it is over.
	dsn, err := mysql.ParseDSN(string(one.DSN))
	if err != nil {
		t.Fatal(err)
	}
	slow, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	network, address := dsn.Net, dsn.Addr
	var during sync.Once
	go func() {
		for {
			client, err := slow.Accept()
			if err != nil {
				return
			}
			during.Do(func() {
				if err := s.plugin.DisableReplica("r", false); err != nil {
					t.Error(err)
				}
			})
			server, err := net.Dial(network, address)
			if err != nil {
				t.Error(err)
				return
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
		}
	}()
	s.reload(t, func(c *config.Config) {
		c.DataSources["r"] = copied("&readTimeout=52s")
		dsn.Net, dsn.Addr, dsn.DBName = "tcp", slow.Addr().String(), s.name+"_0"
		c.DataSources["ds9"] = config.DataSource{DSN: config.DSN(dsn.FormatDSN())}
	})
	if states := s.plugin.Replicas(); states[0].Disabled {
		t.Errorf("replicas %+v", states)
	}
	if err := s.plugin.PrimaryOnly(true); err != nil {
		t.Fatal(err)
	}
	s.reload(t, func(c *config.Config) { c.DataSources["r"] = copied("&readTimeout=54s") })
	if groups := s.plugin.Status().Groups; !groups[0].PrimaryOnly {
		t.Errorf("groups %+v", groups)
	}
	s.drained(t)
}

func TestCloseEndsAReloadThatWaitsForAServer(t *testing.T) {
	s := newShop(t, "closes")
	ds, silent := s.silent(t)
	cfg := s.changed(func(c *config.Config) { c.DataSources["ds9"] = ds })
	reloaded := make(chan error)
	go func() { reloaded <- s.plugin.Reload(cfg) }()
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	go func() { _ = s.plugin.Close() }()
	if err := <-reloaded; err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("error %v after %s", err, time.Since(began))
	}
}

// Rows of a table without a rule are in the default data source, where a new rule
// does not look for them, or not for them alone.
func TestARuleIsRefusedForATableThatHasRowsWithoutOne(t *testing.T) {
	s := newShop(t, "claim")
	s.run(t, 0, "CREATE TABLE t_old (id bigint PRIMARY KEY)")
	s.run(t, 0, "CREATE TABLE `t_two words` (id bigint PRIMARY KEY)")
	s.run(t, 1, "CREATE TABLE t_old (id bigint PRIMARY KEY)")
	claims := map[string]func(*config.Config){
		"single":    func(c *config.Config) { c.Sharding.SingleTables["t_old"] = "ds1" },
		"broadcast": func(c *config.Config) { c.Sharding.BroadcastTables = []string{"t_old", "t_absent", "t_two words"} },
		"sharded": func(c *config.Config) {
			c.Sharding.Tables["t_old"] = config.Table{ActualDataNodes: "ds${0..1}.t_old", DatabaseStrategy: c.Sharding.Tables["t_item"].DatabaseStrategy}
		},
	}
	before := s.plugin.Config()
	for name, claim := range claims {
		s.reload(t, claim)
		after := s.plugin.Config()
		back := append(after.Sharding.Broadcast(), "t_old")
		if err := s.plugin.Reload(before, sharding.AllowRerouting(back...)); err != nil {
			t.Errorf("%s: back again: %v", name, err)
		}
	}
	s.run(t, 0, "INSERT INTO t_old VALUES (1)")
	for name, claim := range claims {
		cfg := s.changed(claim)
		if err := s.plugin.Reload(cfg); !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), `AllowRerouting("t_old")`) {
			t.Errorf("%s: error %v", name, err)
		}
		cfg.RulesVersion++
		if err := s.plugin.Reload(cfg); err != nil {
			t.Errorf("%s, with a higher version: %v", name, err)
		}
		back := before.Clone()
		back.RulesVersion = cfg.RulesVersion + 1
		if err := s.plugin.Reload(back); err != nil {
			t.Fatal(err)
		}
		before = back
	}
}

// What was prepared follows the rules; what holds rows or a transaction does not.
func TestWhatBeganEndsUnderTheFormerRules(t *testing.T) {
	s := newShop(t, "began")
	sqlDB, err := s.db.DB()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Create(&[]Order{{UserID: 1, Amount: 1}, {UserID: 2, Amount: 1}, {UserID: 4, Amount: 1}}).Error; err != nil {
		t.Fatal(err)
	}
	const query = "SELECT COUNT(*) FROM t_order WHERE user_id = ?"
	prepared, err := sqlDB.PrepareContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	tx, idle := s.db.Begin(), s.db.Begin()
	defer tx.Rollback()
	defer idle.Rollback()
	count := func(db *gorm.DB) (n int) {
		t.Helper()
		if err := db.Raw(query, 4).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(tx); n != 1 {
		t.Fatalf("%d rows", n)
	}
	rows, err := s.db.Raw("SELECT user_id FROM t_order ORDER BY user_id").Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	// From now on user 4 is looked for in the other table, where its row is not.
	s.reload(t, func(c *config.Config) {
		c.Sharding.Algorithms["by_table"] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": "t_order_${1 - user_id.intdiv(2) % 2}"}}
	}, sharding.AllowRerouting("t_order"))
	if n := count(tx); n != 1 {
		t.Errorf("%d rows in the transaction that had begun", n)
	}
	if n := count(idle); n != 0 {
		t.Errorf("%d rows in the transaction that had not", n)
	}
	var n, seen int
	if err := prepared.QueryRowContext(t.Context(), 4).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows by the prepared statement, error %v", n, err)
	}
	for rows.Next() {
		seen++
	}
	if err := rows.Err(); err != nil || seen != 3 {
		t.Errorf("%d rows of what was being read, error %v", seen, err)
	}
	if got := s.plugin.Status().Draining; got != 1 {
		t.Errorf("%d former configurations are in use", got)
	}
	if err := tx.Commit().Error; err != nil {
		t.Error(err)
	}
	_ = rows.Close()
	s.drained(t)
}

// A data source that is removed is cut off when its time is up, and a held
// connection that was set up on it can only be closed.
func TestRemovedPoolsAreCutWhenTheirTimeIsUp(t *testing.T) {
	s := newShop(t, "drain")
	extra := s.database(t, 2)
	s.run(t, 2, "CREATE TABLE t_extra (id bigint PRIMARY KEY)")
	s.reload(t, func(c *config.Config) {
		c.DataSources["ds2"] = extra
		c.Sharding.Tables["t_extra"] = config.Table{ActualDataNodes: "ds2.t_extra"}
	})
	tx := s.db.Begin()
	defer tx.Rollback()
	if err := tx.Exec("INSERT INTO t_extra VALUES (1)").Error; err != nil {
		t.Fatal(err)
	}
	other := s.db.Begin()
	defer other.Rollback()
	if err := other.Exec("INSERT INTO t_audit (v) VALUES (1)").Error; err != nil {
		t.Fatal(err)
	}
	sqlDB, err := s.db.DB()
	if err != nil {
		t.Fatal(err)
	}
	held, err := sqlDB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, statement := range []string{"SET @n = 1", "INSERT INTO t_extra VALUES (2)"} {
		if _, err := held.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s.reload(t, func(c *config.Config) {
		delete(c.DataSources, "ds2")
		delete(c.Sharding.Tables, "t_extra")
		c.Props.DrainTimeout = 500 * time.Millisecond
	}, sharding.AllowRerouting("t_extra"))
	if err := other.Exec("INSERT INTO t_extra VALUES (3)").Error; !errors.Is(err, sharding.ErrRetryable) {
		t.Errorf("a transaction that wants to begin on the removed data source: %v", err)
	}
	if err := tx.Exec("INSERT INTO t_extra VALUES (4)").Error; err != nil {
		t.Errorf("the transaction that had begun there: %v", err)
	}
	if _, err := held.ExecContext(t.Context(), "SELECT 1"); err == nil || !strings.Contains(err.Error(), "can only be closed") {
		t.Errorf("the held connection: %v", err)
	}
	s.drained(t)
	if err := tx.Commit().Error; err == nil {
		t.Error("the transaction commits after its time")
	}
	if n := s.connections(t, 2); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// connections counts those to a database.
func (s *shop) connections(t *testing.T, database int) (n int) {
	t.Helper()
	db := s.raw(t, 0)
	await(t, "the server to notice", func() bool {
		const query = "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ?"
		if err := db.QueryRowContext(context.WithoutCancel(t.Context()), query, fmt.Sprintf("%s_%d", s.name, database)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
	return n
}

func TestSQLIsShownFromTheReloadOn(t *testing.T) {
	l := new(logged)
	s := newShop(t, "show")
	plugin := sharding.Register(s.cfg)
	db, err := gorm.Open(s.db.Dialector, &gorm.Config{Logger: logger.New(l, logger.Config{LogLevel: logger.Info})})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	defer plugin.Close()
	for _, on := range []bool{false, true, false} {
		cfg := plugin.Config()
		cfg.Props.SQLShow = on
		if err := plugin.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		l.has("")
		if err := db.Where("user_id = ?", 1).Find(&[]Order{}).Error; err != nil {
			t.Fatal(err)
		}
		if l.has("ds1") != on {
			t.Errorf("shown although sqlShow is %v, or not", on)
		}
	}
	cfg := plugin.Config()
	delete(cfg.Sharding.Tables, "t_order")
	if err := plugin.Reload(cfg); err == nil || !l.has("the configuration was not reloaded") {
		t.Errorf("error %v, which is not logged", err)
	}
}
