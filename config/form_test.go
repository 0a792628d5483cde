package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
)

func TestAFileOfShardingSphereIsSaidToBeOne(t *testing.T) {
	full, err := os.ReadFile("testdata/shardingsphere/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const five, four = "config.LoadShardingSphere; a file that is watched", "or in the YAML form of ShardingSphere-JDBC 5"
	for text, want := range map[string]string{
		string(full): five,
		"dataSources: {ds_0: {url: 'jdbc:mysql://h/d', username: s3cret}}": five,
		"dataSources: {ds_0: {data-source-class-name: x}}":                 five,
		"rules: [!SINGLE {tables: [ds.t], defaultDataSource: ds}]":         five,
		"rules: [!SHARDING {tables: {t: {actualDataNodes: ds.t}}}]":        five,
		"rules: [!READWRITE_SPLITTING {dataSourceGroups: {}}]":             five,
		"shardingRule: {tables: {}}":                                       four,
		"spring: {shardingsphere: {}}":                                     four,
	} {
		_, err := Parse([]byte(text), "yaml")
		if err == nil || !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
		if strings.Contains(err.Error(), "unknown key") {
			t.Errorf("%.60q: its keys are reported as well: %v", text, err)
		}
	}
	if _, err := Parse([]byte("rules: [{tables: t_order, range: 0..1, column: id, expression: id % 2}]"), "yaml"); err != nil && strings.Contains(err.Error(), "ShardingSphere") {
		t.Errorf("the short form is taken for ShardingSphere's: %v", err)
	}
}

func TestAFileOfThisPackageIsSaidToBeOne(t *testing.T) {
	for _, text := range []string{
		"dataSources: {ds0: {dsn: 'app:s3cret@tcp(h)/d'}}",
		"sharding: {tables: {}}",
	} {
		if _, err := ParseShardingSphere([]byte(text)); err == nil || !strings.Contains(err.Error(), "read it with config.Load") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestLoadAndWatchNameTheFileOfShardingSphere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sphere.yaml")
	if err := os.WriteFile(path, []byte("dataSources: {ds_0: {jdbcUrl: 'jdbc:mysql://h/d'}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+": is a configuration of ShardingSphere") {
		t.Errorf("Load: %v", err)
	}
	found := make(chan Event, 1)
	w, err := Watch(t.Context(), path, func(e Event) { found <- e })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if e := <-found; e.Err == nil || !strings.Contains(e.Err.Error(), path+": is a configuration of ShardingSphere") {
		t.Errorf("Watch: %+v", e)
	}
}
