package parse

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// Use is a set of ways in which a statement uses the session it runs on beyond
// its own end.
type Use uint16

// The uses of a session.
const (
	UseNamedLock    Use = 1 << iota // GET_LOCK() and RELEASE_LOCK()
	UseLockState                    // IS_FREE_LOCK(), IS_USED_LOCK(): the locks of all sessions
	UsePrevious                     // FOUND_ROWS(), ROW_COUNT(), @@warning_count: the statement before
	UseLastInsertID                 // LAST_INSERT_ID() without an argument
	UseSetInsertID                  // LAST_INSERT_ID(x)
	UseReadVariable                 // reads a user variable that it does not assign
	UseSetVariable                  // assigns a user variable
	UseIntoVariable                 // assigns it for a later statement: SELECT … INTO @v
	UseTemporary                    // CREATE and DROP TEMPORARY TABLE
	UseLockTables                   // LOCK TABLES
	UseUnlockTables                 // UNLOCK TABLES
	UseCall                         // CALL: whatever the procedure does
)

// uses finds out how a statement uses its session. Definitions of views and
// routines hold such functions without using them.
func uses(text, verb string, d *dialect.Dialect) Use {
	out, read, set := inSession(text, verb, d)
	if verb == "CREATE" || verb == "DROP" || verb == "ALTER" {
		return out & UseTemporary
	}
	if len(set) > 0 {
		out |= UseSetVariable
	}
	for _, name := range read {
		if !slices.Contains(set, name) {
			out |= UseReadVariable
		}
	}
	return out
}

// Variables returns the user variables of a statement, in lower case: those that
// it reads, or assigns where an earlier value may be read, and those it assigns.
func Variables(text string, d *dialect.Dialect) (read, set []string) {
	_, read, set = inSession(text, "", d)
	return read, set
}

// inSession reads what a statement does with its session.
func inSession(text, verb string, d *dialect.Dialect) (out Use, read, set []string) {
	switch verb {
	case "LOCK":
		return UseLockTables, nil, nil
	case "UNLOCK":
		return UseUnlockTables, nil, nil
	case "CALL":
		return UseCall, nil, nil
	}
	l := lexer{text: text, dialect: d}
	var before, call string // the word before, and the function it may be
	into := false           // in the list behind INTO
	variable := ""          // the one just read
	argument := false       // LAST_INSERT_ID( came before
	for {
		tok, ok, err := l.next()
		if err != nil || !ok {
			break
		}
		raw := text[tok.start:tok.end]
		switch {
		case argument && raw == ")":
			out |= UseLastInsertID
		case argument:
			out |= UseSetInsertID
		}
		argument = false
		word := ""
		switch tok.kind {
		case tokenWord:
			word = strings.ToUpper(raw)
			if (verb == "CREATE" || verb == "DROP") && word == "TEMPORARY" && (before == verb || before == "REPLACE") {
				out |= UseTemporary
			}
		case tokenVariable:
			name, system := strings.CutPrefix(raw, "@@")
			switch {
			case system:
				out |= systemUse(strings.ToLower(name))
			default:
				variable = variableName(raw)
				if into = into || before == "INTO"; into {
					out |= UseIntoVariable
					set = append(set, variable)
				} else {
					read = append(read, variable)
				}
			}
		case tokenOther:
			switch {
			case raw == ":=" && variable != "":
				set = append(set, variable)
			case raw == "(" && call != "":
				out |= functionUse(call)
				argument = call == "LAST_INSERT_ID"
			}
		}
		into = into && (tok.kind == tokenVariable || raw == ",")
		if tok.kind != tokenVariable {
			variable = ""
		}
		before, call = word, word
	}
	return out, read, set
}

// variableName returns the name of a user variable in lower case. Unquoted it may
// hold dots, and be one.
func variableName(raw string) string {
	name := raw[1:]
	if quote := name[0]; quote == '`' || quote == '\'' || quote == '"' {
		name = strings.ReplaceAll(name[1:len(name)-1], name[:1]+name[:1], name[:1])
	}
	return strings.ToLower(name)
}

func functionUse(name string) Use {
	switch name {
	case "GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS":
		return UseNamedLock
	case "IS_FREE_LOCK", "IS_USED_LOCK":
		return UseLockState
	case "FOUND_ROWS", "ROW_COUNT":
		return UsePrevious
	}
	return 0
}

// systemUse is the use of a system variable, in lower case.
func systemUse(name string) Use {
	if _, rest, ok := strings.Cut(name, "."); ok {
		name = rest
	}
	switch name {
	case "last_insert_id", "identity":
		return UseLastInsertID
	case "warning_count", "error_count":
		return UsePrevious
	}
	return 0
}
