package callbacks

import (
	"reflect"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gormshard/sharding/internal/model"
)

// told keeps what the statements of a *gorm.DB are told of their models, and by
// whom a context is seen behind them.
type told struct {
	models []*model.Model
	after  []*model.Model
}

func (s *told) watch(t *testing.T, db *gorm.DB) {
	t.Helper()
	at := func(list *[]*model.Model) func(*gorm.DB) {
		return func(db *gorm.DB) { *list = append(*list, model.FromContext(db.Statement.Context)) }
	}
	c := db.Callback()
	for _, err := range []error{
		c.Create().After("sharding:generate_key").Before("gorm:create").Register("test:told", at(&s.models)),
		c.Update().After("sharding:model").Before("gorm:update").Register("test:told", at(&s.models)),
		c.Delete().After("sharding:model").Before("gorm:delete").Register("test:told", at(&s.models)),
		c.Query().After("sharding:model").Before("gorm:query").Register("test:told", at(&s.models)),
		c.Create().Before("gorm:save_after_associations").Register("test:after", at(&s.after)),
		c.Update().Before("gorm:save_after_associations").Register("test:after", at(&s.after)),
		c.Delete().Before("gorm:after_delete").Register("test:after", at(&s.after)),
		c.Query().After("gorm:preload").Before("gorm:after_query").Register("test:after", at(&s.after)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatementIsToldOfItsModelsAndNobodyElse(t *testing.T) {
	row := func(id int64, title string) model.Row { return model.Row{Keys: []any{id}, Sharding: []any{title}} }
	upsert := clause.OnConflict{UpdateAll: true}
	tests := []struct {
		name string
		run  func(*gorm.DB) error
		rows []model.Row
		// upsert is true for an INSERT whose keys are to be looked for.
		upsert bool
	}{
		{"updates", func(db *gorm.DB) error { return db.Model(&order{ID: 1, Title: "a"}).Updates(order{Title: "b"}).Error }, []model.Row{row(1, "a")}, false},
		{"save", func(db *gorm.DB) error { return db.Save(&order{ID: 1, Title: "a"}).Error }, []model.Row{row(1, "a")}, false},
		{"delete of a slice", func(db *gorm.DB) error {
			return db.Delete([]*order{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}}).Error
		}, []model.Row{row(1, "a"), row(2, "b")}, false},
		{"first", func(db *gorm.DB) error { return db.First(&order{ID: 1, Title: "a"}).Error }, []model.Row{row(1, "a")}, false},
		{"first by a key", func(db *gorm.DB) error { return db.First(&order{Title: "a"}, 1).Error }, nil, false},
		{"find into what was found before", func(db *gorm.DB) error { return db.Find(&[]order{{ID: 1, Title: "a"}}).Error }, nil, false},
		{"zero sharding value", func(db *gorm.DB) error { return db.Delete(&order{ID: 1}).Error }, nil, false},
		{"zero key", func(db *gorm.DB) error { return db.Where("id = 1").Delete(&order{Title: "a"}).Error }, nil, false},
		{"another table", func(db *gorm.DB) error { return db.Table("t_other").Delete(&order{ID: 1, Title: "a"}).Error }, nil, false},
		{"create", func(db *gorm.DB) error { return db.Create(&order{ID: 1, Title: "a"}).Error }, nil, false},
		{"upsert", func(db *gorm.DB) error { return db.Clauses(upsert).Create(&order{ID: 1, Title: "a"}).Error }, nil, true},
		{"upsert of generated keys", func(db *gorm.DB) error { return db.Clauses(upsert).Create([]order{{Title: "a"}, {Title: "b"}}).Error }, nil, false},
		{"save of a slice", func(db *gorm.DB) error { return db.Save([]order{{Title: "a"}, {ID: 5, Title: "b"}}).Error }, nil, true},
		{"upsert of a map", func(db *gorm.DB) error {
			return db.Model(&order{}).Clauses(upsert).Create(map[string]any{"id": 1, "title": "a"}).Error
		}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, &counter{}, &gorm.Config{DryRun: true})
			var s told
			s.watch(t, db)
			if err := tt.run(db.WithContext(t.Context())); err != nil {
				t.Fatal(err)
			}
			if len(s.models) != 1 || len(s.after) != 1 {
				t.Fatalf("%d statements, %d seen behind them", len(s.models), len(s.after))
			}
			if s.after[0] != nil {
				t.Error("what comes behind the statement is told of the model")
			}
			m := s.models[0]
			if tt.rows == nil && !tt.upsert {
				if m != nil {
					t.Errorf("told of %+v", *m)
				}
				return
			}
			if m == nil || m.Table != "t_order" || m.Upsert != tt.upsert || !reflect.DeepEqual(m.Rows, tt.rows) {
				t.Errorf("told of %+v, want %+v", m, tt.rows)
			}
		})
	}
}
