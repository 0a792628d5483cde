package execute

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// lane is one connection and the units that run on it in turn.
type lane struct {
	source *Source
	conn   *Conn
	owned  bool // the connection is the statement's, not a transaction's
	units  []*plan.Unit
	index  []int // of the units in the plan
}

// lanes shares the units of each data source out to at most perSource lanes,
// neighbours together. Lanes stand in the order of their first units, those of a
// plan with InTurn in that of their data sources' names.
func (e *Executor) lanes(ex *plan.Execution, perSource int) ([]*lane, error) {
	var whole []*lane // one for each data source
	for i := range ex.Units {
		u := &ex.Units[i]
		at := slices.IndexFunc(whole, func(l *lane) bool { return l.source.Name == u.Server() })
		if at < 0 {
			source, err := e.lookup(u.Server())
			if err != nil {
				return nil, err
			}
			at = len(whole)
			whole = append(whole, &lane{source: source})
		}
		whole[at].units = append(whole[at].units, u)
		whole[at].index = append(whole[at].index, i)
	}
	if ex.InTurn {
		slices.SortFunc(whole, func(a, b *lane) int { return strings.Compare(a.source.Name, b.source.Name) })
	}
	if perSource == 1 {
		return whole, nil
	}
	var out []*lane
	for _, l := range whole {
		n := min(perSource, len(l.units))
		// More connections than the pool has would be waited for in vain.
		if open := l.source.DB.Stats().MaxOpenConnections; open > 0 {
			n = min(n, open)
		}
		for k := range n {
			from, to := k*len(l.units)/n, (k+1)*len(l.units)/n
			out = append(out, &lane{source: l.source, units: l.units[from:to], index: l.index[from:to]})
		}
	}
	return out, nil
}

// acquire gives every lane its connection, or takes none. Every statement asks
// the data sources in the order of their names, one after the other: otherwise
// two statements on small pools could each hold what the other waits for.
func acquire(ctx context.Context, lanes []*lane, br Branches) error {
	order := slices.Clone(lanes)
	slices.SortStableFunc(order, func(a, b *lane) int { return strings.Compare(a.source.Name, b.source.Name) })
	for from := 0; from < len(order); {
		source := order[from].source
		to := from + 1
		for to < len(order) && order[to].source == source {
			to++
		}
		if br != nil {
			conn, err := br.Branch(ctx, source.Name)
			if err != nil {
				return err
			}
			order[from].conn = conn
		} else {
			conns, err := source.acquire(ctx, to-from)
			if err != nil {
				for _, l := range order[:from] {
					l.conn.Release(false)
				}
				return err
			}
			for i, c := range conns {
				order[from+i].conn, order[from+i].owned = c, true
			}
		}
		from = to
	}
	return nil
}
