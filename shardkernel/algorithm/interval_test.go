package algorithm

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// bindAt binds an INTERVAL whose clock stands at a time of UTC.
func bindAt(t testing.TB, now string, props Props, targets ...string) Sharder {
	t.Helper()
	s, err := tryBindAt(t, now, props, targets...)
	if err != nil {
		t.Fatalf("Bind(%q): %v", targets, err)
	}
	return s
}

func tryBindAt(t testing.TB, now string, props Props, targets ...string) (Sharder, error) {
	t.Helper()
	a, err := newInterval(props)
	if err != nil {
		t.Fatalf("%v: %v", props, err)
	}
	a.(*interval).now = func() time.Time { return at(t, now).wall }
	return a.(Standard).Bind(targets)
}

// months returns targets t_yyyyMM for n months from a date on.
func months(from string, n int) []string {
	start, err := time.Parse(time.DateOnly, from)
	if err != nil {
		panic(err)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = start.AddDate(0, i, 0).Format("t_200601")
	}
	return out
}

// suffixed returns targets for the numbers from 1 to n.
func suffixed(prefix, format string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + strings.Replace(format, "02", fmt.Sprintf("%02d", i+1), 1)
	}
	return out
}

// named is a value and the target it belongs to, "" for none.
type named struct {
	value Value
	want  string
}

func checkNames(t *testing.T, s Sharder, targets []string, places []named) {
	t.Helper()
	for _, p := range places {
		i, err := s.Shard(p.value)
		got := ""
		if err == nil {
			got = targets[i]
		}
		if got != p.want {
			t.Errorf("%s: target %q, %v; want %q", p.value, got, err, p.want)
		}
	}
}

