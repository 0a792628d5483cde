package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// short is the document of testdata/short.yaml built in Go.
func short() *Config {
	return &Config{
		DataSources: map[string]DataSource{
			"ds0": {DSN: "app:s3cret@tcp(h:1)/d0"},
			"ds1": {DSN: "app:s3cret@tcp(h:2)/d1"},
		},
		DefaultDataSource: "ds0",
		Rules: []Rule{
			{Tables: []string{"t_order", "t_order_item"}, Range: "0..3", Separator: "_", Column: "order_id", Expression: "order_id % 4"},
			{Tables: []string{"t_user"}},
		},
		Database: Database{DataSources: "ds${0..1}", Column: "user_id", Expression: "user_id % 2"},
		Sharding: Sharding{
			Tables: map[string]Table{"t_log": {
				ActualDataNodes: "ds0.t_log_${0..1}",
				TableStrategy:   &Strategy{Standard: &Standard{Column: "id", Algorithm: "data_source_by_user_id"}},
			}},
			Algorithms: map[string]Algorithm{"data_source_by_user_id": inlineOf("t_log_${id % 2}")},
		},
	}
}

func inlineOf(expression string) Algorithm {
	return Algorithm{Type: "INLINE", Props: map[string]any{"expression": expression}}
}

func TestShortFormIsTheLongFormItStandsFor(t *testing.T) {
	byUser := &Strategy{Standard: &Standard{Column: "user_id", Algorithm: "data_source_by_user_id_2"}}
	want := *short()
	want.Rules, want.Database = nil, Database{}
	want.Sharding.Tables["t_order"] = Table{
		ActualDataNodes: "ds${0..1}.t_order_${0..3}", DatabaseStrategy: byUser,
		TableStrategy: &Strategy{Standard: &Standard{Column: "order_id", Algorithm: "t_order_by_order_id"}},
	}
	want.Sharding.Tables["t_order_item"] = Table{
		ActualDataNodes: "ds${0..1}.t_order_item_${0..3}", DatabaseStrategy: byUser,
		TableStrategy: &Strategy{Standard: &Standard{Column: "order_id", Algorithm: "t_order_item_by_order_id"}},
	}
	want.Sharding.Tables["t_user"] = Table{ActualDataNodes: "ds${0..1}.t_user", DatabaseStrategy: byUser}
	want.Sharding.Algorithms["data_source_by_user_id_2"] = inlineOf("ds${user_id % 2}")
	want.Sharding.Algorithms["t_order_by_order_id"] = inlineOf("t_order_${order_id % 4}")
	want.Sharding.Algorithms["t_order_item_by_order_id"] = inlineOf("t_order_item_${order_id % 4}")
	want.Sharding.BindingTables = [][]string{{"t_order", "t_order_item"}}

	built := short()
	if err := built.Validate(); err != nil {
		t.Fatal(err)
	}
	compare(t, reflect.ValueOf(built.Expand()).Elem(), reflect.ValueOf(&want).Elem(), "")
	compare(t, reflect.ValueOf(built).Elem(), reflect.ValueOf(short()).Elem(), "") // is left as it was
	if again := want.Expand(); again != &want {
		t.Error("a configuration in its long form is copied")
	}
	for _, name := range []string{"short.yaml", "short.toml", "short.json"} {
		t.Run(name, func(t *testing.T) {
			got, err := Load(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, reflect.ValueOf(got).Elem(), reflect.ValueOf(&want).Elem(), "")
		})
	}
}

