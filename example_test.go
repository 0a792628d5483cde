package sharding_test

import (
	"context"
	"fmt"
	"log"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

func ExamplePlugin_CheckBroadcast() {
	cfg, err := config.Load("sharding.yaml")
	if err != nil {
		log.Fatal(err)
	}
	db, err := gorm.Open(mysql.Open("app:secret@tcp(127.0.0.1:3306)/orders_0?parseTime=true"), &gorm.Config{})
	if err != nil {
		log.Fatal(err)
	}
	plugin := sharding.Register(cfg)
	if err := db.Use(plugin); err != nil {
		log.Fatal(err)
	}

	report, err := plugin.CheckBroadcast(context.Background(), "t_region")
	if err != nil {
		log.Fatal(err)
	}
	if !report.Consistent() {
		fmt.Print(report) // such as: (id) = (7): missing in ds1
	}
}
