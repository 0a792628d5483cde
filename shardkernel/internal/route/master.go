package route

// master routes a SELECT from SQLite's list of tables: to the data source that
// answers for the table that an argument names.
func (i *inquirer) master() (*Answer, error) {
	for _, name := range i.textArgs() {
		table, sharded := i.set.Table(name)
		switch {
		case sharded && table.First().Table != name:
			return nil, i.refuse("it names table "+name+", and the list knows the actual tables alone",
				"make the actual tables in each data source, which Plugin.DataSource(name) gives")
		case sharded:
			return i.whole(table.First().DataSource, "the first node of "+name+" is asked"), nil
		case i.set.IsTable(name) && !i.set.IsBroadcast(name):
			return i.whole(i.set.SingleSource(name), "the table is neither sharded nor broadcast"), nil
		}
	}
	return i.whole(i.set.DefaultDataSource, askedOutside), nil
}
