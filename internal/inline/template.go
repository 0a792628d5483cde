package inline

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/expr-lang/expr/vm"
)

// maxName is the length in bytes of the longest name a template makes.
const maxName = 1024

// Template is a compiled text such as t_order_${order_id % 8}. It is immutable
// and safe for concurrent use.
type Template struct {
	text     string
	columns  []string
	segments []segment
	period   int64
	machines sync.Pool // of *machine
}

// segment is literal text, or a program.
type segment struct {
	literal string
	program *vm.Program
}

// machine is what one evaluation needs.
type machine struct {
	vm  vm.VM
	env map[string]any
	buf []byte
}

// Compile compiles a text whose expressions may use the given columns. Names
// match without regard to case. With nil columns every name is a column, in the
// order of first appearance.
//
// Numbers are integers of any size and follow Groovy where it is exact: % has
// the sign of the dividend, / gives a fraction unless it comes out even, + with
// a text concatenates. Known besides the operators + - * / % == != < <= > >= &&
// || ! and ?: are the methods abs, hashCode, intdiv, intValue, length,
// longValue, padLeft, substring, toInteger, toLong and toString, the functions
// Math.abs, Math.floorMod, Long.valueOf, Long.parseLong, Integer.valueOf,
// Integer.parseInt and String.valueOf, and floorMod, which is never negative
// for a positive divisor. Where Java would wrap around (an int that does not
// fit) evaluation fails instead; CompileAs computes as Java does.
func Compile(text string, columns []string) (*Template, error) {
	return CompileAs(text, columns, Exact)
}

// CompileAs is Compile for numbers of which Java's arithmetic may be wanted.
func CompileAs(text string, columns []string, arithmetic Arithmetic) (*Template, error) {
	items, err := scan(text)
	if err != nil {
		return nil, err
	}
	if len(items) > 1 {
		return nil, fmt.Errorf("inline expression %q: a comma outside ${…}; a sharding expression gives one name", abbreviate(text))
	}
	tr := newTranslator(columns, arithmetic)
	t := &Template{text: text}
	for _, p := range items[0] {
		if !p.code {
			t.segments = append(t.segments, segment{literal: p.text})
			continue
		}
		program, err := tr.compile(text, p)
		if err != nil {
			return nil, err
		}
		t.segments = append(t.segments, segment{program: program})
	}
	t.columns = tr.columns
	if len(tr.used) <= 1 {
		t.period = tr.period
	}
	t.machines.New = func() any { return &machine{env: make(map[string]any, len(t.columns))} }
	if len(tr.used) == 0 {
		// A constant that has no result never gets one: find it now.
		unused := make([]any, len(t.columns))
		for i := range unused {
			unused[i] = int64(0)
		}
		if _, err := t.Eval(unused...); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Columns returns the columns, lower case, in the order of Eval's arguments.
func (t *Template) Columns() []string { return t.columns }

// Period returns a number n such that, for integers x, Eval(x) depends only on
// the remainder of x divided by n (which has the sign of x). ok is false when
// no small n is known, or when the template uses several columns.
func (t *Template) Period() (n int64, ok bool) { return t.period, t.period > 0 }

// Fits reports whether name starts and ends as every result does. A name that
// does not fit is never a result.
func (t *Template) Fits(name string) bool {
	first, last := t.segments[0], t.segments[len(t.segments)-1]
	if len(t.segments) == 1 && first.program == nil {
		return name == first.literal
	}
	rest, ok := strings.CutPrefix(name, first.literal)
	return ok && strings.HasSuffix(rest, last.literal)
}

// Eval returns the name for one value per column: an int64, a uint64, a
// *big.Int or a string. It fails when the expression has no exact result for
// them; the error does not quote them.
func (t *Template) Eval(args ...any) (string, error) {
	if len(args) != len(t.columns) {
		return "", fmt.Errorf("inline expression %q: %d values for %d columns", abbreviate(t.text), len(args), len(t.columns))
	}
	m := t.machines.Get().(*machine)
	name, err := t.run(m, args)
	clear(m.env)
	t.machines.Put(m)
	if err != nil {
		return "", fmt.Errorf("inline expression %q: %w", abbreviate(t.text), err)
	}
	return name, nil
}

func (t *Template) run(m *machine, args []any) (string, error) {
	for i, column := range t.columns {
		v, err := operand(args[i])
		if err != nil {
			return "", err
		}
		m.env[column] = v
	}
	m.buf = m.buf[:0]
	for _, s := range t.segments {
		if s.program == nil {
			m.buf = append(m.buf, s.literal...)
			continue
		}
		result, err := m.vm.Run(s.program, m.env)
		if err != nil {
			return "", runError(err)
		}
		text, err := textOf(result)
		if err != nil {
			return "", err
		}
		m.buf = append(m.buf, text...)
		if len(m.buf) > maxName {
			m.buf = nil // do not keep a value's size for ever
			return "", errors.New("the result is too long for a name")
		}
	}
	return string(m.buf), nil
}
