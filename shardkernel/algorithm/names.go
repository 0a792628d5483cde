package algorithm

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gormshard/sharding/internal/inline"
)

// ExpandNames returns the names that a text with placeholders stands for, as
// inline.Expand does, which knows integers and texts. Beside these a placeholder
// may list dates:
//
//	t_order_${dates('202311', '202502', 'yyyyMM')}
//
// stands for t_order_202311, t_order_202312, t_order_202401 and so on to
// t_order_202502. The first and the last date are written by the pattern, or as
// 2023-11-01; the pattern is that of suffixPattern of INTERVAL. A step is the
// finest field of the pattern, or a fourth argument times that: with 'yyyyMMdd'
// and 7 every seventh day from the first on.
func ExpandNames(text string) ([]string, error) { return inline.ExpandWith(text, listDates) }

// mostDates bounds the dates of one list.
const mostDates = 100_000

// listDates lists dates for the arguments first, last, pattern and perhaps the
// number of units of a step.
func listDates(args []string) ([]string, error) {
	if len(args) != 3 && len(args) != 4 {
		return nil, errors.New("dates needs the first date, the last one and a pattern: dates('202401', '202412', 'yyyyMM')")
	}
	p, err := compilePattern(args[2])
	if err != nil {
		return nil, fmt.Errorf("the pattern %q %w", args[2], err)
	}
	amount := int64(1)
	if len(args) == 4 {
		if amount, err = strconv.ParseInt(args[3], 10, 64); err != nil || amount < 1 || amount > 1_000_000 {
			return nil, errors.New("the fourth argument of dates is the number of units of a step, 1 to 1000000")
		}
	}
	unit, ok := p.unit()
	if !ok {
		return nil, fmt.Errorf("the pattern %q has a fraction of a second, which no step has", args[2])
	}
	bounds := make([]Value, 2)
	for i := range bounds {
		t, ok := isoDate.parse(args[i])
		if !ok && p.readable() == nil {
			t, ok = p.parse(args[i])
		}
		if !ok {
			return nil, fmt.Errorf("%q is written neither as %s nor as yyyy-MM-dd", args[i], args[2])
		}
		bounds[i] = Time(t)
	}
	s := newSteps(bounds[0].wall, amount*unit.amount, unit.name)
	if s.months > 0 && s.lower.Day() > 28 {
		return nil, errors.New("the first date is after the 28th, a day that not every month has")
	}
	if bounds[1].wall.Before(s.lower) {
		return nil, errors.New("the last date is before the first")
	}
	var names []string
	for step := int64(0); !s.start(step).After(bounds[1].wall); step++ {
		if step == mostDates {
			return nil, fmt.Errorf("dates lists more than %d dates", mostDates)
		}
		names = append(names, string(p.appendTime(nil, s.start(step))))
	}
	return names, nil
}

var isoDate = mustPatterns("yyyy-MM-dd")[0]

// patternUnit is a number of units of newSteps.
type patternUnit struct {
	name   string
	amount int64
}

// unit returns the finest field of a pattern.
func (p pattern) unit() (patternUnit, bool) {
	units := map[byte]patternUnit{
		's': {"SECONDS", 1}, 'm': {"MINUTES", 1}, 'H': {"HOURS", 1}, 'd': {"DAYS", 1}, 'D': {"DAYS", 1},
		'M': {"MONTHS", 1}, 'Q': {"MONTHS", 3}, 'y': {"YEARS", 1},
	}
	for _, field := range []byte("SsmHdDMQy") {
		for _, part := range p.parts {
			if part.field == field {
				u, ok := units[field]
				return u, ok
			}
		}
	}
	return patternUnit{}, false
}
