package merge

import "bytes"

// comparePadded compares texts by their bytes or weights. When pad is not empty
// the shorter one counts as if it went on with pad for ever, which is what a PAD
// SPACE collation does with spaces: 'a' equals 'a ', and 'a\t' is less than 'a'
// (semantics row 2).
func comparePadded(a, b, pad []byte) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	if len(pad) == 0 {
		return len(a) - len(b)
	}
	if len(a) > n {
		return comparePadding(a[n:], pad)
	}
	return -comparePadding(b[n:], pad)
}

// comparePadding compares the rest of a text with as much padding.
func comparePadding(rest, pad []byte) int {
	for len(rest) > 0 {
		n := min(len(rest), len(pad))
		if c := bytes.Compare(rest[:n], pad[:n]); c != 0 {
			return c
		}
		rest = rest[n:]
	}
	return 0
}

// trimPadding takes the padding off the end of a text, so that texts which
// compare equal have equal bytes.
func trimPadding(text, pad []byte) []byte {
	if len(pad) == 0 {
		return text
	}
	for bytes.HasSuffix(text, pad) {
		text = text[:len(text)-len(pad)]
	}
	return text
}

// trimFraction takes the zeros off the end of the fraction of a second in a
// date and time.
func trimFraction(text []byte) []byte {
	if bytes.IndexByte(text, '.') < 0 {
		return text
	}
	return bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte{'.'})
}
