package config

import (
	"maps"
	"os"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A writer that stops anywhere leaves a file that is no configuration, or one that
// would lose rows, which a reload refuses, or one that looks for every row where the
// whole does: only what stands in props, or sizes a pool, may be another.
func TestAFileCutOffAnywhereLeadsToNoOtherNode(t *testing.T) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(running+"props: {maxNodes: 16, audit: [requireShardingKey, singleDataSource]}\n"), &doc); err != nil {
		t.Fatal(err)
	}
	cuts, valid, apart := 0, 0, 4
	if os.Getenv("SHARDING_TEST_LONG") != "" {
		apart = 1
	}
	for _, last := range slices.Sorted(maps.Keys(doc)) {
		// In block style, where least is missed when the end is away.
		rest := maps.Clone(doc)
		delete(rest, last)
		text, err := yaml.Marshal(rest)
		if err != nil {
			t.Fatal(err)
		}
		from := len(text)
		end, err := yaml.Marshal(map[string]any{last: doc[last]})
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, end...)
		whole := loaded(t, string(text))
		for end := from; end < len(text); end += apart {
			cuts++
			cfg, err := Parse(text[:end], "yaml")
			if err != nil || whole.Rerouting(cfg) != nil {
				continue
			}
			valid++
			if cfg.Fingerprint() != whole.Fingerprint() || cfg.DefaultSourceName() != whole.DefaultSourceName() || !maps.Equal(cfg.Sharding.SingleTables, whole.Sharding.SingleTables) {
				t.Errorf("with %s at the end, cut at %d: other rules than those of the whole: …%q", last, end, text[max(from, end-60):end])
			}
			for _, name := range whole.SourceNames() {
				if got, want := cfg.DataSources[cfg.PrimaryOf(name)].DSN, whole.DataSources[whole.PrimaryOf(name)].DSN; got != want {
					t.Errorf("with %s at the end, cut at %d: %s is at %s, not %s", last, end, name, got, want)
				}
			}
		}
	}
	if valid == 0 || valid == cuts {
		t.Errorf("%d of %d cuts may come into force", valid, cuts)
	}
	t.Logf("%d cuts, of which %d change nothing but settings", cuts, valid)
}
