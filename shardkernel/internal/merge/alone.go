package merge

import (
	"database/sql/driver"
	"io"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// anyRow reports whether one row is wanted, and any that a unit gives will do:
// LIMIT 1 without an order, and nothing made of the row.
func anyRow(recipe *plan.Merge) bool {
	return recipe.Kind == plan.MergeIterate && recipe.HasLimit && recipe.Count <= 1 && recipe.Offset == 0 && recipe.Derived == 0 &&
		recipe.Distinct == nil && recipe.Names == nil && !recipe.Broadcast
}

// alone gives the row of the first cursor, where others have other columns. It
// fails where these are needed as well. GORM's migrator asks for the columns of
// a table with LIMIT 1, and goes on to make the nodes alike by what it learns.
type alone struct {
	inputs *inputs
	left   uint64
	others error
}

func (a *alone) next(dest []driver.Value) error {
	if a.left == 0 {
		return io.EOF
	}
	err := a.inputs.next(0, dest)
	if isEnd(err) {
		return a.others
	}
	a.left--
	return err
}
