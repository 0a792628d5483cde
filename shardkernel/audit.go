package shardkernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/config"
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/route"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// audits are all that a configuration refuses statements for. They are exchanged
// as a whole, so that one statement is judged by one state of them.
type audits struct {
	global *config.Audit // the props'; nil for none
}

// newAudits returns nil when nothing is refused, so that nothing is looked at.
func newAudits(props *config.Props, rules *rule.Set) *audits {
	a := new(audits)
	if props.MaxNodes > 0 || props.MaxOffset > 0 || len(props.Audit) > 0 {
		a.global = &config.Audit{
			Rules: props.Audit, MaxNodes: props.MaxNodes, MaxOffset: props.MaxOffset, AllowHintDisable: props.AllowHintDisable,
		}
	}
	if a.global == nil && !slices.ContainsFunc(rules.Tables(), func(t *rule.Table) bool { return t.Audit != nil }) {
		return nil
	}
	return a
}

// SetAudits puts the audits and limits of props in the place of those in force:
// MaxNodes, MaxOffset, Audit and AllowHintDisable. Statements that are being
// planned are judged by the one or the other.
func (k *Kernel) SetAudits(props config.Props) { k.audits.Store(newAudits(&props, k.rules)) }

// audited is a planned statement to be judged.
type audited struct {
	facts *route.Facts
	ex    *plan.Execution
	told  *hints
}

// deny returns the first reason to refuse a statement, nil when there is none.
func (a *audits) deny(s *statement, ex *plan.Execution, told *hints) (err error) {
	a.each(s, ex, told, func(e error) bool {
		err = e
		return false
	})
	return err
}

// each calls yield with every reason to refuse a statement until it returns
// false.
func (a *audits) each(s *statement, ex *plan.Execution, told *hints, yield func(error) bool) {
	for i := range s.batch {
		going := true
		a.each(s.batch[i].statement, ex.Batch[i], told, func(err error) bool {
			going = yield(err)
			return going
		})
		if !going {
			return
		}
	}
	if len(s.facts.Tables) == 0 || ex.Kind == plan.KindBroadcast || s.explained != nil { // EXPLAIN reads no rows
		return
	}
	st := &audited{facts: &s.facts, ex: ex, told: told}
	if a.global != nil && !st.judge(a.global, nil, yield) {
		return
	}
	for _, t := range s.facts.Tables {
		if t.Audit != nil && !st.judge(t.Audit, t, yield) {
			return
		}
	}
}

// judge applies one audit: a table's, or that of the props with a nil table. It
// reports whether to go on.
func (st *audited) judge(a *config.Audit, t *rule.Table, yield func(error) bool) bool {
	for _, name := range a.Rules {
		if err := st.violation(name, t); err != nil && !st.refuse(a, name, err, yield) {
			return false
		}
	}
	if n := st.ex.Nodes(); a.MaxNodes > 0 && n > a.MaxNodes {
		err := denied(t, fmt.Sprintf("the statement goes to %d nodes, maxNodes allows %d", n, a.MaxNodes), "add conditions on the sharding columns")
		if !st.refuse(a, config.AuditMaxNodes, err, yield) {
			return false
		}
	}
	if m := st.ex.Merge; a.MaxOffset > 0 && m != nil && m.HasLimit && m.Offset > uint64(a.MaxOffset) {
		err := denied(t, fmt.Sprintf("the statement skips %d rows of several nodes, maxOffset allows %d", m.Offset, a.MaxOffset),
			"go on from the last row read by a condition in the place of OFFSET")
		if !st.refuse(a, config.AuditMaxOffset, err, yield) {
			return false
		}
	}
	return true
}

// refuse yields a violation unless a hint switches the audit off. It reports
// whether to go on.
func (st *audited) refuse(a *config.Audit, name config.AuditRule, err *fault.RouteError, yield func(error) bool) bool {
	switch {
	case !st.told.switchesOff(name):
		if a.AllowHintDisable {
			err.Remedy += ", or switch the audit off by a hint"
		}
	case a.AllowHintDisable:
		return true
	default:
		err.Remedy += "; the hint is not heard, since the audit does not say allowHintDisable: true"
	}
	return yield(err)
}

// violation returns how the statement violates a rule of a table, or of all with
// a nil table; nil when it does not.
func (st *audited) violation(name config.AuditRule, t *rule.Table) *fault.RouteError {
	f := st.facts
	concerned := func(other *rule.Table) bool { return t == nil || t == other }
	switch name {
	case config.AuditRequireShardingKey:
		for _, u := range f.Unkeyed {
			if concerned(u.Table) && !st.ex.Trusted && (st.told == nil || !st.told.route.Choose(u.Table)) {
				return &fault.RouteError{
					Class: fault.ErrNoShardingKey, Table: u.Table.Name, Reason: "audit requireShardingKey: no condition narrows the nodes",
					Remedy: "add one on " + u.Column + ", or a value hint",
				}
			}
		}
	case config.AuditSingleDataSource:
		if n := st.ex.Sources(); n > 1 {
			return denied(t, fmt.Sprintf("audit singleDataSource: the statement goes to %d data sources", n), "add conditions that lead to one")
		}
	case config.AuditKeyInFunction:
		i := slices.IndexFunc(f.Wrapped, func(w route.Key) bool { return concerned(w.Table) })
		if i >= 0 && st.ex.Nodes() > 1 {
			return denied(f.Wrapped[i].Table, "audit keyInFunction: "+f.Wrapped[i].Column+" stands inside a function or in arithmetic, where it narrows no nodes",
				"compare the column itself")
		}
	case config.AuditShardedSubquery:
		if i := slices.IndexFunc(f.Nested, concerned); i >= 0 {
			return denied(f.Nested[i], "audit shardedSubquery: the table stands in a subquery", "write a join, or two statements")
		}
	case config.AuditMemoryMerge:
		switch {
		case st.ex.Gather != nil:
			return denied(t, "audit memoryMerge: rows of other nodes would be held in memory and handed to one data source", "add conditions that lead to one node")
		case st.ex.InMemory():
			return denied(t, "audit memoryMerge: groups or distinct values of all nodes would be held in memory", "add conditions that lead to one node")
		}
	}
	return nil
}

func denied(t *rule.Table, reason, remedy string) *fault.RouteError {
	e := &fault.RouteError{Class: fault.ErrScatterDenied, Reason: reason, Remedy: remedy}
	if t != nil {
		e.Table = t.Name
	}
	return e
}

// switchesOff reports whether the hints switch an audit off.
func (h *hints) switchesOff(name config.AuditRule) bool {
	if h == nil {
		return false
	}
	if h.allowScatter {
		switch name {
		case config.AuditRequireShardingKey, config.AuditSingleDataSource, config.AuditMaxNodes:
			return true
		}
	}
	return h.auditOff && (len(h.audits) == 0 || slices.Contains(h.audits, string(name)))
}

// checkAuditNames refuses names that are none of an audit.
func checkAuditNames(names []string) error {
	for _, name := range names {
		if slices.Contains(config.AuditNames(), config.AuditRule(name)) {
			continue
		}
		var known []string
		for _, n := range config.AuditNames() {
			known = append(known, string(n))
		}
		remedy := nearest.HintOrList(name, known)
		if strings.EqualFold(name, "DML_SHARDING_CONDITIONS") { // ShardingSphere's auditor
			remedy = "it is " + string(config.AuditRequireShardingKey) + " here"
		}
		return fault.Unsupported("hint that disables audits", fmt.Sprintf("there is no audit %q", name), remedy)
	}
	return nil
}
