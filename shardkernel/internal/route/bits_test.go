package route

import "testing"

func TestABitIsChosenWhereItStandsAlone(t *testing.T) {
	for expr, want := range map[string]bool{
		"nullif(bits, 9)":                              true,
		"nullif(o . `bits`, 9)":                        true,
		"coalesce(null, orders.bits)":                  true,
		"case when id > 3 then bits end":               true,
		"if(id, s.o.bits, null)":                       true,
		"nullif(o/**/.bits, 9)":                        true,
		"ifnull(bits, 7)":                              false,
		"coalesce(bits, 'x')":                          false,
		"case when bits > 3 then 'b' else 'a' end":     false,
		"nullif(bits + 0, 9)":                          false,
		"nullif(rabbits, 9)":                           false,
		"nullif(bits_2, 9)":                            false,
		"if(bits = 1, 2, 3)":                           false,
		"case id when 1 then o.bits else null end":     true,
		"case when bits & 7 then bits + 0 else id end": false,
	} {
		if got := chosen(expr, "bits"); got != want {
			t.Errorf("%s: %v", expr, got)
		}
	}
}
