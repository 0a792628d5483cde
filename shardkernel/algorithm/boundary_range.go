package algorithm

import (
	"fmt"
)

// newBoundaryRange makes the algorithm BOUNDARY_RANGE: integers are cut into
// partitions at given boundaries, as ShardingSphere's algorithm of that name
// does (user manual, "Sharding Algorithm", auto sharding).
//
// Property: shardingRanges, required, the boundaries in ascending order, as a
// list or as a text with commas. Partition 0 holds the values below the first,
// partition i those from the i-th on that are below the next, and the last one
// those from the last boundary on.
//
// Targets and values are as for VOLUME_RANGE.
func newBoundaryRange(props Props) (Algorithm, error) {
	const name = "shardingRanges"
	r := ReadProps(props)
	bounds := r.integers(name)
	if err := r.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(bounds) == 0:
		return nil, fmt.Errorf("property %q is missing", name)
	case len(bounds) >= maxPartitions:
		return nil, errTooManyPartitions
	}
	if err := checkFirstBound(name, bounds[0]); err != nil {
		return nil, err
	}
	for i, bound := range bounds[1:] {
		if bounds[i].compareInteger(bound) >= 0 {
			return nil, fmt.Errorf("property %q must be ascending; %s stands before %s", name, bounds[i], bound)
		}
	}
	return newOrdered(bounds, readInteger), nil
}
