package plan

// Batch makes one execution of those of several statements in one string. Their
// units follow one another in text order.
func Batch(statements []*Execution) *Execution {
	e := &Execution{
		Kind:   KindBatch,
		Reason: "several statements in one string, each routed on its own",
		Write:  true, InTurn: true, Merge: &Merge{}, Batch: statements,
	}
	for _, s := range statements {
		e.Units = append(e.Units, s.Units...)
		e.Clock = e.Clock || s.Clock
		if s.Now != "" {
			e.Now = s.Now
		}
	}
	return e
}
