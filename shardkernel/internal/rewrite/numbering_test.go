package rewrite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// Each node counts for itself, so that the numbers of an AUTO_INCREMENT column
// would repeat.
func TestInsertMayNotLeaveAutoIncrementToSeveralNodes(t *testing.T) {
	p := orderService(t)
	known := p.meta
	p.meta = route.Meta(func(logical string) *value.Table {
		if logical != "t_ent_order_detail" {
			return known(logical)
		}
		return value.NewTable([]value.Column{
			{Name: "seq", Type: "bigint(20)", Class: value.ClassInteger, Bits: 64, AutoIncrement: true},
			{Name: "ent_id", Type: "bigint(20)", Class: value.ClassInteger, Bits: 64},
		})
	})
	for sql, refused := range map[string]bool{
		"INSERT INTO t_ent_order_detail (ent_id) VALUES (1)":                  true,
		"INSERT INTO t_ent_order_detail (ent_id, seq) VALUES (1, NULL)":       true,
		"INSERT INTO t_ent_order_detail (ent_id, seq) VALUES (1, 5), (1, 0)":  true,
		"INSERT INTO t_ent_order_detail (ent_id, seq) VALUES (1, DEFAULT)":    true,
		"INSERT INTO t_ent_order_detail (ent_id, seq) VALUES (1, 5), (2, 6)":  false,
		"INSERT INTO t_ent_order_detail VALUES (DEFAULT, 1)":                  true,
		"INSERT INTO t_ent_order_detail VALUES (9, 1)":                        false,
		"INSERT INTO t_ent_order_detail SET ent_id = 1":                       true,
		"REPLACE INTO t_ent_order_detail (seq, ent_id) VALUES (3, 1), (4, 2)": false,
	} {
		_, err := p.run(sql, nil)
		if got := errors.Is(err, fault.ErrUnsupported); got != refused || err != nil && !strings.Contains(err.Error(), "keyGenerate") {
			t.Errorf("%s: error %v, want refused %t", sql, err, refused)
		}
	}
}
