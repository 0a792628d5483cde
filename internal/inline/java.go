package inline

import (
	"math/big"

	"github.com/expr-lang/expr/ast"
)

// Arithmetic says what becomes of numbers that are too large.
type Arithmetic int

const (
	// Exact knows integers of any size.
	Exact Arithmetic = iota
	// JavaLong computes as Groovy does with columns that are a Long in Java: results
	// of Integers wrap around at 32 bits, those of an Integer or Long and a Long at 64.
	JavaLong
	// JavaInteger is JavaLong for columns that are an Integer in Java.
	JavaInteger
)

// kind is the type that a number has in Java, where the code alone tells it.
type kind uint8

const (
	kindLong    kind = iota // a Long, a BigInteger where it does not fit, or what is no number
	kindInteger             // an Integer
	kindExact               // a BigDecimal or BigInteger, which do not wrap around
)

// joined is the type of what an operator makes of two numbers.
func joined(a, b kind) kind {
	if a == kindInteger || b == kindExact {
		return b
	}
	return a
}

// integers are the methods and functions whose result is an Integer.
var integers = map[string]bool{
	"hashCode": true, "length": true, "intValue": true, "toInteger": true, "Integer.valueOf": true, "Integer.parseInt": true,
}

// wrapping are the operators and methods whose result may need more bits than
// their operands.
var wrapping = map[string]bool{"+": true, "-": true, "*": true, "intdiv": true, "abs": true, "Math.abs": true, "negate": true}

// cutting are the methods that cut numbers to the bits of their result.
var cutting = map[string]kind{"intValue": kindInteger, "toInteger": kindInteger, "longValue": kindLong, "toLong": kindLong}

// java returns the function that has Java's result for arguments of the given
// types, the name it goes by, and the type of the result.
func (t *translator) java(name string, f function, arguments []ast.Node) (string, function, kind) {
	of := kindInteger
	for _, a := range arguments {
		of = joined(of, t.kinds[a])
	}
	switch cut, ok := cutting[name]; {
	case ok:
		call := f.call
		f.call = func(params ...any) (any, error) {
			switch v := params[0].(type) {
			case int64, *big.Int:
				return wrapped(v, cut), nil
			}
			return call(params...)
		}
		return "cut " + name, f, cut
	case name == "hashCode" && of == kindInteger:
		return name + " of Integer", function{toLong, 1, 1}, kindInteger
	case integers[name]:
		return name, f, kindInteger
	case name == "/":
		return name, f, kindExact
	case !wrapping[name] && name != "%" && name != "floorMod":
		return name, f, kindLong
	case !wrapping[name] || of == kindExact:
		return name, f, of
	}
	call := f.call
	f.call = func(params ...any) (any, error) {
		v, err := call(params...)
		if err != nil {
			return nil, err
		}
		for _, p := range params {
			if _, large := p.(*big.Int); large {
				return v, nil // a BigInteger in Java, too
			}
		}
		return wrapped(v, of), nil
	}
	if of == kindInteger {
		name += " of Integers"
	}
	return name, f, of
}

// wrapped returns the lowest bits of a number, and whatever else there is as it is.
func wrapped(v any, to kind) any {
	switch n := v.(type) {
	case *big.Int:
		low := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
		return wrapped(int64(low), to)
	case int64:
		if to == kindInteger {
			return int64(int32(n))
		}
	}
	return v
}

// literal is the type of a number in the code of a part.
func literal(code string, n *ast.IntegerNode) kind {
	end := n.Location().From
	for end < len(code) && inName(code[end]) {
		end++
	}
	suffix := byte(0)
	if end > 0 && end <= len(code) {
		suffix = code[end-1]
	}
	switch {
	case suffix == 'G' || suffix == 'g':
		return kindExact
	case suffix == 'L' || suffix == 'l' || int64(n.Value) != int64(int32(n.Value)):
		return kindLong
	}
	return kindInteger
}
