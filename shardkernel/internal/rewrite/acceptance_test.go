package rewrite_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// acceptance is the file of acceptance cases.
type acceptance struct {
	Columns map[string]string
	Configs map[string]struct {
		DataSources       []string `yaml:"dataSources"`
		DefaultDataSource string   `yaml:"defaultDataSource"`
		Tables            map[string]struct {
			Nodes           string
			Database, Table *struct{ Column, Expression string }
		}
		Binding   [][]string
		Broadcast []string
	}
	Cases []struct {
		Name, Config, SQL, Error string
		Args                     []any
		Ordered                  bool
		Units                    []struct {
			DS, SQL string
			Args    []any
		}
	}
}

// TestAcceptanceCases runs the cases of testdata/cases/routing.yaml, whatever their
// stage.
func TestAcceptanceCases(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/cases/routing.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file acceptance
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	pipelines := map[string]*pipeline{}
	for name := range file.Configs {
		pipelines[name] = file.pipeline(t, name)
	}
	for _, c := range file.Cases {
		args := make([]any, len(c.Args))
		for i, a := range c.Args {
			args[i] = wide(a)
		}
		e, err := pipelines[c.Config].run(c.SQL, args)
		problem := ""
		switch {
		case c.Error != "":
			if !errors.Is(err, sentinels[c.Error]) {
				problem = fmt.Sprintf("error %v, want %s", err, c.Error)
			}
		case err != nil:
			problem = err.Error()
		default:
			var want []plan.Unit
			for _, u := range c.Units {
				unit := plan.Unit{DataSource: u.DS, SQL: collapse(u.SQL)}
				for _, a := range u.Args {
					unit.Args = append(unit.Args, wide(a))
				}
				want = append(want, unit)
			}
			problem = compareUnits(e.Units, want, c.Ordered)
		}
		if problem != "" {
			t.Errorf("%s\n  %s\n  %s", c.Name, c.SQL, problem)
		}
	}
}

var sentinels = map[string]error{
	"ErrUnsupported":       fault.ErrUnsupported,
	"ErrNoShardingKey":     fault.ErrNoShardingKey,
	"ErrShardingKeyUpdate": fault.ErrShardingKeyUpdate,
	"ErrNoDataNode":        fault.ErrNoDataNode,
}

// wide is a YAML value as a driver would get it.
func wide(v any) any {
	if i, ok := v.(int); ok {
		return int64(i)
	}
	return v
}

func compareUnits(units []plan.Unit, want []plan.Unit, ordered bool) string {
	var got []plan.Unit
	for _, u := range units {
		got = append(got, plan.Unit{DataSource: u.DataSource, SQL: collapse(u.SQL), Args: u.Args})
	}
	if !ordered {
		byText := func(a, b plan.Unit) int { return strings.Compare(a.DataSource+a.SQL, b.DataSource+b.SQL) }
		slices.SortStableFunc(got, byText)
		slices.SortStableFunc(want, byText)
	}
	same := slices.EqualFunc(got, want, func(a, b plan.Unit) bool {
		return a.DataSource == b.DataSource && a.SQL == b.SQL && (len(a.Args) == 0 && len(b.Args) == 0 || reflect.DeepEqual(a.Args, b.Args))
	})
	if same {
		return ""
	}
	var b strings.Builder
	for title, list := range map[string][]plan.Unit{"got": got, "want": want} {
		fmt.Fprintf(&b, "\n  %s:", title)
		for _, u := range list {
			fmt.Fprintf(&b, "\n    %s %s %v", u.DataSource, u.SQL, u.Args)
		}
	}
	return b.String()
}

func (f *acceptance) pipeline(t *testing.T, name string) *pipeline {
	from := f.Configs[name]
	cfg := &config.Config{DataSources: map[string]config.DataSource{}, DefaultDataSource: from.DefaultDataSource}
	for _, ds := range from.DataSources {
		cfg.DataSources[ds] = config.DataSource{DSN: config.DSN("test@tcp(localhost)/" + ds)}
	}
	s := &cfg.Sharding
	s.Tables, s.Algorithms = map[string]config.Table{}, map[string]config.Algorithm{}
	s.BindingTables, s.BroadcastTables = from.Binding, from.Broadcast
	for table, rule := range from.Tables {
		strategy := func(level string, of *struct{ Column, Expression string }) *config.Strategy {
			if of == nil {
				return nil
			}
			algorithm := table + "_" + level
			s.Algorithms[algorithm] = config.Algorithm{Type: "INLINE", Props: map[string]any{"expression": of.Expression}}
			return &config.Strategy{Standard: &config.Standard{Column: of.Column, Algorithm: algorithm}}
		}
		s.Tables[table] = config.Table{
			ActualDataNodes:  rule.Nodes,
			DatabaseStrategy: strategy("database", rule.Database),
			TableStrategy:    strategy("table", rule.Table),
		}
	}
	var columns []value.Column
	for column, typ := range f.Columns {
		columns = append(columns, columnOf(t, column, typ))
	}
	table := value.NewTable(columns)
	return newPipeline(t, cfg, route.Meta(func(string) *value.Table { return table }))
}