func TestIntervalFollowsTheCalendar(t *testing.T) {
	tests := []struct {
		name    string
		props   Props
		targets []string
		places  []named
	}{
		{
			"months",
			Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-04-30 23:59:59", "suffixPattern": "yyyyMM", "unit": "MONTHS"},
			[]string{"t_202404", "t_202403", "t_202402", "t_202401"},
			[]named{
				{at(t, "2023-12-31 23:59:59.999999"), ""},
				{at(t, "2024-01-01 00:00:00"), "t_202401"},
				{at(t, "2024-01-31 23:59:59.999999"), "t_202401"},
				{at(t, "2024-02-01 00:00:00"), "t_202402"},
				{at(t, "2024-02-29 23:59:59.999999"), "t_202402"},
				{at(t, "2024-03-01 00:00:00"), "t_202403"},
				{at(t, "2024-04-30 23:59:59.999999"), "t_202404"},
				{at(t, "2024-05-01 00:00:00"), ""},
				{at(t, "9999-12-31 23:59:59"), ""},
				{Text("2024-2-29"), "t_202402"},
				{Text("2024-02-30"), ""},
				{Int(20240229), "t_202402"},
				{Int(20240230), ""},
			},
		},
		{
			"quarters that start on the 28th at noon",
			Props{"datetimeLower": "2023-11-28 12:00:00", "datetimeUpper": "2024-05-28 11:59:59", "suffixPattern": "yyyy_MM_dd", "amount": 3, "unit": "months"},
			[]string{"t_2023_11_28", "t_2024_02_28"},
			[]named{
				{at(t, "2023-11-28 11:59:59.999999"), ""},
				{at(t, "2023-11-28 12:00:00"), "t_2023_11_28"},
				{at(t, "2024-02-28 11:59:59.999999"), "t_2023_11_28"},
				{at(t, "2024-02-28 12:00:00"), "t_2024_02_28"},
				{at(t, "2024-05-28 11:59:59.999999"), "t_2024_02_28"},
				{at(t, "2024-05-28 12:00:00"), ""},
			},
		},
		{
			"years",
			Props{"datetimePattern": "yyyy", "datetimeLower": 2023, "datetimeUpper": 2025, "sharding-suffix-pattern": "yy", "datetime-interval-unit": "Years"},
			[]string{"log23", "log24", "log25"},
			[]named{
				{at(t, "2022-12-31 23:59:59"), ""},
				{at(t, "2023-01-01 00:00:00"), "log23"},
				{at(t, "2024-12-31 23:59:59"), "log24"},
				{at(t, "2025-12-31 23:59:59"), "log25"},
				{at(t, "2026-01-01 00:00:00"), ""},
				{Text("2024"), "log24"},
				{Int(2025), "log25"},
				{Int(2026), ""},
			},
		},
		{
			"weeks",
			Props{"datetimePattern": "yyyyMMdd", "datetimeLower": 20231225, "datetimeUpper": "20240108", "suffixPattern": "yyyyMMdd", "unit": "WEEKS"},
			[]string{"t20231225", "t20240101", "t20240108"},
			[]named{
				{at(t, "2023-12-31 23:59:59"), "t20231225"}, {at(t, "2024-01-01 00:00:00"), "t20240101"}, {at(t, "2024-01-14 23:59:59"), "t20240108"}, {at(t, "2024-01-15 00:00:00"), ""},
			},
		},
		{
			"hours over a daylight saving day",
			Props{"datetimeLower": "2024-03-31 00:00:00", "datetimeUpper": "2024-03-31 05:59:59", "suffixPattern": "HH", "amount": 2, "unit": "HOURS", "location": "Europe/Berlin"},
			[]string{"t_00", "t_02", "t_04"},
			[]named{
				{at(t, "2024-03-31 01:59:59.999999"), "t_00"},
				{at(t, "2024-03-31 02:00:00"), "t_02"},
				{at(t, "2024-03-31 02:30:00"), "t_02"},
				{at(t, "2024-03-31 03:59:59"), "t_02"},
				{at(t, "2024-03-31 04:00:00"), "t_04"},
			},
		},
		{
			"days of a year before 1970",
			Props{"datetimeLower": "1899-12-31 00:00:00", "datetimeUpper": "1900-01-02 00:00:00", "suffixPattern": "yyyyDDD"},
			[]string{"t_1899365", "t_1900001", "t_1900002"},
			[]named{
				{at(t, "1899-12-30 23:59:59.999999"), ""},
				{at(t, "1899-12-31 00:00:00"), "t_1899365"},
				{at(t, "1899-12-31 23:59:59.999999"), "t_1899365"},
				{at(t, "1900-01-01 00:00:00"), "t_1900001"},
				{at(t, "1900-01-02 23:59:59"), "t_1900002"},
			},
		},
		{
			"ten days that share the target of their month",
			Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-02-29 00:00:00", "suffixPattern": "yyyy'Q'Q_M", "amount": 10},
			[]string{"t_2024Q1_1", "t_2024Q1_2"},
			[]named{
				{at(t, "2024-01-31 00:00:00"), "t_2024Q1_1"}, {at(t, "2024-02-09 23:59:59"), "t_2024Q1_1"}, {at(t, "2024-02-10 00:00:00"), "t_2024Q1_2"},
			},
		},
		{
			"numbers without leading zeros",
			Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-12-01 00:00:00", "suffixPattern": "_M", "unit": "MONTHS"},
			[]string{"t_1", "t_2", "t_3", "t_4", "t_5", "t_6", "t_7", "t_8", "t_9", "t_10", "t_11", "t_12"},
			[]named{
				{at(t, "2024-01-31 00:00:00"), "t_1"}, {at(t, "2024-02-01 00:00:00"), "t_2"}, {at(t, "2024-11-01 00:00:00"), "t_11"}, {at(t, "2024-12-01 00:00:00"), "t_12"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkNames(t, newSharder(t, "INTERVAL", tt.props, tt.targets...), tt.targets, tt.places)
		})
	}
}

var openMonths = Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS"}

func TestOpenIntervalHasTheTargetsToCome(t *testing.T) {
	targets := append(months("2024-01-01", 4), "t_202408", "t_203001")
	s := bindAt(t, "2024-03-31 23:59:59", openMonths, targets...)
	checkNames(t, s, targets, []named{
		{at(t, "2023-12-31 23:59:59"), ""},
		{at(t, "2024-01-01 00:00:00"), "t_202401"},
		{at(t, "2024-04-15 00:00:00"), "t_202404"},
		{at(t, "2024-05-01 00:00:00"), ""},
		{at(t, "2024-08-31 23:59:59"), "t_202408"},
		{at(t, "2024-09-01 00:00:00"), ""},
		{at(t, "2030-01-31 23:59:59"), "t_203001"},
		{at(t, "2030-02-01 00:00:00"), ""},
		{at(t, "9999-12-31 23:59:59"), ""},
		{Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), ""},
		{Null(), ""},
		{Text("soon"), ""},
	})
}

