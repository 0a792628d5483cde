package inline

import (
	"strconv"
	"strings"
)

const (
	// maxNames is the number of names that one text may stand for.
	maxNames = 100_000
	// maxNameBytes is the length of all those names together.
	maxNameBytes = 16 << 20
)

// Expand returns the names that a text such as
//
//	ds${0..1}.t_order_${[0, 2]}, ds_old.t_order
//
// stands for, in the order in which ShardingSphere numbers data nodes: item by
// item, and within an item the leftmost placeholder changes slowest. Between
// the braces stand a range of integers (0..9, 9..0, -1..1, 0..<10), a list of
// integers or quoted texts, or one of these alone. Names may repeat.
//
// A text that stands for more than 100,000 names is an error.
func Expand(text string) ([]string, error) { return ExpandWith(text, nil) }

// ExpandWith is Expand with the function dates between the braces as well, whose
// arguments are integers and quoted texts: dates lists the names it stands for.
func ExpandWith(text string, dates func(args []string) ([]string, error)) ([]string, error) {
	items, err := scan(text)
	if err != nil {
		return nil, err
	}
	var names []string
	size := 0
	for _, item := range items {
		columns := make([][]string, len(item))
		count, width := 1, 0
		for i, p := range item {
			if columns[i], err = choices(text, p, dates); err != nil {
				return nil, err
			}
			count *= len(columns[i]) // both are at most maxNames
			if len(names)+count > maxNames {
				return nil, errorAt(text, p.offset, "more than %d names", maxNames)
			}
			width += longest(columns[i])
		}
		if size += count * width; size > maxNameBytes {
			return nil, errorAt(text, item[0].offset, "the names are longer than %d bytes together", maxNameBytes)
		}
		names = appendProduct(names, columns, count)
	}
	return names, nil
}

// appendProduct appends the concatenations of one choice per column, the first
// column changing slowest.
func appendProduct(names []string, columns [][]string, count int) []string {
	var b strings.Builder
	for n := range count {
		b.Reset()
		below := count // combinations of the columns from here to the right
		for _, c := range columns {
			below /= len(c)
			b.WriteString(c[n/below%len(c)])
		}
		names = append(names, b.String())
	}
	return names
}

func longest(texts []string) int {
	n := 0
	for _, t := range texts {
		n = max(n, len(t))
	}
	return n
}

// choices returns the texts that a part stands for.
func choices(text string, p part, dates func([]string) ([]string, error)) ([]string, error) {
	if !p.code {
		return []string{p.text}, nil
	}
	code := strings.TrimSpace(p.text)
	if inner, ok := strings.CutPrefix(code, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return nil, errorAt(text, p.offset, "no ] ends the list")
		}
		return list(text, inner, p.offset)
	}
	if inner, ok := strings.CutPrefix(code, "dates("); ok && dates != nil {
		if inner, ok = strings.CutSuffix(inner, ")"); !ok {
			return nil, errorAt(text, p.offset, "no ) ends dates(")
		}
		args, err := list(text, inner, p.offset)
		if err != nil {
			return nil, err
		}
		names, err := dates(args)
		if err != nil {
			return nil, errorAt(text, p.offset, "%s", err)
		}
		return names, nil
	}
	if low, high, ok := strings.Cut(code, ".."); ok && code[0] != '\'' && code[0] != '"' {
		return span(text, low, high, p.offset)
	}
	one, err := scalar(text, code, p.offset)
	if err != nil {
		return nil, err
	}
	return []string{one}, nil
}

func list(text, inner string, offset int) ([]string, error) {
	var out []string
	start := 0
	add := func(end int) error {
		one, err := scalar(text, strings.TrimSpace(inner[start:end]), offset)
		out = append(out, one)
		return err
	}
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '\'', '"':
			end, err := quoted(inner, i)
			if err != nil {
				return nil, err
			}
			i = end
		case ',':
			if err := add(i); err != nil {
				return nil, err
			}
			start = i + 1
		}
	}
	if err := add(len(inner)); err != nil {
		return nil, err
	}
	return out, nil
}

// span lists a range of integers, backwards when it descends, as Groovy does.
func span(text, low, high string, offset int) ([]string, error) {
	high, exclusive := strings.CutPrefix(high, "<")
	from, ok1 := integer(strings.TrimSpace(low))
	to, ok2 := integer(strings.TrimSpace(high))
	if !ok1 || !ok2 {
		return nil, errorAt(text, offset, "a range needs two integers without leading zeros, such as 0..9; write ['00', '01'] for padded numbers")
	}
	step, distance := int64(1), uint64(to)-uint64(from)
	if from > to {
		step, distance = -1, uint64(from)-uint64(to)
	}
	if exclusive {
		if distance == 0 {
			return nil, errorAt(text, offset, "the range is empty")
		}
		distance--
	}
	if distance >= maxNames {
		return nil, errorAt(text, offset, "more than %d names", maxNames)
	}
	out := make([]string, 0, distance+1)
	for n, v := uint64(0), from; n <= distance; n, v = n+1, v+step {
		out = append(out, strconv.FormatInt(v, 10))
	}
	return out, nil
}

// scalar returns the text of an integer or of a quoted string.
func scalar(text, code string, offset int) (string, error) {
	if n, ok := integer(code); ok {
		return strconv.FormatInt(n, 10), nil
	}
	if n := len(code); n >= 2 && (code[0] == '\'' || code[0] == '"') && code[n-1] == code[0] {
		if inner := code[1 : n-1]; !strings.ContainsAny(inner, `'"\`) {
			return inner, nil
		}
	}
	return "", errorAt(text, offset, "%q is neither a range 0..9, nor a list [0, 1], nor an integer without leading zeros, nor a quoted text", code)
}

// integer reads a decimal integer. Leading zeros would be octal in Groovy and
// look like padding to everybody else, so they are not read.
func integer(code string) (int64, bool) {
	digits, negative := strings.CutPrefix(code, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	if negative {
		digits = code
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}
