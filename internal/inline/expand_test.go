package inline

import (
	"slices"
	"strings"
	"testing"
)

func TestExpandListsNames(t *testing.T) {
	tests := []struct {
		text string
		want string
	}{
		{"t_order", "t_order"},
		{"t_order_${0..3}", "t_order_0 t_order_1 t_order_2 t_order_3"},
		{"t_order_$->{0..1}", "t_order_0 t_order_1"},
		{"t_${3..1}", "t_3 t_2 t_1"},
		{"t_${-1..1}", "t_-1 t_0 t_1"},
		{"t_${0..<3}", "t_0 t_1 t_2"},
		{"t_${2..<0}", "t_2 t_1"},
		{"t_${5..5}", "t_5"},
		{"t_${ 8 .. 10 }", "t_8 t_9 t_10"},
		{"t_${9223372036854775806..9223372036854775807}", "t_9223372036854775806 t_9223372036854775807"},
		{"t_${[0, 2]}", "t_0 t_2"},
		{"t_${['a', \"b\"]}", "t_a t_b"},
		{"t_${['a,b']}", "t_a,b"},
		{"t_${['00','01']}", "t_00 t_01"},
		{"t_${'x'}${7}", "t_x7"},
		{"t_${['0..2']}", "t_0..2"},
		{"${['online', 'offline']}_t", "online_t offline_t"},
		{"ds0.t_0, ds1.t_${0..1}", "ds0.t_0 ds1.t_0 ds1.t_1"},
		{"\n ds0.t_0,\n\tds1.t_1 \n", "ds0.t_0 ds1.t_1"},
		{"t_${[1, 1]}", "t_1 t_1"},
	}
	for _, tt := range tests {
		got, err := Expand(tt.text)
		if err != nil {
			t.Errorf("Expand(%q): %v", tt.text, err)
			continue
		}
		if want := strings.Fields(tt.want); !slices.Equal(got, want) {
			t.Errorf("Expand(%q)\n got %q\nwant %q", tt.text, got, want)
		}
	}
}

func TestExpandTurnsTheLeftmostPlaceholderSlowest(t *testing.T) {
	got, err := Expand("ds${0..1}.t_${['a','b']}_${0..1}")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ds0.t_a_0", "ds0.t_a_1", "ds0.t_b_0", "ds0.t_b_1", "ds1.t_a_0", "ds1.t_a_1", "ds1.t_b_0", "ds1.t_b_1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestExpandRefusesWhatItDoesNotKnow(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "an empty name"},
		{"only white space", " \n", "an empty name"},
		{"empty item", "ds0.t,,ds1.t", "column 7: an empty name"},
		{"trailing comma", "ds0.t,", "an empty name"},
		{"open brace", "t_${0..1", "no } ends"},
		{"nothing inside", "t_${ }", "nothing between"},
		{"lone dollar", "t_$x", "column 3: a $ that starts"},
		{"brace without dollar", "t_{0..1}", "a { outside"},
		{"stray brace", "t_0}", "a } outside"},
		{"open string", "t_${['a]}", "no ' ends this string"},
		{"open list", "t_${[1, 2}", "no } ends"},
		{"list that ends early", "t_${[1] }_${[1] 2}", "no ] ends the list"},
		{"empty list", "t_${[]}", "neither a range"},
		{"nested list", "t_${[[1],2]}", "neither a range"},
		{"variable", "t_${id % 2}", "neither a range"},
		{"padded range", "t_${00..11}", "without leading zeros"},
		{"padded number", "t_${[01]}", "without leading zeros"},
		{"open range", "t_${0..}", "a range needs two integers"},
		{"text range", "t_${a..c}", "a range needs two integers"},
		{"empty range", "t_${1..<1}", "the range is empty"},
		{"number too large", "t_${9223372036854775808}", "neither a range"},
		{"nested placeholder", "t_${\"${1}\"}", "inside double quotes"},
		{"long range", "t_${0..100000}", "more than 100000 names"},
		{"widest range", "t_${-9223372036854775808..9223372036854775807}", "more than 100000 names"},
		{"large product", "t_${0..999}_${0..999}", "more than 100000 names"},
		{"large sum", "a_${0..99999},b", "more than 100000 names"},
		{"large names", strings.Repeat("n", 2000) + "${0..9999}", "bytes together"},
		{"long text", strings.Repeat("n", maxText+1), "at most 4096"},
		{"deep nesting", "t_${" + strings.Repeat("(", 40) + "1" + strings.Repeat(")", 40) + "}", "nested deeper than 32"},
		{"not text", "t_\xff", "not valid UTF-8"},
	}
	for _, tt := range tests {
		got, err := Expand(tt.text)
		if err == nil {
			t.Errorf("%s: Expand gave %d names, want an error with %q", tt.name, len(got), tt.want)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %q lacks %q", tt.name, err, tt.want)
		}
	}
}

func TestExpandReachesItsLimit(t *testing.T) {
	got, err := Expand("t_${0..99}_${0..999}")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != maxNames || got[maxNames-1] != "t_99_999" {
		t.Errorf("got %d names, the last %q", len(got), got[len(got)-1])
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"ds${0..1}.t_${[0,1]}", "t_$->{['a','b']}, x", "t_${-1..<4}", "${\"", "$->{[}", "t_${0..9}${0..9}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := Expand(text)
		if err != nil {
			return
		}
		if len(names) == 0 || len(names) > maxNames {
			t.Fatalf("Expand(%q) gave %d names", text, len(names))
		}
	})
}
