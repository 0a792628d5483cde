package shardkernel

import (
	"errors"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

func TestPanicOfThePlannerIsAnErrorWithoutArguments(t *testing.T) {
	for _, cause := range []any{"secret", errors.New("secret")} {
		err := func() (err error) {
			defer recovered(&err)
			panic(cause)
		}()
		if !errors.Is(err, fault.ErrUnsupported) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want ErrUnsupported that does not quote the cause", err)
		}
	}
	beyond := len(t.Name())
	err := func() (err error) {
		defer recovered(&err)
		return errors.New(strings.Fields("one")[beyond])
	}()
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("error %v does not say what went wrong", err)
	}
}

func TestRuleOnAColumnThatTheTableLacksIsAConfigurationError(t *testing.T) {
	k := &Kernel{meta: metadata.New(nil, nil)}
	table := value.NewTable([]value.Column{{Name: "user_id"}, {Name: "id"}})
	rules := &rule.Table{
		Name: "t_order", Path: "sharding.tables.t_order", Key: &rule.KeyGenerate{Column: "oid"},
		Database: &rule.Strategy{Columns: []string{"user_ids"}}, Tables: &rule.Strategy{Columns: []string{"id"}},
	}
	err := k.checkColumns(rules, table)
	if !errors.Is(err, fault.ErrConfig) ||
		!strings.Contains(err.Error(), `sharding.tables.t_order.: the table has no column "user_ids"; did you mean "user_id"?`) ||
		!strings.Contains(err.Error(), `sharding.tables.t_order.keyGenerate.column: the table has no column "oid"; `) ||
		strings.Count(err.Error(), "where it is that of sharding.defaults, move it to the tables that have the column") != 1 {
		t.Errorf("error %v", err)
	}
	rules.Database.Columns[0], rules.Key.Column = "user_id", "id"
	generated := value.NewTable([]value.Column{{Name: "user_id", Generated: true}, {Name: "id"}})
	if err := k.checkColumns(rules, generated); !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), `the server computes the values of column "user_id"`) {
		t.Errorf("a generated sharding column: %v", err)
	}
	if err := k.checkColumns(rules, table); err != nil {
		t.Error(err)
	}
}
