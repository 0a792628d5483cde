package algorithm

import (
	"errors"
	"fmt"
	"math/bits"
)

// newVolumeRange makes the algorithm VOLUME_RANGE: the integers from rangeLower
// up to rangeUpper, without it, cut into partitions of shardingVolume values
// each, as ShardingSphere's algorithm of that name does (user manual, "Sharding
// Algorithm", auto sharding).
//
// Properties, all required:
//
//	rangeLower      partition 0 holds the values below it
//	rangeUpper      the last partition holds the values from it on
//	shardingVolume  values of each partition between the two; the last of these
//	                is smaller where the range is no multiple
//
// Partition i is the target whose name ends in the number i. The values may be
// integers of the whole BIGINT and BIGINT UNSIGNED range, and texts that spell
// an integer.
func newVolumeRange(props Props) (Algorithm, error) {
	r := ReadProps(props)
	lower, upper := r.wideInteger("rangeLower"), r.wideInteger("rangeUpper")
	volume := uint64(r.Int("shardingVolume", 1, 1<<63-1))
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := checkFirstBound("rangeLower", lower); err != nil {
		return nil, err
	}
	if order := lower.compareInteger(upper); order >= 0 {
		return nil, errors.New(`property "rangeUpper" is not above rangeLower`)
	}
	high, low := lower.distance(upper)
	if high == 0 && low < volume {
		return nil, errors.New(`property "shardingVolume" is larger than the range from rangeLower to rangeUpper`)
	}
	if high >= volume {
		return nil, errTooManyPartitions
	}
	steps, rest := bits.Div64(high, low, volume)
	if rest > 0 {
		steps++
	}
	if steps > maxPartitions-2 {
		return nil, errTooManyPartitions
	}
	bounds := make([]Value, 1, steps+1)
	bounds[0] = lower
	for range steps - 1 {
		bounds = append(bounds, bounds[len(bounds)-1].plus(volume))
	}
	return newOrdered(append(bounds, upper), readInteger), nil
}

var errTooManyPartitions = fmt.Errorf("the properties give more than %d partitions", maxPartitions)

// checkFirstBound refuses a bound that leaves nothing for partition 0.
func checkFirstBound(name string, v Value) error {
	if _, below := v.previous(); !below {
		return fmt.Errorf("property %q is the smallest integer, so that no value belongs to partition 0", name)
	}
	return nil
}
