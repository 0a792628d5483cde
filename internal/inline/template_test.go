package inline

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"
)

func bigInt(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no integer", s)
	}
	return n
}

func TestExpressionsFollowGroovy(t *testing.T) {
	const maxUint = uint64(math.MaxUint64)
	huge := bigInt(t, "123456789012345678901234567890")
	tests := []struct {
		text string
		arg  any
		want string
	}{
		// Remainder and division.
		{"t_${id % 8}", int64(11), "t_3"},
		{"t_$->{id % 8}", int64(16), "t_0"},
		{"t_${id % 2}", int64(-3), "t_-1"},
		{"t_${-3 % 2}", int64(0), "t_-1"},
		{"t_${3 % -2}", int64(0), "t_1"},
		{"t_${id % -1}", int64(math.MinInt64), "t_0"},
		{"t_${floorMod(id, 2)}", int64(-3), "t_1"},
		{"t_${floorMod(id, -2)}", int64(3), "t_-1"},
		{"t_${floorMod(id, 8)}", int64(math.MinInt64), "t_0"},
		{"t_${Math.floorMod(id, 5)}", int64(-1), "t_4"},
		{"t_${id % 10}", maxUint, "t_5"},
		{"t_${id % 10}", huge, "t_0"},
		{"t_${id % 7}", int64(9007199254740993), "t_5"},
		{"t_${id % 10000000000}", int64(90071992547409931), "t_2547409931"},
		{"t_${id.intdiv(4)}", int64(-7), "t_-1"},
		{"t_${id.intdiv(4)}", int64(7), "t_1"},
		{"t_${id.intdiv(-1)}", int64(math.MinInt64), "t_9223372036854775808"},
		{"t_${id / 2}", int64(8), "t_4"},
		{"t_${id / -1}", int64(math.MinInt64), "t_9223372036854775808"},
		{"t_${(id / 10).longValue()}", int64(79), "t_7"},
		{"t_${(id / 10).toInteger() % 4}", int64(-79), "t_-3"},
		{"t_${((id + 1) % 4).intdiv(2) + 1}", int64(2), "t_2"},
		{"t_${id % 8L}", int64(9), "t_1"},
		{"t_${id % 0x10}", int64(17), "t_1"},
		// Integers of any size.
		{"t_${id + 1}", int64(math.MaxInt64), "t_9223372036854775808"},
		{"t_${id - 1}", int64(math.MinInt64), "t_-9223372036854775809"},
		{"t_${id + id}", int64(math.MinInt64), "t_-18446744073709551616"},
		{"t_${id * id}", int64(math.MaxInt64), "t_85070591730234615847396907784232501249"},
		{"t_${-id}", int64(math.MinInt64), "t_9223372036854775808"},
		{"t_${id.abs()}", int64(math.MinInt64), "t_9223372036854775808"},
		{"t_${id.abs() % 4}", int64(-5), "t_1"},
		{"t_${Math.abs(id) % 4}", int64(-6), "t_2"},
		{"t_${id}", maxUint, "t_18446744073709551615"},
		{"t_${id - 18}", uint64(20), "t_2"},
		{"t_${id}", huge, "t_123456789012345678901234567890"},
		// Hashes are Java's.
		{"t_${id.hashCode()}", "abc", "t_96354"},
		{"t_${Math.abs(id.hashCode() % 4)}", "order-1001", "t_3"},
		{"t_${id.hashCode().abs() % 4}", "polygenelubricants", "t_0"},
		{"t_${id.hashCode()}", int64(-1), "t_0"},
		{"t_${id.hashCode()}", int64(4294967297), "t_0"},
		{"t_${id.hashCode()}", maxUint, "t_-32"},
		// Text.
		{"t_${id.substring(0, 4)}", "20240105", "t_2024"},
		{"t_${id.substring(6)}", "20240105", "t_05"},
		{"t_${id.substring(1, 2)}", "中文", "t_文"},
		{"t_${id.substring(2)}", "😀x", "t_x"},
		{"t_${id.length()}", "😀x", "t_3"},
		{"t_${(id % 100).toString().padLeft(2, '0')}", int64(7), "t_07"},
		{"t_${id.toString().padLeft(5, 'ab')}", int64(7), "t_abab7"},
		{"t_${id.padLeft(2)}", "x", "t_ x"},
		{"t_${id.padLeft(2, '0')}", "xyz", "t_xyz"},
		{"t_${'a' + id}", int64(1), "t_a1"},
		{"t_${id + 'a'}", "b", "t_ba"},
		{"t_${id + 1}", "12", "t_121"},
		{"t_${'a' + id % 4 + \"b\"}", int64(6), "t_a2b"},
		{"${id}_t", "eu", "eu_t"},
		{"t_${String.valueOf(id).length()}", int64(100), "t_3"},
		// A text that spells an integer.
		{"t_${id % 8}", "11", "t_3"},
		{"t_${id % 8}", "-11", "t_-3"},
		{"t_${id % 10}", "18446744073709551615", "t_5"},
		{"t_${id.toLong() * 2}", "21", "t_42"},
		{"t_${Long.parseLong(id) % 4}", "7", "t_3"},
		{"t_${Integer.valueOf(id) % 4}", "7", "t_3"},
		// Conditions.
		{"t_${id > 100 ? 1 : 0}", int64(100), "t_0"},
		{"t_${id >= 100 ? 'hot' : 'cold'}", int64(100), "t_hot"},
		{"t_${id < 18446744073709551 && !(id == 5) ? 1 : 0}", maxUint, "t_0"},
		{"t_${id == 'a' || id != 'b' ? 1 : 0}", "b", "t_0"},
		{"t_${id <= 0 ? id % 2 : id % 3}", int64(5), "t_2"},
		// Names of columns match without regard to case.
		{"t_${ID % 8 + Id}", int64(11), "t_14"},
		{" t_${id} ", int64(1), "t_1"},
		{"t_0", int64(1), "t_0"},
	}
	for _, tt := range tests {
		tmpl, err := Compile(tt.text, []string{"id"})
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.text, err)
			continue
		}
		if got, err := tmpl.Eval(tt.arg); err != nil || got != tt.want {
			t.Errorf("%q with %T %v\n got %q, %v\nwant %q", tt.text, tt.arg, tt.arg, got, err, tt.want)
		}
	}
}

