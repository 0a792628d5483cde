package keygen

import (
	"context"
	"errors"
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// geneSnowflake is the generator GENE_SNOWFLAKE. Its keys are those of SNOWFLAKE
// with the slot of the row's owner in the place of the worker id, so that the
// algorithm GENE finds the node by the key alone: 41 bits of milliseconds, 10
// bits of slot, and 12 bits that worker id and sequence share.
//
// Properties:
//
//	ownerColumn  required: the column whose value decides the slot
//	slots, hash, javaType, substring
//	             as those of the algorithm GENE; they must be the same
//	workerBits   bits of the worker id, 0 to 10, by default 5: 32 processes, each
//	             of which makes up to 128 keys a millisecond
//	workerId, maxVibrationOffset, maxTolerateTimeDifferenceMilliseconds
//	             as for SNOWFLAKE, within these bits. Leased worker ids are apart
//	             from those of SNOWFLAKE
type geneSnowflake struct {
	*snowflake
	owner string
	slots *algorithm.Slots
}

var (
	_ OwnerGenerator = (*geneSnowflake)(nil)
	_ Stored         = (*geneSnowflake)(nil)
)

func (c *configured) newGeneSnowflake(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	g := &geneSnowflake{
		owner: strings.ToLower(r.String("ownerColumn")),
		slots: algorithm.ReadSlots(r, 1<<algorithm.GeneBits),
	}
	workerBits := uint(r.IntOr("workerBits", 5, 0, 10))
	g.snowflake = c.readSnowflake(r, "GENE_SNOWFLAKE", workerBits, algorithm.GeneShift-workerBits)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return g, nil
}

// OwnerColumn implements OwnerGenerator.
func (g *geneSnowflake) OwnerColumn() string { return g.owner }

// Slots returns the slots, to be compared with those of the algorithm.
func (g *geneSnowflake) Slots() *algorithm.Slots { return g.slots }

// Next fails: a key without an owner would not be found.
func (g *geneSnowflake) Next(context.Context) (any, error) {
	return nil, errors.New("GENE_SNOWFLAKE makes no key without the value of " + g.owner)
}

// NextFor returns an int64. It waits as SNOWFLAKE does.
func (g *geneSnowflake) NextFor(ctx context.Context, owner algorithm.Value) (any, error) {
	slot, err := g.slots.Of(owner)
	if err != nil {
		return nil, err
	}
	key, err := g.next(ctx)
	if err != nil {
		return nil, err
	}
	return key | int64(slot)<<algorithm.GeneShift, nil
}
