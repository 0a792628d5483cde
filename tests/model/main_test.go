//go:build unix

// Package model_test writes through models, whose sharding values GORM leaves out
// of WHERE, and holds every row and every answer against those of GORM on one
// database.
package model_test

import (
	"os"
	"testing"

	"github.com/gormshard/sharding/tests/mariadbtest"
)

func TestMain(m *testing.M) {
	os.Exit(mariadbtest.Main(m, mariadbtest.StatementCache))
}