func TestEvaluationFailsWithoutAnExactResult(t *testing.T) {
	tests := []struct {
		text string
		arg  any
		want string
	}{
		{"t_${1 % id}", int64(0), "% by zero"},
		{"t_${1 / id}", int64(0), "/ by zero"},
		{"t_${(1).intdiv(id)}", int64(0), "intdiv by zero"},
		{"t_${floorMod(1, id)}", int64(0), "floorMod by zero"},
		{"t_${id / 10}", int64(79), "use intdiv"},
		{"t_${id / 10 + 1}", int64(79), "use intdiv"},
		{"t_${(id / 10000000001).longValue()}", int64(10000000000), "use intdiv"},
		{"t_${id.toInteger()}", int64(1 << 31), "32 bits"},
		{"t_${id.longValue()}", uint64(math.MaxUint64), "64 bits"},
		{"t_${id % 8}", "secret77", "the text is none"},
		{"t_${id % 8}", "1.0", "the text is none"},
		{"t_${id % 8}", " 1", "the text is none"},
		{"t_${id % 8}", "", "the text is none"},
		{"t_${id % 8}", "+", "the text is none"},
		{"t_${id % 8}", strings.Repeat("9", 200), "the text is none"},
		{"t_${id * 2}", "12", "toLong()"},
		{"t_${id - 2}", "12", "toLong()"},
		{"t_${id == 12 ? 1 : 0}", "12", "toLong()"},
		{"t_${id < 12 ? 1 : 0}", "12", "toLong()"},
		{"t_${id.substring(2, 9)}", "abc", "outside the text"},
		{"t_${id.substring(2, 1)}", "abc", "ends before it starts"},
		{"t_${id.substring(-1)}", "abc", "outside the text"},
		{"t_${id.substring('a')}", "abc", "outside the text"},
		{"t_${id.substring(1)}", "😀", "cut a character"},
		{"t_${id.padLeft(1000)}", "a", "width"},
		{"t_${id.padLeft(3, '')}", "a", "something to pad"},
		{"t_${id.padLeft(2, '😀')}", "a", "cut a character"},
		{"t_${id == 1}", int64(1), "true or false"},
		{"t_${id ? 1 : 0}", int64(1), "do not fit"},
		{"t_${!id ? 1 : 0}", int64(1), "do not fit"},
		{"t_${id && true_ ? 1 : 0}", int64(1), ""},
		{"t_${(id == 1) + 1}", int64(1), "+ needs an integer"},
		{"t_${id}", strings.Repeat("x", 2000), "too long"},
		{"t_${(id + id).length()}", strings.Repeat("x", 40000), "too long"},
		{"t_${id}", time.Unix(0, 0), "neither an integer nor a text"},
		{"t_${id}", 1.5, "neither an integer nor a text"},
		{"t_${id}", nil, "neither an integer nor a text"},
	}
	for _, tt := range tests {
		tmpl, err := Compile(tt.text, []string{"id", "true_"})
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.text, err)
			continue
		}
		got, err := tmpl.Eval(tt.arg, int64(1))
		if err == nil {
			t.Errorf("%q with %v gave %q, want an error", tt.text, tt.arg, got)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %q lacks %q", tt.text, err, tt.want)
		}
		if s, ok := tt.arg.(string); ok && len(s) > 4 && strings.Contains(err.Error(), s) {
			t.Errorf("%q: error %q quotes the value", tt.text, err)
		}
	}
	tmpl, err := Compile("t_${id}", []string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmpl.Eval(); err == nil {
		t.Error("Eval without its value succeeded")
	}
}

