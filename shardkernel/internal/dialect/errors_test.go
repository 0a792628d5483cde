package dialect

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestErrorsThatEndATransactionAreKnownByNumber(t *testing.T) {
	for number, want := range map[uint16]bool{
		1020: true, 1206: true, 1213: true, // InnoDB rolls everything back
		1205: false, 1062: false, 1146: false, 1317: false,
	} {
		err := error(&mysql.MySQLError{Number: number, Message: "x"})
		if got := EndsTransaction(err); got != want {
			t.Errorf("EndsTransaction(%v) = %v, want %v", err, got, want)
		}
		if got := EndsTransaction(fmt.Errorf("ds0: %w", err)); got != want {
			t.Errorf("EndsTransaction(wrapped %v) = %v, want %v", err, got, want)
		}
	}
	if EndsTransaction(nil) || EndsTransaction(errors.New("Error 1213")) {
		t.Error("EndsTransaction must go by the driver's error type, not by text")
	}
}

func TestLostConnectionsAreKnownByTheDriversValues(t *testing.T) {
	for err, want := range map[error]bool{
		driver.ErrBadConn:                         true,
		fmt.Errorf("x: %w", driver.ErrBadConn):    true,
		mysql.ErrInvalidConn:                      true,
		fmt.Errorf("x: %w", mysql.ErrInvalidConn): true,
		errors.New("driver: bad connection"):      false,
		&mysql.MySQLError{Number: 1213}:           false,
	} {
		if got := ConnectionLost(err); got != want {
			t.Errorf("ConnectionLost(%v) = %v, want %v", err, got, want)
		}
	}
}

func TestAnswersOfANodeThatIsDoneAreKnown(t *testing.T) {
	for err, want := range map[error]bool{
		&mysql.MySQLError{Number: 1050}: true, &mysql.MySQLError{Number: 1060}: true, &mysql.MySQLError{Number: 1091}: true, &mysql.MySQLError{Number: 1826}: true,
		&mysql.MySQLError{Number: 1005, Message: "Can't create table `x`.`c` (errno: 121 \"Duplicate key on write or update\")"}:             true,
		&mysql.MySQLError{Number: 1005, Message: "Can't create table `x`.`c` (errno: 150 \"Foreign key constraint is incorrectly formed\")"}: false,
		&mysql.MySQLError{Number: 1146}: false, &mysql.MySQLError{Number: 1205}: false, &mysql.MySQLError{Number: 1062}: false, driver.ErrBadConn: false,
	} {
		if got := AlreadyDefined(fmt.Errorf("ds0: %w", err), true); got != want {
			t.Errorf("AlreadyDefined(%v) = %v", err, got)
		}
	}
}

func TestAnswersThatTellOfOtherColumnsAreKnownByNumber(t *testing.T) {
	for number, want := range map[uint16]bool{1054: true, 1136: true, 1146: true, 1064: false, 1213: false} {
		err := fmt.Errorf("ds0: %w", &mysql.MySQLError{Number: number})
		if UnknownDefinition(err) != want {
			t.Errorf("%d: got %v", number, !want)
		}
	}
	if UnknownDefinition(nil) || UnknownDefinition(mysql.ErrInvalidConn) {
		t.Error("an error without a number counts")
	}
}

func TestMistakesHaveNoReason(t *testing.T) {
	for _, test := range []struct {
		err    error
		reason string
		ok     bool
	}{
		{&mysql.MySQLError{Number: 1052, SQLState: [5]byte{'2', '3', '0', '0', '0'}, Message: "ambiguous"}, "ambiguous", true},
		{&mysql.MySQLError{Number: 1054, SQLState: [5]byte{'4', '2', 'S', '2', '2'}, Message: "unknown column"}, "", true},
		{fmt.Errorf("asked: %w", &mysql.MySQLError{Number: 1267, Message: "illegal mix"}), "", true},
		{&mysql.MySQLError{Number: 1040, SQLState: [5]byte{'0', '8', '0', '0', '4'}, Message: "too many connections"}, "", false},
		{&mysql.MySQLError{Number: 1317, SQLState: [5]byte{'7', '0', '1', '0', '0'}, Message: "interrupted"}, "", false},
		{mysql.ErrInvalidConn, "", false},
	} {
		if reason, ok := Misunderstood(test.err); reason != test.reason || ok != test.ok {
			t.Errorf("%v: %q, %v; want %q, %v", test.err, reason, ok, test.reason, test.ok)
		}
	}
}
