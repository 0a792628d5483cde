package merge

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
)

// TestSumsIn64BitsAreThoseOfDecimals over numbers of all lengths and scales, up to
// where they no longer fit.
func TestSumsIn64BitsAreThoseOfDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	for range 2000 {
		s, want := sum{clause: "SUM"}, decimal.Decimal{}
		scale := r.IntN(6)
		for range 1 + r.IntN(8) {
			if r.IntN(10) == 0 {
				scale = r.IntN(20)
			}
			n := decimal.New(r.Int64()>>r.IntN(64), 0)
			if r.IntN(2) == 0 {
				n = n.Neg()
			}
			text := n.Shift(int32(-scale)).StringFixed(int32(scale))
			if r.IntN(50) == 0 {
				text = "99999999999999999999999999999999999." + fmt.Sprintf("%0*d", scale+1, 1)
			}
			d := decimal.RequireFromString(text)
			want = want.Add(d)
			if err := s.add([]byte(text)); err != nil {
				t.Fatal(text, err)
			}
			if got, err := s.value(); err != nil || string(got.([]byte)) != want.StringFixed(-want.Exponent()) {
				t.Fatalf("after %s: %s, %v; want %s", text, got, err, want)
			}
		}
	}
	for _, text := range []string{"", "-", ".", "1e5", "1.2.3", "+1", " 1"} {
		if (&fixed{}).add([]byte(text)) {
			t.Errorf("%q was taken for a decimal", text)
		}
	}
}

func TestSumsOfDecimalsAllocateNothingForARow(t *testing.T) {
	s := sum{clause: "SUM"}
	var v driver.Value = []byte("-1234567.89")
	if n := testing.AllocsPerRun(1000, func() {
		if err := s.add(v); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a row", n)
	}
}
