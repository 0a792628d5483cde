//go:build unix

package zoo_test

import (
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
)

// member is a user with the clubs it is in, joined by memberships.
type member struct {
	ID    uint
	Name  string
	Clubs []Club `gorm:"many2many:memberships;foreignKey:ID;joinForeignKey:UserID;References:ID;joinReferences:ClubID"`
}

// TableName implements schema.Tabler.
func (member) TableName() string { return "users" }

// BeforeCreate is a hook of the join table.
func (m *Membership) BeforeCreate(*gorm.DB) error {
	if m.Since.IsZero() {
		m.Since = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	return nil
}

func clubNames(clubs []Club) string { return named(clubs, func(c Club) string { return c.Name }) }

func TestJoinTableWithMoreThanKeys(t *testing.T) {
	eachWay(t, func(_ *testing.T, w *way) {
		if w.limited() {
			return
		}
		w.must(w.db.SetupJoinTable(&member{}, "Clubs", &Membership{}))
		chess, tennis, golf := Club{Name: "chess"}, Club{Name: "tennis"}, Club{Name: "golf"}
		w.must(w.db.Create(&chess).Error)
		members := []member{{Name: "a", Clubs: []Club{chess, tennis}}, {Name: "b", Clubs: []Club{chess}}, {Name: "c"}, {Name: "d", Clubs: []Club{golf}}}
		w.must(w.db.Create(&members).Error)
		w.holds("clubs", "chess", "tennis", "golf")
		w.holds("memberships", "a chess member", "a tennis member", "b chess member", "d golf member")
		since := w.stored("memberships", "since", "")
		if len(since) != 4 || !strings.HasPrefix(since[0], "2020-01-02") || !strings.HasPrefix(since[3], "2020-01-02") {
			w.t.Errorf("the hook of the join table set %q", since)
		}
		a, c := &members[0], &members[2]
		w.must(w.db.Create(&Membership{UserID: c.ID, ClubID: chess.ID, Role: "chair"}).Error)
		w.must(w.db.Model(&Membership{}).Where("user_id = ? AND club_id = ?", a.ID, chess.ID).Update("role", "guest").Error)
		w.must(w.db.Model(c).Association("Clubs").Append(&Club{ID: chess.ID, Name: "not written"}, &Club{Name: "rowing"}))
		w.holds("memberships", "a chess guest", "a tennis member", "b chess member", "c chess chair", "c rowing member", "d golf member")

		var found []member
		w.must(w.db.Preload("Clubs").Order("name").Find(&found).Error)
		w.same("clubs", []string{clubNames(found[0].Clubs), clubNames(found[1].Clubs), clubNames(found[2].Clubs), clubNames(found[3].Clubs)},
			[]string{"chess tennis", "chess", "chess rowing", "golf"})
		var clubs []Club
		w.must(w.db.Model(&found).Where("memberships.role = ?", "member").Association("Clubs").Find(&clubs))
		w.same("members' clubs", clubNames(clubs), "chess golf rowing tennis")

		w.must(w.db.Model(a).Association("Clubs").Delete(&chess)) // softly: the join table has a DeletedAt
		w.must(w.db.Model(&members[3]).Association("Clubs").Clear())
		w.holds("memberships", "a chess guest †", "a tennis member", "b chess member", "c chess chair", "c rowing member", "d golf member †")
		w.same("counts", []int64{w.db.Model(a).Association("Clubs").Count(), w.db.Model(&found).Association("Clubs").Count(), w.db.Model(&members[3]).Association("Clubs").Count()}, []int64{1, 4, 0})
		w.must(w.db.Preload("Clubs").Order("name").Find(&found).Error)
		w.same("clubs", clubNames(found[0].Clubs), "tennis")
		w.must(w.db.Model(c).Association("Clubs").Unscoped().Replace(&Club{ID: chess.ID}))
		w.must(w.db.Unscoped().Model(a).Association("Clubs").Clear())
		w.holds("memberships", "b chess member", "c chess chair", "c rowing member †", "d golf member †")
		w.must(w.db.Unscoped().Select("Clubs").Delete(c).Error)
		w.same("clubs stay", len(w.rows("clubs")), 4)
	})
}