func TestOpenIntervalFollowsTheClock(t *testing.T) {
	const missing = `no target ends in "202404", which the step from 2024-04-01 00:00:00 on needs`
	tests := []struct {
		now, location string
		want          string
	}{
		{"2023-06-01 00:00:00", "UTC", ""}, // before the first step
		{"2024-03-31 23:59:59", "UTC", ""},
		{"2024-04-01 00:00:00", "UTC", missing},
		{"2024-03-31 15:59:59", "Asia/Shanghai", ""},
		{"2024-03-31 16:00:00", "Asia/Shanghai", missing},
		{"2024-04-01 03:59:59", "America/New_York", ""},
		{"2024-04-01 04:00:00", "America/New_York", missing},
	}
	for _, tt := range tests {
		props := Props{"location": tt.location}
		for name, value := range openMonths {
			props[name] = value
		}
		_, err := tryBindAt(t, tt.now, props, months("2024-01-01", 3)...)
		if got := fmt.Sprint(err); got != tt.want && (err != nil || tt.want != "") {
			t.Errorf("at %s in %s: %v, want %q", tt.now, tt.location, err, tt.want)
		}
	}
}

func TestIntervalRangesReachEveryStepTheyHold(t *testing.T) {
	targets := append(months("2024-01-01", 4), "t_202408")
	s := bindAt(t, "2024-02-15 00:00:00", openMonths, targets...).(Ranger)
	from := func(text string, open bool) Range { return Range{Lower: at(t, text), HasLower: true, LowerOpen: open} }
	to := func(text string, open bool) Range { return Range{Upper: at(t, text), HasUpper: true, UpperOpen: open} }
	tests := []struct {
		name string
		r    Range
		want []int // nil: every target
	}{
		{"from a past step on, beyond the clock", from("2024-02-10 00:00:00", false), []int{1, 2, 3, 4}},
		{"from a step to come on", from("2024-04-10 00:00:00", false), []int{3, 4}},
		{"after the last instant of a step", from("2024-01-31 23:59:59.999999999", true), []int{1, 2, 3, 4}},
		{"from before the first step on", from("1999-01-01 00:00:00", false), []int{0, 1, 2, 3, 4}},
		{"up to a step's start", to("2024-02-01 00:00:00", true), []int{0}},
		{"up to a step's start and with it", to("2024-02-01 00:00:00", false), []int{0, 1}},
		{"up to the end of time", to("9999-12-31 23:59:59.999999", false), []int{0, 1, 2, 3, 4}},
		{"up to beyond the calendar", Range{Upper: Time(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)), HasUpper: true}, []int{0, 1, 2, 3, 4}},
		{"an instant", closed(at(t, "2024-03-31 23:59:59"), at(t, "2024-03-31 23:59:59")), []int{2}},
		{"over a gap", closed(at(t, "2024-04-30 00:00:00"), at(t, "2024-08-01 00:00:00")), []int{3, 4}},
		{"upside down", closed(at(t, "2024-03-31 00:00:00"), at(t, "2024-03-30 00:00:00")), []int{}},
		{"only times without target, before", to("2023-12-31 00:00:00", false), nil},
		{"only times without target, in a gap", closed(at(t, "2024-05-01 00:00:00"), at(t, "2024-07-31 00:00:00")), nil},
		{"only times without target, after", from("2024-09-01 00:00:00", false), nil},
		{"beyond the calendar", Range{Lower: Time(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), HasLower: true}, nil},
		{"dates as integers, which are asked for one by one", closed(Int(20240131), Int(20240131)), nil},
		{"integers among which are no dates", closed(Int(20240131), Int(20240201)), nil},
		{"texts", closed(Text("2024-01-01"), Text("2024-01-02")), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkTargets(t, s, tt.r, tt.want) })
	}
}

