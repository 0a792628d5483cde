package merge

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gormshard/sharding/internal/fault"
	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// FoundRows are the rows of a subquery, held within limits until Release.
type FoundRows struct {
	JSON   string         // an array of the rows, each an array of its values
	First  []driver.Value // the first values of the rows, up to mostFirst and one more
	Rows   int
	memory account
}

// mostFirst is the number of values that FoundRows keeps beside the JSON: more would
// hardly choose nodes.
const mostFirst = 1000

// ReadFound reads the rows of a subquery and closes them. With most, no more rows
// than that are read. It fails with the error of the rows, with fault.ErrTooManyRows
// beyond the limits, and with fault.ErrUnsupported for a value that JSON cannot
// carry.
func ReadFound(rows driver.Rows, columns []plan.CarriedColumn, most int, limits Limits) (found *FoundRows, err error) {
	found = &FoundRows{memory: account{limits: limits.withDefaults()}}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
		if err != nil {
			found.Release()
		}
	}()
	text := []byte{'['}
	dest := make([]driver.Value, len(rows.Columns()))
	for most == 0 || found.Rows < most {
		err := rows.Next(dest)
		if isEnd(err) {
			break
		}
		if err != nil {
			return found, err
		}
		before := len(text)
		if before > 1 {
			text = append(text, ',')
		}
		text = append(text, '[')
		for i, how := range columns {
			if i > 0 {
				text = append(text, ',')
			}
			if text, err = appendCarried(text, dest[i], how); err != nil {
				return found, err
			}
		}
		text = append(text, ']')
		if err := found.memory.hold(1, int64(len(text)-before)); err != nil {
			return found, fmt.Errorf("sharding: reading the rows of a subquery: %w", err)
		}
		if found.Rows++; found.Rows <= mostFirst+1 {
			found.First = append(found.First, keep(dest[0]))
		}
	}
	found.JSON = string(append(text, ']'))
	return found, nil
}

// All reports whether First holds a value of every row.
func (f *FoundRows) All() bool { return f.Rows <= mostFirst }

// Release gives the memory back. It may be called more than once.
func (f *FoundRows) Release() { f.memory.release() }

// appendCarried appends a value as JSON.
func appendCarried(text []byte, v driver.Value, how plan.CarriedColumn) ([]byte, error) {
	if v == nil {
		return append(text, "null"...), nil
	}
	var s string
	switch v := v.(type) {
	case []byte:
		s = string(v)
	case string:
		s = v
	case int64:
		s = strconv.FormatInt(v, 10)
	case uint64:
		s = strconv.FormatUint(v, 10)
	case time.Time:
		// The zero time is what drivers make of 0000-00-00 and of 0001-01-01.
		if v.IsZero() || v.Year() > 9999 || how != plan.CarriedDate && how != plan.CarriedMoment {
			return nil, errUncarried(v)
		}
		s = v.Format("2006-01-02 15:04:05.000000")
		if how == plan.CarriedDate {
			s = s[:len("2006-01-02")]
		}
	default:
		return nil, errUncarried(v)
	}
	if how == plan.CarriedBytes {
		s = hex.EncodeToString([]byte(s))
	}
	if !utf8.ValidString(s) {
		return nil, errUncarried(v)
	}
	quoted, err := json.Marshal(s)
	// Where the rows become a literal, no value must look like a comment to those
	// who put comments back.
	return append(text, bytes.ReplaceAll(quoted, []byte("*"), []byte(`\u002a`))...), err
}

func errUncarried(v driver.Value) error {
	return fault.Unsupported("subquery over several nodes", fmt.Sprintf("a value that the driver gives as %T cannot be handed to other nodes", v),
		"run the subquery as a statement of its own, and pass its values as parameters")
}
