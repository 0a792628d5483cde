// Quickstart runs an order service over four SQLite files as if they were one
// database, and prints for each step the logical SQL, the units it became and
// the result. It needs no server and no C compiler:
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/examples/internal/tour"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "sharding-quickstart-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	rec := &tour.Recorder{}
	plugin := sharding.Register(configuration(dir),
		sharding.WithDialector("sqlite", sqlite.Open),
		sharding.WithUnitTrace(rec.Unit))

	// What an application does: it opens one database. db.Use makes it four.
	db, err := gorm.Open(sqlite.Open(filepath.Join(dir, "ds0.db")), &gorm.Config{Logger: rec})
	if err != nil {
		return err
	}
	if err := db.Use(plugin); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugin.Close()) }()

	fmt.Fprintln(out, "Four databases, ds0 to ds3, in", dir)
	if err := createTables(plugin); err != nil {
		return err
	}
	return tour.Run(ctx, out, rec, plugin, db)
}

// configuration says what a sharding.yaml would say, see examples/orders.
func configuration(dir string) *config.Config {
	byEnterprise := &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: "database"}}
	byItem := &config.Strategy{Standard: &config.Standard{Column: "ent_id", Algorithm: "item"}}
	key := func(column string) *config.KeyGenerate {
		return &config.KeyGenerate{Column: column, Generator: "snowflake"}
	}
	cfg := &config.Config{
		DataSources:       map[string]config.DataSource{},
		DefaultDataSource: "ds0",
		Sharding: config.Sharding{
			Tables: map[string]config.Table{
				"t_ent_order": {
					ActualDataNodes: "ds${0..3}.t_ent_order", DatabaseStrategy: byEnterprise, KeyGenerate: key("id"),
				},
				"t_ent_order_detail": {
					ActualDataNodes: "ds${0..3}.t_ent_order_detail", DatabaseStrategy: byEnterprise,
				},
				"t_ent_order_item": {
					ActualDataNodes: "ds${0..3}.t_ent_order_item_${0..7}", DatabaseStrategy: byEnterprise, TableStrategy: byItem, KeyGenerate: key("id"),
				},
			},
			BindingTables:   [][]string{{"t_ent_order", "t_ent_order_detail"}},
			BroadcastTables: []string{"t_region"},
			Algorithms: map[string]config.Algorithm{
				"database": {Type: "INLINE", Props: map[string]any{"expression": "ds${ent_id % 4}"}},
				"item":     {Type: "INLINE", Props: map[string]any{"expression": "t_ent_order_item_${ent_id.intdiv(4) % 8}"}},
			},
			KeyGenerators: map[string]config.KeyGenerator{
				"snowflake": {Type: "SNOWFLAKE", Props: map[string]any{"workerId": 1}},
			},
		},
	}
	for i := range 4 {
		name := fmt.Sprintf("ds%d", i)
		cfg.DataSources[name] = config.DataSource{Driver: "sqlite", DSN: config.DSN(filepath.Join(dir, name+".db"))}
	}
	return cfg
}

// createTables makes the actual tables in every database.
func createTables(plugin *sharding.Plugin) error {
	for i := range 4 {
		ds := plugin.DataSource(fmt.Sprintf("ds%d", i))
		for _, ddl := range tour.Tables(i == 0) {
			if err := ds.Exec(ddl).Error; err != nil {
				return err
			}
		}
	}
	return nil
}
