//go:build unix

package keygen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// stepped is a generator of the application's: it counts by steps.
type stepped struct {
	last atomic.Int64
	by   int64
	fail atomic.Pointer[error]
}

func (s *stepped) Next(context.Context) (any, error) {
	if err := s.fail.Load(); err != nil {
		return nil, *err
	}
	return s.last.Add(s.by), nil
}

// steppers makes generators, and keeps those that it has made.
type steppers struct{ made []*stepped }

func (s *steppers) factory(props keygen.Props) (keygen.Generator, error) {
	by, ok := props["by"].(int)
	if !ok {
		return nil, errors.New(`property "by" is missing`)
	}
	g := &stepped{by: int64(by)}
	s.made = append(s.made, g)
	return g, nil
}

func ownConfig(t *testing.T, dsn, props string) *config.Config {
	t.Helper()
	cfg, err := config.Parse([]byte(`
dataSources: {ds0: {dsn: "`+dsn+`"}}
defaultDataSource: ds0
sharding:
  tables:
    t_order:
      actualDataNodes: ds0.t_order_${0..1}
      tableStrategy: {standard: {column: user_id, algorithm: by_user}}
      keyGenerate: {column: id, generator: own}
  algorithms: {by_user: {type: MOD, props: {shardingCount: 2}}}
  keyGenerators: {own: {type: stepped, props: {`+props+`}}}
`), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestAGeneratorOfTheApplicationMakesTheKeys(t *testing.T) {
	dsn := database(t)
	pool := open(t, dsn)
	for i := range 2 {
		run(t, pool, fmt.Sprintf("CREATE TABLE t_order_%d (id bigint NOT NULL PRIMARY KEY, user_id bigint NOT NULL)", i))
	}
	var s steppers
	db, err := gorm.Open(gormmysql.Open(dsn), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	plugin := sharding.Register(ownConfig(t, dsn, "by: 10"), sharding.WithKeyGenerator("STEPPED", s.factory))
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	defer plugin.Close()
	stored := func() (ids []int64) {
		t.Helper()
		if err := db.Raw("SELECT id FROM t_order ORDER BY id").Scan(&ids).Error; err != nil {
			t.Fatal(err)
		}
		return ids
	}

	orders := []order{{UserID: 1}, {UserID: 2}, {ID: 5, UserID: 3}}
	if err := db.Create(&orders).Error; err != nil {
		t.Fatal(err)
	}
	if orders[0].ID != 10 || orders[1].ID != 20 || orders[2].ID != 5 {
		t.Errorf("the models got the keys %+v", orders)
	}
	if err := db.Exec("INSERT INTO t_order (user_id) VALUES (4), (5)").Error; err != nil {
		t.Fatal(err)
	}
	if got, want := stored(), []int64{5, 10, 20, 30, 40}; !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}

	// It goes on after a reload that leaves it as it is, with what it has counted.
	cfg := plugin.Config()
	cfg.Props.MaxNodes = 7
	if err := plugin.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&order{UserID: 6}).Error; err != nil {
		t.Fatal(err)
	}
	if got := stored(); len(s.made) != 1 || !slices.Contains(got, 50) {
		t.Errorf("%d generators were made; stored %v", len(s.made), got)
	}

	down := errors.New("the counter is away")
	s.made[0].fail.Store(&down)
	if err := db.Create(&order{UserID: 7}).Error; !errors.Is(err, down) {
		t.Errorf("by a model: %v", err)
	}
	if err := db.Exec("INSERT INTO t_order (user_id) VALUES (8)").Error; !errors.Is(err, down) {
		t.Errorf("by SQL: %v", err)
	}
	if got := stored(); len(got) != 6 {
		t.Errorf("rows were stored without a key: %v", got)
	}
}

func TestGeneratorsOfTheApplicationAreChecked(t *testing.T) {
	dsn := database(t)
	for name, test := range map[string]struct {
		cfg  *config.Config
		opt  sharding.Option
		want string
	}{
		"a type that nobody has added": {ownConfig(t, dsn, "by: 1"), nil, `sharding.keyGenerators.own: no key generator type "stepped"`},
		"a property that is missing":   {ownConfig(t, dsn, ""), sharding.WithKeyGenerator("Stepped", new(steppers).factory), `sharding.keyGenerators.own: property "by" is missing`},
		"a name that is taken":         {ownConfig(t, dsn, "by: 1"), sharding.WithKeyGenerator("snowflake", new(steppers).factory), "snowflake"},
		"no factory":                   {ownConfig(t, dsn, "by: 1"), sharding.WithKeyGenerator("Stepped", nil), "options"},
		"a factory that makes nothing": {ownConfig(t, dsn, "by: 1"), sharding.WithKeyGenerator("Stepped", func(keygen.Props) (keygen.Generator, error) { return nil, nil }), "sharding.keyGenerators.own"},
	} {
		var opts []sharding.Option
		if test.opt != nil {
			opts = append(opts, test.opt)
		}
		connector, err := sharding.Connector(test.cfg, opts...)
		if err == nil {
			_ = connector.(interface{ Close() error }).Close()
		}
		if !errors.Is(err, sharding.ErrConfig) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an ErrConfig with %s", name, err, test.want)
		}
	}
}
