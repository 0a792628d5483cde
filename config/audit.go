package config

import (
	"fmt"
	"slices"

	"github.com/gormshard/sharding/internal/nearest"
)

// AuditRule names a reason to refuse a statement on sharded tables.
type AuditRule string

const (
	// AuditRequireShardingKey refuses a SELECT, UPDATE or DELETE that has no
	// condition on a sharding column of a table, and no hint in its place.
	AuditRequireShardingKey AuditRule = "requireShardingKey"
	// AuditSingleDataSource refuses a statement that goes to more than one data
	// source.
	AuditSingleDataSource AuditRule = "singleDataSource"
	// AuditKeyInFunction refuses a statement that goes to several nodes and has a
	// sharding column inside a function or in arithmetic, where it narrows
	// nothing.
	AuditKeyInFunction AuditRule = "keyInFunction"
	// AuditShardedSubquery refuses a statement that names a sharded table in a
	// subquery or derived table, also where one node answers it.
	AuditShardedSubquery AuditRule = "shardedSubquery"
	// AuditMemoryMerge refuses a statement whose groups are held in memory.
	AuditMemoryMerge AuditRule = "memoryMerge"

	// AuditMaxNodes is the name of a limit for a hint that disables audits. It has
	// a number, so it is no rule.
	AuditMaxNodes AuditRule = "maxNodes"
	// AuditMaxOffset is the other one.
	AuditMaxOffset AuditRule = "maxOffset"
)

// auditRules are those that may stand in a list of rules.
var auditRules = []AuditRule{
	AuditRequireShardingKey, AuditSingleDataSource, AuditKeyInFunction, AuditShardedSubquery, AuditMemoryMerge,
}

// AuditNames returns the names of all audits and limits.
func AuditNames() []AuditRule { return append(slices.Clone(auditRules), AuditMaxNodes, AuditMaxOffset) }

// Audit refuses statements on a sharded table that are allowed by default. A
// refused statement is not sent.
type Audit struct {
	// Rules are the rules in force. In a file a list in the place of the whole
	// audit is this list. Defaults to none.
	Rules []AuditRule `yaml:"rules,omitempty" file:"list"`
	// MaxNodes is the number of nodes a statement may go to. Defaults to 0, no
	// limit but that of Props.
	MaxNodes int `yaml:"maxNodes,omitempty"`
	// MaxOffset is the number of rows that a statement over several nodes may skip
	// by OFFSET. Defaults to 0, no limit but that of Props.
	MaxOffset int `yaml:"maxOffset,omitempty"`
	// AllowHintDisable lets hints switch the audit off for a statement. Defaults
	// to false.
	AllowHintDisable bool `yaml:"allowHintDisable,omitempty"`
}

func (k *checker) audit(path string, a *Audit) {
	if a == nil {
		return
	}
	k.auditRules(path+".rules", a.Rules)
	k.notNegative(path+".maxNodes", int64(a.MaxNodes))
	k.notNegative(path+".maxOffset", int64(a.MaxOffset))
}

func (k *checker) auditRules(path string, rules []AuditRule) {
	for i, rule := range rules {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case rule == AuditMaxNodes || rule == AuditMaxOffset:
			k.add(at, fmt.Sprintf("%s is a limit, which needs a number", rule), fmt.Sprintf("write {%s: 10} beside the rules", rule))
		case !slices.Contains(auditRules, rule):
			names := make([]string, len(auditRules))
			for i, known := range auditRules {
				names[i] = string(known)
			}
			k.add(at, fmt.Sprintf("no audit rule %q", string(rule)), nearest.HintOrList(string(rule), names))
		case slices.Contains(rules[:i], rule):
			k.add(at, fmt.Sprintf("rule %q stands twice", string(rule)), "")
		}
	}
}
