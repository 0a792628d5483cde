package value

// The names drivers give the types of texts and bytes, the shortest first.
var (
	textTypes = []string{"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"}
	intTypes  = []string{"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"}
	uintTypes = []string{"UNSIGNED TINYINT", "UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT", "UNSIGNED BIGINT"}
	byteTypes = []string{"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"}
)

// WiderType returns the wider of two types of a result column, by the names
// that drivers give them. ok is false when they are not of one kind.
//
// Which of the types of text an expression has depends on the server's plan, and
// so on the rows of a node: the nodes of one statement need not agree. extreme is true
// for a MIN or MAX. That of an ENUM or SET is a text, or of its type where the server
// keeps groups in a table of its own, which depends on its plan as well: on whether
// the keys of a node are constant, for one. That of an expression over a YEAR is an INT
// or a BIGINT in the same way. Measured on MariaDB 10.11.
func WiderType(a, b string, extreme bool) (wider string, ok bool) {
	if a == b {
		return a, true
	}
	for _, kind := range []string{"ENUM", "SET"} {
		if extreme && (a == kind && b == "VARCHAR" || a == "VARCHAR" && b == kind) {
			return kind, true
		}
	}
	kinds := [][]string{textTypes, byteTypes}
	if extreme {
		kinds = append(kinds, intTypes, uintTypes)
	}
	for _, kind := range kinds {
		i, j := -1, -1
		for n, name := range kind {
			if name == a {
				i = n
			}
			if name == b {
				j = n
			}
		}
		if i >= 0 && j >= 0 {
			return kind[max(i, j)], true
		}
	}
	return "", false
}
