package metadata

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// answer is what the fake server says to a query that begins with a text.
type answer struct {
	query string
	rows  [][]driver.Value
	err   error
}

// fake is a server of prepared answers. It notes what it was asked and counts
// the results that are still open.
type fake struct {
	answers []answer

	mu    sync.Mutex
	asked []string
	args  [][]driver.NamedValue
	open  int
}

func open(t *testing.T, answers ...answer) (*sql.DB, *fake) {
	t.Helper()
	f := &fake{answers: answers}
	db := sql.OpenDB(f)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if f.open != 0 {
			t.Errorf("%d results were left open", f.open)
		}
	})
	return db, f
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ *fake }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (fakeConn) Close() error                        { return nil }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("no transaction") }

func (c fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, query)
	c.args = append(c.args, args)
	for _, a := range c.answers {
		if strings.HasPrefix(query, a.query) {
			if a.err != nil && len(a.rows) == 0 {
				return nil, a.err
			}
			c.open++
			return &fakeRows{fake: c.fake, answer: a}, nil
		}
	}
	return nil, errors.New("unexpected query: " + query)
}

type fakeRows struct {
	*fake
	answer answer
	next   int
}

func (r *fakeRows) Columns() []string {
	if len(r.answer.rows) == 0 {
		return []string{"none"}
	}
	return make([]string, len(r.answer.rows[0]))
}

func (r *fakeRows) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	return nil
}

func (r *fakeRows) Next(into []driver.Value) error {
	if r.next == len(r.answer.rows) {
		if r.answer.err != nil {
			return r.answer.err
		}
		return io.EOF
	}
	copy(into, r.answer.rows[r.next])
	r.next++
	return nil
}
