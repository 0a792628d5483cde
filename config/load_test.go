package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

// valid is what testdata/valid.* say.
func valid() *Config {
	implicit := false
	byUser := &Strategy{Standard: &Standard{Column: "user_id", Algorithm: "by_user"}}
	return &Config{
		DataSources: map[string]DataSource{
			"ds0": {
				Driver: "mysql", DSN: "app:s3cret@tcp(127.0.0.1:3306)/orders_0?parseTime=true",
				MaxOpenConns: 50, MaxIdleConns: 40, ConnMaxLifetime: 30 * time.Minute, ConnMaxIdleTime: 5 * time.Minute,
			},
			"ds1":          {Driver: "mysql", DSN: "app:p@ss:w/rd@tcp(127.0.0.1:3306)/orders_1?parseTime=true"},
			"Archive.2024": {DSN: "app:p@ss:w/rd@tcp(127.0.0.1:3306)/archive?parseTime=true"},
		},
		DefaultDataSource: "ds0",
		Schema:            "orders",
		RulesVersion:      3,
		Sharding: Sharding{
			Tables: map[string]Table{
				"t_order": {
					ActualDataNodes:  "ds${0..1}.t_order_${0..7}",
					DatabaseStrategy: byUser,
					TableStrategy:    &Strategy{Standard: &Standard{Column: "order_id", Algorithm: "by_order"}},
					KeyGenerate:      &KeyGenerate{Column: "order_id", Generator: "snowflake"},
				},
				"t_order_item": {
					ActualDataNodes: "ds${0..1}.t_order_item_${0..7}",
					TableStrategy:   &Strategy{Standard: &Standard{Column: "order_id", Algorithm: "by_item"}},
				},
				"T_Log": {
					ActualDataNodes:  "Archive.2024.t_log",
					DatabaseStrategy: &Strategy{None: true},
					TableStrategy:    &Strategy{None: true},
				},
				"t_coupon": {
					ActualDataNodes:  "ds0.t_coupon, ds1.t_coupon",
					DatabaseStrategy: &Strategy{Standard: &Standard{Column: "code", Algorithm: "by.code"}, TextKey: TextKeyExact},
				},
				"t_dict": {Broadcast: true},
			},
			SingleTables:    map[string]string{"t_audit": "Archive.2024"},
			BindingTables:   [][]string{{"t_order", "t_order_item"}},
			BroadcastTables: []string{"t_region"},
			Defaults: Defaults{
				DatabaseStrategy: byUser,
				KeyGenerate:      &KeyGenerate{Column: "id", Generator: "uuid"},
			},
			Algorithms: map[string]Algorithm{
				"by_user":  {Type: "INLINE", Props: map[string]any{"expression": "ds${user_id % 2}", "allowRangeQuery": false}},
				"by_order": {Type: "INLINE", Props: map[string]any{"expression": "t_order_${order_id % 8}"}},
				"by_item":  {Type: "INLINE", Props: map[string]any{"expression": "t_order_item_${order_id % 8}"}},
				"by.code":  {Type: "HASH_MOD", Props: map[string]any{"shardingCount": 2}},
				"own": {Type: "COMPANY_RULE", Props: map[string]any{
					"ratio": 0.5, "limits": []any{1, 9223372036854775807}, "nested": map[string]any{"Key": "text"}, "from": "2024-01-05",
				}},
			},
			KeyGenerators: map[string]KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}},
				"uuid":      {Type: "UUID"},
			},
		},
		Transaction: Transaction{Type: "LOCAL", Implicit: &implicit},
		IDLease:     IDLease{DataSource: "ds1", TTL: 20 * time.Second},
		Props: Props{
			SQLShow: true, MaxConnectionsPerQuery: 2, MaxMergeRows: 1000, MaxMergeBytes: 1 << 20,
			MaxParallelUnits: 64, PlanCacheBytes: 2 << 20, StatementTimeout: 90 * time.Second,
		},
	}
}

func setPasswords(t testing.TB) {
	t.Setenv("TEST_DS0_PASSWORD", "s3cret")
	t.Setenv("TEST_DS1_PASSWORD", "p@ss:w/rd")
}

func TestEveryFormatAndGoMeanTheSame(t *testing.T) {
	setPasswords(t)
	want := valid()
	if err := want.Validate(); err != nil {
		t.Fatalf("built in Go: %v", err)
	}
	for _, name := range []string{"valid.yaml", "valid.toml", "valid.json"} {
		t.Run(name, func(t *testing.T) {
			got, err := Load(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem(), "")
		})
	}
}

