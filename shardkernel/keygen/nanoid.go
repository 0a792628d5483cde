package keygen

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"math/bits"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

const (
	// urlSafe are the 64 characters that need no escaping in a URL.
	urlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	// leastEntropy is the number of random bits below which equal keys must be
	// expected: with 64, one pair among some five thousand million keys.
	leastEntropy = 64
)

// nanoID is the generator NANOID: random text of the system's secure randomness,
// every character equally probable.
//
// Properties:
//
//	size      the number of characters, 1 to 255, by default 21
//	alphabet  the characters to choose from: printable ASCII, each once; by
//	          default the 64 letters, digits, - and _ that need no escaping in a
//	          URL. With upper- and lower-case letters the column needs a
//	          collation that tells them apart
type nanoID struct {
	size     int
	alphabet string
	mask     byte // the smallest 2^n-1 that reaches every index of alphabet
}

func newNanoID(props Props) (Generator, error) {
	r := algorithm.ReadProps(algorithm.Props(props))
	g := nanoID{size: int(r.IntOr("size", 21, 1, 255)), alphabet: r.StringOr("alphabet", urlSafe)}
	if err := r.Err(); err != nil {
		return nil, err
	}
	var seen [128]bool
	for _, c := range g.alphabet {
		switch {
		case c <= ' ' || c > '~':
			return nil, fmt.Errorf("property %q holds the character %q; use printable ASCII without spaces", "alphabet", c)
		case seen[c]:
			return nil, fmt.Errorf("property %q holds the character %q twice", "alphabet", c)
		}
		seen[c] = true
	}
	if entropy := float64(g.size) * math.Log2(float64(len(g.alphabet))); entropy < leastEntropy {
		return nil, fmt.Errorf("%d of %d characters are %.0f bits of randomness, with which equal keys must be expected; raise size, or take a longer alphabet, for at least %d bits",
			g.size, len(g.alphabet), entropy, leastEntropy)
	}
	g.mask = byte(1<<bits.Len(uint(len(g.alphabet)-1)) - 1)
	return g, nil
}

// Next returns a string. It does not fail.
func (g nanoID) Next(context.Context) (any, error) {
	key := make([]byte, 0, g.size)
	random := make([]byte, g.size)
	for {
		_, _ = rand.Read(random) // never fails, as its documentation says
		for _, b := range random {
			// A remainder would make the first characters more probable.
			if i := int(b & g.mask); i < len(g.alphabet) {
				if key = append(key, g.alphabet[i]); len(key) == g.size {
					return string(key), nil
				}
			}
		}
	}
}
