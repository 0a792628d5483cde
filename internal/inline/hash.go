package inline

import (
	"math/big"
	"unicode/utf16"
)

// HashText is Java's String.hashCode: s[0]*31^(n-1) + … + s[n-1] over the
// UTF-16 code units, wrapping at 32 bits.
func HashText(s string) int32 {
	var h int32
	for _, r := range s {
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			h = 31*h + high
			r = low
		}
		h = 31*h + r
	}
	return h
}

// HashLong is Java's Long.hashCode: the two halves combined by exclusive or.
func HashLong(v int64) int32 { return int32(uint32(v) ^ uint32(uint64(v)>>32)) }

// HashBigInteger is Java's BigInteger.hashCode: the 32-bit words of the
// magnitude combined with 31, from the highest to the lowest, times the sign.
func HashBigInteger(v *big.Int) int32 {
	magnitude := v.Bytes()
	for len(magnitude)%4 != 0 {
		magnitude = append([]byte{0}, magnitude...)
	}
	var h uint32
	for i := 0; i < len(magnitude); i += 4 {
		word := uint32(magnitude[i])<<24 | uint32(magnitude[i+1])<<16 | uint32(magnitude[i+2])<<8 | uint32(magnitude[i+3])
		h = 31*h + word
	}
	return int32(h) * int32(v.Sign())
}
