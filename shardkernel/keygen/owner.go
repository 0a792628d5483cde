package keygen

import (
	"context"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// OwnerGenerator is a Generator whose keys carry something of another column of
// the same row, such as the slot of the user who owns an order. Next is not
// called for it.
type OwnerGenerator interface {
	Generator
	// OwnerColumn returns the name of the other column.
	OwnerColumn() string
	// NextFor returns a new key for a row whose other column will hold owner,
	// which is never NULL.
	NextFor(ctx context.Context, owner algorithm.Value) (any, error)
}
