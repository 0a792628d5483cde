package plan

// EachText replaces every text of the execution by what change makes of it.
func (e *Execution) EachText(change func(text string) string) {
	for i := range e.Units {
		e.Units[i].SQL = change(e.Units[i].SQL)
	}
	if e.Gather != nil {
		e.Gather.Header.SQL = change(e.Gather.Header.SQL)
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
