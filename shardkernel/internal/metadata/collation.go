package metadata

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// family is how a collation weighs characters. Only families whose padded
// weights were seen to order as the server does are trusted.
type family uint8

const (
	familyUnknown    family = iota
	familySimple            // one weight of a fixed size for a character
	familyUCA               // one level of weights, several for some characters
	familyMultiLevel        // further levels behind the first: padding it is wrong
)

// ucaLanguages are the tailored one-level collations of the Unicode collation
// algorithm in MySQL and MariaDB, without their character set.
var ucaLanguages = map[string]bool{
	"unicode_ci": true, "unicode_520_ci": true, "unicode_nopad_ci": true, "unicode_520_nopad_ci": true,
	"croatian_ci": true, "czech_ci": true, "danish_ci": true, "esperanto_ci": true, "estonian_ci": true, "german2_ci": true,
	"hungarian_ci": true, "icelandic_ci": true, "latvian_ci": true, "lithuanian_ci": true, "persian_ci": true, "polish_ci": true,
	"roman_ci": true, "romanian_ci": true, "sinhala_ci": true, "slovak_ci": true, "slovenian_ci": true, "spanish_ci": true,
	"spanish2_ci": true, "swedish_ci": true, "turkish_ci": true, "vietnamese_ci": true,
}

// familyOf returns the family of a collation, and of familySimple the bytes of
// a weight.
func familyOf(collation string) (f family, weight int64) {
	characterSet, rest, _ := strings.Cut(collation, "_")
	switch characterSet {
	case "utf8", "utf8mb3", "utf8mb4":
		switch {
		case rest == "general_ci" || rest == "general_nopad_ci":
			return familySimple, 2
		case rest == "bin" || rest == "nopad_bin":
			return familySimple, 3
		case ucaLanguages[rest]:
			return familyUCA, 0
		case strings.HasPrefix(rest, "uca1400_") || strings.Contains(rest, "0900_"):
			if strings.HasSuffix(rest, "_ai_ci") {
				return familyUCA, 0
			}
			return familyMultiLevel, 0
		case strings.HasSuffix(rest, "_w2"):
			return familyMultiLevel, 0
		}
	case "latin1":
		switch rest {
		case "swedish_ci", "general_ci", "general_cs", "german1_ci", "danish_ci", "spanish_ci", "bin", "swedish_nopad_ci", "nopad_bin":
			return familySimple, 1
		}
	case "ascii":
		switch rest {
		case "general_ci", "bin", "general_nopad_ci", "nopad_bin":
			return familySimple, 1
		}
	}
	return familyUnknown, 0
}

const (
	// sortKeyExtra is what the server may need of max_sort_length for itself.
	sortKeyExtra = 4
	// ucaMost is the most bytes that the weights of the Unicode collation
	// algorithm take for a character: none has more than 32 weights.
	ucaMost = 64
)

// order fills in how text in the column is ordered.
func (s *collations) order(c *mysqlColumn) {
	switch c.Class {
	case value.ClassText:
		c.PadSpace = s.padSpace[c.Collation]
		if c.PadSpace {
			c.SpaceWeight = s.space[c.Collation]
		}
		s.orderText(c)
	case value.ClassBinary:
		s.limit(c, c.octets, s.room())
	case value.ClassEnum, value.ClassSet:
		c.WeightRefused = fmt.Sprintf("column %s of type %s is ordered by the numbers of its values, not by their text", c.Name, strings.ToUpper(firstWord(c.Type)))
	case value.ClassOther:
		c.WeightRefused = fmt.Sprintf("the order of column %s of type %s is not known", c.Name, c.Type)
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, "(")
	return word
}

func (s *collations) orderText(c *mysqlColumn) {
	f, weight := familyOf(c.Collation)
	switch f {
	case familySimple:
		// The server's sort key has room for as many characters as fit if each
		// were one of the longest.
		size := characterSize(c.Collation)
		s.limit(c, c.characters*size, s.room()/size*weight)
	case familyUCA:
		s.limit(c, c.characters*ucaMost, s.room())
	case familyMultiLevel:
		c.WeightRefused = fmt.Sprintf("collation %s of column %s compares in several passes, which cannot be repeated outside the server", c.Collation, c.Name)
	default:
		c.WeightRefused = fmt.Sprintf("the order of collation %s of column %s is not known", c.Collation, c.Name)
	}
}

// characterSize is the most bytes a character has in the character set of a
// collation of familySimple.
func characterSize(collation string) int64 {
	switch characterSet, _, _ := strings.Cut(collation, "_"); characterSet {
	case "utf8mb4":
		return 4
	case "utf8", "utf8mb3":
		return 3
	}
	return 1
}

// room is the length of the server's sort keys.
func (s *collations) room() int64 { return s.maxSortLength - sortKeyExtra }

// limit sets how much of a sort key the server certainly sorts by, where the key
// of a text of the column may have most bytes.
func (s *collations) limit(c *mysqlColumn, most, cut int64) {
	if most > s.room() {
		c.WeightLimit = int(cut)
	}
}
