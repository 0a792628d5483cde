package algorithm

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// interval is the algorithm INTERVAL: time is cut into steps of the calendar,
// and the target of a step is the one whose name ends in the step's start,
// written by suffixPattern, as with ShardingSphere's algorithm of that name (user
// manual, "Sharding Algorithm", standard sharding).
//
// Properties, with ShardingSphere's names where they are others:
//
//	datetimePattern  how the two bounds are written, "yyyy-MM-dd HH:mm:ss" by
//	                 default; texts and integers of that form are values, too
//	datetimeLower    required: where the first step starts. In steps of months
//	                 and years not later than the 28th, which every month has
//	datetimeUpper    the last step is the one that holds it. Without it time goes
//	                 on, and targets for steps to come may be there already
//	suffixPattern    required (sharding-suffix-pattern): yyyyMM for names such as
//	                 t_order_202401. Steps that are written alike share a target
//	amount           length of a step in units (datetime-interval-amount), 1 by
//	                 default
//	unit             SECONDS, MINUTES, HOURS, DAYS, WEEKS, MONTHS or YEARS
//	                 (datetime-interval-unit), DAYS by default
//	location         the zone whose clock the column shows, such as Asia/Shanghai,
//	                 UTC by default. Only an open end asks for it: to tell which
//	                 steps have begun
//
// Both patterns have the letters of Java's DateTimeFormatter, see pattern.
//
// Every step up to datetimeUpper must have a target, or up to the present one
// where there is no datetimeUpper. A value before the first step, or in one
// without a target, has none. A range asks the targets of all steps that it
// overlaps, those that have not begun included.
//
// The values may be dates and times, and texts and integers that are a date by
// datetimePattern or in a form that every server reads alike.
type interval struct {
	steps
	last     int64 // number of the last step, openEnd for none
	datetime pattern
	suffix   pattern
	location *time.Location
	now      func() time.Time
}

const openEnd = math.MaxInt64

// maxSteps bounds the steps that Bind looks at.
const maxSteps = 1 << 20

func newInterval(props Props) (Algorithm, error) {
	r := ReadProps(props)
	r.alias("suffixPattern", "shardingSuffixPattern")
	r.alias("amount", "datetimeIntervalAmount")
	r.alias("unit", "datetimeIntervalUnit")
	a := &interval{last: openEnd, now: time.Now}
	a.datetime = r.pattern("datetimePattern", r.StringOr("datetimePattern", "yyyy-MM-dd HH:mm:ss"), pattern.readable)
	a.suffix = r.pattern("suffixPattern", r.String("suffixPattern"), pattern.distinct)
	a.location = r.location("location")
	amount := r.IntOr("amount", 1, 1, 1_000_000)
	unit := r.OneOf("unit", "DAYS", "SECONDS", "MINUTES", "HOURS", "WEEKS", "MONTHS", "YEARS")
	lower := r.moment("datetimeLower", a.datetime)
	upper, closed := r.momentIfAny("datetimeUpper", a.datetime)
	if err := r.Err(); err != nil {
		return nil, err
	}
	a.steps = newSteps(lower, amount, unit)
	if err := a.steps.check(); err != nil {
		return nil, err
	}
	if !closed {
		return a, nil
	}
	if upper.Before(lower) {
		return nil, errors.New(`property "datetimeUpper" is before datetimeLower`)
	}
	if a.last = a.step(upper); a.last >= maxSteps {
		return nil, fmt.Errorf("the properties give more than %d steps", maxSteps)
	}
	return a, nil
}

// pattern compiles the text of a property, which was read already. A faulty one
// gives the zero pattern.
func (r *Reader) pattern(name, text string, check func(pattern) error) pattern {
	if text == "" {
		return pattern{}
	}
	p, err := compilePattern(text)
	if err == nil {
		err = check(p)
	}
	if err != nil {
		r.fault(name, err.Error())
		return pattern{}
	}
	return p
}

// location returns a time zone, UTC by default.
func (r *Reader) location(name string) *time.Location {
	text := r.StringOr(name, "UTC")
	location, err := time.LoadLocation(text)
	if err != nil {
		r.fault(name, "is no time zone that this machine knows, such as UTC or Asia/Shanghai")
	}
	return location
}

// distinct reports a pattern of which one date may be written as the end of
// another: names that end in 12 end in 2, too.
func (p pattern) distinct() error {
	if first := p.parts[0]; first.varies() {
		return fmt.Errorf("begins with a number without leading zeros; write %s, or begin with another character such as _", strings.Repeat(string(first.field), 2))
	}
	return nil
}

// suffixOf appends what the name of the target of a step ends in.
func (a *interval) suffixOf(b []byte, step int64) []byte {
	return a.suffix.appendTime(b, a.start(step))
}

// repeats reports whether steps of an open end are written alike again and
// again.
func (a *interval) repeats() bool { return a.last == openEnd && !a.suffix.has('y', 4) }

// present returns the step in which the column's clock is, -1 before the first.
func (a *interval) present() int64 {
	now := a.now().In(a.location)
	year, month, day := now.Date()
	hour, minute, second := now.Clock()
	wall := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	if wall.Before(a.lower) {
		return -1
	}
	return a.step(wall)
}

