package shardkernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rewrite"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Reads says which members of a data source may answer a read.
type Reads = plan.Reads

// The choices of Reads.
const (
	ReadsAsConfigured = plan.ReadsAsConfigured
	ReadsPrimary      = plan.ReadsPrimary
	ReadsReplica      = plan.ReadsReplica
)

// Hints are what a caller tells of a statement beside its text. The zero value
// tells nothing, as nil does. The kernel only reads them. Package hint says what
// each of them means.
type Hints struct {
	Direct       bool // DataSource is set
	DataSource   string
	SkipSharding bool
	Tables       []TableHint // at most one for a table
	Reads        Reads
	AllowScatter bool
	AuditOff     bool     // Audits, or all without a name, are switched off
	Audits       []string // names of audits
	// Session remembers what was written, for reads to come; nil for nothing.
	Session ReadYourWrites
}

// AllTables stands, as the table of a hint, for every sharded table that has no
// hint of its own.
const AllTables = "*"

// TableHint holds what a caller tells of one logical table, or of AllTables.
type TableHint struct {
	Logical         string
	Database, Table []any // sharding values; nil where nothing is told
	// Actual is an actual table, perhaps with its data source before it, where
	// HasActual is true.
	HasActual bool
	Actual    string
}

// hints are Hints whose names the rules know.
type hints struct {
	source       string // of Direct
	skip         bool
	route        route.Hints
	reads        plan.Reads
	allowScatter bool
	auditOff     bool
	audits       []string
	session      ReadYourWrites
	part         plan.Part
}

// resolveHints looks the names of hints up in the rules, tables without regard to
// case. nil hints stay nil.
func resolveHints(h *Hints, rules *rule.Set) (*hints, error) {
	if h == nil {
		return nil, nil
	}
	if h.Direct && !slices.Contains(rules.DataSources, h.DataSource) {
		return nil, &fault.RouteError{
			Class: fault.ErrNoDataNode, Reason: fmt.Sprintf("a hint names the data source %q, which is not configured", h.DataSource),
			Remedy: nearest.HintOrList(h.DataSource, rules.DataSources),
		}
	}
	if err := checkAuditNames(h.Audits); err != nil {
		return nil, err
	}
	out := &hints{skip: h.SkipSharding, reads: h.Reads, allowScatter: h.AllowScatter, auditOff: h.AuditOff, audits: h.Audits, session: h.Session}
	if h.Direct {
		out.source = h.DataSource
	}
	for i := range h.Tables {
		if i == 0 {
			rules = rules.WithFold(true) // copies
		}
		v, err := resolveTable(&h.Tables[i], rules)
		if err != nil {
			return nil, err
		}
		out.route.Values = append(out.route.Values, v)
	}
	return out, nil
}

func resolveTable(h *TableHint, rules *rule.Set) (v route.HintValues, err error) {
	if v.Database, err = resolveValues(h.Logical, h.Database); err != nil {
		return v, err
	}
	if v.Table, err = resolveValues(h.Logical, h.Table); err != nil {
		return v, err
	}
	if h.Logical == AllTables {
		if h.HasActual {
			return v, fault.Unsupported("actual table hint for all tables", "each has its own actual tables", "name one logical table")
		}
		return v, nil
	}
	t, ok := rules.Table(h.Logical)
	if !ok {
		return v, errUnknownTable(h.Logical, rules)
	}
	v.Logical = t.Name
	if !h.HasActual {
		return v, nil
	}
	v.Node, err = nodeNamed(t, h.Actual)
	return v, err
}

// nodeNamed returns the node that has an actual table.
func nodeNamed(t *rule.Table, actual string) (*rule.Node, error) {
	var found []*rule.Node
	var names []string
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if actual == n.Table || actual == n.DataSource+"."+n.Table {
			found = append(found, n)
		}
		names = append(names, n.Table, n.DataSource+"."+n.Table)
	}
	e := &fault.RouteError{
		Class: fault.ErrNoDataNode, Table: t.Name, Reason: fmt.Sprintf("a hint names the actual table %q, which is none of its nodes", actual),
		Remedy: nearest.Hint(actual, names),
	}
	switch len(found) {
	case 0:
		return nil, e
	case 1:
		return found[0], nil
	}
	e.Reason = fmt.Sprintf("a hint names the actual table %q, which is in several data sources", actual)
	e.Remedy = "write it with its data source: " + found[0].DataSource + "." + actual
	return nil, e
}

// resolveValues asks each driver.Valuer for its value.
func resolveValues(table string, values []any) ([]any, error) {
	if values != nil && len(values) == 0 {
		return nil, fault.Unsupported("value hint for table "+table, "it gives no value", "give at least one value, or leave out the hint")
	}
	return ResolveAll(values)
}

func errUnknownTable(name string, rules *rule.Set) error {
	e := &fault.RouteError{Class: fault.ErrUnknownTable, Table: name, Reason: "a hint names it"}
	if rules.IsTable(name) {
		e.Reason = "a hint names it, but it is not sharded"
		return e
	}
	var names []string
	for _, t := range rules.Tables() {
		names = append(names, t.Name)
	}
	e.Remedy = nearest.HintOrList(name, names)
	return e
}

