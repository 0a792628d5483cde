package route

import (
	"database/sql/driver"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
)

// catalog routes a SELECT from information_schema. What it says of the schema
// tells whether it is about the logical one; a table that it names tells which
// data source knows.
func (i *inquirer) catalog() (*Answer, error) {
	c := i.q.Select
	if i.q.Named && (!c.Known || c.Refuse != "") {
		return nil, i.refuse("it stands beside a configured table", "ask about tables in a statement of its own")
	}
	if !c.Known {
		return i.unknownCatalog()
	}
	if c.Table == "SCHEMATA" {
		return i.schemata()
	}
	inside, outside := i.schemaTerm()
	name, named, err := i.tableTerm()
	switch {
	case err != nil:
		return nil, err
	case outside:
		return i.whole(i.set.DefaultDataSource, askedOutside), nil
	case c.Refuse != "":
		return nil, i.refuse(c.Refuse+" holds names that are not mapped to those of the nodes",
			"ask with a plain SELECT from one table of information_schema, or ask a data source, which Plugin.DataSource(name) gives")
	case !inside && named && !i.set.IsTable(name):
		return i.whole(i.set.SingleSource(name), askedOutside), nil
	case !inside:
		return nil, i.refuse("it does not say which schema it is about, and data sources hold others beside the logical one",
			"add TABLE_SCHEMA = DATABASE(), or the schema's name, to WHERE by AND")
	case named:
		if t, ok := i.set.Table(name); ok && c.Sizes && len(t.Nodes) > 1 {
			return nil, i.refuse("the rows and bytes of "+t.Name+" are those of all its nodes together", "name the columns that describe the table, or ask the nodes, in the data sources that Plugin.DataSource(name) gives")
		}
		if c.Table == "TABLES" && c.Counts {
			return i.everywhere(name)
		}
		return i.one(name)
	}
	return i.listing()
}

// listing routes a SELECT over all tables of the logical schema.
func (i *inquirer) listing() (*Answer, error) {
	c := i.q.Select
	answer, err := i.list()
	if err != nil {
		return nil, err
	}
	for _, t := range i.set.Tables() {
		if c.Sizes && len(t.Nodes) > 1 {
			return nil, i.refuse("the rows and bytes of "+t.Name+" are those of all its nodes together", "name the columns that describe the tables")
		}
	}
	if c.Ordinal {
		return nil, i.refuseOrdinal()
	}
	logical := map[string]string{}
	for _, a := range answer.Asking {
		for _, t := range a.View.Tables {
			if other, ok := logical[t.Actual]; ok && other != t.Logical {
				return nil, i.refuse("data sources call both "+other+" and "+t.Logical+" "+t.Actual, "name one table by TABLE_NAME = …, or use SHOW TABLES")
			}
			logical[t.Actual] = t.Logical
		}
	}
	if len(answer.Asking) > 1 && c.Gathers != "" {
		var elsewhere []string
		for _, a := range answer.Asking {
			if a.DataSource != i.set.DefaultDataSource {
				for _, t := range a.View.Tables {
					elsewhere = append(elsewhere, t.Logical)
				}
			}
		}
		return nil, i.refuse(c.Gathers+" needs all tables together, and "+strings.Join(elsewhere, ", ")+" are not in the default data source",
			"leave "+c.Gathers+" out, or name one table by TABLE_NAME = …")
	}
	return answer, nil
}

// schemata routes a SELECT from SCHEMATA, in which the default data source's
// schema stands for the logical one.
func (i *inquirer) schemata() (*Answer, error) {
	answer, err := i.schema()
	if err != nil || answer.Whole {
		return answer, err
	}
	if i.q.Select.Ordinal {
		return nil, i.refuseOrdinal()
	}
	answer.Asking[0].View.Hidden = []string{i.logical}
	return answer, nil
}

func (i *inquirer) refuseOrdinal() error {
	return i.refuse("ORDER BY or GROUP BY with a number takes the names that the nodes have", "write the column's name instead of the number")
}

// unknownCatalog routes a SELECT from another table of information_schema. Those
// that hold names of tables are not mapped.
func (i *inquirer) unknownCatalog() (*Answer, error) {
	for _, name := range append(i.textArgs(), i.q.Select.Texts...) {
		if _, sharded := i.set.Table(name); sharded {
			return nil, i.refuse("it names the sharded table "+name+", and names in this table are not mapped to those of the nodes",
				"ask a data source, which Plugin.DataSource(name) gives")
		}
	}
	return i.whole(i.set.DefaultDataSource, askedOutside), nil
}

// schemaTerm evaluates what the WHERE says of the schema: inside when it is the
// logical one, outside when it is another.
func (i *inquirer) schemaTerm() (inside, outside bool) {
	for n := range i.q.Select.Terms {
		t := &i.q.Select.Terms[n]
		if t.Role != parse.CatalogSchema {
			continue
		}
		text, known := i.termText(t)
		switch {
		case !known:
		case strings.EqualFold(text, i.logical):
			inside = true
		default:
			outside = true
		}
	}
	return inside, outside
}

// tableTerm evaluates what the WHERE says of the table's name.
func (i *inquirer) tableTerm() (name string, named bool, err error) {
	for n := range i.q.Select.Terms {
		t := &i.q.Select.Terms[n]
		if t.Role != parse.CatalogTable {
			continue
		}
		text, known := i.termText(t)
		if !known {
			return "", false, i.refuse("the table's name is given as an argument that is no text", "bind the name as a string")
		}
		if named && text != name {
			return "", false, i.refuse("it compares the table's name with two texts", "name one table")
		}
		name, named = text, true
	}
	return name, named, nil
}

// termText returns the text that a name is compared with.
func (i *inquirer) termText(t *parse.CatalogTerm) (text string, known bool) {
	switch {
	case t.Call:
		return i.logical, true
	case t.Param < 0:
		return t.Text, true
	case t.Param < len(i.args):
		return textOf(i.args[t.Param])
	}
	return "", false
}

func (i *inquirer) textArgs() []string {
	var texts []string
	for _, arg := range i.args {
		if text, ok := textOf(arg); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// textOf returns the text that an argument is sent as.
func textOf(arg any) (string, bool) {
	v, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if err != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), v != nil
	}
	return "", false
}
