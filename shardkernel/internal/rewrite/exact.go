package rewrite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/value"
)

// The servers calculate a quotient with more digits than they show, and a sum
// adds up the hidden ones: SUM(x/3) over 1, 1, 1 is 1.0000, while the sums that
// three nodes show for a row each are 0.3333. Measured on MariaDB 10.11. So a sum
// over several nodes is taken from the nodes' sums only where it is certain that
// no value has more decimals than the sum shows.

const (
	// maxDecimals is the most decimals that every server shows of a DECIMAL.
	maxDecimals = 30
	// unknownDecimals are those of a column that is not known: the most that a
	// column of any server has.
	unknownDecimals = 38
	// argumentDecimals is the most decimals with which a driver writes an argument
	// into the text: those of a float64 that is not written with an exponent.
	argumentDecimals = 21
)

// exactSum reports whether the nodes' sums of an aggregate's argument show all
// their digits.
func (r *recipe) exactSum(a *parse.Aggregate) bool {
	if !r.template.server.Dialect.IsMySQL() {
		return true // integers and floating point, which hide nothing
	}
	if r.derivedSources() {
		// What a derived table shows under a name may be a quotient.
		return a.Column != nil && a.Column.Table >= 0
	}
	if a.Column != nil {
		c := r.columnOf(a.Column)
		return c == nil || !cutFloat(c)
	}
	words, ok := sumWords(r.text(a.Arg))
	if !ok {
		return false
	}
	s := summand{words: words, decimalsOf: r.decimalsOf}
	_, ok = s.expression()
	return ok && s.at == len(s.words)
}

// cutFloat reports whether a column is a FLOAT(M,D) or DOUBLE(M,D). The servers
// compute with all its digits and show those of the type, in sums too.
func cutFloat(c *value.Column) bool {
	return c.Class == value.ClassFloat && strings.Contains(c.Type, "(")
}

// decimalsOf returns the decimals that a column of that name has at most.
func (r *recipe) decimalsOf(name string) int {
	most, found := 0, false
	for _, table := range r.tables() {
		t := r.tableOf(table)
		if t == nil {
			return unknownDecimals
		}
		c, ok := t.Column(name)
		if !ok {
			continue
		}
		found = true
		if cutFloat(c) {
			return unknownDecimals
		}
		switch c.Class {
		case value.ClassDecimal, value.ClassDateTime, value.ClassTimestamp, value.ClassTime:
			most = max(most, c.Scale)
		case value.ClassUnknown, value.ClassOther:
			return unknownDecimals
		}
	}
	if !found {
		return unknownDecimals
	}
	return most
}

// sumWords cuts an argument into words: names and keywords in lower case, quoted
// names with a backtick before them, numbers, ' for any text, and operators. ok is
// false when it holds something that no sum is allowed to hold.
func sumWords(text string) (words []string, ok bool) {
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
			continue
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
			if i++; i > len(text) {
				return nil, false
			}
			word := "'"
			if c == '`' {
				word = "`" + strings.ToLower(text[start+1:i-1])
			}
			words = append(words, word)
		case isWordByte(c), c == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			number := c == '.' || c >= '0' && c <= '9'
			for i++; i < len(text) && (isWordByte(text[i]) || number && text[i] == '.'); i++ {
			}
			words = append(words, strings.ToLower(text[start:i]))
		case strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "/*"), c == '#':
			return nil, false
		default:
			n := 1
			for _, operator := range []string{"->>", "<=>", "->", "<<", ">>", "<=", ">=", "<>", "!=", "&&", "||", ":="} {
				if strings.HasPrefix(text[i:], operator) {
					n = len(operator)
					break
				}
			}
			i += n
			words = append(words, text[start:i])
		}
	}
	return words, true
}

// summand reads the argument of a sum. Its methods return the most decimals that
// a value of what they read can have; ok is false for what is not known to have no
// more than the server shows. Texts and floating point make the sum a DOUBLE,
// which hides nothing, but for those of typed: they have 0.
type summand struct {
	words      []string
	at         int
	decimalsOf func(column string) int
}

