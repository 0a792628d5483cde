package execute

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/execute/fakedb"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

var fourUnits = [][2]string{{"ds0", "t_0"}, {"ds0", "t_1"}, {"ds0", "t_2"}, {"ds1", "t_3"}}

func (c *cluster) scriptFour() {
	c.fakes["ds0"].On("SELECT id FROM t_0", ids("1", "2"))
	c.fakes["ds0"].On("SELECT id FROM t_1", ids())
	c.fakes["ds0"].On("SELECT id FROM t_2", ids("3"))
	c.fakes["ds1"].On("SELECT id FROM t_3", ids("4", "5"))
}

func TestUnorderedUnitsOfADataSourceAreStreamedInTurn(t *testing.T) {
	for _, kind := range []plan.MergeKind{plan.MergeIterate, plan.MergeGroup} {
		c := newCluster(t, Limits{MaxBufferedRows: 1}, "ds0", "ds1")
		c.scriptFour()
		cursors, err := c.Query(t.Context(), query(kind, fourUnits...), nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "sent before reading", c.executed(), map[string][]string{
			"ds0": {"SELECT id FROM t_0"}, "ds1": {"SELECT id FROM t_3"},
		})
		equal(t, "connections", c.inUse(), 2)
		equal(t, "rows", collect(t, cursors), [][]string{{"1", "2", "3"}, {"4", "5"}})
		equal(t, "sent in all", c.executed(), map[string][]string{
			"ds0": {"SELECT id FROM t_0", "SELECT id FROM t_1", "SELECT id FROM t_2"}, "ds1": {"SELECT id FROM t_3"},
		})
	}
}

func TestSeveralConnectionsShareTheUnitsOfADataSource(t *testing.T) {
	for _, test := range []struct {
		name      string
		perQuery  int
		poolSize  int
		wantConns int
		want      [][]string
	}{
		{"two", 2, 0, 3, [][]string{{"1", "2"}, {"3"}, {"4", "5"}}},
		{"no more than units", 9, 0, 4, [][]string{{"1", "2"}, {}, {"3"}, {"4", "5"}}},
		{"no more than the pool has", 9, 2, 3, [][]string{{"1", "2"}, {"3"}, {"4", "5"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, Limits{MaxConnectionsPerQuery: test.perQuery}, "ds0", "ds1")
			c.scriptFour()
			c.sources["ds0"].DB.SetMaxOpenConns(test.poolSize)
			cursors, err := c.Query(t.Context(), query(plan.MergeIterate, fourUnits...), nil)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "connections", c.inUse(), test.wantConns)
			equal(t, "rows", collect(t, cursors), test.want)
		})
	}
}

func TestOrderedMergeGetsOneCursorForEachUnit(t *testing.T) {
	for perQuery, wantConns := range map[int]int{
		1: 1, // the three of ds0 are buffered, the one of ds1 streams
		2: 2, // of ds0 the first alone streams
		3: 4,
	} {
		t.Run(fmt.Sprint(perQuery), func(t *testing.T) {
			c := newCluster(t, Limits{MaxConnectionsPerQuery: perQuery}, "ds0", "ds1")
			c.scriptFour()
			cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, fourUnits...), nil)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "connections", c.inUse(), wantConns)
			equal(t, "rows", collect(t, cursors), [][]string{{"1", "2"}, {}, {"3"}, {"4", "5"}})
		})
	}
}

func TestBufferedRowsKeepTheirBytesAndColumnTypes(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0")
	a := fakedb.Answer{
		Columns: []fakedb.Column{{Name: "id", Type: "BIGINT"}, {Name: "note", Type: "TEXT", Nullable: true}},
		Rows:    [][]driver.Value{{int64(1), []byte("one")}, {int64(2), nil}, {int64(3), []byte{}}},
	}
	c.fakes["ds0"].Otherwise(a)
	cursors, err := c.Query(t.Context(), query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, cursors)
	var kept [][]driver.Value
	for {
		row := make([]driver.Value, 2)
		if cursors[0].Next(row) == io.EOF {
			break
		}
		kept = append(kept, row)
	}
	equal(t, "rows", fmt.Sprintf("%q", kept), `[['\x01' "one"] ['\x02' <nil>] ['\x03' ""]]`)
	types := cursors[0].(driver.RowsColumnTypeDatabaseTypeName)
	equal(t, "type", types.ColumnTypeDatabaseTypeName(1), "TEXT")
	null, ok := cursors[0].(driver.RowsColumnTypeNullable).ColumnTypeNullable(1)
	equal(t, "nullable", []bool{null, ok}, []bool{true, true})
}

