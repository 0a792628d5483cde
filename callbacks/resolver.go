package callbacks

import (
	"errors"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/gormshard/sharding/internal/fault"
)

// resolver is what dbresolver calls itself, as a plugin and as a callback.
const resolver = "gorm:db_resolver"

// RefuseResolver returns an error when dbresolver is a plugin of db: it would
// hand statements to pools that know nothing of the sharding.
func RefuseResolver(db *gorm.DB) error {
	if _, ok := db.Plugins[resolver]; ok || db.Callback().Query().Get(resolver) != nil {
		return errResolver
	}
	return nil
}

var errResolver error = &fault.ConfigError{
	Path:   "plugins",
	Reason: "dbresolver picks connections behind the back of the sharding plugin",
	Remedy: "remove dbresolver; configure primaries and replicas as readwriteSplitting",
}

// refuseLaterResolver fails every statement once dbresolver has been added after
// this plugin. GORM tells nobody of a new plugin, but it asks every callback
// whether it applies when one is added.
func refuseLaterResolver(db *gorm.DB) error {
	var added atomic.Bool
	look := func(db *gorm.DB) bool {
		if db.Callback().Query().Get(resolver) != nil {
			added.Store(true)
		}
		return true
	}
	refuse := func(db *gorm.DB) {
		if added.Load() {
			_ = db.AddError(errResolver)
		}
	}
	const name = "sharding:refuse_resolver"
	c := db.Callback()
	return errors.Join(
		c.Create().Match(look).Before("gorm:create").Register(name, refuse),
		c.Query().Match(look).Before("gorm:query").Register(name, refuse),
		c.Update().Match(look).Before("gorm:update").Register(name, refuse),
		c.Delete().Match(look).Before("gorm:delete").Register(name, refuse),
		c.Row().Match(look).Before("gorm:row").Register(name, refuse),
		c.Raw().Match(look).Before("gorm:raw").Register(name, refuse),
	)
}
