package algorithm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pattern is a date and time pattern with the letters of Java's
// DateTimeFormatter that mean the same in every language and zone:
//
//	yyyy, uuuu  year          HH, H    hour from 0 to 23
//	yy, uu      year of 2     mm, m    minute
//	            digits        ss, s    second
//	MM, M       month         S to     fraction of the second, of as many
//	dd, d       day           S…S      digits as letters, up to 9
//	DDD         day of year   '…'      text; '' is a quotation mark
//	Q, QQ       quarter
//
// Anything that is no letter stands for itself.
type pattern struct {
	text  string
	parts []patternPart
}

// patternPart is a literal text, or a field of a date.
type patternPart struct {
	literal string
	field   byte // the letter: y M d D Q H m s S, 0 for a literal
	letters int  // how often it stands there
}

// maxPattern bounds the length of a pattern.
const maxPattern = 100

// compilePattern reads a pattern. It refuses a number without leading zeros
// beside another digit: the text could be taken apart in two ways.
func compilePattern(text string) (pattern, error) {
	p := pattern{text: text}
	if len(text) > maxPattern {
		return p, fmt.Errorf("is longer than %d bytes", maxPattern)
	}
	for rest := text; rest != ""; {
		part, n, err := readPart(rest)
		if err != nil {
			return p, err
		}
		rest = rest[n:]
		if last := len(p.parts) - 1; last >= 0 && part.field == 0 && p.parts[last].field == 0 {
			p.parts[last].literal += part.literal
			continue
		}
		p.parts = append(p.parts, part)
	}
	for i, part := range p.parts {
		if part.varies() && (i > 0 && p.parts[i-1].endsInDigit() || i+1 < len(p.parts) && p.parts[i+1].beginsWithDigit()) {
			return p, fmt.Errorf("has %c beside another number; write %s, which has leading zeros", part.field, strings.Repeat(string(part.field), 2))
		}
	}
	if !slices.ContainsFunc(p.parts, func(part patternPart) bool { return part.field != 0 }) {
		return p, errors.New("has no field of a date, such as yyyy or MM")
	}
	return p, nil
}

// readPart reads the part that text begins with and returns its length.
func readPart(text string) (part patternPart, n int, err error) {
	c := text[0]
	switch {
	case c == '\'':
		return readQuoted(text)
	case strings.IndexByte("[]{}#", c) >= 0:
		return part, 0, fmt.Errorf("has %c, which is not supported; write '%c' in quotation marks for the character", c, c)
	case c < 'A' || c > 'Z' && c < 'a' || c > 'z':
		return patternPart{literal: text[:1]}, 1, nil
	}
	for n < len(text) && text[n] == c {
		n++
	}
	part = patternPart{field: c, letters: n}
	switch c {
	case 'u':
		part.field = 'y'
	case 'L':
		part.field = 'M'
	case 'q':
		part.field = 'Q'
	}
	if !part.supported() {
		remedy := "the fields are yyyy yy MM M dd d DDD Q HH H mm m ss s S"
		if c == 'Y' {
			remedy = "Y is the year that a week belongs to; the year is yyyy"
		}
		return part, 0, fmt.Errorf("has %s, which is not supported; %s", text[:n], remedy)
	}
	return part, n, nil
}

// readQuoted reads a text in quotation marks. Two of them are one mark, within
// such a text and outside of it.
func readQuoted(text string) (part patternPart, n int, err error) {
	if strings.HasPrefix(text, "''") {
		return patternPart{literal: "'"}, 2, nil
	}
	for n = 1; n < len(text); n++ {
		switch {
		case text[n] != '\'':
			part.literal += text[n : n+1]
		case n+1 < len(text) && text[n+1] == '\'':
			part.literal += "'"
			n++
		default:
			return part, n + 1, nil
		}
	}
	return part, 0, errors.New("has a quotation mark that is not closed")
}

func (p patternPart) supported() bool {
	switch p.field {
	case 'y':
		return p.letters == 2 || p.letters == 4
	case 'M', 'd', 'Q', 'H', 'm', 's':
		return p.letters <= 2
	case 'D':
		return p.letters == 3
	case 'S':
		return p.letters <= 9
	}
	return false
}

// varies reports whether the field may have one digit or two.
func (p patternPart) varies() bool {
	return p.letters == 1 && strings.IndexByte("MdHms", p.field) >= 0
}

func (p patternPart) beginsWithDigit() bool {
	return p.field != 0 || isDigit(p.literal[0])
}

