package execute

import (
	"context"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A replica whose connection was given up since another one had failed is not to be
// taken out for it.
func TestAConnectionThatWasGivenUpBlamesNoServer(t *testing.T) {
	other := errors.New("no table")
	for _, test := range []struct {
		name      string
		branches  Branches
		stopped   bool
		err, want error
	}{
		{"lost by itself", nil, false, mysql.ErrInvalidConn, mysql.ErrInvalidConn},
		{"lost behind another failure", nil, true, mysql.ErrInvalidConn, context.Canceled},
		{"another error behind one", nil, true, other, other},
		{"in a transaction nothing is given up", &branches{}, true, mysql.ErrInvalidConn, mysql.ErrInvalidConn},
		{"no error", nil, true, nil, nil},
	} {
		r := newRun(t.Context(), test.branches, 2, Limits{})
		if test.stopped {
			r.stop()
		}
		if got := r.told(test.err); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		r.cancel()
	}
}
