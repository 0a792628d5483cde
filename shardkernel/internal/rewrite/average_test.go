package rewrite_test

import (
	"testing"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// TestAverageHasTheServersDecimals: AVG has as many decimals more than its
// argument as the server's div_precision_increment says.
func TestAverageHasTheServersDecimals(t *testing.T) {
	p := orderService(t)
	stmt, err := parse.Parse("SELECT AVG(amount) FROM t_ent_order", p.set, dialect.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	program, err := route.Compile(stmt, p.set, value.Converter{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := program.Route(route.Input{Meta: p.meta})
	if err != nil {
		t.Fatal(err)
	}
	for _, increment := range []int{0, 4, 9} {
		template := rewrite.Compile(program, rewrite.Server{Dialect: dialect.MySQL, DivPrecision: increment})
		e, err := template.Rewrite(result, nil, p.meta, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Merge.Aggregates[0].DivPrecision; got != increment {
			t.Errorf("div_precision_increment %d: the recipe says %d", increment, got)
		}
	}
}
