package shardkernel

import (
	"bytes"
	"context"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// keptWeights is the number of weights in each of the two halves of weights.
const keptWeights = 10_000

// weights remembers the weights of texts that rows are placed by. When the
// younger half is full it becomes the older one, which is forgotten.
type weights struct {
	mu             sync.Mutex
	younger, older map[weighed]string
}

type weighed struct{ collation, text string }

func (w *weights) get(key weighed) (weight string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if weight, ok = w.younger[key]; ok {
		return weight, true
	}
	if weight, ok = w.older[key]; ok {
		w.keep(key, weight)
	}
	return weight, ok
}

func (w *weights) put(key weighed, weight string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(key, weight)
}

func (w *weights) keep(key weighed, weight string) {
	if w.younger == nil || len(w.younger) >= keptWeights {
		w.younger, w.older = make(map[weighed]string), w.younger
	}
	w.younger[key] = weight
}

// collationName is how servers call collations: the name goes into SQL.
var collationName = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// weigh returns the weight of a text under a column's collation, as the server
// sorts and compares by, in hexadecimal digits. A server is asked for a text that
// is not remembered.
func (k *Kernel) weigh(ctx context.Context, column *value.Column, text string) (string, error) {
	refuse := func(reason string) error {
		return fault.Unsupported("sharding column "+column.Name+" with textKey: weight", reason, "use textKey: binary or exact")
	}
	charset, _, _ := strings.Cut(column.Collation, "_")
	switch {
	case !k.dialect.IsMySQL():
		return "", refuse("the database has no WEIGHT_STRING")
	case column.WeightRefused != "":
		return "", refuse("its collation cannot be weighed: " + column.WeightRefused)
	case !collationName.MatchString(column.Collation):
		return "", refuse("its collation is not known")
	}
	key := weighed{column.Collation, text}
	if weight, ok := k.weights.get(key); ok {
		return weight, nil
	}
	if _, err := k.settings(ctx); err != nil {
		return "", err
	}
	source := k.sources[k.base.name]
	var weight []byte
	err := source.control.QueryRowContext(ctx, "SELECT WEIGHT_STRING(CONVERT(? USING "+charset+") COLLATE "+column.Collation+")", text).Scan(&weight)
	if err != nil {
		return "", &fault.NodeError{DataSource: source.Name, Err: err}
	}
	spelled := hex.EncodeToString(unpadded(weight, column))
	k.weights.put(key, spelled)
	return spelled, nil
}

// unpadded takes away the weights of trailing spaces where they do not count.
func unpadded(weight []byte, column *value.Column) []byte {
	space := column.SpaceWeight
	if !column.PadSpace || len(space) == 0 || len(weight)%len(space) != 0 {
		return weight
	}
	for bytes.HasSuffix(weight, space) {
		weight = weight[:len(weight)-len(space)]
	}
	return weight
}
