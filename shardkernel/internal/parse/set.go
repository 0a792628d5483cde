package parse

import (
	"strings"
)

const setInDSN = "set it in the DSN of every data source"

// set reads SET in all its forms.
func (r *words) set() *Command {
	switch {
	case r.is("NAMES", "CHARSET", "CHARACTER", "CHAR"):
		return refused("SET "+strings.ToUpper(r.raw(r.at)), "texts would be compared and sent by other rules than those the data sources were checked for", setInDSN)
	case r.is("PASSWORD"):
		return &Command{Kind: CommandAccount, Clause: "SET PASSWORD", Secret: true}
	case r.skip("DEFAULT", "ROLE"):
		return &Command{Kind: CommandAccount, Clause: "SET DEFAULT ROLE"}
	case r.is("ROLE") && r.at+1 < len(r.tokens) && r.raw(r.at+1) != "=":
		return refused("SET ROLE", "the data sources' connections would have different privileges", "give the user of the DSN a default role")
	case r.is("STATEMENT"):
		return refused("SET STATEMENT", "the statement inside is not read", "set the variable on a connection of its own, with db.Connection, and send the statement there")
	case r.is("RESOURCE"):
		return &Command{Kind: CommandServer, Clause: "SET RESOURCE GROUP"}
	}
	if scope := r.at; r.skipAny("SESSION", "LOCAL", "GLOBAL") && r.is("TRANSACTION") {
		global := equalWord(r.raw(scope), "GLOBAL")
		r.at++
		return r.setTransaction(true, global)
	}
	r.at = 1
	if r.skip("TRANSACTION") {
		return r.setTransaction(false, false)
	}
	return r.assignments()
}

// setTransaction reads the characteristics of SET [scope] TRANSACTION.
func (r *words) setTransaction(scoped, global bool) *Command {
	c := &Command{Kind: CommandSetNext, Clause: "SET TRANSACTION"}
	for {
		var a Access
		from := r.at
		if r.skip("ISOLATION", "LEVEL") {
			level := r.at
			if !r.skipAny("SERIALIZABLE") && !r.skip("REPEATABLE", "READ") && !r.skip("READ", "COMMITTED") && !r.skip("READ", "UNCOMMITTED") {
				break
			}
			var words []string
			for ; level < r.at; level++ {
				words = append(words, strings.ToUpper(r.raw(level)))
			}
			a.Isolation = strings.Join(words, " ")
			c.Transaction.Isolation = a.Isolation
		} else if r.access(&a) {
			c.Transaction.ReadOnly = a.ReadOnly
		} else {
			break
		}
		name := "transaction_isolation"
		if a.Isolation == "" {
			name = "transaction_read_only"
		}
		c.Set = append(c.Set, Assign{Name: name, Scoped: true, Constant: true, Text: "SESSION TRANSACTION " + r.text[r.tokens[from].start:r.tokens[r.at-1].end]})
		if r.end() {
			switch {
			case global:
				c.Kind = CommandSetGlobal
			case scoped:
				c.Kind = CommandSet
			default:
				c.Set = nil
			}
			return c
		}
		if !r.skip(",") {
			break
		}
	}
	return refused("SET TRANSACTION", "it is not understood"+r.near(), "write ISOLATION LEVEL and a level, READ ONLY or READ WRITE")
}

// assignments reads SET a = 1, SESSION b = 2, @c = 3.
func (r *words) assignments() *Command {
	c := &Command{Kind: CommandSet, Clause: "SET"}
	scope, global, session, params := "", false, false, 0
	for {
		a := Assign{}
		// A scope that was written holds for the assignments after it.
		if r.is("GLOBAL", "SESSION", "LOCAL", "PERSIST", "PERSIST_ONLY") {
			scope = strings.ToUpper(r.raw(r.at))
			r.at++
		}
		own, ok := r.variable(&a, scope)
		if !ok || !r.skipAny("=", ":=") {
			return refused("SET", "it is not understood"+r.near(), "write SET variable = value")
		}
		from := r.at
		for !r.end() && (r.tokens[r.at].depth > 0 || !r.is(",")) {
			r.at++
		}
		if from == r.at {
			return refused("SET", "an assignment has no value", "write SET variable = value")
		}
		a.First = params
		a.Constant = r.constant(from, r.at, &a)
		params += a.Params
		value := r.text[r.tokens[from].start:r.tokens[r.at-1].end]
		switch {
		case a.User:
			session = true
			a.Text = own + " = " + value
		case isGlobalScope(own):
			global = true
		default:
			session = true
			a.Text = "SESSION " + a.Name + " = " + value
		}
		c.Set = append(c.Set, a)
		if r.end() {
			break
		}
		r.at++ // the comma
	}
	switch {
	case global && session:
		return refused("SET", "it sets variables of the server and of the session", "send two statements")
	case global:
		c.Kind, c.Clause = CommandSetGlobal, "SET GLOBAL"
	}
	return c
}

// variable reads what is assigned to. own is the variable as written for a user
// variable, else its scope in upper case, empty for none.
func (r *words) variable(a *Assign, scope string) (own string, ok bool) {
	if r.end() {
		return "", false
	}
	raw := r.raw(r.at)
	switch r.tokens[r.at].kind {
	case tokenVariable:
		r.at++
		name, system := strings.CutPrefix(raw, "@@")
		if !system {
			a.User, a.Name = true, variableName(raw)
			return raw, true
		}
		written, rest, scoped := strings.Cut(name, ".")
		if !scoped {
			a.Name = strings.ToLower(name)
			return "", name != ""
		}
		a.Name, a.Scoped = strings.ToLower(rest), true
		own = strings.ToUpper(written)
		return own, isGlobalScope(own) || own == "SESSION" || own == "LOCAL"
	case tokenWord, tokenQuoted:
		r.at++
		a.Name, a.Scoped = strings.ToLower(unquote(raw)), scope != ""
		return scope, true
	}
	return "", false
}

func isGlobalScope(scope string) bool {
	return scope == "GLOBAL" || scope == "PERSIST" || scope == "PERSIST_ONLY"
}

// constant reports whether the tokens are one word other than DEFAULT, which
// stands for each server's own, or are made of literals and markers alone.
func (r *words) constant(from, to int, a *Assign) bool {
	out := true
	for i := from; i < to; i++ {
		switch r.tokens[i].kind {
		case tokenMarker:
			a.Params++
		case tokenNumber, tokenString, tokenOther:
		case tokenWord:
			out = out && to == from+1 && !equalWord(r.raw(i), "DEFAULT")
		default:
			out = false
		}
	}
	return out
}
