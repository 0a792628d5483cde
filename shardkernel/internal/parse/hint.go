package parse

import "strings"

// renameInHints adds the tables that optimizer hints name. Hints never change an
// answer, so what is not understood in them is left alone: it can at worst name
// a table that is not there, which the server ignores with a warning.
func (b *builder) renameInHints() {
	for i := range b.tokens {
		if b.tokens[i].kind == tokenHint {
			b.renameInHint(i)
		}
	}
}

func (b *builder) renameInHint(i int) {
	base := b.tokens[i].start + 3
	l := lexer{text: b.text[base : b.tokens[i].end-2], dialect: b.dialect}
	name := "" // of the hint whose list is being read
	names := 0 // in the list so far
	var before token
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			return
		}
		raw := l.text[tok.start:tok.end]
		switch {
		case raw == ")":
			name = ""
		case raw == "(" && before.kind == tokenWord:
			name, names = strings.ToUpper(l.text[before.start:before.end]), 0
		case (tok.kind == tokenWord || tok.kind == tokenQuoted) && name != "":
			names++
			if table := b.tableInHint(unquote(raw)); table >= 0 && isTableHint(name, names) {
				r := Rename{Span: Span{Start: base + tok.start, End: base + tok.end}, Table: table}
				if tok.kind == tokenQuoted {
					r.Quote = raw[0]
				}
				b.stmt.Renames = append(b.stmt.Renames, r)
			}
		}
		before = tok
	}
}

// tableInHint returns the table that a name in a hint stands for, -1 for none. A
// table with an alias is named by it.
func (b *builder) tableInHint(name string) int {
	if !b.names.IsTable(name) {
		return -1
	}
	table := -1
	for i := range b.stmt.Tables {
		t := &b.stmt.Tables[i]
		switch {
		case strings.EqualFold(t.Alias, name):
			return -1
		case t.Alias == "" && t.Schema == "" && t.Name == name && table < 0:
			table = i
		}
	}
	return table
}

// isTableHint reports whether the n-th name in the list of a hint is a table.
func isTableHint(hint string, n int) bool {
	switch hint {
	case "JOIN_FIXED_ORDER", "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX", "BKA", "NO_BKA", "BNL", "NO_BNL", "HASH_JOIN", "NO_HASH_JOIN",
		"MERGE", "NO_MERGE", "DERIVED_CONDITION_PUSHDOWN", "NO_DERIVED_CONDITION_PUSHDOWN",
		"SPLIT_MATERIALIZED", "NO_SPLIT_MATERIALIZED":
		return true
	case "INDEX", "NO_INDEX", "JOIN_INDEX", "NO_JOIN_INDEX", "GROUP_INDEX", "NO_GROUP_INDEX", "ORDER_INDEX", "NO_ORDER_INDEX",
		"INDEX_MERGE", "NO_INDEX_MERGE", "MRR", "NO_MRR", "NO_ICP", "NO_RANGE_OPTIMIZATION", "SKIP_SCAN", "NO_SKIP_SCAN", "ROWID_FILTER", "NO_ROWID_FILTER":
		return n == 1
	}
	return false
}
