package route

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// refusals are the features that keep a statement from going to several nodes,
// the most telling first.
var refusals = []struct {
	feature        parse.Feature
	clause, reason string
	remedy         string // empty: reach one node
}{
	{parse.FeatureCTE, "WITH", "a common table expression over several nodes is not computed yet", ""},
	{parse.FeatureUnion, "UNION", "the branches are not combined over several nodes yet", ""},
	{parse.FeatureDerived, "derived table", "a derived table over several nodes is not computed yet", ""},
	{parse.FeatureSubquery, "subquery", "a node cannot answer a subquery whose rows are on other nodes", ""},
	{parse.FeatureWindow, "window function", "a window reaches over the rows of all nodes", ""},
	{parse.FeatureLocking, "locking read", "rows on several nodes are not locked in one order yet", ""},
	{parse.FeatureInto, "INTO", "several nodes would write the same target", ""},
	{parse.FeatureUserVariable, "user variable", "a variable belongs to the session of one node", "pass the value as a parameter"},
	{parse.FeatureSystemVariable, "system variable", "its value may differ between nodes", "read it with a statement of its own"},
	{parse.FeatureFoundRows, "FOUND_ROWS", "no node knows the number of all rows", "count with a statement of its own"},
	{parse.FeatureLastInsertID, "LAST_INSERT_ID()", "its value belongs to the session of one node", "pass the value as a parameter"},
	{parse.FeatureLock, "lock function", "a named lock belongs to one server", ""},
	{parse.FeatureNow, "NOW()", "the nodes would evaluate it at different instants", "pass the time as a parameter"},
	{parse.FeatureVolatile, "volatile function", "the nodes would evaluate it differently", "pass the value as a parameter"},
}

// refuseScatter returns why the statement may not go to several nodes, whatever
// they are.
func (p *Program) refuseScatter() error {
	stmt := p.stmt
	for _, r := range refusals {
		if stmt.Features&r.feature != 0 {
			return p.refuse(r.clause, r.reason, r.remedy)
		}
	}
	if err := p.refuseFunctions(); err != nil {
		return err
	}
	switch {
	case stmt.Select != nil:
		switch s := stmt.Select; {
		case s.Distinct:
			return p.refuse("DISTINCT", "rows are not made distinct over several nodes yet", "")
		case s.Rollup:
			return p.refuse("WITH ROLLUP", "the subtotals of nodes are not combined", "")
		case s.Having != parse.Span{}:
			return p.refuse("HAVING", "it is not evaluated over the groups of several nodes yet", "")
		}
	case stmt.Insert != nil:
		if stmt.Insert.Select {
			if err := p.refuseInsertSelect(); err != nil {
				return err
			}
		}
	case stmt.Update != nil:
		switch u := stmt.Update; {
		case u.Limit:
			return p.refuse("UPDATE with LIMIT", "no node knows how many rows the others change", "")
		}
	case stmt.Delete != nil:
		switch d := stmt.Delete; {
		case d.Limit:
			return p.refuse("DELETE with LIMIT", "no node knows how many rows the others remove", "")
		case d.OrderBy && d.Returning:
			return p.refuse("RETURNING of a DELETE with ORDER BY", "the nodes' rows are not put in order", "leave out RETURNING or ORDER BY")
		}
	default:
		return p.refuse("this form of SELECT", "it is not computed over several nodes yet", "")
	}
	for _, r := range p.refs {
		if !p.placed(r) {
			return p.refuse("subquery", "a node cannot answer a subquery whose rows are on other nodes", "")
		}
	}
	return nil
}

// aggregates are aggregate functions of MySQL 8 and SQLite that the parser takes
// for others.
var aggregates = []string{
	"st_collect", "total", "string_agg", "median", "percentile", "percentile_cont", "percentile_disc",
	"json_group_array", "json_group_object", "jsonb_group_array", "jsonb_group_object",
}

var booleanMode = regexp.MustCompile(`in\s+boolean\s+mode`)