// compare reports the paths that differ, so that a failure can be read.
func compare(t *testing.T, got, want reflect.Value, path string) {
	t.Helper()
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			compare(t, got.Field(i), want.Field(i), join(path, got.Type().Field(i).Name))
		}
	case reflect.Map:
		for _, k := range want.MapKeys() {
			if v := got.MapIndex(k); !v.IsValid() {
				t.Errorf("%s: no %v", path, k)
			} else {
				compare(t, v, want.MapIndex(k), join(path, k.String()))
			}
		}
		if got.Len() != want.Len() {
			t.Errorf("%s: got keys %v, want %v", path, got.MapKeys(), want.MapKeys())
		}
	default:
		if !reflect.DeepEqual(got.Interface(), want.Interface()) {
			t.Errorf("%s:\ngot  %#v\nwant %#v", path, got.Interface(), want.Interface())
		}
	}
}

func TestZeroConfigIsTheApplicationsOwnPool(t *testing.T) {
	for _, text := range []string{"", "{}", "# nothing\n", "dataSources:\nsharding: {tables: }\n"} {
		cfg, err := Parse([]byte(text), "yaml")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := cfg.SourceNames(); !reflect.DeepEqual(got, []string{"default"}) {
			t.Errorf("%q: sources %q", text, got)
		}
	}
	var cfg Config
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	if !cfg.Transaction.ImplicitWrites() {
		t.Error("a write over several nodes has no transaction by default")
	}
	want := Props{MaxConnectionsPerQuery: 1, MaxMergeRows: 300_000, MaxMergeBytes: 64 << 20, MaxParallelUnits: 256, MaxUnionBranches: 64, PlanCacheBytes: 64 << 20, MaxRangeValues: 1000, DrainTimeout: 30 * time.Second}
	if got := cfg.Props.WithDefaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("limits: got %+v, want %+v", got, want)
	}
	if got, want := cfg.IDLease.WithDefaults("default"), (IDLease{DataSource: "default", TTL: 30 * time.Second}); got != want {
		t.Errorf("lease: got %+v, want %+v", got, want)
	}
}

