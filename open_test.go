package sharding_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

func TestOfNoDatabaseIsNoPlugin(t *testing.T) {
	for name, db := range map[string]*gorm.DB{"nil": nil, "zero": {}, "without plugins": {Config: &gorm.Config{}}} {
		if p := sharding.Of(db); p != nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// The driver's own error would quote what it takes for the network, which is a part
// of the password here.
func TestOpenShowsTheFormOfADSNAndNoPieceOfIt(t *testing.T) {
	for _, dsn := range []string{"app:a@secret/shop", "mysql://app:secret@127.0.0.1:3306/shop"} {
		cfg := &config.Config{DataSources: map[string]config.DataSource{"ds0": {DSN: config.DSN(dsn)}}, DefaultDataSource: "ds0"}
		_, err := sharding.Open(cfg, &gorm.Config{Logger: logger.Discard})
		if !errors.Is(err, sharding.ErrConfig) {
			t.Fatalf("%s: error %v", dsn, err)
		}
		for text, want := range map[string]bool{"dataSources.ds0": true, "user:password@tcp(host:3306)/schema": true, "secret": false, "127.0.0.1": false} {
			if strings.Contains(err.Error(), text) != want {
				t.Errorf("%s: error %q, which has %q: want %v", dsn, err, text, want)
			}
		}
	}
}

func TestOpenNamesTheDataSourceThatDoesNotAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{DataSources: map[string]config.DataSource{
		"ds0": {DSN: config.DSN("app@tcp(" + nobody + ")/shop_0")}, "ds1": {DSN: config.DSN("app@tcp(" + nobody + ")/shop_1")},
	}, DefaultDataSource: "ds1"}
	_, err = sharding.Open(cfg, &gorm.Config{Logger: logger.Discard})
	var refused *net.OpError
	if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "sharding: data source ds1: ") {
		t.Errorf("error %v", err)
	}
}
