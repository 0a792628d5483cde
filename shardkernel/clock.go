package shardkernel

import (
	"context"

	"github.com/gormshard/sharding/internal/fault"
)

// instant is the time of one statement: in seconds, as SET timestamp takes it,
// and as the server shows it.
type instant struct{ stamp, wall string }

// now asks the default data source for the time, for a statement whose route or
// whose parts depend on it.
func (k *Kernel) now(ctx context.Context) (instant, error) {
	s, err := k.source(ctx, k.rules.DefaultDataSource)
	if err != nil {
		return instant{}, err
	}
	var at instant
	err = s.control.QueryRowContext(ctx, "SELECT CAST(@@timestamp AS DECIMAL(20,6)), CAST(NOW(6) AS CHAR)").Scan(&at.stamp, &at.wall)
	if err != nil {
		return instant{}, &fault.NodeError{DataSource: s.Name, Err: err}
	}
	return at, nil
}