func TestSourceNamesAreOrderedByNumber(t *testing.T) {
	cfg := Config{DataSources: map[string]DataSource{"ds10": {}, "ds2": {}, "ds1": {}}}
	if got, want := cfg.SourceNames(), []string{"default", "ds1", "ds2", "ds10"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	cfg.DefaultDataSource = "ds1"
	if got, want := cfg.SourceNames(), []string{"ds1", "ds2", "ds10"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvironmentOverFile(t *testing.T) {
	const text = `
dataSources: {ds0: {dsn: file}, "Ds.1": }
transaction:
sharding: {tables: {t_order: {actualDataNodes: "ds0.t_order", tableStrategy: {none: }}}}
props: {maxMergeRows: 5, sqlShow: true}
`
	for name, value := range map[string]string{
		"SHARDING_DATASOURCES_DS0_DSN":                     "over ${TEST_HOST}",
		"SHARDING_DATASOURCES_DS_1_DSN":                    "made",
		"SHARDING_DATASOURCES_DS_1_CONNMAXIDLETIME":        "2m",
		"SHARDING_DATASOURCES_NOBODY_DSN":                  "not in the file",
		"SHARDING_DEFAULTDATASOURCE":                       "Ds.1",
		"SHARDING_SHARDING_TABLES_T_ORDER_ACTUALDATANODES": "ds0.t_order_1",
		"SHARDING_SHARDING_BROADCASTTABLES":                "a, b",
		"SHARDING_TRANSACTION_IMPLICIT":                    "false",
		"SHARDING_IDLEASE_TTL":                             "5s",
		"SHARDING_PROPS_MAXMERGEROWS":                      "7",
		"SHARDING_PROPS_SQLSHOW":                           "",
		"SHARDING_SERVICE_HOST":                            "10.0.0.1",
		"TEST_HOST":                                        "h ${NOT_AGAIN}",
	} {
		t.Setenv(name, value)
	}
	cfg, err := Parse([]byte(text), "yaml")
	if err != nil {
		t.Fatal(err)
	}
	implicit := false
	want := &Config{
		DataSources:       map[string]DataSource{"ds0": {DSN: "over h ${NOT_AGAIN}"}, "Ds.1": {DSN: "made", ConnMaxIdleTime: 2 * time.Minute}},
		DefaultDataSource: "Ds.1",
		Sharding: Sharding{
			Tables:          map[string]Table{"t_order": {ActualDataNodes: "ds0.t_order_1", TableStrategy: &Strategy{None: true}}},
			BroadcastTables: []string{"a", "b"},
		},
		Transaction: Transaction{Implicit: &implicit},
		IDLease:     IDLease{TTL: 5 * time.Second},
		Props:       Props{MaxMergeRows: 7, SQLShow: true},
	}
	compare(t, reflect.ValueOf(cfg).Elem(), reflect.ValueOf(want).Elem(), "")
}

func TestEnvironmentFaultsNameTheVariable(t *testing.T) {
	t.Setenv("SHARDING_PROPS_MAXMERGEROWS", "many")
	t.Setenv("SHARDING_TRANSACTION_IMPLICIT", "perhaps")
	t.Setenv("SHARDING_PROPS_STATEMENTTIMEOUT", "30")
	t.Setenv("SHARDING_DATASOURCES_DS_0_DSN", "x")
	_, err := Parse([]byte(`dataSources: {ds-0: {dsn: a}, ds_0: {dsn: b}}`), "yaml")
	wantFaults(t, err,
		"dataSources.ds_0.dsn: the environment variable SHARDING_DATASOURCES_DS_0_DSN stands for this key and for dataSources.ds-0.dsn; unset it, or rename one of the two",
		"transaction.implicit: the environment variable SHARDING_TRANSACTION_IMPLICIT must hold true or false",
		"props.maxMergeRows: the environment variable SHARDING_PROPS_MAXMERGEROWS must hold a whole number",
		"props.statementTimeout: the environment variable SHARDING_PROPS_STATEMENTTIMEOUT must hold a duration with its unit, such as 30s, 5m or 1h",
	)
}

func TestMissingVariableNamesPathAndVariable(t *testing.T) {
	_, err := Parse([]byte(`
dataSources:
  ds0: {dsn: "app:${TEST_NOT_SET}@tcp(h)/d"}
  ds1: {dsn: "app:${0..1}@tcp(h)/d"}
  ds2: {dsn: "app:hidden${oops@tcp(h)/d"}
`), "yaml")
	wantFaults(t, err,
		"dataSources.ds0.dsn: the environment variable TEST_NOT_SET is not set",
		"dataSources.ds1.dsn: ${ is not followed by the name of an environment variable and }; put a password that holds ${ into a variable",
		"dataSources.ds2.dsn: ${ is not followed by the name of an environment variable and }; put a password that holds ${ into a variable",
	)
}

// wantFaults compares all errors joined in err, path and message, in order.
func wantFaults(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	if err != nil {
		all, ok := err.(interface{ Unwrap() []error })
		if !ok {
			t.Fatalf("not a joined error: %T %v", err, err)
		}
		for _, one := range all.Unwrap() {
			var f *fault.ConfigError
			if !errors.As(one, &f) || !errors.Is(one, fault.ErrConfig) {
				t.Fatalf("not a *fault.ConfigError: %T %v", one, one)
			}
			got = append(got, strings.TrimPrefix(one.Error(), "sharding: "))
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestUnreadableFilesAreErrorsWithThePath(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.yaml"), "cannot be read: no such file or directory"},
		{write("c.ini", ""), `format "ini" is not one of yaml, yml, toml, json`},
		{write("c", ""), `format "" is not one of yaml, yml, toml, json`},
		{write("list.yaml", "- a\n"), "yaml: the document is not a map"},
		{write("text.yaml", "secret\n"), "yaml: the document is not a map"},
		{write("two.yaml", "schema: a\n---\nschema: b\n"), "yaml: a second document follows the first; only one is read"},
		{write("twice.yaml", "schema: a\nschema: b\n"), "yaml: unmarshal errors:\n  line 2: mapping key *** already defined at line 1"},
		{write("anchor.yaml", "schema: *secret\n"), "yaml: unknown anchor *** referenced"},
		{write("open.yaml", "schema: [\n"), "yaml: line 1: did not find expected node content"},
		{write("big.yaml", "rulesVersion: 99999999999999999999\n"), "yaml: line 1: the number does not fit 64 bits; write it as a text in quotes"},
		{write("twice.json", `{"props": {"sqlShow": true, "sqlShow": false}}`), "json: props.sqlShow stands twice"},
		{write("more.json", `{} {}`), "json: text follows the document"},
		{write("open.json", `{"props": `), "json: near byte 9: unexpected EOF"},
		{write("list.json", `[]`), "json: the document is not an object"},
		{write("big.json", `{"rulesVersion": 99999999999999999999}`), "json: rulesVersion: the number does not fit 64 bits; write it as a text in quotes"},
		{write("deep.json", strings.Repeat("[", 1000)), "json: nested deeper than 100"},
		{write("twice.toml", "schema = 'a'\nschema = 'b'\n"), "toml: key schema is already defined"},
	} {
		t.Run(filepath.Base(test.path), func(t *testing.T) {
			_, err := Load(test.path)
			var f *fault.ConfigError
			if !errors.As(err, &f) || f.Path != test.path {
				t.Fatalf("got %T %v, want a *fault.ConfigError with the file's path", err, err)
			}
			if got := strings.TrimPrefix(err.Error(), "sharding: "+test.path+": "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	for format, text := range map[string]string{
		"yaml": `sharding: {algorithms: {own: {type: OWN, props: {low: -9223372036854775808, high: 18446744073709551615, half: 1.5}}}}`,
		"json": `{"sharding": {"algorithms": {"own": {"type": "OWN", "props": {"low": -9223372036854775808, "high": 18446744073709551615, "half": 1.5}}}}}`,
	} {
		cfg, err := Parse([]byte(text), format)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		want := map[string]any{"low": -9223372036854775808, "high": uint64(18446744073709551615), "half": 1.5}
		if got := cfg.Sharding.Algorithms["own"].Props; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", format, got, want)
		}
	}
}