// truths are the operators that give 0 or 1 and bind less than all others.
var truths = []string{"=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "is", "in", "like", "between", "regexp", "rlike", "and", "&&", "or", "||", "xor", "not"}

func (s *summand) word() string {
	if s.at < len(s.words) {
		return s.words[s.at]
	}
	return ""
}

func (s *summand) take(words ...string) bool {
	if s.at < len(s.words) && slices.Contains(words, s.words[s.at]) {
		s.at++
		return true
	}
	return false
}

// end returns the index at which the expression that begins here ends, and
// whether one of truths stands in it outside of parentheses and CASE.
func (s *summand) end() (end int, truth bool) {
	parentheses, cases := 0, 0
	for end = s.at; end < len(s.words); end++ {
		switch w := s.words[end]; {
		case w == "(":
			parentheses++
		case w == ")" && parentheses > 0:
			parentheses--
		case parentheses > 0:
		case w == ")":
			return end, truth
		case w == "case":
			cases++
		case w == "end" && cases > 0:
			cases--
		case cases > 0:
		case slices.Contains([]string{",", "when", "then", "else", "end", "as", "using"}, w):
			return end, truth
		default:
			truth = truth || slices.Contains(truths, w)
		}
	}
	return end, truth
}

// skip skips an expression whose value does not matter.
func (s *summand) skip() bool {
	end, _ := s.end()
	skipped := end > s.at
	s.at = end
	return skipped
}

func (s *summand) expression() (decimals int, ok bool) {
	end, truth := s.end()
	if truth {
		s.at = end
		return 0, true
	}
	decimals, ok = s.product()
	for ok && s.take("+", "-") {
		var other int
		other, ok = s.product()
		decimals = max(decimals, other)
	}
	if ok && s.take("&", "|", "<<", ">>") { // these bind less and give integers
		s.at = end
		return 0, true
	}
	return decimals, ok
}

func (s *summand) product() (decimals int, ok bool) {
	decimals, ok = s.factor()
	for ok {
		operator := s.word()
		if !s.take("*", "%", "mod", "div") {
			break
		}
		var other int
		other, ok = s.factor()
		switch operator {
		case "div":
			decimals = 0
		case "*":
			ok = ok && (decimals == 0 || other == 0 || decimals+other <= maxDecimals)
			decimals += other
		default:
			decimals = max(decimals, other)
		}
	}
	return decimals, ok
}

func (s *summand) factor() (decimals int, ok bool) {
	for s.take("+", "-") {
	}
	w := s.word()
	if w == "" {
		return 0, false
	}
	s.at++
	switch c := w[0]; {
	case w == "(":
		decimals, ok = s.expression()
		return decimals, ok && s.take(")")
	case w == "?":
		return argumentDecimals, true
	case w == "'":
		return 0, true
	case c == '.' || c >= '0' && c <= '9':
		return literalDecimals(w)
	case w == "case":
		return s.caseOf()
	case w == "null", w == "true", w == "false":
		return 0, true
	case c == '`' || c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 0x80:
		if s.take("(") {
			decimals, ok = s.call(w)
			return decimals, ok && s.take(")")
		}
		for s.take(".") {
			w = s.word()
			s.at++
		}
		return s.decimalsOf(strings.TrimPrefix(w, "`")), s.at <= len(s.words)
	}
	return 0, false
}

// literalDecimals counts the decimals of 1, 1.50, .5 and 1e3.
func literalDecimals(number string) (decimals int, ok bool) {
	whole, fraction, _ := strings.Cut(number, ".")
	digits := func(text string) bool { return strings.Trim(text, "0123456789") == "" }
	if mantissa, exponent, float := strings.Cut(number, "e"); float {
		_, err := strconv.ParseFloat(mantissa, 64)
		return 0, err == nil && digits(exponent)
	}
	return len(fraction), digits(whole) && digits(fraction) && len(fraction) <= maxDecimals
}

func (s *summand) caseOf() (decimals int, ok bool) {
	if s.word() != "when" && !s.skip() {
		return 0, false
	}
	for s.take("when") {
		if !s.skip() || !s.take("then") {
			return 0, false
		}
		then, exact := s.expression()
		if !exact {
			return 0, false
		}
		decimals = max(decimals, then)
	}
	if s.take("else") {
		other, exact := s.expression()
		if !exact {
			return 0, false
		}
		decimals = max(decimals, other)
	}
	return decimals, s.take("end")
}

// integers are functions that give integers, whatever their arguments are.
var integers = []string{
	"ascii", "bit_count", "bit_length", "ceil", "ceiling", "char_length", "character_length", "crc32", "datediff", "day", "dayofmonth",
	"dayofweek", "dayofyear", "field", "find_in_set", "floor", "hour", "instr", "isnull", "length", "locate", "minute", "month",
	"octet_length", "ord", "period_diff", "quarter", "second", "sign", "strcmp", "timestampdiff", "to_days", "week", "weekday",
	"weekofyear", "year", "yearweek",
}

// call reads the arguments of a function, up to its closing parenthesis.
func (s *summand) call(function string) (decimals int, ok bool) {
	switch function {
	case "abs":
		return s.expression()
	case "if":
		if !s.skip() || !s.take(",") {
			return 0, false
		}
		return s.most()
	case "ifnull", "coalesce", "greatest", "least":
		return s.most()
	case "nullif":
		decimals, ok = s.expression()
		return decimals, ok && s.take(",") && s.skip()
	case "round", "truncate":
		// Whatever is rounded has no more decimals than it is rounded to.
		if !s.skip() {
			return 0, false
		}
		if !s.take(",") {
			return 0, function == "round"
		}
		negative := s.take("-")
		n, err := strconv.Atoi(s.word())
		s.at++
		if negative {
			n = 0
		}
		return n, err == nil && n <= maxDecimals
	case "cast":
		return s.typed("as")
	case "convert":
		return s.typed(",")
	}
	if !slices.Contains(integers, function) {
		return 0, false
	}
	for s.skip() && s.take(",") {
	}
	return 0, true
}

// most reads a list of expressions.
func (s *summand) most() (decimals int, ok bool) {
	decimals, ok = s.expression()
	for ok && s.take(",") {
		var other int
		other, ok = s.expression()
		decimals = max(decimals, other)
	}
	return decimals, ok
}

// typed reads a value, the separator, and the type it is converted to. Of a value
// that is CAST to CHAR or BINARY the servers show a sum without decimals, which they
// add up like all others. Measured on MariaDB 10.11.
func (s *summand) typed(separator string) (decimals int, ok bool) {
	if !s.skip() || !s.take(separator) {
		return 0, false
	}
	switch {
	case s.take("signed", "unsigned"):
		s.take("integer", "int")
	case s.take("integer", "int", "double", "float", "date"):
	case s.take("decimal", "dec"):
		if !s.take("(") {
			return 0, true
		}
		s.at++
		if s.take(",") {
			n, err := strconv.Atoi(s.word())
			s.at++
			if decimals = n; err != nil || n > unknownDecimals {
				return 0, false
			}
		}
		return decimals, s.take(")")
	default:
		return 0, false
	}
	return 0, true
}
