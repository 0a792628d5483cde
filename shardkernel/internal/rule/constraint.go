package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxNameLength is the most characters that MySQL and MariaDB allow in a name.
const maxNameLength = 64

// hashLength is the number of digits that end a shortened name.
const hashLength = 16

// ConstraintName returns what a foreign key or CHECK of a logical table is called
// in the actual table. Servers want such names to be unique in a schema, which
// may hold several actual tables, so the actual table's name is appended to it;
// where it is the logical one, the name stays. A name that would become too long
// is cut, and ends in a hash of the whole. The names that servers give by
// themselves are those that they give in the actual table.
//
// Names are compared without regard to case, and so is the hash.
func ConstraintName(name, logical, actual string) string {
	switch {
	case strings.EqualFold(logical, actual), isAutomatic(name, "CONSTRAINT_"):
		return name
	case len(name) > len(logical) && strings.EqualFold(name[:len(logical)], logical) &&
		(isAutomatic(name[len(logical):], "_ibfk_") || isAutomatic(name[len(logical):], "_chk_")):
		return actual + name[len(logical):]
	}
	full := name + "_" + actual
	if utf8.RuneCountInString(full) <= maxNameLength || utf8.RuneCountInString(name) > maxNameLength {
		return full
	}
	sum := sha256.Sum256([]byte(strings.ToLower(full)))
	return Shortened(name) + "_" + hex.EncodeToString(sum[:])[:hashLength]
}

// LogicalConstraint returns what the constraint that an actual table calls name
// is called in the logical table: the inverse of ConstraintName, but for a name
// that was cut, of which the beginning is returned.
func LogicalConstraint(name, logical, actual string) string {
	if strings.EqualFold(logical, actual) {
		return name
	}
	if rest, ok := cutPrefixFold(name, actual); ok && (isAutomatic(rest, "_ibfk_") || isAutomatic(rest, "_chk_")) {
		return logical + rest
	}
	if at := len(name) - len(actual) - 1; at > 0 && name[at] == '_' && strings.EqualFold(name[at+1:], actual) {
		return name[:at]
	}
	if head := Shortened(name); head != name && utf8.RuneCountInString(name) == utf8.RuneCountInString(head)+1+hashLength && isHash(name[len(head)+1:]) {
		return head
	}
	return name
}

// Shortened returns as much of a name as leaves room for a hash: what
// LogicalConstraint gives for a name that was cut.
func Shortened(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxNameLength-1-hashLength {
			return name[:i]
		}
	}
	return name
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == hashLength
}

// isAutomatic reports whether the name is the prefix and a number.
func isAutomatic(name, prefix string) bool {
	digits, ok := cutPrefixFold(name, prefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