// over returns the hints of the context with those of a comment that they leave
// open. Either may be nil.
func (h *hints) over(comment *hints) *hints {
	switch {
	case comment == nil:
		return h
	case h == nil:
		return comment
	}
	out := *h
	out.skip = h.skip || comment.skip
	if h.source == "" {
		out.source = comment.source
	}
	if h.reads == plan.ReadsAsConfigured {
		out.reads = comment.reads
	}
	out.allowScatter = h.allowScatter || comment.allowScatter
	if !h.auditOff {
		out.auditOff, out.audits = comment.auditOff, comment.audits
	}
	out.route.Values = slices.Clone(h.route.Values)
	for _, v := range comment.route.Values {
		i := slices.IndexFunc(out.route.Values, func(own route.HintValues) bool { return own.Logical == v.Logical })
		if i < 0 {
			out.route.Values = append(out.route.Values, v)
			continue
		}
		own := &out.route.Values[i]
		if own.Database == nil {
			own.Database = v.Database
		}
		if own.Table == nil && own.Node == nil {
			own.Table, own.Node = v.Table, v.Node
		}
	}
	return &out
}

// hinted returns the plan of a text and the hints that it is to be run under, its
// own included. With hints that send it somewhere as it is, the text is not read.
func (k *Kernel) hinted(ctx context.Context, h *Hints, text string) (*statement, *hints, error) {
	told, err := resolveHints(h, k.rules)
	if err != nil {
		return nil, nil, err
	}
	if s, err := direct(told, text, k.rules, k.dialect); s != nil || err != nil {
		return s, told, err
	}
	s, err := k.statement(ctx, text)
	if err == nil {
		told = told.over(s.hints)
	} else if own, hintErr := commentHints(text, k.rules, k.dialect); hintErr == nil {
		told = told.over(own)
	}
	if told.databases() {
		if s, err := k.directByDatabase(ctx, told, text); s != nil || err != nil {
			return s, told, err
		}
	}
	return s, told, err
}

// direct returns the statement of a text that hints send to a data source as it
// is, nil when they do not.
func direct(h *hints, text string, rules *rule.Set, d *dialect.Dialect) (*statement, error) {
	if h == nil {
		return nil, nil
	}
	var source, reason string
	switch {
	case h.source != "":
		source, reason = h.source, "a hint names the data source"
	case h.skip:
		source, reason = rules.DefaultDataSource, "a hint says to leave sharding aside"
	default:
		return nil, nil
	}
	s := &statement{kind: plan.KindDirect, source: source, reason: reason}
	outline, err := parse.Scan(text, noNames{}, d)
	if err != nil {
		return nil, err
	}
	s.verb, s.read, s.uses = outline.Verb, outline.Read, outline.Uses
	s.ddl = parse.Defines(text, s.verb, d)
	if outline.Several {
		c := compiler{rules: rules, server: rewrite.Server{Dialect: d}}
		if err := c.refuseCommandInside(text); err != nil {
			return nil, err
		}
	}
	switch c := parse.ReadCommand(text, s.verb, d); {
	case c == nil || c.Kind == parse.CommandServer || c.Kind == parse.CommandAccount || c.Kind == parse.CommandSetGlobal:
	case c.Err != nil:
		return nil, c.Err
	default: // the session is that of all data sources
		s.command = c
	}
	return s, nil
}

// noNames configures no table.
type noNames struct{}

func (noNames) IsTable(string) bool { return false }

// databases reports whether the hints hold values for the database level.
func (h *hints) databases() bool {
	return h != nil && slices.ContainsFunc(h.route.Values, func(v route.HintValues) bool { return v.Database != nil && v.Node == nil })
}

// directByDatabase is direct for hints whose database values lead all tables of a
// text to one data source, in which they have their logical names. Only a hint
// strategy lets a write pass so: otherwise its own values are to be looked at.
func (k *Kernel) directByDatabase(ctx context.Context, h *hints, text string) (*statement, error) {
	c, err := k.compiler(ctx)
	if err != nil {
		return nil, err
	}
	outline, err := parse.Scan(text, c.rules, c.server.Dialect)
	switch {
	case err != nil, outline.Several, parse.Defines(text, outline.Verb, k.dialect), parse.ReadCommand(text, outline.Verb, k.dialect) != nil:
		return nil, nil // the planner says why
	}
	source := ""
	for _, name := range parse.ConfiguredNames(text, c.rules, c.server.Dialect) {
		t, sharded := c.rules.Table(name)
		switch {
		case !sharded && c.rules.IsBroadcast(name) && outline.Read:
			continue
		case !sharded, !outline.Read && !t.ByHint(), slices.ContainsFunc(t.Nodes, func(n rule.Node) bool { return n.Table != t.Name }):
			return nil, nil
		}
		probe := "SELECT * FROM `" + strings.ReplaceAll(t.Name, "`", "``") + "`"
		s, err := c.compile(probe)
		if err != nil {
			return nil, err
		}
		ex, err := k.routed(ctx, h, s, probe, nil)
		if err != nil {
			return nil, err
		}
		for i := range ex.Units {
			if u := &ex.Units[i]; source != "" && u.DataSource != source {
				return nil, nil
			}
			source = ex.Units[i].DataSource
		}
	}
	if source == "" {
		return nil, nil
	}
	return &statement{
		verb: outline.Verb, read: outline.Read, uses: outline.Uses, source: source,
		kind: plan.KindDirect, reason: "the hinted database value leads all tables to one data source, where they have their logical names",
	}, nil
}
