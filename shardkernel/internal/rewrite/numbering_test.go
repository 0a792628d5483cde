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

// A row that gets a new number is equal to no other row where the number is the
// only key, so that nothing that is to be done for such a row is done.
func TestBroadcastUpsertIsNumberedWhereTheNumberIsTheOnlyKey(t *testing.T) {
	p := orderService(t)
	known := p.meta
	for _, c := range []struct {
		sql         string
		name        value.Column
		first, then string // first is empty where the statement is refused
	}{
		{
			sql:   "INSERT INTO t_region (name) VALUES ('a') ON DUPLICATE KEY UPDATE id = id RETURNING id",
			first: "INSERT INTO t_region (name) VALUES ('a') ON DUPLICATE KEY UPDATE id = id RETURNING id, id AS NUMBER_DERIVED_0",
			then:  "INSERT INTO t_region (name, id) VALUES ('a', ?) ON DUPLICATE KEY UPDATE id = id RETURNING id",
		},
		{
			sql:   "INSERT INTO t_region (name, id) VALUES ('a', DEFAULT), ('b', 1) ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id",
			first: "INSERT INTO t_region (name, id) VALUES ('a', DEFAULT), ('b', 1) ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id, id AS NUMBER_DERIVED_0",
			then:  "INSERT INTO t_region (name, id) VALUES ('a', ?), ('b', 1) ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id",
		},
		{sql: "INSERT INTO t_region (name) VALUES ('a') ON DUPLICATE KEY UPDATE id = id", name: value.Column{Unique: true}},
		{sql: "INSERT IGNORE INTO t_region (name) VALUES ('a')"},
	} {
		c.name.Name, c.name.Type, c.name.Class = "name", "varchar(64)", value.ClassText
		p.meta = route.Meta(func(logical string) *value.Table {
			if logical != "t_region" {
				return known(logical)
			}
			return value.NewTable([]value.Column{
				{Name: "id", Type: "bigint(20)", Class: value.ClassInteger, Bits: 64, AutoIncrement: true, Unique: true},
				c.name,
			})
		})
		ex, err := p.run(c.sql, nil)
		if c.first == "" {
			if !errors.Is(err, fault.ErrUnsupported) {
				t.Errorf("%s: error %v", c.sql, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := ex.Numbering.First.SQL; got != c.first {
			t.Errorf("first:\n got %s\nwant %s", got, c.first)
		}
		if got := ex.Numbering.Rest([]any{int64(7)})[0].SQL; got != c.then {
			t.Errorf("then:\n got %s\nwant %s", got, c.then)
		}
	}
}
