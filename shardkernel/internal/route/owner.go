package route

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/internal/rule"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// owners returns what the owner column of the key generator will hold in the
// rows.
func (in *insertion) owners(e *evaluation, rows []int) ([]algorithm.Value, error) {
	table := in.ref.rule
	k := ownerKey(table)
	position := visiblePosition(e.meta.table(table.Name), k.column)
	if columns := e.program.stmt.Insert.Columns; columns != nil {
		position = slices.Index(columns, k.column)
	}
	owners := make([]algorithm.Value, len(rows))
	for i, row := range rows {
		var err error
		if owners[i], err = in.stored(e, row, &k, position, nil, false); err != nil {
			return nil, err
		}
	}
	return owners, nil
}

// ownerKey returns the owner column of a table's key generator as a key.
func ownerKey(t *rule.Table) key {
	for _, k := range keysOf(t) {
		if k.column == t.Key.Owner {
			return k
		}
	}
	return key{column: t.Key.Owner}
}

// Owner returns what the owner column of a table's key generator will hold when
// arg is inserted. in gives the columns and the weights.
func Owner(t *rule.Table, in Input, convert value.Converter, arg any) (algorithm.Value, error) {
	k := ownerKey(t)
	e := newEvaluation(&Program{convert: convert}, &in)
	column := e.column(t, &k)
	if e.err != nil {
		return algorithm.Value{}, e.err
	}
	v, err := convert.Store(arg, column)
	switch {
	case err != nil:
		return v, &fault.UnsupportedError{
			Clause: "INSERT into " + t.Name, Reason: "what the column " + k.column + " would hold, whose slot the key carries, is not certain", Err: err,
			Remedy: "give a value of the column's type",
		}
	case v.IsNull():
		return v, &fault.RouteError{Class: fault.ErrNoShardingKey, Table: t.Name, Column: k.column, Reason: "the value is NULL, and the key carries its slot", Remedy: "give the column a value"}
	}
	return e.placed(&k, column, v), e.err
}
