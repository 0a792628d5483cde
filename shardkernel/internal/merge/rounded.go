package merge

import (
	"database/sql/driver"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// surely evaluates an expression twice where it calculates with averages that
// servers may have rounded before, and fails where that makes a difference.
type surely struct {
	*expression
	rounded *expression // the same with rounded averages; nil without any
	truth   bool        // only whether it is true counts
}

func newSurely(h *header, e *plan.Expr, truth bool) (*surely, error) {
	h.doubtful = true
	x, err := newExpression(h, e)
	if err != nil {
		return nil, err
	}
	return &surely{x, x.withRoundedAverages(), truth}, nil
}

// withRoundedAverages returns a copy in which averages are rounded, nil where there
// are none that may be.
func (x *expression) withRoundedAverages() *expression {
	c := *x
	c.rounds, c.kids = x.mayRound, make([]*expression, len(x.kids))
	found := x.mayRound
	for i, kid := range x.kids {
		c.kids[i] = kid
		if rounded := kid.withRoundedAverages(); rounded != nil {
			c.kids[i], found = rounded, true
		}
	}
	if !found {
		return nil
	}
	return &c
}

func (s *surely) eval(row []driver.Value) (scalar, error) {
	v, err := s.expression.eval(row)
	if err != nil || s.rounded == nil {
		return v, err
	}
	w, err := s.rounded.eval(row)
	if err != nil {
		return w, err
	}
	same := v.isTrue() == w.isTrue()
	if !s.truth {
		same = v.null() && w.null() || !v.null() && !w.null() && compareScalars(v.toScale(s.scale), w.toScale(s.scale)) == 0
	}
	if !same {
		return v, fault.Unsupported(clauseExpression,
			"a server that sorts the groups may round an average to the digits it shows before it goes on calculating, or not, by its plan of execution, and here that makes a difference",
			"select the average and compute with it in the application, or order by the columns of GROUP BY")
	}
	return v, nil
}