// refuseFunctions refuses functions whose value depends on a node's other rows
// and that the parser takes for ordinary ones. They are looked for in the text,
// with its strings and comments: one found too many refuses what could have been
// answered, no more.
func (p *Program) refuseFunctions() error {
	s := p.stmt.Select
	if p.stmt.Insert != nil && !p.stmt.Insert.Select {
		return nil
	}
	lower := []byte(p.stmt.Text)
	for i, c := range lower { // offsets stay those of the text
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	text := string(lower)
	if len(calls(text, "rownum")) > 0 {
		return p.refuse("ROWNUM()", "every node counts its own rows", "use LIMIT")
	}
	if found := calls(text, "against"); len(found) > 0 {
		ranked := len(booleanMode.FindAllString(text, -1)) < len(found)
		ranked = ranked || p.stmt.Insert != nil || s != nil && (found[0] < s.ItemsEnd || found[len(found)-1] >= s.TailStart)
		if ranked {
			return p.refuse("MATCH … AGAINST", "every node weighs words by its own rows", "match IN BOOLEAN MODE, and only in WHERE")
		}
	}
	for _, name := range aggregates {
		if (s != nil || p.stmt.Insert != nil) && len(calls(text, name)) > 0 {
			return p.refuse(strings.ToUpper(name), "its results are not combined over several nodes yet", "")
		}
	}
	return nil
}

// calls returns where a function is called in a text in lower case.
func calls(text, name string) []int {
	word := func(c byte) bool { return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
	var found []int
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return found
		}
		at += from
		from = at + len(name)
		if at > 0 && word(text[at-1]) {
			continue
		}
		if rest := strings.TrimLeft(text[from:], " \t\r\n`"); strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "/*") {
			found = append(found, at)
		}
	}
}

// refuse refuses several nodes. Without a remedy of its own the way out is to
// reach one node.
func (p *Program) refuse(clause, reason, remedy string) error {
	if remedy == "" {
		remedy = "add conditions that lead every sharded table to one node"
		if keys := keyNames(p.refs[0].rule); keys != "" {
			remedy = "add a condition on " + keys + " that leads to one node, to every query block that names a sharded table"
		}
	}
	return fault.Unsupported(clause+" over several nodes", reason, remedy)
}

func unsupportedJoin(clause, reason, remedy string) error {
	return fault.Unsupported(clause+" over several nodes", reason, remedy)
}

// errDifferentTypes refuses to carry a value between columns whose types
// compare by other rules.
func errDifferentTypes(a, b *reference, columnA, columnB string) error {
	return fault.Unsupported("join of "+a.rule.Name+"."+columnA+" and "+b.rule.Name+"."+columnB,
		"the sharding columns differ in type, so that rows on different nodes could be equal", "give both columns the same type and collation")
}

func errInexactText(t *rule.Table, c *value.Column) error {
	return fault.Unsupported("sharding column "+t.Name+"."+c.Name, "its collation "+c.Collation+" takes different texts for equal, which would be on different nodes",
		"give the column a binary collation, or set textKey in its strategy: weight places equal texts alike, binary asks every node, exact trusts that every value has one spelling")
}

func errNoWeight(column, reason string) error {
	return fault.Unsupported("sharding column "+column+" with textKey: weight", "the weight of a value is not known: "+reason, "use textKey: binary or exact, or a column of text on MySQL or MariaDB")
}

func rangeRefused(s *rule.Strategy, err error) error {
	return &fault.UnsupportedError{
		Clause: "range condition on " + strings.Join(s.Columns, " or "), Reason: "algorithm " + s.Algorithm + " refuses ranges", Err: err,
		Remedy: "use = or IN, or allow ranges in the algorithm's properties",
	}
}

func tooFewArguments(markers, args int) error {
	return fault.Unsupported("arguments", fmt.Sprintf("the statement has %d parameter markers and was given %d arguments", markers, args),
		"give one argument for each marker")
}
