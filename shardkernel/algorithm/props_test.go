package algorithm

import (
	"strings"
	"testing"
)

func TestNumbersComeInManyTypes(t *testing.T) {
	for _, v := range []any{4, int32(4), int64(4), uint(4), uint32(4), uint64(4), 4.0, "4", " 4 "} {
		r := ReadProps(Props{"SHARDINGCOUNT": v})
		if got := r.Int("shardingCount", 1, 8); got != 4 || r.Err() != nil {
			t.Errorf("%T %v reads as %d, %v", v, v, got, r.Err())
		}
	}
	for _, v := range []any{4.5, 1e300, "4.0", "four", true, []any{4}, uint64(1 << 63), float64(1 << 53), "9223372036854775808"} {
		r := ReadProps(Props{"shardingCount": v})
		r.Int("shardingCount", 1, 1<<62)
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), `"shardingCount" must be an integer`) {
			t.Errorf("%T %v: %v", v, v, err)
		}
	}
}

func TestFaultyPropertiesAreAllNamed(t *testing.T) {
	r := ReadProps(Props{"count": 9, "flag": "maybe", "text": "", "kind": "c", "twice": 1, "Twice": 2, "cuont": 1, "zzz": 1})
	r.Int("count", 1, 8)
	r.BoolOr("flag", true)
	r.String("text")
	r.String("absent")
	r.OneOf("kind", "a", "b")
	r.IntOr("twice", 1, 0, 9)
	err := r.Err()
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`property "count" is 9, outside 1 to 8`,
		`property "flag" must be true or false`,
		`property "text" must be a text that is not empty`,
		`property "absent" is missing`,
		`property "kind" must be one of a, b`,
		`property "twice" is given twice, in different spelling`,
		`unknown property "cuont"; did you mean "count"?`,
		`unknown property "zzz"; known: count, flag, text, absent, kind, twice`,
	}
	if got := strings.Split(err.Error(), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAbsentPropertiesHaveDefaults(t *testing.T) {
	r := ReadProps(Props{"given": nil})
	if got := r.IntOr("number", 7, 0, 9); got != 7 {
		t.Errorf("IntOr = %d", got)
	}
	if !r.BoolOr("given", true) || r.BoolOr("flag", false) {
		t.Error("BoolOr ignores its default")
	}
	if got := r.OneOf("kind", "a", "b"); got != "a" {
		t.Errorf("OneOf = %q", got)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	r = ReadProps(Props{"kind": "B", "flag": "TRUE"})
	if got := r.OneOf("kind", "a", "b"); got != "b" || !r.BoolOr("flag", false) || r.Err() != nil {
		t.Errorf("got %q, %v", got, r.Err())
	}
}

func TestHyphensDoNotMatterInNames(t *testing.T) {
	r := ReadProps(Props{"Sharding-Count": 4, "maxAge": 5, "other-name": 6})
	r.alias("amount", "otherName")
	if a, b, c := r.Int("shardingCount", 1, 8), r.Int("max-age", 1, 8), r.Int("amount", 1, 8); a != 4 || b != 5 || c != 6 || r.Err() != nil {
		t.Errorf("%d, %d, %d, %v", a, b, c, r.Err())
	}
	r = ReadProps(Props{"a-b": 1, "ab": 2})
	r.Int("ab", 1, 2)
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "given twice, in different spelling") {
		t.Error(err)
	}
	r = ReadProps(Props{"": 1})
	r.Int("ab", 1, 2)
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), `unknown property ""`) {
		t.Error(err)
	}
}

func TestListsOfIntegersComeInManyForms(t *testing.T) {
	for _, v := range []any{"1, 2", []any{1, "2"}, []int{1, 2}, []uint64{1, 2}, []string{"1", " 2 "}, []float64{1, 2}} {
		r := ReadProps(Props{"list": v})
		got := r.integers("list")
		if err := r.Err(); err != nil || len(got) != 2 || got[0] != Int(1) || got[1] != Int(2) {
			t.Errorf("%#v reads as %v, %v", v, got, err)
		}
	}
	if got := ReadProps(nil).integers("list"); got != nil {
		t.Errorf("an absent list reads as %v", got)
	}
	for _, v := range []any{"", true, []any{nil}, map[string]any{"a": 1}, []any{[]int{1}}} {
		r := ReadProps(Props{"list": v})
		r.integers("list")
		if err := r.Err(); err == nil {
			t.Errorf("%#v is taken for a list of integers", v)
		}
	}
}
