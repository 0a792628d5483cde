package shardkernel

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gormshard/sharding/shardkernel/internal/plan"
)

// positions are how servers tell how far they have written, and wait until they have
// come that far as replicas. Both answers are about committed transactions.
var positions = map[string]struct{ tell, wait string }{
	// Not last_gtid: a write that has changed nothing, such as ON DUPLICATE KEY, may
	// have seen another one's row, which a read after it is to find as well.
	"MariaDB": {"SELECT @@GLOBAL.gtid_binlog_pos", "SELECT MASTER_GTID_WAIT('%s', %.3f)"},
	"MySQL":   {"SELECT @@GLOBAL.gtid_executed", "SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %.3f)"},
}

// aPosition is what a position looks like, of either server.
var aPosition = regexp.MustCompile(`^[0-9A-Za-z_:,-]+$`)

// answerMargin is how much longer than the server itself waits its answer is waited
// for.
const answerMargin = 250 * time.Millisecond

// reader returns who answers a read of a data source that has replicas: one of them,
// or itself. What the caller's session has written there it sees.
func (k *Kernel) reader(ctx context.Context, of *source, ex *plan.Execution) (*source, error) {
	session := ex.Session
	if session == nil || ex.Reads == plan.ReadsReplica || !session.Wrote(of.Name) {
		return k.replica(ctx, of)
	}
	limit := session.Wait(of.Name)
	if limit == 0 {
		return of, nil
	}
	replica, err := k.replica(ctx, of)
	if err != nil || replica == of || session.Reached(of.Name, replica.DB) {
		return replica, err
	}
	switch {
	case k.caughtUp(ctx, session, of, replica, limit):
		return replica, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return of, nil
}

// caughtUp waits until a replica has what a session has written, and reports whether
// it has.
func (k *Kernel) caughtUp(ctx context.Context, session ReadYourWrites, of, replica *source, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit+answerMargin)
	defer cancel()
	until := time.Now().Add(limit)
	at, writes := session.Position(of.Name)
	settings := k.base.settings.Load()
	if settings == nil {
		return false
	}
	how, known := positions[settings.Flavour]
	if known && at == "" {
		var err error
		if at, err = of.position(ctx, how.tell); err != nil {
			return false // the read itself tells what is wrong with the primary
		}
		session.Locate(of.Name, at, writes)
	}
	if at != "" {
		var missing sql.NullInt64
		err := replica.DB.QueryRowContext(ctx, fmt.Sprintf(how.wait, at, max(0, time.Until(until)).Seconds())).Scan(&missing)
		switch {
		case err == nil && missing.Valid && missing.Int64 == 0:
			session.Reach(of.Name, replica.DB, writes)
			return true
		case err != nil && replica.failed(ctx, err):
			return false // another one may have come there
		}
	}
	session.Late(of.Name, writes)
	return false
}

// position asks a primary how far it has written: past all that has been committed
// there. It is empty where the server does not keep account of that.
func (s *source) position(ctx context.Context, query string) (string, error) {
	var text sql.NullString
	if err := s.control.QueryRowContext(ctx, query).Scan(&text); err != nil {
		return "", err
	}
	at := strings.Join(strings.Fields(text.String), "")
	if !aPosition.MatchString(at) {
		return "", nil
	}
	return at, nil
}
