package shardkernel

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// original is an actual table like which others are made.
type original struct {
	node
	text string // its CREATE TABLE, as the server shows it
}

// original reads a table. It refuses one with a trigger: the others would lack it,
// and the rows in them what it does.
func (k *Kernel) original(ctx context.Context, n node) (original, error) {
	control := k.sources[n.source].control
	text, err := metadata.CreateText(ctx, control, n.table)
	if err != nil {
		return original{}, &fault.NodeError{DataSource: n.source, Table: n.table, Err: err}
	}
	trigger, err := metadata.Trigger(ctx, control, n.table)
	if err != nil {
		return original{}, &fault.NodeError{DataSource: n.source, Table: n.table, Err: err}
	}
	if trigger != "" {
		return original{}, fault.Unsupported("table like "+n.String(), "that has the trigger "+trigger+", which a table that is made like it would lack",
			"create the tables that are missing, and their triggers, in the data sources, which Plugin.DataSource(name) gives")
	}
	return original{n, text}, nil
}

// present tells which of the nodes have their table.
func (k *Kernel) present(ctx context.Context, nodes []node) ([]bool, error) {
	var sources []string
	for _, n := range nodes {
		if !slices.Contains(sources, n.source) {
			sources = append(sources, n.source)
		}
	}
	there := make([]bool, len(nodes))
	return there, parallel(len(sources), func(i int) error {
		s, err := k.source(ctx, sources[i])
		if err != nil {
			return err
		}
		tables, err := metadata.TableNames(ctx, s.control)
		if err != nil {
			return &fault.NodeError{DataSource: sources[i], Err: err}
		}
		for n := range nodes {
			if nodes[n].source == sources[i] {
				there[n] = containsName(tables, nodes[n].table)
			}
		}
		return nil
	})
}

// like is what makes a node's table like the original: with the names that its
// constraints, and the tables they reference, have in the node. constraints are the
// logical names that are known, of which some may be too long to be told from the
// original's.
func (k *Kernel) like(ctx context.Context, o *original, n node, constraints []string) (string, error) {
	names := parse.DefinitionNames(o.text, k.dialect)
	if len(names) == 0 || names[0].Role != parse.CatalogTable {
		return "", fault.Unsupported("table "+n.String(), "it is to be made like "+o.String()+", and how that is defined is not understood", "create it in the data source, which Plugin.DataSource(name) gives")
	}
	from := k.namesAt(ctx, o.node)
	var b strings.Builder
	at := 0
	for _, name := range names {
		var actual string
		switch name.Role {
		case parse.CatalogTable:
			actual = n.table
		case parse.CatalogConstraint:
			logical := from.Constraint(name.Name)
			if name.Key {
				logical = from.Key(name.Name, slices.ContainsFunc(names, func(o parse.DefinitionName) bool { return o.Role == name.Role && !o.Key && o.Name == name.Name }))
			}
			for _, c := range constraints {
				if strings.EqualFold(rule.ConstraintName(c, from.logical, o.table), name.Name) {
					logical = c
				}
			}
			if actual = rule.ConstraintName(logical, from.logical, n.table); name.Key && logical == name.Name {
				actual = name.Name
			}
		case parse.CatalogReferenced:
			var err error
			if actual, err = k.referencedAt(o, name.Name, n); err != nil {
				return "", err
			}
		}
		b.WriteString(o.text[at:name.Start])
		b.WriteString(quoteName(actual))
		at = name.End
	}
	return b.String() + o.text[at:], from.err
}

// referencedAt returns the table in a node's data source that a foreign key of
// the node references, where that of the original references another.
func (k *Kernel) referencedAt(o *original, referenced string, n node) (string, error) {
	parent, _ := k.nodeNamed(node{o.source, referenced})
	child, index := k.nodeNamed(n)
	if parent == nil {
		return referenced, nil
	}
	if child == parent {
		return n.table, nil
	}
	if child != nil && k.rules.Bound(child, parent) && index < len(parent.Nodes) && parent.Nodes[index].DataSource == n.source {
		return parent.Nodes[index].Table, nil
	}
	found := ""
	for i := range parent.Nodes {
		if p := &parent.Nodes[i]; p.DataSource == n.source {
			if found != "" {
				found = ""
				break
			}
			found = p.Table
		}
	}
	if found == "" {
		return "", fault.Unsupported("table "+n.String(), "it is to be made like "+o.String()+", of which a foreign key references "+referenced+", and which table it would be for the new one is not known",
			"name both tables in bindingTables, or create it in the data source, which Plugin.DataSource(name) gives")
	}
	return found, nil
}
