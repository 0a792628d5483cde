package value

import "testing"

func TestWiderTypeIsOfOneKind(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"BIGINT", "BIGINT", "BIGINT"},
		{"TEXT", "LONGTEXT", "LONGTEXT"},
		{"MEDIUMBLOB", "BLOB", "MEDIUMBLOB"},
		{"CHAR", "VARCHAR", "VARCHAR"},
		{"TEXT", "BLOB", ""},
		{"BIGINT", "INT", ""},
		{"", "TEXT", ""},
	} {
		if got, ok := WiderType(test.a, test.b, false); got != test.want || ok != (test.want != "") {
			t.Errorf("WiderType(%s, %s, false) = %q, %v; want %q", test.a, test.b, got, ok, test.want)
		}
		if got, _ := WiderType(test.b, test.a, false); got != test.want {
			t.Errorf("WiderType(%s, %s, false) = %q; want %q", test.b, test.a, got, test.want)
		}
	}
}

func TestWiderTypeOfAnExtremeFollowsThePlans(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"ENUM", "VARCHAR", "ENUM"},
		{"SET", "VARCHAR", "SET"},
		{"CHAR", "VARCHAR", "VARCHAR"},
		{"UNSIGNED INT", "UNSIGNED BIGINT", "UNSIGNED BIGINT"},
		{"INT", "UNSIGNED INT", ""},
		{"ENUM", "SET", ""},
		{"ENUM", "BIGINT", ""},
	} {
		if got, ok := WiderType(test.a, test.b, true); got != test.want || ok != (test.want != "") {
			t.Errorf("WiderType(%s, %s, true) = %q, %v; want %q", test.a, test.b, got, ok, test.want)
		}
		if got, _ := WiderType(test.b, test.a, true); got != test.want {
			t.Errorf("WiderType(%s, %s, true) = %q; want %q", test.b, test.a, got, test.want)
		}
	}
}
