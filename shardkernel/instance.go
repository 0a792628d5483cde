package shardkernel

import (
	"context"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// everyServer sends a statement about accounts or global variables where it
// belongs. When it fails half-way, the error is of class ErrPartialDDL and names
// what is done and what failed.
func (k *Kernel) everyServer(ctx context.Context, s *Session, st *statement, text string, args []any) error {
	if s.inTransaction() {
		return fault.Unsupported(st.command.Clause+" inside a transaction", "it would commit the transaction on the data sources it is sent to", "send it outside")
	}
	if err := s.broken(); err != nil {
		return err
	}
	ex, err := k.planInstances(ctx, st, text, args)
	if err != nil {
		return err
	}
	if err := k.checkSources(ctx, ex); err != nil {
		return err
	}
	if len(ex.Units) == 1 {
		_, err = k.executor.Exec(ctx, ex, s.kept())
	} else {
		_, err = k.executor.Define(ctx, ex, s.kept(), nil)
	}
	return err
}

// planInstances routes a statement about accounts or global variables: to every
// server once, or to where the tables are that it names.
func (k *Kernel) planInstances(ctx context.Context, st *statement, text string, args []any) (*plan.Execution, error) {
	c := st.command
	for i := range c.Set {
		if err := checkGlobal(&c.Set[i]); err != nil {
			return nil, err
		}
	}
	ex := &plan.Execution{Kind: plan.KindInstances, Write: true}
	add := func(source, table, sql string) {
		ex.Units = append(ex.Units, plan.Unit{DataSource: source, Table: table, SQL: sql, Args: args, Secret: c.Secret})
	}
	g := c.Grant
	if g == nil || g.AllSchemas {
		instances, err := k.instances(ctx)
		if err != nil {
			return nil, err
		}
		ex.Reason = "it concerns a server as a whole: every server once"
		var seen []string
		for i, name := range k.rules.DataSources {
			if id := instances[i].ID; !slices.Contains(seen, id) {
				seen = append(seen, id)
				add(name, "", text)
			}
		}
		return ex, nil
	}
	logical := g.Schema == ""
	if !logical {
		schema, err := k.schema(ctx)
		if err != nil {
			return nil, err
		}
		logical = strings.EqualFold(schema, unescaped(g.Schema)) || schema == g.Schema
	}
	splice := func(object string) string { return c.Text[:g.Object.Start] + object + c.Text[g.Object.End:] }
	switch {
	case !logical || g.Routine:
		ex.Reason = "its object is in the default data source"
		add(k.rules.DefaultDataSource, "", text)
	case g.AllTables && g.Schema == "":
		ex.Reason = "the schema of every data source"
		for _, name := range k.rules.DataSources {
			add(name, "", text)
		}
	case g.AllTables:
		ex.Reason = "the schema of every data source"
		instances, err := k.instances(ctx)
		if err != nil {
			return nil, err
		}
		for i, name := range k.rules.DataSources {
			if instances[i].Schema == "" {
				return nil, fault.Unsupported(c.Clause+" on a schema", "the connections of data source "+name+" use none", "name a schema in its DSN")
			}
			add(name, "", splice(grantSchema(instances[i])+".*"))
		}
	default:
		k.grantTable(g.Table, ex, add, splice)
	}
	if st.commented {
		k.recomment(ex, text)
	}
	return ex, nil
}

// grantTable sends a statement about the privileges on one table to every node
// of the table.
func (k *Kernel) grantTable(table string, ex *plan.Execution, add func(source, table, sql string), splice func(string) string) {
	rules := k.rules
	if s := k.base.settings.Load(); s != nil && s.LowerCaseTableNames != 0 {
		rules = k.folded
	}
	t, sharded := rules.Table(table)
	switch {
	case sharded:
		ex.Reason = "every node of the table"
		for _, n := range t.Nodes {
			add(n.DataSource, n.Table, splice(quoteName(n.Table)))
		}
	case rules.IsBroadcast(table):
		ex.Reason = "a broadcast table is in every data source"
		for _, name := range k.rules.DataSources {
			add(name, "", splice(quoteName(table)))
		}
	default:
		ex.Reason = "a single table"
		add(rules.SingleSource(table), "", splice(quoteName(table)))
	}
}

// instances asks every data source for its server, in the order of the data
// sources.
func (k *Kernel) instances(ctx context.Context) ([]metadata.Instance, error) {
	out := make([]metadata.Instance, len(k.rules.DataSources))
	for i, name := range k.rules.DataSources {
		s := k.sources[name]
		var err error
		if out[i], err = metadata.ReadInstance(ctx, name, s.control, s.Dialect); err != nil {
			return nil, &fault.NodeError{DataSource: name, Err: err}
		}
	}
	return out, nil
}

// schema is the logical schema: the configured one, else that of the default data
// source.
func (k *Kernel) schema(ctx context.Context) (string, error) {
	if k.rules.Schema != "" {
		return k.rules.Schema, nil
	}
	s := k.sources[k.rules.DefaultDataSource]
	if s.client != nil && s.client.Schema != "" {
		return s.client.Schema, nil
	}
	i, err := metadata.ReadInstance(ctx, s.Name, s.control, s.Dialect)
	if err != nil {
		return "", &fault.NodeError{DataSource: s.Name, Err: err}
	}
	return i.Schema, nil
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// grantSchema is a schema in a GRANT on all its tables, where _ and % are
// wildcards unless the server revokes in parts.
func grantSchema(i metadata.Instance) string {
	name := i.Schema
	if !i.PartialRevokes {
		name = strings.NewReplacer(`_`, `\_`, `%`, `\%`).Replace(name)
	}
	return quoteName(name)
}

func unescaped(schema string) string {
	return strings.NewReplacer(`\_`, `_`, `\%`, `%`).Replace(schema)
}
