package parse

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the values of literals

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/dialect"
)

// maxPooledText is the length of a text above which a parser, whose stack has
// grown with it, is dropped instead of kept.
const maxPooledText = 1 << 16

var parsers = sync.Pool{New: func() any { return parser.New() }}

// Parse parses one statement. It fails with a *fault.UnsupportedError that
// quotes the place, literals hidden, when the statement is not understood.
func Parse(text string, names Names, d *dialect.Dialect) (*Statement, error) {
	stmt, unplanted, err := parse(text, names, d, false)
	if unplanted {
		// The tree says that a keyword is a table's name: perhaps one behind a comma,
		// where most keywords are none.
		if again, _, failed := parse(text, names, d, true); failed == nil {
			return again, nil
		}
	}
	return stmt, err
}

// parse reads a statement. unplanted is true where it fails at a table whose name
// was not replaced.
func parse(text string, names Names, d *dialect.Dialect, listed bool) (stmt *Statement, unplanted bool, err error) {
	s, err := newSource(text, names, d)
	if err != nil {
		return nil, false, err
	}
	if l, ok := s.findRowLimit(); ok && !l.ties {
		return parse(s.limited(&l), names, d, listed)
	}
	s.listed = listed
	if len(s.tokens) == 0 {
		return nil, false, fault.Unsupported("", "the text holds no statement", "")
	}
	if err := s.cutTails(); err != nil {
		return nil, false, err
	}
	s.plant()
	nodes, err := s.parse()
	if err != nil {
		return nil, false, err
	}
	b := newBuilder(s)
	b.build(nodes)
	if b.err != nil {
		return nil, b.unplanted, b.err
	}
	for _, sen := range s.sentinels {
		if !sen.seen {
			return nil, false, s.refuse(sen.token, "the part that this name plays is not understood",
				"write the statement in another way, or use another name than that of a configured table")
		}
	}
	sort.Slice(b.stmt.Renames, func(i, j int) bool { return b.stmt.Renames[i].Start < b.stmt.Renames[j].Start })
	return b.stmt, false, nil
}

// parse hands the text to the parser and returns the statement proper and those
// its tails were written as.
func (s *source) parse() ([]ast.StmtNode, error) {
	p := parsers.Get().(*parser.Parser)
	window := false
	for i := range s.tokens {
		window = window || s.isWord(i, "OVER")
	}
	p.EnableWindowFunc(window) // else RANK and the like are names
	nodes, _, err := p.ParseSQL(s.clean)
	nodes = append([]ast.StmtNode(nil), nodes...)
	if len(s.clean) <= maxPooledText {
		p.Reset()
		parsers.Put(p)
	}
	if err != nil {
		return nil, s.syntaxError(err)
	}
	want := 1
	if s.tails.conflictUpdate {
		want++
	}
	if s.tails.returning {
		want++
	}
	if len(nodes) != want {
		return nil, s.refuse(s.tails.verb, "the statement is not understood", "simplify it")
	}
	return nodes, nil
}

// syntaxError makes an error of the parser's that holds nothing of the text but
// the tokens around the place.
func (s *source) syntaxError(err error) error {
	for i := range s.tokens {
		if s.isWord(i, "ROWS") && s.isWord(i+1, "EXAMINED") {
			return s.refuse(i, "LIMIT ROWS EXAMINED gives a part of the rows when one server has read too many", "leave it out; props.statementTimeout and maxMergeRows limit statements")
		}
	}
	at := len(s.tokens) - 1
	var line, column int
	if n, _ := fmt.Sscanf(err.Error(), "line %d column %d", &line, &column); n == 2 {
		// The parser tells where it stood behind the token it could not use: on
		// the first line it counts columns from 0, on the others from 1.
		offset := column
		if line > 1 {
			offset = lineStart(s.clean, line) + column - 1
		}
		offset = s.original(max(offset-1, 0))
		at = sort.Search(len(s.tokens), func(i int) bool { return s.tokens[i].end > offset })
		at = min(at, len(s.tokens)-1)
	}
	return s.refuse(at, "the statement cannot be parsed there", "check the syntax; use what MySQL and MariaDB have in common")
}

// lineStart returns the offset of a line, counted from 1.
func lineStart(text string, line int) int {
	start := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			break
		}
		start += i + 1
	}
	return start
}
