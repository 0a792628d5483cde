package dialect

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
)

func TestALostConnectionIsStillOneWhenItIsDisarmed(t *testing.T) {
	for _, err := range []error{driver.ErrBadConn, fmt.Errorf("reading: %w", driver.ErrBadConn)} {
		got := Disarm(err)
		if errors.Is(got, driver.ErrBadConn) || got.Error() != err.Error() {
			t.Errorf("%v became %v, which matches ErrBadConn: %v", err, got, errors.Is(got, driver.ErrBadConn))
		}
		if !ConnectionLost(got) || !Unreachable(got) {
			t.Errorf("%v is no lost connection any more", got)
		}
	}
	other := errors.New("other")
	if got := Disarm(other); got != other {
		t.Errorf("%v became %v", other, got)
	}
}
