package route

import (
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
)

// Naming is a name of the logical schema and the one a data source has for it.
type Naming struct{ Logical, Actual string }

// View is how the tables of a data source show as tables of the logical schema.
type View struct {
	Schema Naming
	// Tables are the tables that stand for logical ones. Each logical table is
	// among those of one data source.
	Tables []Naming
	// Hidden are the tables that do not show. Only is true where nothing but
	// Tables shows.
	Hidden []string
	Only   bool
	// Constraints are the keys, foreign keys and CHECKs of Tables that are called
	// otherwise than in their logical table, where they are asked about.
	Constraints []Naming
	// Nodes are all actual tables in the data source that are called otherwise
	// than their logical table.
	Nodes []Naming
}

// Asking is one statement that an inquiry becomes.
type Asking struct {
	DataSource string
	Table      string // the actual table of the one that is asked about; empty leaves the name
	View       View
}

// Answer tells which data sources answer an inquiry.
type Answer struct {
	Kind   plan.Kind
	Reason string
	// Whole is true when the text is sent as it is, to the one data source.
	Whole bool
	// Least is true when each data source gives one number, and the smallest is the
	// answer.
	Least  bool
	Asking []Asking
}

// Schemas gives the schema that a data source's connections use.
type Schemas func(source string) (string, error)

// Inquire finds the data sources that answer an inquiry. It refuses what would
// show a part of a table for the whole, or names that cannot be told apart.
func Inquire(q *parse.Inquiry, set *rule.Set, args []any, schemas Schemas) (*Answer, error) {
	i := inquirer{q: q, set: set, args: args, schemas: schemas, logical: set.Schema}
	if q.Kind == parse.InquiryMaster {
		return i.master()
	}
	if i.logical == "" {
		var err error
		if i.logical, err = schemas(set.DefaultDataSource); err != nil {
			return nil, err
		}
	}
	switch q.Kind {
	case parse.InquirySession:
		return nil, i.refuse("it reads what an earlier statement left in the session of one connection, and connections are shared",
			"read the error or warning from the statement's own answer, or use a connection of Plugin.DataSource(name)")
	case parse.InquiryTriggers:
		return nil, i.refuse("triggers belong to actual tables", "ask a data source, which Plugin.DataSource(name) gives")
	case parse.InquiryMaintain:
		return i.maintain()
	case parse.InquiryTables:
		return i.tables()
	case parse.InquiryStatus:
		return i.status()
	case parse.InquirySchemas, parse.InquirySchema:
		return i.schema()
	case parse.InquiryCatalog:
		return i.catalog()
	}
	return i.table()
}

// inquirer routes one inquiry.
type inquirer struct {
	q       *parse.Inquiry
	set     *rule.Set
	args    []any
	schemas Schemas
	logical string // the logical schema
}

func (i *inquirer) refuse(reason, remedy string) error {
	return fault.Unsupported(i.q.Clause, reason, remedy)
}

// owns reports whether a schema, as written, is the logical one; no schema is.
func (i *inquirer) owns(schema string) bool {
	return schema == "" || strings.EqualFold(schema, i.logical)
}

// whole sends the text as it is.
func (i *inquirer) whole(source, reason string) *Answer {
	return &Answer{Kind: plan.KindPassThrough, Reason: reason, Whole: true, Asking: []Asking{{DataSource: source}}}
}

const askedOutside = "it asks about nothing that the configuration names: the default data source answers"

// asking returns a statement for a data source, which sees the names there.
func (i *inquirer) asking(source, actual string) (Asking, error) {
	schema, err := i.schemas(source)
	if err != nil {
		return Asking{}, err
	}
	a := Asking{DataSource: source, Table: actual, View: View{Schema: Naming{i.logical, schema}}}
	for _, t := range i.set.Tables() {
		for n := range t.Nodes {
			if node := &t.Nodes[n]; node.DataSource == source && node.Table != t.Name {
				a.View.Nodes = append(a.View.Nodes, Naming{t.Name, node.Table})
			}
		}
	}
	return a, nil
}

// named returns the one table that is asked about and the schema before it.
func (i *inquirer) named() (name, schema string) {
	t := &i.q.Tables[0]
	if i.q.Schema != "" { // FROM schema wins over schema.table
		return t.Name, i.q.Schema
	}
	return t.Name, t.Schema
}

// checkOwned refuses a configured table in another schema than the logical one.
func (i *inquirer) checkOwned(name, schema string) error {
	if i.owns(schema) || !i.set.IsTable(name) {
		return nil
	}
	return fault.Unsupported("schema "+schema+" before table "+name, "a configured table has that name, but its logical schema is "+i.logical,
		"leave the schema out")
}

