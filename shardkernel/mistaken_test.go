package shardkernel_test

import (
	"testing"

	"github.com/gormshard/sharding/config"
)

func TestOnlyUnknownTablesThatAreCalledNearlyLikeOneWithARuleAreMistaken(t *testing.T) {
	k, _, err := newKernel(t, &stored{}, config.IDLease{})
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]string{"t_as": "t_a", "t_a": "", "t_audit": ""} {
		near, source := k.Mistaken(table)
		if near != want || want != "" && source != "ds0" {
			t.Errorf("%s: %q in %q, want %q", table, near, source, want)
		}
	}
}
