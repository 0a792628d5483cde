package route

import (
	"fmt"
	"slices"
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
	{parse.FeatureWindow, "window function", "a window reaches over the rows of all nodes", ""},
	{parse.FeatureRowNumber, "ROWNUM()", "every node counts its own rows", "use LIMIT"},
	{parse.FeatureRelevance, "MATCH … AGAINST", "every node weighs words by its own rows", "match IN BOOLEAN MODE, and only in WHERE"},
	{parse.FeatureOtherAggregate, "an aggregate function", "its results are not combined over several nodes yet", ""},
	{parse.FeatureOuterAggregate, "aggregate in a subquery", "it is one over the rows of the block around it, which are on several nodes", ""},
	{parse.FeatureNestedCTE, "WITH in a WITH", "both define the same name, and servers differ in which one is read", "rename one"},
	{parse.FeatureAggregateMember, "aggregate beside IN, ANY or ALL of a subquery", "MariaDB compares another value than that of the aggregate", "select it by an alias, and compare that"},
	{parse.FeatureInto, "INTO", "several nodes would write the same target", ""},
	{parse.FeatureUserVariable, "user variable", "a variable belongs to the session of one node", "pass the value as a parameter"},
	{parse.FeatureSystemVariable, "system variable", "its value may differ between nodes", "read it with a statement of its own"},
	{parse.FeatureFoundRows, "FOUND_ROWS", "no node knows the number of all rows", "count with a statement of its own"},
	{parse.FeatureLastInsertID, "LAST_INSERT_ID()", "its value belongs to the session of one node", "pass the value as a parameter"},
	{parse.FeatureLock, "lock function", "a named lock belongs to one server", ""},
	{parse.FeatureVolatile, "volatile function", "the nodes would evaluate it differently", "pass the value as a parameter"},
	{parse.FeatureRandom, "volatile function", "the nodes would evaluate it differently", "pass the value as a parameter"},
}

// refuseScatter returns why the statement may not go to several nodes, whatever
// they are.
func (p *Program) refuseScatter() error {
	stmt := p.stmt
	for _, r := range refusals {
		if r.feature == parse.FeatureRandom && (stmt.Insert != nil || stmt.Update != nil || stmt.Delete != nil) {
			continue // each row has its own value, on whatever node
		}
		if stmt.Features&r.feature != 0 {
			return p.refuse(r.clause, r.reason, r.remedy)
		}
	}
	if err := p.refuseScopes(); err != nil {
		return err
	}
	switch {
	case stmt.Select != nil:
		switch s := stmt.Select; {
		case stmt.Features&parse.FeatureSkipLocked != 0 && s.Limit != nil:
			return p.refuse("SKIP LOCKED with LIMIT", "every node would lock rows that another one's take the place of", "")
		case s.Rollup:
			return p.refuse("WITH ROLLUP", "the subtotals of nodes are not combined", "")
		}
	case stmt.Insert != nil:
		if !stmt.Insert.Select && len(p.refs) > 1 {
			return p.refuse("subquery in VALUES", "a node cannot answer a subquery whose rows are on other nodes", "read the value first and pass it as a parameter")
		}
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
	case stmt.Features&parse.FeatureUnion != 0:
		return p.refuse("UNION", "the branches are not combined over several nodes yet", "")
	default:
		return p.refuse("this form of SELECT", "it is not computed over several nodes yet", "")
	}
	return nil
}

// refuse refuses several nodes. Without a remedy of its own the way out is to
// reach one node.
func (p *Program) refuse(clause, reason, remedy string) error {
	if remedy == "" {
		remedy = "add conditions that lead every sharded table to one node"
		if keys := keyNames(p.refs[0].rule); keys != "" {
			remedy = "add a condition on " + keys + " that leads to one node"
			if slices.ContainsFunc(p.refs, func(r *reference) bool { return r.scope != p.refs[0].scope }) {
				remedy += ", to every query block that names a sharded table"
			}
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
