package shardkernel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// stored is a key generator that remembers what it was told.
type stored struct {
	attached []keygen.Store
	closed   int
	err      error
}

func (s *stored) Next(context.Context) (any, error) { return int64(len(s.attached)), nil }
func (s *stored) Attach(store keygen.Store)         { s.attached = append(s.attached, store) }
func (s *stored) Close() error                      { s.closed++; return s.err }

// twoTables is a configuration whose tables t_a and t_b share a generator.
func twoTables() *config.Config {
	table := func(name string) config.Table {
		return config.Table{
			ActualDataNodes:  "ds${0..1}." + name,
			DatabaseStrategy: &config.Strategy{Standard: &config.Standard{Column: "id", Algorithm: "mod"}},
			KeyGenerate:      &config.KeyGenerate{Column: "id", Generator: "shared"},
		}
	}
	return &config.Config{
		DataSources:       map[string]config.DataSource{"ds0": {Driver: "fake", DSN: "0"}, "ds1": {Driver: "fake", DSN: "1"}},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables:        map[string]config.Table{"t_a": table("t_a"), "t_b": table("t_b")},
			Algorithms:    map[string]config.Algorithm{"mod": {Type: "MOD", Props: map[string]any{"shardingCount": 2}}},
			KeyGenerators: map[string]config.KeyGenerator{"shared": {Type: "STORED"}, "other": {Type: "UUID"}},
		},
	}
}

func newKernel(t *testing.T, g keygen.Generator, lease config.IDLease) (*shardkernel.Kernel, []shardkernel.Source, error) {
	t.Helper()
	generators := keygen.NewRegistry()
	if err := generators.Register("STORED", func(keygen.Props) (keygen.Generator, error) { return g, nil }); err != nil {
		t.Fatal(err)
	}
	rules, err := shardkernel.Compile(twoTables(), algorithm.NewRegistry(), generators)
	if err != nil {
		t.Fatal(err)
	}
	var sources []shardkernel.Source
	for _, name := range []string{"ds0", "ds1"} {
		pool, control := fakedb.New().DB(), fakedb.New().DB()
		t.Cleanup(func() { _ = errors.Join(pool.Close(), control.Close()) })
		sources = append(sources, shardkernel.Source{Name: name, DB: pool, Control: control, Dialect: "sqlite"})
	}
	k, err := shardkernel.New(rules, sources, shardkernel.Options{IDLease: lease})
	return k, sources, err
}

func TestGeneratorsGetTheControlPoolOfTheLeaseSource(t *testing.T) {
	for _, test := range []struct {
		lease  config.IDLease
		source int
		ttl    time.Duration
	}{
		{config.IDLease{}, 0, 30 * time.Second},
		{config.IDLease{DataSource: "ds1", TTL: 5 * time.Second}, 1, 5 * time.Second},
	} {
		g := &stored{}
		k, sources, err := newKernel(t, g, test.lease)
		if err != nil {
			t.Fatal(err)
		}
		s := sources[test.source]
		want := []keygen.Store{{DataSource: s.Name, DB: s.Control, Dialect: "sqlite", TTL: test.ttl}}
		// Once, although two tables share the generator.
		if !slices.EqualFunc(g.attached, want, func(a, b keygen.Store) bool {
			return a.DataSource == b.DataSource && a.DB == b.DB && a.Dialect == b.Dialect && a.TTL == b.TTL && a.Now == nil
		}) {
			t.Errorf("%+v: attached %+v, want %+v", test.lease, g.attached, want)
		}
		if key, err := k.NextKey(t.Context(), "t_a", nil); key != int64(1) || err != nil {
			t.Errorf("NextKey: %v, %v", key, err)
		}
		g.err = errors.New("not given back")
		if err := k.Close(); !errors.Is(err, g.err) || g.closed != 1 {
			t.Errorf("Close: %v, the generator was closed %d times", err, g.closed)
		}
	}
}

func TestLeaseSourceMustBeThere(t *testing.T) {
	if _, _, err := newKernel(t, &stored{}, config.IDLease{DataSource: "ds2"}); !errors.Is(err, fault.ErrConfig) {
		t.Errorf("got %v", err)
	}
}
