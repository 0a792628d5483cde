//go:build unix

package oracle_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// What a judge does not see is never wrong. These tests ask no server.

// result is an answer of one column and a row for each value.
func result(values ...any) answer {
	a := answer{columns: []string{"a BIGINT scan=int64 null=false/true decimal=0,0/false length=0/false"}}
	for _, v := range values {
		a.rows = append(a.rows, []any{v})
	}
	return a
}

// placed are all rows with their places in the order.
func placed(pairs ...any) answer {
	a := result()
	for i := 0; i < len(pairs); i += 2 {
		a.rows = append(a.rows, []any{pairs[i], int64(pairs[i+1].(int))})
	}
	return a
}

func failure(number uint16) answer {
	return answer{err: fmt.Errorf("ds1: %w", &mysql.MySQLError{Number: number})}
}

func TestTheJudgeSeesEveryDifference(t *testing.T) {
	described := func(from, to string) answer {
		a := result(int64(1))
		a.columns[0] = strings.Replace(a.columns[0], from, to, 1)
		return a
	}
	none := answer{}
	limited := query{limited: true}
	for name, tt := range map[string]struct {
		query                 query
		want, got, everything answer
		differ                string // what the difference begins with
	}{
		"alike":                           {query{}, result(int64(1)), result(int64(1)), none, ""},
		"in any order":                    {query{}, result(int64(1), int64(2)), result(int64(2), int64(1)), none, ""},
		"another value":                   {query{}, result(int64(1)), result(int64(2)), none, "1 rows"},
		"a value of another Go type":      {query{}, result(int64(1)), result(uint64(1)), none, "1 rows"},
		"an empty text for NULL":          {query{}, result(nil), result([]byte{}), none, "1 rows"},
		"a row twice for another":         {query{}, result(int64(1), int64(2), int64(2)), result(int64(1), int64(1), int64(2)), none, "3 rows"},
		"a row less":                      {query{}, result(int64(1), int64(2)), result(int64(1)), none, "1 rows instead of 2"},
		"another label":                   {query{}, result(int64(1)), described("a BIGINT", "A BIGINT"), none, "columns"},
		"another type":                    {query{}, result(int64(1)), described("BIGINT", "INT"), none, "columns"},
		"another scan type":               {query{}, result(int64(1)), described("int64", "uint64"), none, "columns"},
		"another nullability":             {query{}, result(int64(1)), described("null=false", "null=true"), none, "columns"},
		"that of an outer join":           {query{outer: true}, result(int64(1)), described("null=false", "null=true"), none, ""},
		"another precision":               {query{}, result(int64(1)), described("decimal=0,", "decimal=9,"), none, "columns"},
		"another scale":                   {query{}, result(int64(1)), described("decimal=0,0", "decimal=0,2"), none, "columns"},
		"an error for an answer":          {query{}, result(int64(1)), failure(1690), none, "an error:"},
		"an answer for an error":          {query{}, failure(1690), result(int64(1)), none, "an answer where"},
		"the same error":                  {query{}, failure(1690), failure(1690), none, ""},
		"another error":                   {query{}, failure(1690), failure(1242), none, "an error 1242 instead of 1690"},
		"an error of no server":           {query{}, failure(1690), answer{err: errors.New("sharding: lost")}, none, "an error of no server"},
		"a panic beside an error":         {query{}, failure(1690), answer{err: errors.New("panic: x")}, none, "panic"},
		"floats of another order of sums": {query{}, result(0.1 + 0.2), result(0.3), none, ""},
		"floats 2e-12 apart":              {query{}, result(1.0), result(1.0 + 2e-12), none, "1 rows"},
		"almost one float where digits are cut": {
			query{}, result(1.0000000000005), result(math.Nextafter(1.0000000000005, 0)), none, "",
		},
		"ties in any order":             {query{}, result("a", "b", "c"), result("b", "a", "c"), placed("a", 1, "b", 1, "c", 2), ""},
		"out of order":                  {query{}, result("a", "b", "c"), result("a", "c", "b"), placed("a", 1, "b", 1, "c", 2), "row 1 at place 1"},
		"a tie twice for another":       {query{}, result("a", "b", "c"), result("a", "a", "c"), placed("a", 1, "b", 1, "c", 2), "row 1 at place 1"},
		"another tie behind LIMIT":      {limited, result("a"), result("b"), placed("a", 1, "b", 1, "c", 2), ""},
		"behind its place behind LIMIT": {limited, result("a"), result("c"), placed("a", 1, "b", 1, "c", 2), "row 0 at place 1"},
		"OFFSET counts places":          {query{limited: true, offset: 2}, result("c"), result("b"), placed("a", 1, "b", 1, "c", 2), "row 0 at place 2"},
		"no order and LIMIT":            {limited, result("a"), result("c"), placed("a", 1, "b", 1, "c", 1), ""},
		"no row at all and LIMIT":       {limited, result("a"), result("x"), placed("a", 1, "b", 1, "c", 1), "row 0 at place 1"},
		"any text of a group":           {query{folded: true}, result([]byte("a ")), result([]byte("Á")), none, ""},
		"a text of another group":       {query{folded: true}, result([]byte("a")), result([]byte("b")), none, "1 rows"},
	} {
		difference := tt.query.differ(tt.want, tt.got, tt.everything)
		if !strings.HasPrefix(difference, tt.differ) || (tt.differ == "") != (difference == "") {
			t.Errorf("%s: %q, want %q", name, difference, tt.differ)
		}
	}
}

