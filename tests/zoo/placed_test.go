//go:build unix

package zoo_test

import (
	"slices"
	"testing"
)

// TestRowsOfAnOwnerAreOnItsNode: the placements are what the other tests believe.
func TestRowsOfAnOwnerAreOnItsNode(t *testing.T) {
	eachWay(t, func(t *testing.T, w *way) {
		for id := uint(1); id <= 8; id++ {
			user := User{Name: "owner", Account: Account{Number: "7"}}
			user.ID = id
			w.must(w.db.Create(&user).Error)
		}
		w.must(w.db.Create(&Company{Name: "all"}).Error, w.db.Create(&Coupon{Code: "one"}).Error)
		for _, table := range []string{"users", "accounts"} {
			got := w.stored(table, owners[table], "")
			slices.Sort(got)
			if !slices.Equal(got, []string{"1", "2", "3", "4", "5", "6", "7", "8"}) {
				t.Errorf("%s has rows of the owners %q", table, got)
			}
			if !w.sharded() {
				continue
			}
			for owner := range 4 {
				got := w.column(w.pools[owner%databases], "SELECT COUNT(*) FROM "+tableOf(table, owner))
				if !slices.Equal(got, []string{"2"}) {
					t.Errorf("%s of ds%d has %q rows", tableOf(table, owner), owner%databases, got)
				}
			}
		}
		for i, pool := range w.pools {
			want := []string{"1"}
			if w.placement == single && i == 0 {
				continue
			}
			if got := w.column(pool, "SELECT COUNT(*) FROM companies"); !slices.Equal(got, want) {
				t.Errorf("data source %d has %q companies", i, got)
			}
		}
		if got := w.stored("coupons", "code", ""); !slices.Equal(got, []string{"one"}) {
			t.Errorf("coupons %q", got)
		}
	})
}
