package plan

// Rest says what becomes of the other nodes where a write by primary key is sent
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
)

// Part says which part of such a write is planned.
type Part uint8

// The parts.
const (
	PartWrite Part = iota // for the nodes that the row most likely is on
	PartOwn               // the question whether these have the row
	PartRest              // for the others, as Rest says
)
