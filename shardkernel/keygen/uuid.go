package keygen

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// uuidGenerator is the generator UUID: a random (version 4) UUID as text.
//
// Properties:
//
//	dashes  true by default: 36 characters; false: 32 characters without the
//	        dashes, as ShardingSphere's generator of that name
type uuidGenerator struct{ dashes bool }

func newUUID(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	g := uuidGenerator{dashes: r.BoolOr("dashes", true)}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return g, nil
}

// Next fails only when the system has no randomness.
func (g uuidGenerator) Next(context.Context) (any, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	if g.dashes {
		return id.String(), nil
	}
	return strings.ReplaceAll(id.String(), "-", ""), nil
}
