// Package model carries what only a model knows of a statement that is made of
// it: GORM puts the primary key alone into the text. It travels in the context of
// that one statement.
package model

import "context"

// Model is what the models of a statement hold. It is immutable once it is in a
// context.
type Model struct {
	Table string // logical
	// Upsert is true for an INSERT whose rows have keys of the caller's, which
	// may be in the table already.
	Upsert bool
	// Associated is true where Rows are not models of the table, but those that its
	// rows are associated with: Keys are the columns by which they are, in place of
	// the primary key, and the rows of the table are declared to be on the nodes of
	// the sharding values.
	Associated bool
	// Keys are the columns of the primary key, and Sharding the sharding columns,
	// in lower case. An upsert has none: its text holds all columns.
	Keys, Sharding []string
	Rows           []Row
}

// Row is one model. The values are what a driver.Valuer gives, or as the field
// holds them.
type Row struct {
	Keys []any // of Model.Keys
	// Sharding are the values of Model.Sharding; nil where it is not known.
	Sharding []any
}

// contextKey is the key of a Model in a context.
type contextKey struct{}

// Context is a context with a model. It is a type of its own so that whoever has
// put it in can take it out again.
type Context struct {
	context.Context
	Model Model
	// Room is memory for the slices of a Model that is one row of a few columns.
	Room struct {
		Names  [3]string
		Values [3]any
		Rows   [1]Row
	}
}

// Value implements context.Context.
func (c *Context) Value(key any) any {
	if key == (contextKey{}) {
		return &c.Model
	}
	return c.Context.Value(key)
}

// FromContext returns the model of a context, nil when it has none.
func FromContext(ctx context.Context) *Model {
	m, _ := ctx.Value(contextKey{}).(*Model)
	return m
}

// Without returns the context that ctx was before a model was put into it; if
// something else has been put around it since, one that hides the model.
func Without(ctx context.Context) context.Context {
	if c, ok := ctx.(*Context); ok {
		return c.Context
	}
	if FromContext(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, (*Model)(nil))
}