func TestShortFormGoesByItsOwnSettingsNotByDefaults(t *testing.T) {
	cfg, err := Parse([]byte(`
dataSources: {ds0: {dsn: a}, ds1: {dsn: b}}
defaultDataSource: ds1
rules:
  - {tables: "t_a", range: "[1, 3]", separator: "", column: k, expression: "k % 2 * 2 + 1"}
  - {tables: [t_b]}
sharding:
  defaults:
    databaseStrategy: {standard: {column: k, algorithm: own}}
    tableStrategy: {standard: {column: k, algorithm: own}}
    audit: [requireShardingKey]
  algorithms: {own: {type: OWN}}
`), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	none := &Strategy{None: true}
	want := map[string]Table{
		"t_a": {ActualDataNodes: "ds1.t_a_${[1, 3]}", DatabaseStrategy: none, TableStrategy: &Strategy{Standard: &Standard{Column: "k", Algorithm: "t_a_by_k"}}},
		"t_b": {ActualDataNodes: "ds1.t_b", DatabaseStrategy: none, TableStrategy: none},
	}
	if got := cfg.Sharding.Tables; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestRuleJoinsTheBindingListOfItsTables(t *testing.T) {
	base := short()
	for _, test := range []struct {
		name        string
		given, want [][]string
	}{
		{"one of them is in a list", [][]string{{"t_other", "t_order"}}, [][]string{{"t_other", "t_order", "t_order_item"}}},
		{"both are in one", [][]string{{"t_order_item", "t_order"}}, [][]string{{"t_order_item", "t_order"}}},
		{"they were put apart", [][]string{{"t_order", "a"}, {"t_order_item", "b"}}, [][]string{{"t_order", "a"}, {"t_order_item", "b"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			base.Sharding.BindingTables = test.given
			if got := base.Expand().Sharding.BindingTables; !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFaultsOfTheShortFormAreNamedThere(t *testing.T) {
	const sources = "dataSources: {ds0: {dsn: a}, ds1: {dsn: b}}\ndefaultDataSource: ds0\n"
	const twoSources = "database: {dataSources: 'ds${0..1}', column: k, expression: k % 2}\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing given", "rules: [{}]", []string{
			"rules[0].tables: names no table",
		}},
		{"number without a column", "rules: [{tables: a, range: 0..1}]", []string{
			"rules[0].column: is empty; name the sharding column",
			"rules[0].expression: is empty; write what computes the number, such as order_id % 8",
		}},
		{"column without a range", "rules: [{tables: a, column: k, expression: k % 2}]", []string{
			"rules[0].range: is empty; write the numbers of the actual tables, such as 0..7",
		}},
		{"separator without a range", "rules: [{tables: a, separator: x}]", []string{
			"rules[0].separator: is of no use without a range; remove it, or set range, column and expression",
		}},
		{"braces", "rules: [{tables: a, range: '${0..1}', column: k, expression: '${k % 2}'}, {tables: b, range: 0..1, column: k, expression: 'k } + {'}]", []string{
			"rules[0].range: holds a brace; write the numbers alone, such as 0..7",
			"rules[0].expression: holds a placeholder; write the code alone, without ${ and }, such as order_id % 8",
			"rules[1].expression: has braces that do not match",
		}},
		{"wrong range", "rules: [{tables: a, range: 0..x, column: k, expression: k % 8}]", []string{
			"rules[0].range: " + expandFault("${0..x}"),
		}},
		{"the expression gives other numbers, told once for both tables", "rules: [{tables: 'a,b', range: 0..3, column: k, expression: k % 5}]", []string{
			`rules[0].expression: the expression "a_${k % 5}" gives "a_4" for some values, and there is no such target; the targets are a_0, a_1, a_2, a_3`,
		}},
		{"the expression has another column", "rules: [{tables: a, range: 0..1, column: k, expression: j % 2}]", []string{
			`rules[0].column: the expression "a_${j % 2}" uses "j", but the sharding column is "k"`,
		}},
		{"the expression is none", "rules: [{tables: a, range: 0..1, column: k, expression: k %}]", []string{
			`rules[0].expression: ` + compileFault("a_${k %}"),
		}},
		{"a table twice", "rules: [{tables: 'a,a'}, {tables: [b, a]}]\nsharding: {tables: {b: {actualDataNodes: ds0.b}}}", []string{
			`rules[0].tables[1]: table "a" stands at rules[0].tables[0] already`,
			`rules[1].tables[0]: table "b" is in sharding.tables too; keep one of the two`,
			`rules[1].tables[1]: table "a" stands at rules[0].tables[0] already`,
		}},
		{"a table of another kind", "rules: [{tables: 'a,b,C'}]\nsharding: {broadcastTables: [a], autoTables: {b: {dataSources: ds0, strategy: {standard: {column: k, algorithm: m}}}}, singleTables: {c: ds1}, algorithms: {m: {type: MOD, props: {shardingCount: 1}}}}", []string{
			`sharding.autoTables.b: table "b" is a sharded table too`,
			`sharding.singleTables.c: the name differs from that of the sharded table "C" in case only; rename one of the two`,
			`sharding.broadcastTables[0]: table "a" is a sharded table too`,
		}},
		{"an actual table of another", "rules: [{tables: 'a', range: 0..1, column: k, expression: k % 2}, {tables: a_1}]", []string{
			`rules[1].tables[0]: node "ds0.a_1" belongs to table "a" already`,
		}},
		{"a name that needs quotes", "rules: [{tables: 'a-b'}]", []string{
			`rules[0].tables[0]: node "ds0.a-b": the table's name must consist of letters, digits, _ and $, and not of digits alone`,
		}},
		{"database without rules", twoSources, []string{
			"database: is of no use without rules; remove it, or use sharding.defaults.databaseStrategy",
		}},
		{"database without data sources", "rules: [{tables: a}]\ndatabase: {column: k, expression: k % 2}", []string{
			"database.dataSources: is empty; name the data sources, such as ds${0..1}",
		}},
		{"database of unknown data sources", "rules: [{tables: a}]\ndatabase: {dataSources: 'ds${0..2}', column: k, expression: k % 3}", []string{
			`database.dataSources: no data source "ds2"; did you mean "ds0"?`,
		}},
		{"database as a list", "rules: [{tables: a}]\ndatabase: {dataSources: 'ds0,ds1', column: k, expression: k % 2}", []string{
			"database.dataSources: is not one placeholder with text around it, such as ds${0..1}; name the data sources so, or write the long form under sharding.tables",
		}},
		{"several data sources and nothing to choose by", "rules: [{tables: a}]\ndatabase: {dataSources: 'ds${0..1}'}", []string{
			"database.column: is empty; name the sharding column",
			"database.expression: is empty; write what computes the number, such as order_id % 8",
		}},
		{"the database's expression, told once for all tables", "rules: [{tables: 'a,b'}, {tables: c}]\ndatabase: {dataSources: 'ds${0..1}', column: k, expression: k % 3}", []string{
			`database.expression: the expression "ds${k % 3}" gives "ds2" for some values, and there is no such target; the targets are ds0, ds1`,
		}},
		{"unknown keys and wrong types", "rules: [{tables: a, sepperator: x, range: 5}, t]\ndatabase: {sources: x}", []string{
			"rules[0].range: must be a text, not a whole number",
			`rules[0].sepperator: unknown key; did you mean "separator"?`,
			"rules[1]: must be a map, not a text",
			"database.sources: unknown key; known: dataSources, column, expression",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(sources+test.text), "yaml")
			wantFaults(t, err, test.want...)
		})
	}
}

func TestEnvironmentIsOverTheShortForm(t *testing.T) {
	t.Setenv("SHARDING_DATABASE_EXPRESSION", "user_id.intdiv(2) % 2")
	t.Setenv("SHARDING_RULES", "x")
	cfg, err := Load("testdata/short.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Sharding.Algorithms["data_source_by_user_id_2"].Props["expression"]; got != "ds${user_id.intdiv(2) % 2}" {
		t.Errorf("got %v", got)
	}
}

func TestThePrintHasTheSameRulesAndNoPassword(t *testing.T) {
	setPasswords(t)
	for name, cfg := range map[string]*Config{"long": valid(), "short": short(), "replicas": withReplicas(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			text, err := cfg.YAML()
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"s3cret", "p@ss:w/rd"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("the print holds %q", secret)
				}
			}
			got, err := Parse(text, "yaml")
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			want := *cfg.Expand()
			want.DataSources = cloned(want.DataSources)
			for name, source := range want.DataSources {
				source.DSN = DSN(source.DSN.String())
				want.DataSources[name] = source
			}
			compare(t, reflect.ValueOf(got).Elem(), reflect.ValueOf(&want).Elem(), "")
			again, err := got.YAML()
			if err != nil || string(again) != string(text) {
				t.Errorf("printed again: %v\n%s\nwant\n%s", err, again, text)
			}
		})
	}
}

func withReplicas() *Config {
	return &Config{
		DataSources:       map[string]DataSource{"p": {DSN: "a"}, "r": {DSN: "b"}},
		DefaultDataSource: "ds0",
		ReadwriteSplitting: ReadwriteSplitting{
			Groups: map[string]Group{"ds0": {Primary: "p", Replicas: []string{"r"}, LoadBalancer: "WEIGHT", Weights: map[string]int{"r": 2}}},
			Health: Health{Interval: 1500000000},
		},
		Sharding: Sharding{Tables: map[string]Table{"t": {ActualDataNodes: "ds0.t", Audit: &Audit{}}}},
	}
}

func ExampleConfig_YAML() {
	cfg := Config{
		DataSources:       map[string]DataSource{"ds0": {DSN: "app:secret@tcp(h:1)/d0"}, "ds1": {DSN: "app:secret@tcp(h:2)/d1"}},
		DefaultDataSource: "ds0",
		Rules:             []Rule{{Tables: []string{"t_user"}}},
		Database:          Database{DataSources: "ds${0..1}", Column: "user_id", Expression: "user_id % 2"},
	}
	text, err := cfg.YAML()
	fmt.Print(string(text), err)
	// Output:
	// dataSources:
	//   ds0:
	//     dsn: '***@tcp(h:1)/d0'
	//   ds1:
	//     dsn: '***@tcp(h:2)/d1'
	// defaultDataSource: ds0
	// sharding:
	//   tables:
	//     t_user:
	//       actualDataNodes: ds${0..1}.t_user
	//       databaseStrategy:
	//         standard:
	//           column: user_id
	//           algorithm: data_source_by_user_id
	//   algorithms:
	//     data_source_by_user_id:
	//       type: INLINE
	//       props:
	//         expression: ds${user_id % 2}
	// <nil>
}

func expandFault(text string) string {
	_, err := algorithm.ExpandNames(text)
	return err.Error()
}

func compileFault(expression string) string {
	_, err := algorithm.NewRegistry().New("INLINE", algorithm.Props{"expression": expression})
	return err.Error()
}
