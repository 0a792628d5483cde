package remote_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// compact makes etcd forget all values but the present ones.
func (e *etcd) compact() {
	e.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{e.client}, DialTimeout: 5 * time.Second})
	if err != nil {
		e.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Second)
	defer cancel()
	now, err := client.Get(ctx, key)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		e.t.Fatal(err)
	}
	if _, err := client.Get(ctx, key, clientv3.WithRev(now.Header.Revision-1)); err == nil {
		e.t.Fatal("the values before are still there")
	}
}

// Whatever happens to the key and to etcd is told of and leaves the configuration in
// force as it is, and the next valid value comes into force.
func TestTheConfigurationInForceStaysUntilTheNextValidOne(t *testing.T) {
	e := startEtcd(t)
	limited := func(n int) string {
		return fmt.Sprintf("dataSources: {Ds.0: {dsn: \"app:s3cret@tcp(127.0.0.1:1)/d\"}}\ndefaultDataSource: Ds.0\nsharding: {tables: {t_log: {actualDataNodes: Ds.0.t_log}}}\nprops: {maxNodes: %d}\n", n)
	}
	e.put(limited(1))
	plugin, refused := e.follow()

	nothing := func() {}
	for i, trouble := range []struct {
		name     string
		make     func()
		reported string // empty where there is nothing to tell
		mend     func()
	}{
		{"the key is deleted", func() {
			if err := e.call("deleterange", key, ""); err != nil {
				t.Fatal(err)
			}
		}, "there is no such key", nothing},
		{"half of it is written", func() { e.put(limited(9)[:40]) }, "yaml", nothing},
		{"the value has a fault", func() { e.put(limited(9) + "colour: red\n") }, "colour: unknown key", nothing},
		{"the value is emptied", func() { e.put("") }, "the value is empty", nothing},
		{"a table is gone", func() { e.put(strings.Replace(limited(9), "t_log: {actualDataNodes: Ds.0.t_log}", "", 1)) }, "sharding.tables.t_log", nothing},
		{"it leads to another database", func() { e.put(strings.Replace(limited(9), ")/d", ")/other", 1)) }, "leads to another database", nothing},
		{"etcd is killed", e.kill, "etcd3 " + key, e.start},
		{"etcd has lost everything", func() {
			e.kill()
			if err := os.RemoveAll(e.dir); err != nil {
				t.Fatal(err)
			}
			e.start()
		}, "there is no such key", nothing},
		{"the values before are forgotten", func() {
			e.put(limited(8)) // both come into force, or the second alone
			e.put(limited(9))
			within(t, 20*time.Second, "the value that is kept", func() bool { return plugin.Config().Props.MaxNodes == 9 })
			e.compact()
		}, "", nothing},
		{"nothing", nothing, "", nothing},
	} {
		before := plugin.Config()
		trouble.make()
		if trouble.reported == "" {
			before = plugin.Config()
		}
		generation := plugin.Status().Generation
		for trouble.reported != "" {
			select {
			case err := <-refused:
				if strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: a password is shown: %v", trouble.name, err)
				}
				if !strings.Contains(err.Error(), trouble.reported) {
					continue // an answer that was under way
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: nothing is reported", trouble.name)
			}
			break
		}
		if !reflect.DeepEqual(plugin.Config(), before) || plugin.Status().Generation != generation {
			t.Errorf("%s: the configuration in force has changed", trouble.name)
		}
		trouble.mend()
		e.put(limited(20 + i))
		within(t, 20*time.Second, "the next value after: "+trouble.name, func() bool { return plugin.Config().Props.MaxNodes == 20+i })
	}
}
