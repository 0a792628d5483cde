package fault

import (
	"errors"
	"testing"
)

func TestMessagesNameThePlaceTheReasonAndTheWayOut(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err   error
		class error
		want  string
	}{
		{Unsupported("HAVING", "no", "yes"), ErrUnsupported, "sharding: unsupported: HAVING: no; yes"},
		{&UnsupportedError{Err: cause}, ErrUnsupported, "sharding: unsupported: cause"},
		{&UnsupportedError{Clause: "a", Reason: "r", Err: Unsupported("b", "no", "yes")}, ErrUnsupported, "sharding: unsupported: a: r: b: no; yes"},
		{&RouteError{Class: ErrNoDataNode, Reason: "r", Err: Unsupported("b", "no", "yes")}, ErrNoDataNode, "sharding: no data node: r: unsupported: b: no; yes"},
		{&RouteError{Class: ErrNoDataNode, Table: "t", Column: "c", Row: 2, Reason: "r", Remedy: "m", Err: cause}, ErrNoDataNode, "sharding: no data node: table t, column c, row 2: r: cause; m"},
		{&RouteError{Class: ErrUnknownTable}, ErrUnknownTable, "sharding: unknown table"},
		{&ConfigError{Path: "a.b", Reason: "r", Remedy: "m"}, ErrConfig, "sharding: a.b: r; m"},
		{&NodesError{Nodes: []*NodeError{{DataSource: "ds0", Table: "t_0", Err: cause}, {DataSource: "ds1", Err: cause}}}, cause, "sharding: ds0.t_0, ds1: cause"},
		{&NodesError{Nodes: []*NodeError{{"a", "t", cause}, {"b", "t", errors.New("other")}, {"c", "t", cause}, {"d", "t", cause}, {"e", "t", cause}}}, cause, "sharding: 4 nodes (a.t, …, e.t): cause; b.t: other"},
		{&NodesError{Class: ErrPartialCommit, Done: []string{"ds2", "ds1"}, Nodes: []*NodeError{{DataSource: "ds0", Err: cause}}}, ErrPartialCommit, "sharding: transaction committed in part (committed on ds1, ds2): ds0: cause"},
		{&NodesError{Class: ErrPartialDDL, Done: []string{"ds0.t_0"}, Nodes: []*NodeError{{DataSource: "ds1", Table: "t_0", Err: cause}}}, ErrPartialDDL, "sharding: DDL took effect in part (done on ds0.t_0): ds1.t_0: cause; mend the cause and send the same statement again"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("message %q, want %q", got, c.want)
		}
		if !errors.Is(c.err, c.class) {
			t.Errorf("%q does not match %q", c.err, c.class)
		}
	}
	var route *RouteError
	if err := error(&RouteError{Class: ErrNoShardingKey, Err: cause}); !errors.As(err, &route) || !errors.Is(err, cause) || errors.Is(err, ErrNoDataNode) {
		t.Errorf("%v: facts, cause or class are not found", err)
	}
}
