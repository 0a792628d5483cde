package parse

import "github.com/gormshard/sharding/shardkernel/internal/dialect"

// DefinitionName is a name in a CREATE TABLE as a server shows it.
type DefinitionName struct {
	Span
	Name string // unquoted
	Role CatalogRole
	// Key is true for the name of a key.
	Key bool
}

// DefinitionNames finds, in the text that SHOW CREATE TABLE gives, the table's
// own name, the tables that its foreign keys lead to, and the names of keys, foreign
// keys and CHECKs, in text order. A text that is no CREATE TABLE has none.
func DefinitionNames(text string, d *dialect.Dialect) []DefinitionName {
	s, ok := readServerTokens(text, d)
	if !ok || !s.isWord(0, "CREATE") {
		return nil
	}
	var names []DefinitionName
	add := func(i int, role CatalogRole) {
		if s.isName(i) {
			names = append(names, DefinitionName{Span: s.span(i, i+1), Name: unquote(s.raw(i)), Role: role, Key: s.isWord(i-1, "KEY")})
		}
	}
	for i := range s.tokens {
		switch {
		case s.isWord(i, "TABLE") && i <= 2 && len(names) == 0:
			add(i+1, CatalogTable)
		case s.isWord(i, "CONSTRAINT") && s.isWord(i+2, "FOREIGN", "CHECK"):
			add(i+1, CatalogConstraint)
		case s.isWord(i, "KEY") && s.is(i+2, "(") && !s.isWord(i-1, "FOREIGN"):
			add(i+1, CatalogConstraint)
		case s.isWord(i, "REFERENCES") && !s.is(i+2, "."):
			add(i+1, CatalogReferenced)
		}
	}
	return names
}