func TestExpressionErrorsAreFoundAtCompile(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "an empty name"},
		{"t_${order_id % 2", "no } ends"},
		{"t_${order_id %}", "unexpected token"},
		{"t_${order_id % (2}", "no } ends"},
		{"t_${other % 2}", "column 5: other is not the sharding column; known here: order_id"},
		{"t_${order_id.foo()}", "unknown method foo"},
		{"t_${foo(order_id)}", "unknown function foo"},
		{"t_${Math.sqrt(order_id)}", "unknown function Math.sqrt"},
		{"t_${Math}", "Math is not the sharding column"},
		{"t_${order_id.intdiv()}", "wrong number of arguments"},
		{"t_${floorMod(order_id)}", "wrong number of arguments"},
		{"t_${order_id.abs(1)}", "wrong number of arguments"},
		{"t_${order_id ** 2}", "operator ** is not supported"},
		{"t_${order_id in [1]}", "operator in is not supported"},
		{"t_${0..9}", "operator .. is not supported"},
		{"t_${order_id % 1.5}", "a number with a fraction"},
		{"t_${order_id % 010}", "leading zero"},
		{"t_${order_id % 9223372036854775808}", "invalid integer literal"},
		{"t_${order_id[0]}", "not supported here"},
		{"t_${[order_id]}", "not supported here"},
		{"t_${nil}", "not supported here"},
		{"t_${order_id?.abs()}", "not supported here"},
		{"t_${let a = 1; a}", "not supported here"},
		{"t_${len(order_id)}", "unknown function len"},
		{"t_${$env}", "a $ inside"},
		{"ds${a.t_${b}", "is a } missing before it?"},
		{"t_${\"$order_id\"}", "inside double quotes"},
		{"t_${1 / 0}", "/ by zero"},
		{"t_${'a'.substring(3)}", "outside the text"},
		{"t_${1 == 1}", "true or false"},
		{"t_${order_id % 2},t_9", "gives one name"},
		{"t_$order_id", "a $ that starts"},
		{"t_{order_id}", "a { outside"},
	}
	for _, tt := range tests {
		_, err := Compile(tt.text, []string{"order_id"})
		if err == nil {
			t.Errorf("Compile(%q) succeeded, want an error with %q", tt.text, tt.want)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%q): error %q lacks %q", tt.text, err, tt.want)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("Compile(%q): error %q has several lines", tt.text, err)
		}
	}
}

