package sharding_test

import (
	"testing"

	"gorm.io/gorm"

	"github.com/gormshard/sharding"
)

func TestOfNoDatabaseIsNoPlugin(t *testing.T) {
	for name, db := range map[string]*gorm.DB{"nil": nil, "zero": {}, "without plugins": {Config: &gorm.Config{}}} {
		if p := sharding.Of(db); p != nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}
