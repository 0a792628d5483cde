//go:build unix

package reload_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding"
)

// document is the shop's configuration as a file.
func (s *shop) document() string {
	return fmt.Sprintf(`
dataSources:
  ds0: {dsn: %q, maxOpenConns: 20, maxIdleConns: 20}
  ds1: {dsn: %q, maxOpenConns: 20, maxIdleConns: 20}
defaultDataSource: ds0
sharding:
  singleTables: {t_audit: ds1}
  algorithms:
    by_database: {type: INLINE, props: {expression: "ds${user_id %% 2}"}}
    by_table: {type: INLINE, props: {expression: "t_order_${user_id.intdiv(2) %% 2}"}}
    by_id: {type: MOD, props: {shardingCount: 2}}
  keyGenerators:
    snowflake: {type: SNOWFLAKE}
    counted: {type: SEGMENT, props: {table: t_item, step: 10}}
  tables:
    t_item:
      actualDataNodes: ds${0..1}.t_item
      databaseStrategy: {standard: {column: id, algorithm: by_id}}
      keyGenerate: {column: id, generator: counted}
    t_order:
      actualDataNodes: ds${0..1}.t_order_${0..1}
      databaseStrategy: {standard: {column: user_id, algorithm: by_database}}
      tableStrategy: {standard: {column: user_id, algorithm: by_table}}
      keyGenerate: {column: id, generator: snowflake}
`, string(s.cfg.DataSources["ds0"].DSN), string(s.cfg.DataSources["ds1"].DSN))
}

// A file that is cut off anywhere is refused, or says what the whole says.
func TestAFileThatIsWrittenInPartChangesNothing(t *testing.T) {
	s := newShop(t, "file")
	path := filepath.Join(t.TempDir(), "sharding.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.plugin.Watch(path); !errors.Is(err, sharding.ErrConfig) {
		t.Fatalf("a file that is not there: %v", err)
	}
	whole := s.document()
	write(whole)
	done := make(chan error, 10)
	if err := s.plugin.Watch(path, sharding.OnReload(func(err error) { done <- err })); err != nil {
		t.Fatal(err)
	}
	next := func() error {
		t.Helper()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal("nothing happened")
			return nil
		}
	}
	if err := s.db.Create(&[]Order{{UserID: 1}, {UserID: 2}, {UserID: 3}}).Error; err != nil {
		t.Fatal(err)
	}
	works := func() {
		t.Helper()
		var n int64
		if err := s.db.Model(&Order{}).Where("user_id < 4").Count(&n).Error; err != nil || n != 3 {
			t.Fatalf("%d rows, error %v", n, err)
		}
	}
	before, generation := s.plugin.Config(), s.plugin.Status().Generation
	lines := strings.SplitAfter(whole, "\n")
	cuts := map[string]string{
		"emptied":              "",
		"in the middle":        whole[:len(whole)/2],
		"without a table":      strings.Join(lines[:len(lines)-6], ""),
		"without its strategy": strings.Join(lines[:len(lines)-4], ""),
		"without the rules":    strings.Join(lines[:5], ""),
		"another default":      strings.Replace(whole, "defaultDataSource: ds0", "defaultDataSource: ds1", 1),
	}
	for name, text := range cuts {
		write(text)
		err := next()
		if !errors.Is(err, sharding.ErrConfig) {
			t.Errorf("%s: %v; an ErrConfig is wanted", name, err)
		}
		if err != nil && strings.Contains(err.Error(), s.server.Password()) {
			t.Errorf("%s: the password is shown: %v", name, err)
		}
		if !reflect.DeepEqual(before, s.plugin.Config()) || s.plugin.Status().Generation != generation {
			t.Fatalf("%s: the configuration has changed", name)
		}
		works()
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := next(); !errors.Is(err, sharding.ErrConfig) {
		t.Errorf("removed: %v", err)
	}
	write(whole + "props: {maxNodes: 1}\n")
	if err := next(); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Find(&[]Order{}).Error; !errors.Is(err, sharding.ErrScatterDenied) {
		t.Errorf("with maxNodes: %v", err)
	}
	write(whole) // a property that is gone is at its default
	if err := next(); err != nil {
		t.Fatal(err)
	}
	works()
	if r := s.plugin.Status().Reloads; r.Applied < 2 || r.Failed != uint64(len(cuts))+1 || r.Err != nil || r.LastFailure.IsZero() {
		t.Errorf("counted: %+v", r)
	}
}
