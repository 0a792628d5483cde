// Orders runs the order service of the quickstart against MariaDB or MySQL from
// a YAML configuration.
//
//	go run ./examples/orders -demo
//
// starts private mariadbd processes for it, where MariaDB is installed. Against
// servers of your own, set ORDERS_DSN_0 to ORDERS_DSN_3 to the DSNs of four empty
// databases (user:password@tcp(host:port)/database?parseTime=true) and run
//
//	go run ./examples/orders -config examples/orders/sharding.yaml -create
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/examples/internal/tour"
	"github.com/gormshard/sharding/tests/mariadb"
)

const databases = 4

func main() {
	path := flag.String("config", "", "configuration file; defaults to the sharding.yaml of this example")
	demo := flag.Bool("demo", false, "start private mariadbd processes and use them")
	create := flag.Bool("create", false, "create the actual tables first; -demo does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *path, *demo, *create)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, path string, demo, create bool) (err error) {
	if demo {
		stop, err := startServers(ctx, out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	cfg, err := load(path)
	if err != nil {
		return err
	}
	rec := &tour.Recorder{}
	plugin := sharding.Register(cfg, sharding.WithUnitTrace(rec.Unit))
	db, err := gorm.Open(mysql.Open(string(cfg.DataSources[cfg.DefaultSourceName()].DSN)), &gorm.Config{Logger: rec})
	if err != nil {
		return err
	}
	if err := db.Use(plugin); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close()) }()
	if demo || create {
		if err := createTables(plugin, cfg); err != nil {
			return err
		}
	}
	return tour.Run(ctx, out, rec, plugin, db)
}

// startServers starts two servers with two databases each and points the
// configuration's environment variables at them.
func startServers(ctx context.Context, out io.Writer) (stop func() error, err error) {
	servers, err := mariadb.StartSet(ctx, databases/2, mariadb.Options{})
	if err != nil {
		return nil, err
	}
	stop = func() error {
		var errs []error
		for _, s := range servers {
			errs = append(errs, s.Stop())
		}
		return errors.Join(errs...)
	}
	for i := range databases {
		server, name := servers[i%len(servers)], fmt.Sprintf("orders_%d", i)
		if err := server.CreateDatabase(ctx, name); err != nil {
			return nil, errors.Join(err, stop())
		}
		if err := os.Setenv(fmt.Sprintf("ORDERS_DSN_%d", i), server.DSN(name, "parseTime=true")); err != nil {
			return nil, errors.Join(err, stop())
		}
		fmt.Fprintf(out, "ds%d: database %s on %s\n", i, name, server.Addr())
	}
	return stop, nil
}

func createTables(plugin *sharding.Plugin, cfg *config.Config) error {
	for _, name := range cfg.SourceNames() {
		for _, ddl := range tour.Tables(name == cfg.DefaultSourceName()) {
			if err := plugin.DataSource(name).Exec(ddl).Error; err != nil {
				return err
			}
		}
	}
	return nil
}

//go:embed sharding.yaml
var example []byte

func load(path string) (*config.Config, error) {
	if path == "" {
		return config.Parse(example, "yaml")
	}
	return config.Load(path)
}
