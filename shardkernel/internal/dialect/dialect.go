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
	// Server tells which executable comments the servers read; nil while they are not
	// known.
	Server *Server
	// MaxMarkers is the number of parameter markers a statement may hold.
	MaxMarkers int
}

// MySQL is MySQL and MariaDB with their default sql_mode.
var MySQL = &Dialect{Name: "mysql", Backslash: true, HashComment: true, Weights: true, MaxMarkers: 65535}

// SQLite is SQLite 3.
var SQLite = &Dialect{Name: "sqlite", DoubleQuoteNames: true, PipesConcat: true, FoldTables: true, MaxMarkers: 32766}

// IsMySQL reports whether the database is MySQL or MariaDB. What has learnt of its
// servers has a Dialect of its own, so that pointers tell nothing.
func (d *Dialect) IsMySQL() bool { return d != nil && d.Name == MySQL.Name }

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

// Server is a series of versions of MySQL or MariaDB.
type Server struct {
	MariaDB bool
	// Series is the first version, as executable comments have it: 101100 for 10.11,
	// 80400 for 8.4.
	Series int
}

// Reading is whether servers read the content of an executable comment.
type Reading uint8

// The choices of Reading.
const (
	ReadBySome Reading = iota
	ReadByAll
	ReadByNone
)

// Reads tells whether the servers of a data source, of which the last number of the
// version may differ, read the content of a comment: of /*M! … */ for mariadb, else of
// /*! … */, with the digits of a version, 0 for none. MariaDB skips those of MySQL 5.7 and later. A
// nil Server stands for every one that is supported.
func (s *Server) Reads(mariadb bool, version, digits int) Reading {
	switch {
	case !mariadb && version < 50700:
		return ReadByAll
	case !mariadb && version == 99999:
		return ReadByNone
	case s == nil, !s.MariaDB && !mariadb && digits > 5: // which mean different things to versions of MySQL
		return ReadBySome
	case s.MariaDB && !mariadb && version < 100000, !s.MariaDB && mariadb:
		return ReadByNone
	case version <= s.Series:
		return ReadByAll
	case version > s.Series+99:
		return ReadByNone
	}
	return ReadBySome
}