func TestClosedIntervalRangesEndWithIt(t *testing.T) {
	props := Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-03-15 00:00:00", "suffixPattern": "yyyyMM", "unit": "MONTHS"}
	s := newSharder(t, "INTERVAL", props, months("2024-01-01", 3)...).(Ranger)
	checkTargets(t, s, Range{Lower: at(t, "2024-02-01 00:00:00"), HasLower: true}, []int{1, 2})
	checkTargets(t, s, Range{Lower: at(t, "2024-04-01 00:00:00"), HasLower: true}, nil)
	checkTargets(t, s, Range{Lower: at(t, "2024-03-31 23:59:59"), HasLower: true}, []int{2})
}

// Twelve tables that are used again every year.
func TestSuffixesWithoutYearRepeat(t *testing.T) {
	targets := suffixed("t_", "02", 12)
	s := bindAt(t, "2024-02-01 00:00:00", Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "MM", "unit": "MONTHS"}, targets...)
	checkNames(t, s, targets, []named{
		{at(t, "2024-12-31 23:59:59"), "t_12"}, {at(t, "2025-01-01 00:00:00"), "t_01"}, {at(t, "2124-06-01 00:00:00"), "t_06"}, {at(t, "9999-12-31 23:59:59"), "t_12"},
	})
	r := s.(Ranger)
	checkTargets(t, r, closed(at(t, "2030-11-05 00:00:00"), at(t, "2031-02-01 00:00:00")), []int{0, 1, 10, 11})
	checkTargets(t, r, Range{Lower: at(t, "2030-11-05 00:00:00"), HasLower: true}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	checkTargets(t, r, Range{Lower: at(t, "9999-11-05 00:00:00"), HasLower: true}, []int{10, 11})
}

// Where the suffix repeats only after more steps than are looked at, every
// target is asked.
func TestRangesOverManyRepeatedStepsAskEveryTarget(t *testing.T) {
	props := Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "HH", "unit": "MINUTES"}
	targets := make([]string, 24)
	for i := range targets {
		targets[i] = fmt.Sprintf("t_%02d", i)
	}
	r := bindAt(t, "2024-01-01 05:00:00", props, targets...).(Ranger)
	checkTargets(t, r, closed(at(t, "2031-01-01 05:59:00"), at(t, "2031-01-01 06:00:00")), []int{5, 6})
	checkTargets(t, r, closed(at(t, "2031-01-01 05:59:00"), at(t, "2031-01-03 06:00:00")), nil)
}

