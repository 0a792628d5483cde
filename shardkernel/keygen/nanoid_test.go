package keygen

import (
	"strings"
	"testing"
)

func TestNanoIDsAreOfTheirSizeAndAlphabet(t *testing.T) {
	tests := []struct {
		props    Props
		size     int
		alphabet string
	}{
		{nil, 21, urlSafe},
		{Props{"size": 64, "alphabet": "ab"}, 64, "ab"},
		{Props{"size": "30", "alphabet": "0123456789"}, 30, "0123456789"},
		{Props{"size": 255}, 255, urlSafe},
	}
	for _, tt := range tests {
		g, err := NewRegistry().New("nanoid", tt.props)
		if err != nil {
			t.Fatal(err)
		}
		key, err := g.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if text := key.(string); len(text) != tt.size || strings.Trim(text, tt.alphabet) != "" {
			t.Errorf("%v: %q", tt.props, text)
		}
	}
	if len(urlSafe) != 64 {
		t.Errorf("the alphabet has %d characters", len(urlSafe))
	}
}

// Of 10 characters in 4 bits, a remainder would give the first 6 twice as often.
func TestNanoIDCharactersAreEquallyProbable(t *testing.T) {
	for _, alphabet := range []string{"0123456789", urlSafe, urlSafe[:33]} {
		g, err := NewRegistry().New("NANOID", Props{"size": 250, "alphabet": alphabet})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[byte]int{}
		const keys = 2000
		for range keys {
			key, _ := g.Next(t.Context())
			for i := range len(key.(string)) {
				counts[key.(string)[i]]++
			}
		}
		// The statistic of Pearson's test is about as large as the number of
		// characters, with a deviation of the root of twice it.
		expected := float64(keys*250) / float64(len(alphabet))
		sum := 0.0
		for i := range len(alphabet) {
			d := float64(counts[alphabet[i]]) - expected
			sum += d * d / expected
		}
		if limit := 3 * float64(len(alphabet)+10); sum > limit {
			t.Errorf("%d characters: statistic %.0f, over %.0f: %v", len(alphabet), sum, limit, counts)
		}
	}
}

func BenchmarkNanoID(b *testing.B) {
	g, err := NewRegistry().New("NANOID", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
