package plan

// EachText replaces every text of the execution by what change makes of it.
func (e *Execution) EachText(change func(text string) string) {
	for i := range e.Units {
		e.Units[i].SQL = change(e.Units[i].SQL)
		if shown := &e.Units[i].Shown; *shown != "" {
			*shown = change(*shown)
		}
	}
	if e.Gather != nil {
		e.Gather.Header.SQL = change(e.Gather.Header.SQL)
	}
	if f := e.First; f != nil {
		for i := range f.Subqueries {
			f.Subqueries[i].Rows.EachText(change)
		}
		then := f.Then
		f.Then = func(found []*Found) (*Execution, error) {
			ex, err := then(found)
			if err == nil {
				ex.EachText(change)
			}
			return ex, err
		}
	}
	n := e.Numbering
	if n == nil {
		return
	}
	n.First.SQL = change(n.First.SQL)
	rest := n.Rest
	n.Rest = func(numbers []any) []Unit {
		units := rest(numbers)
		for i := range units {
			units[i].SQL = change(units[i].SQL)
		}
		return units
	}
}
