package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// Rule is the short form of the rule of tables whose actual tables are numbered:
// t_order_0 to t_order_7 for the table t_order, the range 0..7 and the separator
// "_". It stands for an entry of Sharding.Tables for each of them, see
// Config.Expand. The tables of one rule are sharded alike, so they are bound to
// each other, as by Sharding.BindingTables.
type Rule struct {
	// Tables are the logical tables. In a file the list may also be one text with
	// commas. Required.
	Tables []string `yaml:"tables"`
	// Range numbers the actual tables of each data source, as between ${ and } in
	// an inline expression: 0..7, or a list such as [1, 3, 5]. Defaults to none,
	// which is one actual table called like the logical one.
	Range string `yaml:"range,omitempty"`
	// Separator stands between the table's name and the number. Defaults to "_".
	Separator string `yaml:"separator,omitempty"`
	// Column is the sharding column that chooses the actual table; its case does
	// not matter. Required with Range.
	Column string `yaml:"column,omitempty"`
	// Expression computes the number of the actual table from the column, as
	// between ${ and } in an inline expression: order_id % 8. Required with Range.
	Expression string `yaml:"expression,omitempty"`
}

// Database says, for the tables of all Rules, which data sources they are in and
// what chooses among these.
type Database struct {
	// DataSources names the data sources: ds${0..1}, one placeholder with text
	// around it, or one name. Defaults to the default data source.
	DataSources string `yaml:"dataSources,omitempty"`
	// Column is the sharding column that chooses the data source; its case does
	// not matter. Required where there are several.
	Column string `yaml:"column,omitempty"`
	// Expression computes what the placeholder of DataSources stands for: user_id %
	// 2. Required where there are several.
	Expression string `yaml:"expression,omitempty"`
}

const defaultSeparator = "_"

// Expand returns the configuration in its long form: what Rules and Database say
// is in Sharding, and they are empty. A configuration without them is returned
// itself. Load does this already. What has a fault is left out; Validate reports
// it, at its place in the short form.
func (c *Config) Expand() *Config {
	if c == nil {
		return nil
	}
	return c.expand().cfg
}

// expansion is a configuration in its long form, with what was wrong with the
// short one and where each part of it is.
type expansion struct {
	faults
	cfg     *Config
	origins origins
}

func (c *Config) expand() *expansion {
	x := &expansion{cfg: c, origins: origins{}}
	if len(c.Rules) == 0 && c.Database == (Database{}) {
		return x
	}
	long := *c
	long.Rules, long.Database = nil, Database{}
	s := &long.Sharding
	s.Tables, s.Algorithms = cloned(s.Tables), cloned(s.Algorithms)
	s.BindingTables = slices.Clone(s.BindingTables)
	x.cfg = &long
	if len(c.Rules) == 0 {
		x.add("database", "is of no use without rules", "remove it, or use sharding.defaults.databaseStrategy")
		return x
	}
	sources, strategy, ok := x.database(c.Database)
	for i, rule := range c.Rules {
		x.rule(fmt.Sprintf("rules[%d]", i), rule, sources, strategy, ok)
	}
	return x
}

// cloned is maps.Clone with a map also for nil.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// database returns the data sources of all rules, as an inline expression, and
// what chooses among them.
func (x *expansion) database(d Database) (sources string, strategy *Strategy, ok bool) {
	const path = "database"
	if d == (Database{}) {
		return x.cfg.DefaultSourceName(), x.none(x.cfg.Sharding.Defaults.DatabaseStrategy), true
	}
	if strings.TrimSpace(d.DataSources) == "" {
		x.add(path+".dataSources", "is empty", "name the data sources, such as ds${0..1}")
		return "", nil, false
	}
	names, err := algorithm.ExpandNames(d.DataSources)
	if err != nil {
		x.wrap(path+".dataSources", err)
		return "", nil, false
	}
	before, known := len(x.list), x.cfg.SourceNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			x.add(path+".dataSources", fmt.Sprintf("no data source %q", name), nearest.HintOrList(name, known))
		}
	}
	if len(names) == 1 && d.Column == "" && d.Expression == "" {
		return d.DataSources, x.none(x.cfg.Sharding.Defaults.DatabaseStrategy), len(x.list) == before
	}
	x.column(path, d.Column, d.Expression)
	left, right, single := aroundPlaceholder(d.DataSources)
	if !single {
		x.add(path+".dataSources", "is not one placeholder with text around it, such as ds${0..1}", "name the data sources so, or write the long form under sharding.tables")
	}
	if len(x.list) > before {
		return "", nil, false
	}
	name := x.inline("data_source_by_"+d.Column, left, d.Expression, right, path)
	return d.DataSources, &Strategy{Standard: &Standard{Column: d.Column, Algorithm: name}}, true
}

// none returns a strategy that chooses nothing: an explicit one where it would
// be replaced by a default.
func (x *expansion) none(byDefault *Strategy) *Strategy {
	if byDefault == nil {
		return nil
	}
	return &Strategy{None: true}
}

// column reports what is wrong with a column and the expression over it.
func (x *expansion) column(path, column, expression string) {
	if strings.TrimSpace(column) == "" {
		x.add(path+".column", "is empty", "name the sharding column")
	}
	start, _ := codeStart(expression)
	switch {
	case strings.TrimSpace(expression) == "":
		x.add(path+".expression", "is empty", "write what computes the number, such as order_id % 8")
	case start >= 0:
		x.add(path+".expression", "holds a placeholder", "write the code alone, without ${ and }, such as order_id % 8")
	case codeLength(expression+"}") != len(expression):
		x.add(path+".expression", "has braces that do not match", "")
	}
}

