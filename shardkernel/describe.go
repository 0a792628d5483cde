package shardkernel

import (
	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
	"github.com/gormshard/sharding/shardkernel/internal/metadata"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// describe is a route.Describer. That no answer came is kept as the error of the
// execution.
func (c *columns) describe(dataSource, query string, args []any) (column *value.Column, reason string) {
	if c.err != nil {
		return nil, "the columns could not be read"
	}
	s, err := c.kernel.source(c.ctx, dataSource)
	if err == nil {
		if column, err = metadata.Expression(c.ctx, s.control, query, args); err == nil {
			return column, ""
		}
	}
	if reason, ok := dialect.Misunderstood(err); ok {
		return nil, reason
	}
	c.err = &fault.NodeError{DataSource: dataSource, Err: err}
	return nil, "the server did not answer"
}
