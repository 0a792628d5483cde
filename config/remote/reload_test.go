package remote_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/config/remote"
)

// follow opens a connector by the configuration in the key, which a watch of the key
// reloads until the test ends, and gives what it refuses.
func (e *etcd) follow() (plugin sharding.Reloader, refused <-chan error) {
	t := e.t
	t.Helper()
	cfg, err := remote.Load(t.Context(), e.source())
	if err != nil {
		t.Fatal(err)
	}
	connector, err := sharding.Connector(cfg) // dials nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connector.(io.Closer).Close() })
	plugin = connector.(sharding.Reloader)
	told := make(chan error, 100)
	w, err := remote.Watch(t.Context(), e.source(), func(found config.Event) {
		if found.Err == nil {
			found.Err = plugin.Reload(found.Config)
		}
		if found.Err != nil {
			told <- found.Err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return plugin, told
}

// What stands in the key comes into force, and what would lose rows does not.
func TestAConnectorFollowsTheKey(t *testing.T) {
	e := startEtcd(t)
	e.put("dataSources: {Ds.0: {dsn: \"app:s3cret@tcp(127.0.0.1:1)/d\"}}\ndefaultDataSource: Ds.0\nprops: {maxNodes: 1}\n")
	plugin, refused := e.follow()
	e.put("dataSources: {Ds.0: {dsn: \"app:s3cret@tcp(127.0.0.1:1)/d\"}}\ndefaultDataSource: Ds.0\nprops: {maxNodes: 2}\n")
	within(t, 20*time.Second, "the configuration to be in force", func() bool { return plugin.Config().Props.MaxNodes == 2 })
	e.put("dataSources: {Ds.0: {dsn: \"app:s3cret@tcp(127.0.0.1:1)/other\"}}\ndefaultDataSource: Ds.0\nprops: {maxNodes: 3}\n")
	if err := <-refused; !strings.Contains(err.Error(), "dataSources.Ds.0.dsn: leads to another database than before") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("another database: %v", err)
	}
	if now := plugin.Status(); now.Generation != 2 || now.Reloads.Failed != 1 || plugin.Config().Props.MaxNodes != 2 {
		t.Errorf("%+v", now)
	}
}