func TestBuffersAreBounded(t *testing.T) {
	for name, limits := range map[string]Limits{
		"rows":  {MaxBufferedRows: 2},
		"bytes": {MaxBufferedBytes: 40},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, limits, "ds0", "ds1")
			c.scriptFour()
			_, err := c.Query(t.Context(), query(plan.MergeOrdered, fourUnits...), nil)
			if !errors.Is(err, fault.ErrTooManyRows) {
				t.Fatalf("got %v, want ErrTooManyRows", err)
			}
			if name == "rows" && !strings.Contains(err.Error(), "props.maxMergeRows") {
				t.Errorf("the error does not name the way out: %v", err)
			}
			equal(t, "connections in use", c.inUse(), 0)
		})
	}
}

func TestRowsOfAMultiUnitWriteAreCompleteBeforeTheyAreReturned(t *testing.T) {
	c := newCluster(t, Limits{MaxConnectionsPerQuery: 4}, "ds0", "ds1")
	c.scriptFour()
	ex := query(plan.MergeRows, fourUnits...)
	ex.Write = true
	cursors, err := c.Query(t.Context(), ex, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "connections in use", c.inUse(), 0)
	equal(t, "rows", collect(t, cursors), [][]string{{"1", "2"}, {}, {"3"}, {"4", "5"}})
}

func TestOneUnitStreamsFromItsNode(t *testing.T) {
	c := newCluster(t, Limits{MaxBufferedRows: 1}, "ds0")
	c.fakes["ds0"].On("SELECT id FROM t_0", ids("1", "2"))
	cursors, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", collect(t, cursors), [][]string{{"1", "2"}})
}

func TestNodesWithDifferentColumnsAreDrift(t *testing.T) {
	for name, columns := range map[string][]fakedb.Column{
		"name":  {{Name: "uid", Type: "BIGINT"}},
		"type":  {{Name: "id", Type: "VARCHAR"}},
		"count": {{Name: "id", Type: "BIGINT"}, {Name: "x", Type: "BIGINT"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Limits{}, "ds0")
			c.fakes["ds0"].On("SELECT id FROM t_0", ids("1"))
			c.fakes["ds0"].On("SELECT id FROM t_1", fakedb.Answer{Columns: columns})
			cursors, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer closeAll(t, cursors)
			row := make([]driver.Value, 1)
			if err := cursors[0].Next(row); err != nil {
				t.Fatal(err)
			}
			err = cursors[0].Next(row)
			if !errors.Is(err, fault.ErrSchemaDrift) || !strings.Contains(err.Error(), "ds0.t_1") {
				t.Fatalf("got %v, want ErrSchemaDrift that names ds0.t_1", err)
			}
			if again := cursors[0].Next(row); again != err {
				t.Errorf("the error has to stay: got %v", again)
			}
		})
	}
}

func TestAStreamCutInTheMiddleIsAnError(t *testing.T) {
	cut := ids("1")
	cut.Cut, cut.Break = mysql.ErrInvalidConn, true
	for name, units := range map[string][][2]string{
		"one unit":      {{"ds0", "t_0"}},
		"several units": {{"ds0", "t_0"}, {"ds0", "t_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Limits{}, "ds0")
			c.fakes["ds0"].On("SELECT id FROM t_0", cut)
			cursors, err := c.Query(t.Context(), query(plan.MergeIterate, units...), nil)
			if err != nil {
				t.Fatal(err)
			}
			row := make([]driver.Value, 1)
			if err := cursors[0].Next(row); err != nil {
				t.Fatal(err)
			}
			err = cursors[0].Next(row)
			if !errors.Is(err, mysql.ErrInvalidConn) {
				t.Fatalf("got %v, want the driver's error", err)
			}
			if len(units) == 1 && err != mysql.ErrInvalidConn {
				t.Errorf("one unit gives the driver's value itself, got %T", err)
			}
			closeAll(t, cursors)
			equal(t, "open connections", c.fakes["ds0"].OpenConns(), 0)
			equal(t, "later units sent", c.fakes["ds0"].Count("SELECT id FROM t_1"), 0)
		})
	}
}

func TestAFailureWhileBufferingIsAnError(t *testing.T) {
	cut := ids("1")
	cut.Cut = errors.New("cut")
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.scriptFour()
	c.fakes["ds0"].On("SELECT id FROM t_1", cut)
	_, err := c.Query(t.Context(), query(plan.MergeOrdered, fourUnits...), nil)
	equal(t, "error", err, "sharding: ds0.t_1: cut")
}

