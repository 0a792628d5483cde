package inline

import (
	"fmt"
	"math"
	"testing"
)

// What Groovy computes with Integers wraps around at 32 bits, with a Long at 64. An
// exact result would be another node.
func TestJavaArithmeticWrapsAroundWhereJavaDoes(t *testing.T) {
	const id = int64(1<<62 + 12345)
	const small = int64(2_000_000_011)
	hash := HashText("order-1001")
	for _, test := range []struct {
		code       string
		arithmetic Arithmetic
		value      any
		want       string
	}{
		{"id * 31", Exact, id, "142962266571249407719"},
		{"id * 31", JavaLong, id, "-4611686018427005209"},
		{"(id * 31) % 7", JavaLong, id, "-6"},
		{"id + id", JavaLong, id, "-9223372036854751118"},
		{"Math.abs(id)", JavaLong, int64(math.MinInt64), "-9223372036854775808"},
		{"-id", JavaLong, int64(math.MinInt64), "-9223372036854775808"},
		{"id.hashCode() * 31", JavaLong, "order-1001", fmt.Sprint(hash * 31)},
		{"id.hashCode() * 31L", JavaLong, "order-1001", fmt.Sprint(int64(hash) * 31)},
		{"id.hashCode() * 31G", JavaLong, "order-1001", fmt.Sprint(int64(hash) * 31)},
		{"Math.abs(id.hashCode()) % 3", JavaLong, "polygenelubricants", "-2"},
		{"id.hashCode().abs() % 3", JavaLong, "polygenelubricants", "-2"},
		{"1000000 * 1000000 % 7 + id", JavaLong, int64(0), "0"},
		{"id * 1000003", JavaLong, small, "2000006011000033"},
		{"id * 1000003", JavaInteger, small, "-1344957215"},
		{"id * 1000003 + 3000000000", JavaInteger, small, "1655042785"},
		{"id.hashCode()", JavaInteger, int64(-5), "-5"},
		{"id.hashCode()", JavaLong, int64(-5), "4"},
		{"id.intValue()", JavaLong, id, "12345"},
		{"id.toInteger() * 2", JavaLong, int64(math.MaxInt32), "-2"},
		{"(id / 2).toLong() * 4", JavaLong, id, "-9223372036854751120"},
		{"id * 2", JavaLong, uint64(math.MaxUint64), "36893488147419103230"}, // a BigInteger
		{"id + '-1'", JavaLong, id, fmt.Sprint(id) + "-1"},
		{"id % 4 == 0 ? 2147483647 + 1 : 0", JavaLong, int64(4), "-2147483648"},
	} {
		template, err := CompileAs("${"+test.code+"}", nil, test.arithmetic)
		if err != nil {
			t.Errorf("%s: %v", test.code, err)
			continue
		}
		args := []any{test.value}
		if got, err := template.Eval(args[:len(template.Columns())]...); err != nil || got != test.want {
			t.Errorf("%s of %v in arithmetic %d: %s, %v; want %s", test.code, test.value, test.arithmetic, got, err, test.want)
		}
	}
}