func TestColumnsAreTakenFromTheTextWhenNoneAreGiven(t *testing.T) {
	tmpl, err := Compile("t_${B % 2}_${a % 2}_${b}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tmpl.Columns(), " "); got != "b a" {
		t.Fatalf("columns %q, want %q", got, "b a")
	}
	if got, err := tmpl.Eval(int64(5), int64(4)); err != nil || got != "t_1_0_5" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A column may be named like one of the functions.
func TestColumnsDoNotHideFunctions(t *testing.T) {
	tmpl, err := Compile("t_${floormod % 3 + floorMod(abs, 2).abs()}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tmpl.Eval(int64(5), int64(-3)); err != nil || got != "t_3" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestPeriodIsFoundWhereTheColumnIsOnlyReducedByConstants(t *testing.T) {
	tests := []struct {
		text string
		want int64
	}{
		{"t_${id % 8}", 8},
		{"t_${id % 8}_${id % 6}", 24},
		{"t_${(id % 16).intdiv(4)}", 4 * 4},
		{"t_${floorMod(id, 5)}", 5},
		{"t_${id.intdiv(4) % 2}", 8},
		{"t_${floorMod(id.intdiv(3), 5)}", 15},
		{"t_${id.intdiv(4) % 8}_${id % 6}", 96},
		{"t_${id.intdiv(4)}", 0},
		{"t_${id.intdiv(-4) % 2}", 0},
		{"t_${(id + 1).intdiv(4) % 2}", 0},
		{"t_${id.intdiv(4096) % 4096}", 0},
		{"t_${(id % 2 == 0) ? 'a' : 'b'}", 2},
		{"t_0", 1},
		{"t_${id}", 0},
		{"t_${id % 8 + id}", 0},
		{"t_${(id + 1) % 8}", 0},
		{"t_${id.hashCode() % 8}", 0},
		{"t_${id % 5000}", 0},
		{"t_${id % 4095}_${id % 4096}", 0},
		{"t_${8 % id}", 0},
		{"t_${id % 2}_${other % 2}", 0},
	}
	for _, tt := range tests {
		tmpl, err := Compile(tt.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, ok := tmpl.Period()
		if n != tt.want || ok != (tt.want > 0) {
			t.Errorf("%q: period %d, %t, want %d", tt.text, n, ok, tt.want)
		}
		if !ok || len(tmpl.Columns()) == 0 {
			continue
		}
		for _, x := range []int64{0, 1, 7, 8, 23, 25, 1000003, math.MaxInt64, -1, -8, -25, math.MinInt64} {
			whole, err1 := tmpl.Eval(x)
			rest, err2 := tmpl.Eval(x % n)
			if err1 != nil || err2 != nil || whole != rest {
				t.Errorf("%q: %d gives %q, its remainder %q (%v, %v)", tt.text, x, whole, rest, err1, err2)
			}
		}
	}
}

func TestFitsKeepsEveryPossibleName(t *testing.T) {
	tests := []struct {
		text, name string
		want       bool
	}{
		{"t_${id}", "t_1", true},
		{"t_${id}", "t_", true},
		{"t_${id}", "x_1", false},
		{"${id}_t", "1_t", true},
		{"${id}_t", "1_x", false},
		{"ab${id}bc", "abc", false},
		{"ab${id}bc", "abbc", true},
		{"${id}", "anything", true},
		{"t_0", "t_0", true},
		{"t_0", "t_00", false},
	}
	for _, tt := range tests {
		tmpl, err := Compile(tt.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tmpl.Fits(tt.name); got != tt.want {
			t.Errorf("%q fits %q: %t, want %t", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestTemplateIsSafeForConcurrentUse(t *testing.T) {
	tmpl, err := Compile("t_${id.intdiv(3)}_${id % 8}", nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				n := int64(g*1000 + i)
				want := fmt.Sprintf("t_%d_%d", n/3, n%8)
				if got, err := tmpl.Eval(n); err != nil || got != want {
					t.Errorf("%d gave %q, %v; want %q", n, got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestHashesAreJavas(t *testing.T) {
	for text, want := range map[string]int32{
		"": 0, "a": 97, "abc": 96354, "order-1001": 708180863, "中文": 646394, "😀": 1772899, "polygenelubricants": math.MinInt32,
	} {
		if got := HashText(text); got != want {
			t.Errorf("HashText(%q) = %d, want %d", text, got, want)
		}
	}
	for n, want := range map[int64]int32{1: 1, -1: 0, -5: 4, 1 << 31: math.MinInt32, 1 << 32: 1, 1<<32 + 1: 0, math.MaxInt64: math.MinInt32, math.MinInt64: math.MinInt32} {
		if got := HashLong(n); got != want {
			t.Errorf("HashLong(%d) = %d, want %d", n, got, want)
		}
	}
	for s, want := range map[string]int32{"18446744073709551615": -32, "-18446744073709551615": 32, "9223372036854775808": math.MinInt32, "4294967296": 31, "0": 0} {
		if got := HashBigInteger(bigInt(t, s)); got != want {
			t.Errorf("HashBigInteger(%s) = %d, want %d", s, got, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"t_${id % 8}", "t_$->{(id % 16).intdiv(4)}", "t_${id.toString().padLeft(4, '0')}", "t_${id.hashCode().abs() % 4}",
		"t_${id > 1 ? 'a' : \"b\"}", "t_${floorMod(id, 8L)}", "t_${id.substring(0, 2) + 1 / 3}", "${((((", "t_${-id*id}",
	} {
		f.Add(s, int64(11), "2024")
	}
	f.Fuzz(func(t *testing.T, text string, number int64, word string) {
		tmpl, err := Compile(text, nil)
		if err != nil {
			return
		}
		for _, arg := range []any{number, uint64(number), word} {
			args := make([]any, len(tmpl.Columns()))
			for i := range args {
				args[i] = arg
			}
			name, err := tmpl.Eval(args...)
			if err != nil {
				continue
			}
			if len(name) > maxName || !tmpl.Fits(name) {
				t.Errorf("%q gave %q", text, name)
			}
		}
	})
}

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"t_${id % 8}", "t_${(id % 16).intdiv(4).toString().padLeft(2, '0')}"} {
		b.Run(text, func(b *testing.B) {
			tmpl, err := Compile(text, []string{"id"})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := int64(1 << 40); b.Loop(); i++ {
				if _, err := tmpl.Eval(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
