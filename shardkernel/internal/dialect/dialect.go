// Package dialect holds what differs between the databases behind the data
// sources.
package dialect

// Dialect describes one kind of database. It is immutable.
type Dialect struct {
	Name string // gorm's dialector name: mysql, sqlite
	// Backslash is true when a backslash escapes inside a string literal.
	Backslash bool
	// HashComment is true when # starts a comment.
	HashComment bool
	// DoubleQuoteNames is true when "x" is an identifier.
	DoubleQuoteNames bool
	// PipesConcat is true when || concatenates texts.
	PipesConcat bool
	// FoldTables is true when table names are compared without regard to case.
	// MySQL's depends on the server's lower_case_table_names.
	FoldTables bool
	// Weights is true when the database has WEIGHT_STRING.
	Weights bool
	// MaxMarkers is the number of parameter markers a statement may hold.
	MaxMarkers int
}

// MySQL is MySQL and MariaDB with their default sql_mode.
var MySQL = &Dialect{Name: "mysql", Backslash: true, HashComment: true, Weights: true, MaxMarkers: 65535}

// SQLite is SQLite 3.
var SQLite = &Dialect{Name: "sqlite", DoubleQuoteNames: true, PipesConcat: true, FoldTables: true, MaxMarkers: 32766}

// ByName returns the dialect of a gorm dialector's name.
func ByName(name string) (*Dialect, bool) {
	switch name {
	case "mysql":
		return MySQL, true
	case "sqlite":
		return SQLite, true
	}
	return nil, false
}
