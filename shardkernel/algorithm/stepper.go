package algorithm

import (
	"errors"
	"slices"
	"time"
)

// maxMissing is the number of steps without a target that Steps names.
const maxMissing = 12

// Steps counts by the clock of location.
func (s *intervalSharder) Steps(from, to time.Time) (targets []int, missing []string, err error) {
	first, last := int64(0), int64(len(s.table))-1
	if !from.IsZero() {
		if wall := s.wall(from); wall.After(s.lower) {
			first = s.step(wall)
		}
	}
	if !to.IsZero() {
		wall := s.wall(to).Add(-1)
		switch {
		case wall.Before(s.lower):
			return nil, nil, nil
		case s.last != openEnd && s.step(wall) > s.last:
			return nil, nil, errors.New("the time ends after datetimeUpper, in whose step INTERVAL ends")
		case wall.After(calendarEnd):
			return nil, nil, errors.New("the time ends after the year 9999")
		}
		last = s.step(wall)
	}
	if last-first >= maxSteps {
		return nil, nil, errors.New("the time is longer than 1048576 steps")
	}
	seen := make([]bool, s.targets)
	for step := first; step <= last; step++ {
		switch i := s.target(step); {
		case i == noTarget && !to.IsZero() && len(missing) < maxMissing:
			missing = append(missing, string(s.suffixOf(nil, step)))
		case i != noTarget && !seen[i]:
			seen[i] = true
			targets = append(targets, i)
		}
	}
	return targets, missing, nil
}

// wall is what the column shows at t.
func (s *intervalSharder) wall(t time.Time) time.Time {
	t = t.In(s.location)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// Steps counts by the clock of the times themselves: AUTO_INTERVAL knows no zone.
func (s *orderedSharder) Steps(from, to time.Time) (targets []int, missing []string, err error) {
	if !s.times {
		return nil, nil, errors.New("its targets hold ranges of numbers, not of time")
	}
	at := func(t time.Time) int {
		return s.partition(Time(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)))
	}
	first, last := 0, len(s.bounds)
	if !from.IsZero() {
		first = at(from)
	}
	if !to.IsZero() {
		last = at(to.Add(-1))
	}
	if last < first {
		return nil, nil, nil
	}
	return slices.Clone(s.byNumber[first : last+1]), nil, nil
}