// one returns the answer of the first node of a table.
func (i *inquirer) one(name string) (*Answer, error) {
	source, actual, reason, kind := i.set.SingleSource(name), "", "the table is neither sharded nor broadcast", plan.KindPassThrough
	table, sharded := i.set.Table(name)
	switch {
	case sharded:
		first := table.First()
		source, actual = first.DataSource, first.Table
		kind, reason = plan.KindUnicast, "every node of "+table.Name+" would answer alike: the first one is asked"
	case i.set.IsBroadcast(name):
		source = i.set.DataSources[0]
		kind, reason = plan.KindUnicast, "a broadcast table is the same in every data source: the first one is asked"
	}
	asking, err := i.asking(source, actual)
	if err != nil {
		return nil, err
	}
	if sharded {
		asking.View.Tables = []Naming{{table.Name, actual}}
	}
	return &Answer{Kind: kind, Reason: reason, Asking: []Asking{asking}}, nil
}

// table routes DESCRIBE, SHOW COLUMNS, SHOW INDEX and SHOW CREATE.
func (i *inquirer) table() (*Answer, error) {
	name, schema := i.named()
	if err := i.checkOwned(name, schema); err != nil {
		return nil, err
	}
	if !i.owns(schema) {
		return i.whole(i.set.DefaultDataSource, askedOutside), nil
	}
	answer, err := i.one(name)
	if err == nil && i.q.ByTable && len(answer.Asking[0].View.Tables) > 0 {
		return nil, i.refuse("its WHERE compares the name of the actual table", "leave the table's name out of WHERE")
	}
	return answer, err
}

// maintain routes CHECK TABLE and its kin to every node.
func (i *inquirer) maintain() (*Answer, error) {
	name, schema := i.named()
	for n := range i.q.Tables {
		if t := &i.q.Tables[n]; i.set.IsTable(t.Name) && len(i.q.Tables) > 1 {
			return nil, i.refuse("it lists table "+t.Name+" beside others, whose nodes are not the same", "send a statement for each table")
		}
	}
	if err := i.checkOwned(name, schema); err != nil {
		return nil, err
	}
	if len(i.q.Tables) > 1 || !i.owns(schema) {
		return i.whole(i.set.DefaultDataSource, askedOutside), nil
	}
	if table, sharded := i.set.Table(name); strings.HasPrefix(i.q.Clause, "CHECKSUM") {
		if sharded && len(table.Nodes) > 1 {
			return nil, i.refuse("the checksum of a node is not that of table "+table.Name, "ask the nodes, in the data sources that Plugin.DataSource(name) gives")
		}
		if !sharded {
			return i.one(name)
		}
	}
	return i.all(name, "and each gives rows of its own")
}

// everywhere routes the question whether a table exists: where a node lacks it, it
// does not.
func (i *inquirer) everywhere(name string) (*Answer, error) {
	answer, err := i.all(name, "and the table exists if all of them have it")
	if err == nil {
		answer.Least = len(answer.Asking) > 1
	}
	return answer, err
}

// all asks every node of a table, every data source for a broadcast one. why says
// what becomes of the answers.
func (i *inquirer) all(name, why string) (*Answer, error) {
	answer := &Answer{Kind: plan.KindAllNodes}
	table, sharded := i.set.Table(name)
	switch {
	case sharded:
		answer.Reason = "every node of " + table.Name + " is asked, " + why
		for order := range i.set.DataSources {
			for n := range table.Nodes {
				if node := &table.Nodes[n]; node.Order == order {
					asking, err := i.asking(node.DataSource, node.Table)
					if err != nil {
						return nil, err
					}
					asking.View.Tables = []Naming{{table.Name, node.Table}}
					answer.Asking = append(answer.Asking, asking)
				}
			}
		}
	case i.set.IsBroadcast(name):
		answer.Kind, answer.Reason = plan.KindBroadcast, "the broadcast table is in every data source, "+why
		for _, source := range i.set.DataSources {
			asking, err := i.asking(source, "")
			if err != nil {
				return nil, err
			}
			answer.Asking = append(answer.Asking, asking)
		}
	default:
		return i.one(name)
	}
	return answer, nil
}

