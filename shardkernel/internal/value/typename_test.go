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
		if got, ok := WiderType(test.a, test.b); got != test.want || ok != (test.want != "") {
			t.Errorf("WiderType(%s, %s) = %q, %v; want %q", test.a, test.b, got, ok, test.want)
		}
		if got, _ := WiderType(test.b, test.a); got != test.want {
			t.Errorf("WiderType(%s, %s) = %q; want %q", test.b, test.a, got, test.want)
		}
	}
}

func TestWiderExtremeTakesAnEnumForAText(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"ENUM", "VARCHAR", "ENUM"},
		{"SET", "VARCHAR", "SET"},
		{"CHAR", "VARCHAR", "VARCHAR"},
		{"ENUM", "SET", ""},
		{"ENUM", "BIGINT", ""},
	} {
		if got, ok := WiderExtreme(test.a, test.b); got != test.want || ok != (test.want != "") {
			t.Errorf("WiderExtreme(%s, %s) = %q, %v; want %q", test.a, test.b, got, ok, test.want)
		}
		if got, _ := WiderExtreme(test.b, test.a); got != test.want {
			t.Errorf("WiderExtreme(%s, %s) = %q; want %q", test.b, test.a, got, test.want)
		}
	}
}