func TestTheFirstErrorCancelsTheOtherNodes(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1", "ds2")
	duplicate := &mysql.MySQLError{Number: 1146, Message: "no table"}
	c.fakes["ds0"].On("SELECT id FROM t_0", fakedb.Answer{Delay: time.Minute})
	c.fakes["ds1"].On("SELECT id FROM t_1", fakedb.Answer{Err: duplicate, Delay: 10 * time.Millisecond})
	start := time.Now()
	_, err := c.Query(t.Context(), query(plan.MergeIterate,
		[2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}, [2]string{"ds2", "t_2"}), nil)
	if took := time.Since(start); took > 10*time.Second {
		t.Fatalf("took %v: the slow node was not cancelled", took)
	}
	var nodes *fault.NodesError
	if !errors.As(err, &nodes) || len(nodes.Nodes) != 1 || nodes.Nodes[0].DataSource != "ds1" || nodes.Nodes[0].Table != "t_1" {
		t.Fatalf("got %v, want the failure of ds1.t_1 alone", err)
	}
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server != duplicate {
		t.Errorf("the driver's error cannot be reached in %v", err)
	}
	equal(t, "connections in use", c.inUse(), 0)
}

func TestEveryNodeThatFailedIsNamed(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	br := &branches{c: c} // nothing is cancelled in a transaction: both fail for certain
	defer br.end()
	for n, f := range c.fakes {
		f.On("SELECT id FROM t_"+n[2:], fakedb.Answer{Err: errors.New("broken " + n), Hold: both(c)})
	}
	_, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds1", "t_1"}, [2]string{"ds0", "t_0"}), br)
	equal(t, "error", err, "sharding: ds1.t_1: broken ds1; ds0.t_0: broken ds0")
}

// both is closed once every database has a statement.
func both(c *cluster) <-chan struct{} {
	ch := make(chan struct{})
	go func() {
		defer close(ch)
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if c.selects() == len(c.fakes) {
				return
			}
		}
	}()
	return ch
}

func (c *cluster) selects() int {
	n := 0
	for _, texts := range c.executed() {
		for _, text := range texts {
			if strings.HasPrefix(text, "SELECT") {
				n++
			}
		}
	}
	return n
}

func TestCancellingTheCallerEndsEveryNode(t *testing.T) {
	t.Run("while waiting for answers", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		for _, f := range c.fakes {
			f.Otherwise(fakedb.Answer{Delay: time.Minute})
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-both(c)
			cancel()
		}()
		_, err := c.Query(ctx, query(plan.MergeIterate, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), nil)
		if err != context.Canceled {
			t.Fatalf("got %v, want context.Canceled", err)
		}
		equal(t, "connections in use", c.inUse(), 0)
	})
	t.Run("by a deadline", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		c.fakes["ds0"].Otherwise(fakedb.Answer{Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := c.Query(ctx, query(plan.MergeIterate, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want context.DeadlineExceeded", err)
		}
	})
	t.Run("while rows are read", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		c.scriptFour()
		ctx, cancel := context.WithCancel(t.Context())
		cursors, err := c.Query(ctx, query(plan.MergeIterate, fourUnits...), nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]driver.Value, 1)
		if err := cursors[0].Next(row); err != nil {
			t.Fatal(err)
		}
		cancel()
		for i, rows := range cursors {
			if err := rows.Next(row); !errors.Is(err, context.Canceled) {
				t.Errorf("cursor %d: got %v, want context.Canceled", i, err)
			}
			_ = rows.Close()
		}
	})
	t.Run("while waiting for a connection", func(t *testing.T) {
		c := newCluster(t, Limits{}, "ds0", "ds1")
		c.sources["ds1"].DB.SetMaxOpenConns(1)
		held, err := c.sources["ds1"].Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release(false)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = c.Query(ctx, query(plan.MergeIterate, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), nil)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "ds1") {
			t.Fatalf("got %v, want DeadlineExceeded that names ds1", err)
		}
		equal(t, "sent", c.executed(), map[string][]string{})
	})
}

func TestClosingCursorsEarlyGivesEverythingBack(t *testing.T) {
	c := newCluster(t, Limits{MaxConnectionsPerQuery: 2}, "ds0", "ds1")
	c.scriptFour()
	cursors, err := c.Query(t.Context(), query(plan.MergeIterate, fourUnits...), nil)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, cursors)
	closeAll(t, cursors) // a second time
	equal(t, "connections in use", c.inUse(), 0)
	for n, f := range c.fakes {
		if f.OpenConns() == 0 {
			t.Errorf("%s: a sound connection was thrown away", n)
		}
	}
}