func TestIntervalTargetsMustFitTheSteps(t *testing.T) {
	closedMonths := Props{"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-03-31 23:59:59", "suffixPattern": "yyyyMM", "unit": "MONTHS"}
	tests := []struct {
		name    string
		props   Props
		targets []string
		want    string
	}{
		{"none", closedMonths, nil, "no targets"},
		{"one missing", closedMonths, []string{"t_202401", "t_202403"}, `no target ends in "202402", which the step from 2024-02-01 00:00:00 on needs`},
		{"one too many", closedMonths, months("2024-01-01", 4), `target "t_202404" is never used`},
		{"one before the first", closedMonths, months("2023-12-01", 4), `target "t_202312" is never used`},
		{"twice", closedMonths, append(months("2024-01-01", 3), "x_202401"), `targets "t_202401" and "x_202401" both end in "202401"`},
		{"other form", closedMonths, []string{"t_2024_01", "t_2024_02", "t_2024_03"}, `no target ends in "202401"`},
		{"no date", openMonths, append(months("2024-01-01", 3), "t_archive"), `target "t_archive" is never used`},
		{"too short", openMonths, append(months("2024-01-01", 3), "t"), `target "t" is never used`},
		{"month 13", openMonths, append(months("2024-01-01", 3), "t_202413"), `target "t_202413" is never used`},
		{"a gap in the past of an open end", openMonths, []string{"t_202401", "t_202403", "t_202404"}, `no target ends in "202402"`},
		{"before an open end", openMonths, months("2023-12-01", 5), `target "t_202312" is never used`},
		{
			"no start of a step",
			Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": "yyyyMMdd", "amount": 7},
			[]string{"t_20240101", "t_20240108", "t_20240116"},
			`no target ends in "20240115"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tryBindAt(t, "2024-03-05 00:00:00", tt.props, tt.targets...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestIntervalReadsItsOwnPattern(t *testing.T) {
	props := Props{"datetimePattern": "dd.MM.yyyy HH:mm", "datetimeLower": "01.01.2024 00:00", "datetimeUpper": "31.12.2024 23:59", "suffixPattern": "MM", "unit": "MONTHS"}
	targets := suffixed("t_", "02", 12)
	checkNames(t, newSharder(t, "INTERVAL", props, targets...), targets, []named{
		{Text("05.02.2024 10:30"), "t_02"}, {Text("2024-03-05 10:30:00"), "t_03"}, {Text("05.02.2024"), ""}, {Text("30.02.2024 10:30"), ""},
	})
	// MySQL reads 10101012 as October 12, 1010; the pattern as October 10, 1012.
	props = Props{"datetimePattern": "ddMMyyyy", "datetimeLower": "01011000", "datetimeUpper": "31122100", "suffixPattern": "yyyy", "amount": 1000, "unit": "YEARS"}
	targets = []string{"t_1000", "t_2000"}
	checkNames(t, newSharder(t, "INTERVAL", props, targets...), targets, []named{
		{Text("10101012"), ""}, {Int(10101012), ""}, {Text("25122013"), "t_2000"}, {Text("1010-10-12"), "t_1000"}, {Text("20131225"), "t_2000"}, {Text("20132512"), ""},
	})
}

func TestIntervalLabelIsTheSuffix(t *testing.T) {
	tests := []struct{ pattern, target, want string }{
		{"yyyyMM", "t_order_202401", "202401"},
		{"yyyyMM", "t_order_2024012", "024012"}, // no month, which Bind refuses
		{"yyyyMM", "archive", "archive"},
		{"_M", "t_1", "_1"},
		{"_M", "t_12", "_12"},
		{"yyyy_M", "t_2024_1", "2024_1"},
		{"yyyy_M", "t_12024_11", "2024_11"},
	}
	for _, tt := range tests {
		a, err := newInterval(Props{"datetimeLower": "2024-01-01 00:00:00", "suffixPattern": tt.pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.(Labeler).Label(tt.target); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.pattern, tt.target, got, tt.want)
		}
	}
}

// A step starts where the one before ends, and holds its own start.
func TestStepsFollowEachOther(t *testing.T) {
	for _, unit := range []string{"SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "YEARS"} {
		for _, amount := range []int64{1, 3, 7} {
			for _, lower := range []string{"1000-01-01 00:00:00", "1969-12-28 23:59:59", "2024-02-28 12:30:15"} {
				s := newSteps(at(t, lower).wall, amount, unit)
				for step := range int64(900) {
					start := s.start(step)
					if got := s.step(start); got != step {
						t.Fatalf("%d %s from %s: step %d starts at %s, which is in step %d", amount, unit, lower, step, start, got)
					}
					if got := s.step(start.Add(-1)); step > 0 && got != step-1 {
						t.Fatalf("%d %s from %s: the instant before step %d is in step %d", amount, unit, lower, step, got)
					}
				}
			}
		}
	}
}
