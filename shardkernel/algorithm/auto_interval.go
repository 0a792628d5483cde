package algorithm

import (
	"errors"
	"time"
)

// boundaryPattern is how the bounds of AUTO_INTERVAL are written.
var boundaryPattern = mustPatterns("yyyy-MM-dd HH:mm:ss")[0]

// newAutoInterval makes the algorithm AUTO_INTERVAL: time from datetimeLower to
// datetimeUpper cut into steps of shardingSeconds, for the properties and the
// number of partitions of ShardingSphere's algorithm of that name (user manual,
// "Sharding Algorithm", auto sharding).
//
// Properties, all required:
//
//	datetimeLower    such as 2024-01-01 00:00:00; partition 0 holds the times
//	                 before it
//	datetimeUpper    the last partition holds the times from it on, or from the
//	                 last whole step before it
//	shardingSeconds  the length of a step
//
// Partition i is the target whose name ends in the number i. A step holds its
// first instant and not its last: partition 1 is datetimeLower and what is less
// than shardingSeconds after it. ShardingSphere rounds the number of steps to
// two decimals and then up, so that there a partition begins half a percent of a
// step and a second later.
//
// The values may be dates and times, and texts and integers that are a date in a
// form that every server reads alike.
func newAutoInterval(props Props) (Algorithm, error) {
	r := ReadProps(props)
	lower, upper := r.moment("datetimeLower", boundaryPattern), r.moment("datetimeUpper", boundaryPattern)
	seconds := r.Int("shardingSeconds", 1, 1<<40)
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
	for at := lower.Unix(); at <= upper.Unix(); at += seconds {
		bounds = append(bounds, Time(time.Unix(at, 0).UTC()))
	}
	return newOrdered(bounds, readMoment), nil
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
