package value

import (
	"database/sql/driver"
	"reflect"
	"time"
)

// Decimal is a decimal literal of a statement as typed, such as 1.50.
type Decimal string

// Hex is a hexadecimal or bit literal of a statement. Its meaning depends on
// where it stands: bytes beside text, a number beside numbers.
type Hex []byte

// form is what an argument is to the server.
type form uint8

const (
	formOther form = iota // not known how the driver would send it
	formNull
	formInt   // operand.int
	formUint  // operand.uint, above the int64 range
	formFloat // operand.float
	formDecimal
	formText  // operand.text, sent as text
	formBytes // operand.text, sent as bytes
	formHex
	formTime // operand.time
)

// operand is an argument or a literal, taken out of its Go type.
type operand struct {
	form  form
	int   int64
	uint  uint64
	float float64
	text  string
	time  time.Time
}

func intOperand(n int64) operand { return operand{form: formInt, int: n} }

func uintOperand(n uint64) operand {
	if n <= 1<<63-1 {
		return intOperand(int64(n))
	}
	return operand{form: formUint, uint: n}
}

func bytesOperand(b []byte) operand {
	if b == nil { // drivers send a nil slice as NULL
		return operand{form: formNull}
	}
	return operand{form: formBytes, text: string(b)}
}

// IsNull reports whether the driver sends an argument as NULL, or may do so.
func IsNull(arg any) bool {
	form := read(arg).form
	return form == formNull || form == formOther
}

// Alike reports whether the server compares all of the values as of one type where
// they stand at the same place of rows of an IN list. NULL is of any type.
func Alike(values []any) bool {
	first := formNull
	for _, v := range values {
		f := read(v).form
		switch f {
		case formNull:
			continue
		case formUint:
			f = formInt
		case formBytes, formTime: // which drivers send as texts
			f = formText
		}
		if f == formOther || first != formNull && first != f {
			return false
		}
		first = f
	}
	return true
}

// maxDepth bounds how many pointers and Valuers are unwrapped.
const maxDepth = 8

// read takes an argument out of its Go type, as database/sql and the MySQL
// driver do before they send it.
func read(arg any) operand { return readDepth(arg, maxDepth) }

func readDepth(arg any, depth int) operand {
	switch v := arg.(type) {
	case nil:
		return operand{form: formNull}
	case int64:
		return intOperand(v)
	case int:
		return intOperand(int64(v))
	case uint64:
		return uintOperand(v)
	case uint:
		return uintOperand(uint64(v))
	case int32:
		return intOperand(int64(v))
	case uint32:
		return intOperand(int64(v))
	case string:
		return operand{form: formText, text: v}
	case []byte:
		return bytesOperand(v)
	case bool:
		if v {
			return intOperand(1)
		}
		return intOperand(0)
	case float64:
		return operand{form: formFloat, float: v}
	case time.Time:
		return operand{form: formTime, time: v}
	case Decimal:
		return operand{form: formDecimal, text: string(v)}
	case Hex:
		return operand{form: formHex, text: string(v)}
	}
	return readOther(arg, depth)
}

// readOther reads Valuers, pointers and named types.
func readOther(arg any, depth int) operand {
	if depth == 0 {
		return operand{}
	}
	if valuer, ok := arg.(driver.Valuer); ok {
		inner, ok := callValuer(valuer)
		if !ok {
			return operand{}
		}
		return readDepth(inner, depth-1)
	}
	rv := reflect.ValueOf(arg)
	switch rv.Kind() {
	case reflect.Pointer:
		if rv.IsNil() {
			return operand{form: formNull}
		}
		return readDepth(rv.Elem().Interface(), depth-1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return intOperand(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return uintOperand(rv.Uint())
	case reflect.Float32, reflect.Float64:
		return operand{form: formFloat, float: rv.Float()}
	case reflect.Bool:
		return read(rv.Bool())
	case reflect.String:
		// The parser's type for decimal literals, which this package does not
		// import. A type of that name of the application's is sent as text; to
		// read it as a number only widens.
		if rv.Type().Name() == "Decimal" {
			return operand{form: formDecimal, text: rv.String()}
		}
		return operand{form: formText, text: rv.String()}
	case reflect.Slice:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return bytesOperand(rv.Bytes())
		}
	}
	return operand{}
}

// callValuer calls v.Value. A nil pointer whose type has the method by value is
// NULL, as in database/sql. ok is false when Value fails or panics: the driver
// will report it, or the statement will never be sent.
func callValuer(v driver.Valuer) (inner any, ok bool) {
	defer func() {
		if recover() != nil {
			inner, ok = nil, false
		}
	}()
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer && rv.IsNil() && rv.Type().Elem().Implements(valuerType) {
		return nil, true
	}
	inner, err := v.Value()
	return inner, err == nil
}

var valuerType = reflect.TypeFor[driver.Valuer]()
