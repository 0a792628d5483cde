package algorithm

import (
	"errors"
	"math/big"
	"time"
)

// boundaryPattern is how the bounds of AUTO_INTERVAL are written.
var boundaryPattern = mustPatterns("yyyy-MM-dd HH:mm:ss")[0]

// newAutoInterval makes the algorithm AUTO_INTERVAL: time from datetimeLower to
// datetimeUpper cut into steps of shardingSeconds, for the properties and the
// number of partitions of ShardingSphere's algorithm of that name (user manual,
// "Sharding Algorithm", auto sharding).
//
// Properties, the first three required:
//
//	datetimeLower    such as 2024-01-01 00:00:00; partition 0 holds the times
//	                 before it
//	datetimeUpper    the last partition holds the times from it on, or from the
//	                 last whole step before it
//	shardingSeconds  the length of a step
//	rounding         none by default; shardingSphere begins partitions where
//	                 ShardingSphere does
//
// Partition i is the target whose name ends in the number i. A step holds its
// first instant and not its last: partition 1 is datetimeLower and what is less
// than shardingSeconds after it. ShardingSphere rounds the number of steps to
// two decimals and then up, so that there a partition begins half a percent of a
// step and a second later: rounding shardingSphere finds the rows that it placed.
//
// The values may be dates and times, and texts and integers that are a date in a
// form that every server reads alike.
func newAutoInterval(props Props) (Algorithm, error) {
	r := ReadProps(props)
	lower, upper := r.moment("datetimeLower", boundaryPattern), r.moment("datetimeUpper", boundaryPattern)
	seconds := r.Int("shardingSeconds", 1, 1<<40)
	rounds := r.OneOf("rounding", "none", "shardingSphere") == "shardingSphere"
	if err := r.Err(); err != nil {
		return nil, err
	}
	length := upper.Unix() - lower.Unix()
	switch {
	case length <= 0:
		return nil, errors.New(`property "datetimeUpper" is not after datetimeLower`)
	case length < seconds:
		return nil, errors.New(`property "shardingSeconds" is longer than from datetimeLower to datetimeUpper`)
	case length/seconds > maxPartitions-2:
		return nil, errTooManyPartitions
	}
	var bounds []Value
	for step := int64(0); step*seconds <= length; step++ {
		start := step * seconds
		if rounds {
			start = roundedStart(step, seconds)
		}
		bounds = append(bounds, Time(time.Unix(lower.Unix()+start, 0).UTC()))
	}
	return newOrdered(bounds, readMoment), nil
}

// roundedStart returns the first second after datetimeLower that ShardingSphere
// takes for later than so many steps: it divides in double precision, rounds to
// two decimals, half to even, and then up
// (AutoIntervalShardingAlgorithm.doSharding in its version 5.5). What it takes for
// no more than step steps is less than or equal to them and five thousandths, a tie
// that goes to the even hundredth.
func roundedStart(step, seconds int64) int64 {
	tie := new(big.Rat).Add(big.NewRat(step, 1), big.NewRat(5, 1000))
	second := step*seconds + seconds/200
	for new(big.Rat).SetFloat64(float64(second)/float64(seconds)).Cmp(tie) <= 0 {
		second++
	}
	return second
}

// moment returns a required date or time in the pattern. It does not judge the
// property by the zero pattern, which stands for a faulty one.
func (r *Reader) moment(name string, p pattern) time.Time {
	value, ok := r.required(name)
	if !ok {
		return time.Time{}
	}
	return r.toMoment(name, value, p)
}

// momentIfAny is moment for a property that may be absent.
func (r *Reader) momentIfAny(name string, p pattern) (t time.Time, ok bool) {
	value, ok := r.lookup(name)
	if !ok {
		return t, false
	}
	return r.toMoment(name, value, p), true
}

func (r *Reader) toMoment(name string, value any, p pattern) time.Time {
	text, ok := value.(string)
	if n, integer := toInteger(value); !ok && integer {
		text = n.String() // 20240101, and 2024, are numbers in YAML
	}
	t, ok := p.parse(text)
	if !ok && p.text != "" {
		r.fault(name, "must be a date written as "+p.text)
	}
	return t
}
