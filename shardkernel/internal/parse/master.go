package parse

import "github.com/gormshard/sharding/shardkernel/internal/dialect"

// InquireMaster recognises a SELECT from SQLite's list of tables, sqlite_master,
// by which GORM's migrator asks for tables and what they are made of; nil for any
// other text.
func InquireMaster(text string, d *dialect.Dialect) *Inquiry {
	s, ok := readTokens(text, d)
	if !ok || !s.isWord(0, "SELECT") {
		return nil
	}
	for i := range s.tokens {
		if s.isWord(i, "FROM") && s.isWord(i+1, "SQLITE_MASTER", "SQLITE_SCHEMA") {
			return &Inquiry{Text: text, Markers: s.markers, Kind: InquiryMaster, Clause: "sqlite_master"}
		}
	}
	return nil
}