// Without the gate two statements each hold one of the two connections they
// need; without the order each holds the data source the other waits for.
func TestStatementsOnSmallPoolsDoNotWaitForEachOther(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := newCluster(t, Limits{MaxConnectionsPerQuery: 2}, "ds0", "ds1")
	for _, s := range c.sources {
		s.DB.SetMaxOpenConns(2)
	}
	for _, f := range c.fakes {
		f.Otherwise(ids("1"))
	}
	plans := []*plan.Execution{
		query(plan.MergeOrdered, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}, [2]string{"ds1", "t_0"}, [2]string{"ds1", "t_1"}),
		query(plan.MergeOrdered, [2]string{"ds1", "t_0"}, [2]string{"ds1", "t_1"}, [2]string{"ds0", "t_0"}, [2]string{"ds0", "t_1"}),
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 100 {
				cursors, err := c.Query(ctx, plans[i%2], nil)
				if err != nil {
					t.Error(err)
					return
				}
				for _, rows := range cursors {
					_ = rows.Close()
				}
			}
		})
	}
	wg.Wait()
}

func TestUnitsBeyondMaxParallelUnitsWaitTheirTurn(t *testing.T) {
	c := newCluster(t, Limits{MaxParallelUnits: 1}, "ds0", "ds1", "ds2")
	for _, f := range c.fakes {
		a := ids("1")
		a.Delay = 10 * time.Millisecond
		f.Otherwise(a)
	}
	start := time.Now()
	cursors, err := c.Query(t.Context(), query(plan.MergeIterate,
		[2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}, [2]string{"ds2", "t_2"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", collect(t, cursors), [][]string{{"1"}, {"1"}, {"1"}})
	if took := time.Since(start); took < 30*time.Millisecond {
		t.Errorf("took %v: the units ran at the same time", took)
	}
}

func TestInATransactionEveryDataSourceHasOneConnection(t *testing.T) {
	c := newCluster(t, Limits{MaxConnectionsPerQuery: 4}, "ds0", "ds1")
	c.scriptFour()
	br := &branches{c: c}
	defer br.end()
	for kind, want := range map[plan.MergeKind][][]string{
		plan.MergeIterate: {{"1", "2", "3"}, {"4", "5"}},
		plan.MergeOrdered: {{"1", "2"}, {}, {"3"}, {"4", "5"}},
	} {
		cursors, err := c.Query(t.Context(), query(kind, fourUnits...), br)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "rows", collect(t, cursors), want)
		equal(t, "connections in use", c.inUse(), 2)
	}
	equal(t, "events", br.events, []string{"branch ds0", "branch ds1"})
}

func TestInATransactionTheOtherNodesAreNotCancelled(t *testing.T) {
	c := newCluster(t, Limits{}, "ds0", "ds1")
	c.fakes["ds0"].On("SELECT id FROM t_0", fakedb.Answer{Err: errors.New("no table")})
	c.fakes["ds1"].On("SELECT id FROM t_1", fakedb.Answer{Delay: 30 * time.Millisecond})
	br := &branches{c: c}
	defer br.end()
	_, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}, [2]string{"ds1", "t_1"}), br)
	equal(t, "error", err, "sharding: ds0.t_0: no table")
	if br.conns["ds1"].Lost() {
		t.Error("the branch of ds1 was lost")
	}
	equal(t, "told", br.events[2:], []string{"failed ds0: ds0.t_0: no table"})
}

func TestAStreamOfATransactionTellsOfItsFailure(t *testing.T) {
	cut := ids("1")
	cut.Cut, cut.Break = fmt.Errorf("read: %w", driver.ErrBadConn), true
	c := newCluster(t, Limits{}, "ds0")
	c.fakes["ds0"].On("SELECT id FROM t_0", cut)
	br := &branches{c: c}
	defer br.end()
	cursors, err := c.Query(t.Context(), query(plan.MergeIterate, [2]string{"ds0", "t_0"}), br)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]driver.Value, 1)
	_ = cursors[0].Next(row)
	err = cursors[0].Next(row)
	if err == nil || errors.Is(err, driver.ErrBadConn) || !strings.Contains(err.Error(), "ds0: read:") {
		t.Errorf("got %v, want the text of the driver's error, the data source, and no ErrBadConn", err)
	}
	closeAll(t, cursors)
	equal(t, "events", br.events, []string{"branch ds0", "failed ds0: read: driver: bad connection"})
	if !br.conns["ds0"].Lost() {
		t.Error("the connection does not count as lost")
	}
}