func TestTheJudgeSeesEveryDifferenceOfAWrite(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got outcome
		last      bool
		several   bool
		differ    string
	}{
		"alike":                        {outcome{affected: 2}, outcome{affected: 2, last: 7}, false, true, ""},
		"rows affected":                {outcome{affected: 2}, outcome{affected: 4}, false, true, "4 rows affected instead of 2"},
		"last insert id":               {outcome{affected: 1, last: 7}, outcome{affected: 1, last: 14}, true, false, "last insert id 14 instead of 7"},
		"rows that are returned":       {outcome{rows: []string{"a"}}, outcome{rows: []string{"b"}}, false, false, "RETURNING"},
		"done for an error":            {outcome{err: failure(1062).err}, outcome{affected: 1}, false, false, "done where"},
		"an error":                     {outcome{affected: 1}, outcome{err: failure(1062).err}, false, false, "an error"},
		"another error":                {outcome{err: failure(1062).err}, outcome{err: failure(1048).err}, false, false, "an error 1048 instead of 1062"},
		"that of another row of many":  {outcome{err: failure(1062).err}, outcome{err: failure(1048).err}, false, true, ""},
		"a panic where both have none": {outcome{err: failure(1062).err}, outcome{err: errors.New("panic: x")}, false, true, "panic"},
	} {
		difference := tt.want.differ(tt.got, &write{last: tt.last}, tt.several)
		if !strings.HasPrefix(difference, tt.differ) || (tt.differ == "") != (difference == "") {
			t.Errorf("%s: %q, want %q", name, difference, tt.differ)
		}
	}
}

func TestARefusalIsNoError(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"of a server": {failure(1690).err, false},
		"of nobody":   {errors.New("sharding: refused"), false},
		"none":        {nil, false},
	} {
		if _, got := refused(tt.err); got != tt.want {
			t.Errorf("%s: taken for a refusal: %v", name, got)
		}
	}
}

func TestBarsThatAreMissedAndRefusalsByReasonAreShown(t *testing.T) {
	l := &labels{}
	l.has[featRows], l.has[featGroup] = true, true
	for name, tt := range map[string]struct {
		at                place
		p                 profile
		answered, refused int
		missed            []string
	}{
		"all of one node":            {onOneNode, typical, 1000, 0, nil},
		"one refused by one node":    {onOneNode, typical, 999, 1, []string{"one node, typical"}},
		"typical groups":             {scattered, typical, 990, 10, []string{"GROUP BY, typical", "several data sources, typical"}},
		"wild groups":                {scattered, wild, 1940, 60, []string{"GROUP BY, wild"}},
		"wild groups that reach it":  {scattered, wild, 1960, 40, nil},
		"in one data source":         {together, wild, 1900, 100, []string{"several nodes of one data source, wild"}},
		"too few to judge wild ones": {scattered, wild, 90, 10, nil},
	} {
		r := newReport()
		for range tt.answered {
			r.count(tt.p, tt.at, l, answered)
		}
		for range tt.refused {
			r.count(tt.p, tt.at, l, refusedHere)
			r.refuse(tt.at, "HAVING: too hard", "SELECT a longer example")
			r.refuse(tt.at, "HAVING: too hard", "SELECT 1")
		}
		missed := r.missed()
		if len(missed) != len(tt.missed) {
			t.Errorf("%s: missed %q, want %q", name, missed, tt.missed)
			continue
		}
		for i, bar := range tt.missed {
			if !strings.HasPrefix(missed[i], bar+":") {
				t.Errorf("%s: missed %q, want %q", name, missed[i], bar)
			}
		}
		text := r.String()
		if want := fmt.Sprintf("%d answered alike, 0 failed alike, %d refused, 0 wrong", tt.answered, tt.refused); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, text)
		}
		if reason := fmt.Sprintf("%6d = ", 2*tt.refused); tt.refused > 0 && (!strings.Contains(text, reason) || !strings.Contains(text, "HAVING: too hard\n        SELECT 1\n")) {
			t.Errorf("%s: no reason of the refusals:\n%s", name, text)
		}
	}
}

// A feature that the generator does not make is not tested, whatever it is said to
// answer. Its weight stands where the generator chooses it.
func TestNoFeatureIsSwitchedOff(t *testing.T) {
	const enough = 5
	keys := topologies[0].keys
	features, kinds := [features]int{}, map[string]int{}
	for seed := range uint64(2500) {
		for p := range profiles {
			l := label(newGenerator(seed, "s").queryOf(p).statement.text(), keys)
			for i, has := range l.has {
				if has {
					features[i]++
				}
			}
			for _, kind := range l.kinds {
				kinds[kind]++
			}
		}
	}
	for i, n := range features {
		if n < enough && feature(i) != featOther {
			t.Errorf("%s: %d statements", featureNames[i], n)
		}
	}
	for _, kind := range kindNames {
		if kinds[kind] < enough {
			t.Errorf("%s: %d statements", kind, kinds[kind])
		}
	}
}