// aroundPlaceholder splits a text with one placeholder; ok is false for others.
func aroundPlaceholder(text string) (left, right string, ok bool) {
	start, open := codeStart(text)
	if start < 0 {
		return "", "", false
	}
	length := codeLength(text[start+open:])
	if length < 0 {
		return "", "", false
	}
	left, right = text[:start], text[start+open+length+1:]
	more, _ := codeStart(right)
	return left, right, more < 0 && !strings.Contains(left+right, ",")
}

// inline adds the algorithm of an expression and returns its name.
func (x *expansion) inline(name, left, expression, right, path string) string {
	free := name
	for i := 2; ; i++ {
		if _, taken := x.cfg.Sharding.Algorithms[free]; !taken {
			break
		}
		free = fmt.Sprintf("%s_%d", name, i)
	}
	x.cfg.Sharding.Algorithms[free] = Algorithm{Type: "INLINE", Props: map[string]any{"expression": left + "${" + expression + "}" + right}}
	x.origins[join("sharding.algorithms", free)] = path + ".expression"
	return free
}

func (x *expansion) rule(path string, r Rule, sources string, database *Strategy, ok bool) {
	before := len(x.list)
	if len(r.Tables) == 0 {
		x.add(path+".tables", "names no table", "")
	}
	numbered := r.Range != "" || r.Column != "" || r.Expression != ""
	if numbered {
		x.numbers(path+".range", r.Range)
		x.column(path, r.Column, r.Expression)
	} else if r.Separator != "" {
		x.add(path+".separator", "is of no use without a range", "remove it, or set range, column and expression")
	}
	s := &x.cfg.Sharding
	for i, name := range r.Tables {
		at := fmt.Sprintf("%s.tables[%d]", path, i)
		long := join("sharding.tables", name)
		if name == "" {
			x.add(at, "is empty", "")
		} else if other, taken := x.origins[long]; taken {
			x.add(at, fmt.Sprintf("table %q stands at %s already", name, other), "")
		} else if _, taken := s.Tables[name]; taken {
			x.add(at, fmt.Sprintf("table %q is in sharding.tables too", name), "keep one of the two")
		} else {
			x.origins[long] = at
		}
	}
	if len(x.list) > before || !ok {
		return
	}
	for _, name := range r.Tables {
		t := Table{ActualDataNodes: nodesOf(sources, name), DatabaseStrategy: database, TableStrategy: x.none(s.Defaults.TableStrategy)}
		long := join("sharding.tables", name)
		x.origins[long+".databaseStrategy"] = "database"
		x.origins[long+".databaseStrategy.standard.column"] = "database.column"
		x.origins[long+".databaseStrategy.standard.algorithm"] = "database.expression"
		x.origins[long+".tableStrategy"] = path
		if numbered {
			left := name + cmp.Or(r.Separator, defaultSeparator)
			t.ActualDataNodes = nodesOf(sources, left+"${"+r.Range+"}")
			t.TableStrategy = &Strategy{Standard: &Standard{Column: r.Column, Algorithm: x.inline(name+"_by_"+r.Column, left, r.Expression, "", path)}}
			x.origins[long+".tableStrategy.standard.column"] = path + ".column"
			x.origins[long+".tableStrategy.standard.algorithm"] = path + ".expression"
		}
		s.Tables[name] = t
	}
	x.bind(path, r.Tables)
}

// nodesOf names the actual tables of all data sources.
func nodesOf(sources, tables string) string { return strings.TrimSpace(sources) + "." + tables }

// numbers reports what is wrong with a range.
func (x *expansion) numbers(path, text string) {
	if strings.TrimSpace(text) == "" {
		x.add(path, "is empty", "write the numbers of the actual tables, such as 0..7")
		return
	}
	if strings.ContainsAny(text, "{}") {
		x.add(path, "holds a brace", "write the numbers alone, such as 0..7")
		return
	}
	if _, err := algorithm.ExpandNames("${" + text + "}"); err != nil {
		x.wrap(path, err)
	}
}

// bind puts the tables of a rule into one list of bound tables: into that which
// has one of them already, or into one of their own.
func (x *expansion) bind(path string, tables []string) {
	if len(tables) < 2 {
		return
	}
	s := &x.cfg.Sharding
	var free []string // tables that no list has
	group := -1
	for _, name := range tables {
		i := slices.IndexFunc(s.BindingTables, func(bound []string) bool { return slices.Contains(bound, name) })
		switch {
		case i < 0:
			free = append(free, name)
		case group < 0:
			group = i
		}
	}
	if group < 0 {
		group = len(s.BindingTables)
		s.BindingTables = append(s.BindingTables, nil)
	}
	for i := range free {
		x.origins[fmt.Sprintf("sharding.bindingTables[%d][%d]", group, len(s.BindingTables[group])+i)] = path + ".tables"
	}
	s.BindingTables[group] = slices.Concat(s.BindingTables[group], free)
}

// reported returns the faults of the short form, followed by those of the long one
// at the place they come from.
func (x *expansion) reported(long faults) *faults {
	return &faults{list: append(x.list, x.origins.back(long.list)...)}
}
