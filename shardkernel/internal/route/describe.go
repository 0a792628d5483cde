package route

import "github.com/gormshard/sharding/shardkernel/internal/value"

// Describer asks the server of a data source for the type of an expression and
// for the collation of its texts. The query reads no row and gives, in one,
// COLLATION and COERCIBILITY of the expression and the expression itself. Where
// the server does not understand it the column is nil, and reason is what the
// server says; empty where the expression is a mistake that the statement will be
// answered with as well.
type Describer func(dataSource, query string, args []any) (column *value.Column, reason string)
