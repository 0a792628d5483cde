package merge

import (
	"database/sql/driver"
	"fmt"
	"math"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// bitFold combines the BIGINT UNSIGNED of BIT_AND, BIT_OR and BIT_XOR. Over
// nothing it is the neutral value, which the servers give as well (semantics row
// 13).
type bitFold struct {
	index  int
	name   string
	column *column
	op     plan.AggregateFunc
	bits   uint64
	sample driver.Value // a value that has the Go type of the driver's
}

func newBitFold(h *header, index int, item plan.Aggregate, name string) (newFold, error) {
	op := item.Func
	c := &h.columns[index]
	if c.typeName != "UNSIGNED BIGINT" {
		return nil, fault.Unsupported(name, fmt.Sprintf("its value is a %s, and only those of integers are combined over several nodes", c.typeName),
			"convert the argument: CAST(… AS UNSIGNED)")
	}
	var neutral uint64
	if op == plan.AggregateBitAnd {
		neutral = math.MaxUint64
	}
	var sample driver.Value = int64(0)
	if item.Plain {
		sample = uint64(0)
	}
	return func() fold {
		return &bitFold{index: index, name: name, column: c, op: op, bits: neutral, sample: sample}
	}, nil
}

func (f *bitFold) add(_, row []driver.Value, _ *account) error {
	v := row[f.index]
	if v == nil { // no row of a node at all
		return nil
	}
	s, err := readScalar(v, typeUint)
	if err != nil || s.typ != typeUint {
		return fault.Unsupported(f.name, fmt.Sprintf("the driver returned its value as %T", v), "")
	}
	bits := uint64(s.integer)
	if bits > math.MaxInt64 {
		f.sample = keep(v)
	}
	switch f.op {
	case plan.AggregateBitAnd:
		f.bits &= bits
	case plan.AggregateBitOr:
		f.bits |= bits
	default:
		f.bits ^= bits
	}
	return nil
}

func (f *bitFold) finish(kept []driver.Value) error {
	var v driver.Value = f.bits
	if f.bits <= math.MaxInt64 {
		v = int64(f.bits)
	}
	kept[f.index] = heldAs(v, f.column, f.sample)
	return nil
}
