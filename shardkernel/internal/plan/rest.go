package plan

// Rest says what becomes of the other nodes where a statement by primary key is sent
// to those alone on which its row most likely is.
type Rest uint8

// The ways of a Rest.
const (
	// RestNone: nothing is left out.
	RestNone Rest = iota
	// RestWrite: where no row was affected, and the nodes asked do not have the
	// row, the others are sent the same write.
	RestWrite
	// RestProbe: where no row was affected, the others are asked for the row. One
	// that has it would have to give it away, which is refused.
	RestProbe
	// RestProbeFirst: the others are asked so before.
	RestProbeFirst
	// RestRead: a read that finds no row asks the others the same.
	RestRead
	// RestRefuse: the units ask whether the write would change a row. It is refused
	// where it would. Where not, its WHERE is run once more, in a write that changes
	// nothing, and it has affected no row.
	RestRefuse
)

// Asks reports whether more than the units may have to be asked before there is an
// answer to a read, or before a write is sent.
func (r Rest) Asks() bool { return r >= RestProbeFirst }

// Part says which part of such a statement is planned.
type Part uint8

// The parts.
const (
	PartWrite Part = iota // for the nodes that the row most likely is on
	PartOwn               // the question whether these have the row
	PartRest              // for the others, or after the answer, as Rest says
)
