package callbacks

import (
	"strings"

	"gorm.io/gorm"
)

// warnUnruled warns of a CREATE TABLE of a table without a rule that is called
// nearly like one with a rule: all of its rows would be in one data source.
func warnUnruled(acquire func() Rules) func(*gorm.DB) {
	return func(db *gorm.DB) {
		table, ok := created(db.Statement.SQL.String())
		if db.Error != nil || !ok {
			return
		}
		rules := acquire()
		defer rules.Release()
		if near, source := rules.Mistaken(table); near != "" {
			db.Logger.Warn(db.Statement.Context, "sharding: table %s has no rule and is made in %s alone; %s has one: did you mean it? Where not, list the table in sharding.singleTables", table, source, near)
		}
	}
}

// created returns the table of a CREATE TABLE as GORM's migrator writes it.
func created(sql string) (table string, ok bool) {
	rest, ok := strings.CutPrefix(sql, "CREATE TABLE `")
	if !ok {
		return "", false
	}
	table, rest, ok = strings.Cut(rest, "`")
	return table, ok && strings.HasPrefix(rest, " (")
}
