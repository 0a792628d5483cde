package merge

import (
	"database/sql/driver"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// having lets groups pass by their merged values: no node can tell, since it knows
// its part of a group alone. A nil one lets all of them pass.
type having struct{ condition *surely }

func newHaving(head *header, condition *plan.Expr) (*having, error) {
	if condition == nil {
		return nil, nil
	}
	x, err := newSurely(head, condition, true)
	return &having{x}, err
}

// passes reports whether the condition is true, and neither false nor NULL.
func (h *having) passes(row []driver.Value) (bool, error) {
	if h == nil {
		return true, nil
	}
	v, err := h.condition.eval(row)
	return err == nil && v.isTrue(), err
}