// Label is what the name ends in, as long as suffixPattern writes it. Of its
// possible endings at most one is a date, see distinct.
func (a *interval) Label(target string) string {
	least, most := a.suffix.lengths()
	for n := min(most, len(target)); n >= least; n-- {
		if end := target[len(target)-n:]; a.suffix.fits(end) {
			return end
		}
	}
	return target
}

func (a *interval) Bind(targets []string) (Sharder, error) {
	if len(targets) == 0 {
		return nil, errNoTargets
	}
	s := &intervalSharder{interval: a, targets: len(targets), bySuffix: make(map[string]int, len(targets))}
	for i, name := range targets {
		suffix := a.Label(name)
		if other, taken := s.bySuffix[suffix]; taken {
			return nil, fmt.Errorf("targets %q and %q both end in %q", targets[other], name, suffix)
		}
		s.bySuffix[suffix] = i
	}
	if err := s.tabulate(targets); err != nil {
		return nil, err
	}
	return s, nil
}

// intervalSharder is an interval bound to its targets.
type intervalSharder struct {
	*interval
	targets  int
	bySuffix map[string]int
	// table holds the target of each step from the first on, noTarget for none.
	// Later ones have none, but where the suffixes repeat.
	table []int32
}

// tabulate fills the table: up to the last step or, where the end is open, until
// all targets and the present were met, and their year is over.
func (s *intervalSharder) tabulate(targets []string) error {
	required := s.last
	if s.last == openEnd {
		required = s.present()
	}
	met := make([]bool, len(targets))
	left, year := len(targets), 0
	for step := int64(0); step <= s.last && step < maxSteps; step++ {
		start := s.start(step)
		if start.Year() > maxYear {
			break
		}
		if s.last == openEnd && left == 0 && step > required && (s.repeats() || start.Year() > year) {
			break
		}
		i := s.lookup(step)
		switch {
		case i == noTarget && step <= required:
			return fmt.Errorf("no target ends in %q, which the step from %s on needs", s.suffixOf(nil, step), start.Format(time.DateTime))
		case i != noTarget && !met[i]:
			met[i] = true
			left--
			year = start.Year()
		}
		s.table = append(s.table, int32(i))
	}
	for i, name := range targets {
		if !met[i] {
			return fmt.Errorf("target %q is never used: its name does not end in the start of a step", name)
		}
	}
	if len(s.table) == maxSteps && s.last == openEnd && !s.repeats() {
		return fmt.Errorf("the targets are spread over more than %d steps", maxSteps)
	}
	return nil
}

// lookup returns the target whose name ends in the suffix of the step, or
// noTarget.
func (s *intervalSharder) lookup(step int64) int {
	var buf [2 * maxPattern]byte
	if i, ok := s.bySuffix[string(s.suffixOf(buf[:0], step))]; ok {
		return i
	}
	return noTarget
}

// target returns the target of a step, or noTarget.
func (s *intervalSharder) target(step int64) int {
	switch {
	case step < int64(len(s.table)):
		return int(s.table[step])
	case s.repeats():
		return s.lookup(step)
	}
	return noTarget
}

func (s *intervalSharder) Shard(v Value) (int, error) {
	v, err := readMomentAs(v, &s.datetime)
	if err != nil {
		return 0, err
	}
	switch {
	case v.wall.Before(s.lower):
		return 0, errors.New("the value is before datetimeLower, where the first step of INTERVAL starts")
	case v.wall.After(calendarEnd):
		return 0, errors.New("the value is after the year 9999")
	}
	step := s.step(v.wall)
	if step > s.last {
		return 0, errors.New("the value is after datetimeUpper, in whose step INTERVAL ends")
	}
	if i := s.target(step); i != noTarget {
		return i, nil
	}
	return 0, errors.New("INTERVAL has no target for the step of the value; add the node for it")
}

// Range is exact for times.
func (s *intervalSharder) Range(r Range) ([]int, bool, error) {
	if r.HasLower && r.Lower.kind != KindTime || r.HasUpper && r.Upper.kind != KindTime {
		return nil, false, nil // such as integers that are dates written as numbers
	}
	low, high, some := r.ends()
	if !some {
		return nil, true, nil
	}
	first, last := int64(0), s.step(calendarEnd)
	if r.HasLower && low.wall.After(s.lower) {
		if low.wall.After(calendarEnd) {
			return nil, false, nil
		}
		first = s.step(low.wall)
	}
	if r.HasUpper && !high.wall.After(calendarEnd) {
		if high.wall.Before(s.lower) {
			return nil, false, nil
		}
		last = s.step(high.wall)
	}
	found, ok := s.between(first, min(last, s.last))
	return found, ok && len(found) > 0, nil
}

// maxLookups is the number of steps beyond the table that one range looks up.
const maxLookups = 1000

// between returns the targets of the steps from first to last. ok is false when
// it would have to look at too many beyond the table.
func (s *intervalSharder) between(first, last int64) (found []int, ok bool) {
	seen := make([]bool, s.targets)
	end := int64(len(s.table))
	if s.repeats() {
		end = max(first, end) + maxLookups
	}
	for step := first; step <= last && len(found) < s.targets; step++ {
		if step >= end {
			return found, !s.repeats()
		}
		if i := s.target(step); i != noTarget && !seen[i] {
			seen[i] = true
			found = append(found, i)
		}
	}
	return found, true
}
