package shardkernel

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

func TestStatementsOfOneStringAreRoutedOnTheirOwnInTextOrder(t *testing.T) {
	k := planner(t)
	for _, test := range []struct {
		text string
		args []any
		want []plan.Unit
	}{
		{
			"UPDATE t_order SET a = ? WHERE id = ?; UPDATE t_order SET a = ? WHERE id = ?;",
			[]any{"x", int64(1), "y", int64(2)},
			[]plan.Unit{
				{SQL: "UPDATE t_order_1 SET a = ? WHERE id = ?", Args: []any{"x", int64(1)}},
				{SQL: "UPDATE t_order_0 SET a = ? WHERE id = ?", Args: []any{"y", int64(2)}},
			},
		},
		{
			"UPDATE t_order SET a = a + 1 WHERE id = 1; UPDATE t_order SET a = a + 1 WHERE id = 1",
			nil,
			[]plan.Unit{{SQL: "UPDATE t_order_1 SET a = a + 1 WHERE id = 1"}, {SQL: "UPDATE t_order_1 SET a = a + 1 WHERE id = 1"}},
		},
		{
			"DELETE FROM log WHERE a = ';' AND b = ? ;\n/* second */ INSERT INTO t_order (id) VALUES (3), (4) # last;",
			[]any{"b"},
			[]plan.Unit{
				{SQL: "DELETE FROM log WHERE a = ';' AND b = ?", Args: []any{"b"}},
				{SQL: "/* second */ INSERT INTO t_order_0 (id) VALUES (4) # last;"},
				{SQL: "/* second */ INSERT INTO t_order_1 (id) VALUES (3) # last;"},
			},
		},
	} {
		ex, err := k.Plan(t.Context(), nil, test.text, test.args)
		if err != nil {
			t.Errorf("%s\n%v", test.text, err)
			continue
		}
		for i := range ex.Units {
			ex.Units[i].DataSource, ex.Units[i].Table = "", ""
			if len(ex.Units[i].Args) == 0 {
				ex.Units[i].Args = nil
			}
			ex.Units[i].Prepare = false
		}
		if !reflect.DeepEqual(ex.Units, test.want) {
			t.Errorf("%s\nbecame %+v\nwant   %+v", test.text, ex.Units, test.want)
		}
		if ex.Kind != plan.KindBatch || !ex.Write {
			t.Errorf("%s\nis %s, write %t", test.text, ex.Kind, ex.Write)
		}
	}
}

// What a pool of unknown settings would do with them is not known.
func TestSeveralStatementsNeedADSNThatAllowsThem(t *testing.T) {
	for _, client := range []*metadata.Client{nil, {}} {
		k := planner(t)
		k.sources["ds0"].client = client
		_, err := k.Plan(t.Context(), nil, "UPDATE t_order SET a = 1 WHERE id = 1; DELETE FROM t_order", nil)
		if !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "multiStatements=true") {
			t.Errorf("%+v: %v, want a refusal that names multiStatements", client, err)
		}
	}
}

func TestOneStatementWithASemicolonIsNoBatch(t *testing.T) {
	ex, err := planner(t).Plan(t.Context(), nil, "SELECT a FROM t_order WHERE id = 1 ; -- done", nil)
	if err != nil || ex.Kind == plan.KindBatch || ex.Units[0].SQL != "SELECT a FROM t_order_1 WHERE id = 1 ; -- done" {
		t.Errorf("%+v, %v", ex, err)
	}
}

func TestStringsOfStatementsThatAreRefused(t *testing.T) {
	k := planner(t)
	update := "UPDATE t_order SET a = 1 WHERE id = 1"
	for text, want := range map[string]string{
		update + "; SELECT 1":                                     "SELECT beside other statements",
		"SELECT a FROM t_order; " + update:                        "SELECT beside other statements",
		update + "; DROP TABLE log":                               "DROP beside other statements",
		update + "; SET @a = 1":                                   "SET",
		"BEGIN; " + update + "; COMMIT":                           "BEGIN",
		update + ";; " + update:                                   "there is no statement before it",
		"; " + update:                                             "there is no statement before it",
		update + "; UPDATE t_order SET a = LAST_INSERT_ID()":      "LAST_INSERT_ID beside other statements",
		update + "; UPDATE log SET a = @v":                        "@V beside other statements",
		update + "; DELETE FROM t_order WHERE id = 1 RETURNING a": "RETURNING beside other statements",
		update + "; UPDATE t_order SET a = ? WHERE id = 2":        "1 parameter markers and 0 arguments",
		update + " /*! ; */ ; " + update:                          "; in /*! … */",
		update + "; UPDATE t_order SET id = 2 WHERE id = 1":       "",
		"UPDATE log SET a = 1; SET autocommit = 0":                "SET",
		"UPDATE log SET a = 1; COMMIT":                            "COMMIT",
		"CREATE TABLE log2 (id int); SET autocommit = 0":          "SET",
		"ALTER TABLE log ADD function int; BEGIN":                 "BEGIN",
		"SELECT 1; LOCK TABLES log WRITE":                         "LOCK",
		"SELECT 1; CREATE TEMPORARY TABLE log2 (id int)":          "CREATE",
		"CREATE TABLE log2 (id int); SELECT GET_LOCK('a', 1)":     "SELECT",
	} {
		ex, err := k.Plan(t.Context(), nil, text, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%+v, %v\nwant an error with %q", text, ex, err, want)
		}
		if want != "" && !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s\n%v is not ErrUnsupported", text, err)
		}
	}
	// So it is where a hint sends the text as it is.
	for _, text := range []string{"SELECT 1; SET autocommit = 0", "UPDATE t_order_1 SET a = 1; USE mysql", "SELECT 1; LOCK TABLES t_order_1 WRITE"} {
		if _, err := k.Plan(t.Context(), &Hints{SkipSharding: true}, text, nil); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%s\nunder a hint: %v", text, err)
		}
	}
	// A program's body is the server's.
	if _, err := k.Plan(t.Context(), nil, "CREATE PROCEDURE p() BEGIN SET @a = 1; COMMIT; END", nil); err != nil {
		t.Error(err)
	}
}

func TestResultsOfSeveralStatementsAreSummed(t *testing.T) {
	one := func(id int64) *plan.Execution {
		return &plan.Execution{Units: make([]plan.Unit, 1), LastInsertID: id}
	}
	broadcast := &plan.Execution{Units: []plan.Unit{{DataSource: "ds0"}, {DataSource: "ds1"}}, Merge: &plan.Merge{Broadcast: true}}
	nothing := &plan.Execution{Merge: &plan.Merge{}}
	results := []execute.Result{{RowsAffected: 3, LastInsertID: 7}, {RowsAffected: 5}, {RowsAffected: 5}, {RowsAffected: 1, LastInsertID: 9}}
	if got := resultOf(plan.Batch([]*plan.Execution{one(0), broadcast, one(0)}), results); got != (result{affected: 9, lastInsertID: 9}) {
		t.Errorf("%+v", got)
	}
	if got := resultOf(plan.Batch([]*plan.Execution{one(42), nothing}), results[:1]); got != (result{affected: 3}) {
		t.Errorf("the last statement inserts nothing: %+v", got)
	}
}