// schema routes SHOW DATABASES and SELECT DATABASE().
func (i *inquirer) schema() (*Answer, error) {
	asking, err := i.asking(i.set.DefaultDataSource, "")
	if err != nil {
		return nil, err
	}
	if asking.View.Schema.Logical == asking.View.Schema.Actual {
		return i.whole(asking.DataSource, "the logical schema is that of the default data source"), nil
	}
	if i.q.Where {
		return nil, i.refuse("its WHERE compares the schema's name in the data source", "use LIKE")
	}
	if i.q.Select != nil && i.q.Select.Refuse != "" {
		return nil, i.refuse("the data source calls the logical schema otherwise, and its name is not understood in this form of SELECT", "ask for DATABASE() in a statement of its own")
	}
	if i.q.Kind == parse.InquirySchemas {
		asking.View.Hidden = []string{i.logical}
	}
	return &Answer{Kind: plan.KindUnicast, Reason: "the schema of the default data source stands for the logical one", Asking: []Asking{asking}}, nil
}

// tables routes SHOW TABLES.
func (i *inquirer) tables() (*Answer, error) {
	switch {
	case !i.owns(i.q.Schema):
		return i.whole(i.set.DefaultDataSource, askedOutside), nil
	case i.q.Where:
		return nil, i.refuse("its WHERE compares the names of actual tables", "use LIKE, or SELECT from information_schema.TABLES")
	}
	return i.list()
}

// status routes SHOW TABLE STATUS, which counts rows and bytes.
func (i *inquirer) status() (*Answer, error) {
	if !i.owns(i.q.Schema) {
		return i.whole(i.set.DefaultDataSource, askedOutside), nil
	}
	name, plain := patternName(i.q.Like)
	if !plain && strings.Contains(i.q.Like, "_") && !strings.Contains(i.q.Like, "%") {
		return nil, i.refuse("a _ in LIKE stands for any character, so that it may ask for several tables", `write \_ to name one table, or use SHOW TABLES`)
	}
	if !plain {
		return nil, i.refuse("the rows and bytes of a sharded table are those of all its nodes together", "name one table by LIKE, or use SHOW TABLES")
	}
	if t, ok := i.set.Table(name); ok && len(t.Nodes) > 1 {
		return nil, i.refuse("the rows and bytes of "+t.Name+" are those of all its nodes together", "ask the nodes, in the data sources that Plugin.DataSource(name) gives")
	}
	return i.one(name)
}

// patternName returns the one name that a LIKE pattern, as typed, matches; ok is
// false when it may match several.
func patternName(like string) (name string, ok bool) {
	if len(like) < 2 || like[0] != '\'' && like[0] != '"' {
		return "", false
	}
	body := strings.ReplaceAll(like[1:len(like)-1], `\_`, "\x00")
	if strings.ContainsAny(body, `%_\`+like[:1]) {
		return "", false
	}
	return strings.ReplaceAll(body, "\x00", "_"), true
}

// list routes what asks for all tables: the default data source shows its own
// and, for every sharded table that has nodes there, the first of them; other
// data sources show what is not there.
func (i *inquirer) list() (*Answer, error) {
	views := map[string]*View{i.set.DefaultDataSource: {}}
	show := func(source string, n Naming) {
		if views[source] == nil {
			views[source] = &View{Only: true}
		}
		views[source].Tables = append(views[source].Tables, n)
	}
	own := views[i.set.DefaultDataSource]
	for _, t := range i.set.Tables() {
		first := max(0, slices.IndexFunc(t.Nodes, func(n rule.Node) bool { return n.DataSource == i.set.DefaultDataSource }))
		shown := &t.Nodes[first]
		show(shown.DataSource, Naming{t.Name, shown.Table})
		if shown.DataSource != i.set.DefaultDataSource { // a table of that name here is none of the logical schema
			own.Hidden = append(own.Hidden, shown.Table)
		}
		named := shown.DataSource == i.set.DefaultDataSource && shown.Table == t.Name
		for n := range t.Nodes {
			if node := &t.Nodes[n]; n != first && node.DataSource == i.set.DefaultDataSource {
				own.Hidden = append(own.Hidden, node.Table)
				named = named || node.Table == t.Name
			}
		}
		if !named { // a table of that name there is not the logical one
			own.Hidden = append(own.Hidden, t.Name)
		}
	}
	for name, source := range i.set.Singles() {
		if source != i.set.DefaultDataSource {
			show(source, Naming{name, name})
			own.Hidden = append(own.Hidden, name)
		}
	}
	answer := &Answer{Kind: plan.KindUnicast, Reason: "every table has a part in the default data source, which is asked"}
	if len(views) > 1 {
		answer.Kind, answer.Reason = plan.KindAllNodes, "the tables' first nodes are in several data sources, and each lists its own"
	}
	for _, source := range i.set.DataSources {
		view := views[source]
		if view == nil {
			continue
		}
		asking, err := i.asking(source, "")
		if err != nil {
			return nil, err
		}
		view.Schema, view.Nodes = asking.View.Schema, asking.View.Nodes
		asking.View = *view
		answer.Asking = append(answer.Asking, asking)
	}
	return answer, nil
}