func (p patternPart) endsInDigit() bool {
	return p.field != 0 || isDigit(p.literal[len(p.literal)-1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// has reports whether the pattern has the field, with that many letters if not 0.
func (p pattern) has(field byte, letters int) bool {
	return slices.ContainsFunc(p.parts, func(part patternPart) bool {
		return part.field == field && (letters == 0 || part.letters == letters)
	})
}

// lengths returns the smallest and the largest length of a date in the pattern.
func (p pattern) lengths() (least, most int) {
	for _, part := range p.parts {
		n := len(part.literal)
		if part.field != 0 {
			n = part.letters
		}
		least += n
		most += n
		if part.varies() {
			most++
		}
	}
	return least, most
}

// appendTime appends t, whose year has four digits, as the pattern says.
func (p pattern) appendTime(b []byte, t time.Time) []byte {
	for _, part := range p.parts {
		switch part.field {
		case 0:
			b = append(b, part.literal...)
		case 'y':
			if part.letters == 2 {
				b = appendNumber(b, t.Year()%100, 2)
			} else {
				b = appendNumber(b, t.Year(), 4)
			}
		case 'M':
			b = appendNumber(b, int(t.Month()), part.letters)
		case 'd':
			b = appendNumber(b, t.Day(), part.letters)
		case 'D':
			b = appendNumber(b, t.YearDay(), part.letters)
		case 'Q':
			b = appendNumber(b, (int(t.Month())+2)/3, part.letters)
		case 'H':
			b = appendNumber(b, t.Hour(), part.letters)
		case 'm':
			b = appendNumber(b, t.Minute(), part.letters)
		case 's':
			b = appendNumber(b, t.Second(), part.letters)
		case 'S':
			n := t.Nanosecond()
			for range 9 - part.letters {
				n /= 10
			}
			b = appendNumber(b, n, part.letters)
		}
	}
	return b
}

// appendNumber appends n with leading zeros up to width.
func appendNumber(b []byte, n, width int) []byte {
	for limit := 10; width > 1; width-- {
		if n < limit {
			b = append(b, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// readable reports why no date can be read by the pattern; nil when it can: it
// has the year, and no field without the next larger one.
func (p pattern) readable() error {
	if !p.has('y', 4) {
		return errors.New("has no yyyy: a date needs its year")
	}
	if p.has('D', 0) || p.has('Q', 0) || p.has('y', 2) {
		return errors.New("has a field that dates are not read from; the fields are yyyy MM dd HH mm ss S")
	}
	const order = "yMdHmsS"
	for i := 1; i < len(order); i++ {
		if p.has(order[i], 0) && !p.has(order[i-1], 0) {
			return fmt.Errorf("has %c without %c", order[i], order[i-1])
		}
	}
	return nil
}

// parse reads a whole text by the pattern, which is readable. Fields that are
// not in it have their smallest value. ok is false for what is no date, and for
// years before 1000, which MySQL and MariaDB do not support.
func (p pattern) parse(text string) (t time.Time, ok bool) {
	field := [...]int{'y': 0, 'M': 1, 'd': 1, 'H': 0, 'm': 0, 's': 0, 'S': 0}
	seen := [len(field)]bool{}
	for _, part := range p.parts {
		n, length := part.cut(text)
		if length < 0 {
			return t, false
		}
		text = text[length:]
		if part.field == 0 {
			continue
		}
		if part.field == 'S' {
			for range 9 - part.letters {
				n *= 10
			}
		}
		if seen[part.field] && field[part.field] != n {
			return t, false
		}
		field[part.field], seen[part.field] = n, true
	}
	if text != "" || field['y'] < 1000 || field['M'] < 1 || field['M'] > 12 || field['H'] > 23 || field['m'] > 59 || field['s'] > 59 {
		return t, false
	}
	t = time.Date(field['y'], time.Month(field['M']), field['d'], field['H'], field['m'], field['s'], field['S'], time.UTC)
	return t, t.Day() == field['d'] // false for February 30
}

// fits reports whether a whole text has the form of the pattern, whether it is a
// date or not.
func (p pattern) fits(text string) bool {
	for _, part := range p.parts {
		_, length := part.cut(text)
		if length < 0 {
			return false
		}
		text = text[length:]
	}
	return text == ""
}

// cut returns the number that text begins with and the length of the part, -1 if
// text does not begin with such a part.
func (p patternPart) cut(text string) (n, length int) {
	if p.field == 0 {
		if strings.HasPrefix(text, p.literal) {
			return 0, len(p.literal)
		}
		return 0, -1
	}
	length = p.letters
	if p.varies() && len(text) > 1 && isDigit(text[1]) {
		length = 2
	}
	if len(text) < length {
		return 0, -1
	}
	for i := range length {
		if !isDigit(text[i]) {
			return 0, -1
		}
		n = n*10 + int(text[i]-'0')
	}
	return n, length
}
