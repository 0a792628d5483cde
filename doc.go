// Package sharding lets an unchanged GORM application use many MySQL-family
// databases and tables as if they were one.
//
//	cfg, err := config.Load("sharding.yaml")
//	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{})
//	err = db.Use(sharding.Register(cfg))
//
// From then on every statement of db is parsed, routed to the data nodes that
// can hold its rows, rewritten, executed in parallel and merged. A query returns
// what one unsharded database would return, or an error that matches
// ErrUnsupported before anything is sent. A statement that names no configured
// table passes through untouched to the default data source.
//
// Connector serves applications that use database/sql without GORM.
package sharding
