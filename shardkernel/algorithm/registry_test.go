package algorithm

import (
	"strings"
	"testing"
)

type nowhere struct{}

func (nowhere) Bind([]string) (Sharder, error) { return nil, nil }

func TestTypeNamesMatchWithoutRegardToCase(t *testing.T) {
	r := NewRegistry()
	for _, name := range []string{"MOD", "mod", " Mod "} {
		if _, err := r.New(name, Props{"shardingCount": 2}); err != nil {
			t.Errorf("New(%q): %v", name, err)
		}
	}
	if got := strings.Join(r.Types(), " "); got != "AUTO_INTERVAL BOUNDARY_RANGE COMPLEX_INLINE CONSISTENT_HASH GENE HASH_MOD HINT_INLINE INLINE INTERVAL MOD SLOT_RANGE THRESHOLD VOLUME_RANGE" {
		t.Errorf("Types() = %q", got)
	}
}

func TestUnknownTypesAreSuggested(t *testing.T) {
	const known = "AUTO_INTERVAL, BOUNDARY_RANGE, COMPLEX_INLINE, CONSISTENT_HASH, GENE, HASH_MOD, HINT_INLINE, INLINE, INTERVAL, MOD, SLOT_RANGE, THRESHOLD, VOLUME_RANGE"
	r := NewRegistry()
	tests := []struct{ name, want string }{
		{"MODD", `no algorithm type "MODD"; did you mean "MOD"?`},
		{"hashmod", `no algorithm type "hashmod"; did you mean "HASH_MOD"?`},
		{"interval_range", `no algorithm type "interval_range"; known: ` + known},
		{"", `no algorithm type ""; known: ` + known},
	}
	for _, tt := range tests {
		if _, err := r.New(tt.name, nil); err == nil || err.Error() != tt.want {
			t.Errorf("New(%q)\n got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestRegistriesAreIndependent(t *testing.T) {
	a, b := NewRegistry(), NewRegistry()
	factory := func(Props) (Algorithm, error) { return nowhere{}, nil }
	if err := a.Register("mine", factory); err != nil {
		t.Fatal(err)
	}
	if _, err := a.New("MINE", nil); err != nil {
		t.Error(err)
	}
	if _, err := b.New("MINE", nil); err == nil {
		t.Error("another registry knows the type too")
	}
}

func TestRegisterRefusesWhatWouldChangeNodes(t *testing.T) {
	r := NewRegistry()
	factory := func(Props) (Algorithm, error) { return nowhere{}, nil }
	tests := []struct {
		name    string
		factory Factory
		want    string
	}{
		{"inline", factory, "registered already"},
		{" ", factory, "without a name"},
		{"mine", nil, "the factory is nil"},
	}
	for _, tt := range tests {
		if err := r.Register(tt.name, tt.factory); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Register(%q): %v, want %q", tt.name, err, tt.want)
		}
	}
}
