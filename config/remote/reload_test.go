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

// What stands in the key comes into force, and what would lose rows does not.
func TestAConnectorFollowsTheKey(t *testing.T) {
	e := startEtcd(t)
	e.put("dataSources: {Ds.0: {dsn: \"app:s3cret@tcp(127.0.0.1:1)/d\"}}\ndefaultDataSource: Ds.0\nprops: {maxNodes: 1}\n")
	cfg, err := remote.Load(t.Context(), e.source())
	if err != nil {
		t.Fatal(err)
	}
	connector, err := sharding.Connector(cfg) // dials nobody
	if err != nil {
		t.Fatal(err)
	}
	defer connector.(io.Closer).Close()
	plugin := connector.(sharding.Reloader)
	refused := make(chan error, 10)
	w, err := remote.Watch(t.Context(), e.source(), func(found config.Event) {
		if found.Err == nil {
			found.Err = plugin.Reload(found.Config)
		}
		if found.Err != nil {
			refused <- found.Err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
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
