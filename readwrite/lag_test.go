package readwrite

import (
	"database/sql"
	"testing"
	"time"
)

func TestReplicationStatusIsReadInBothVocabularies(t *testing.T) {
	text := func(s string) sql.NullString { return sql.NullString{String: s, Valid: s != "NULL"} }
	for _, test := range []struct {
		names, values []string
		lag           time.Duration
		err           string
	}{
		{[]string{"Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"}, []string{"Yes", "Yes", "0"}, 0, ""},
		{[]string{"Replica_IO_Running", "Replica_SQL_Running", "Seconds_Behind_Source"}, []string{"Yes", "Yes", "7"}, 7 * time.Second, ""},
		{[]string{"Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"}, []string{"Yes", "Yes", "NULL"}, LagUnknown, ""},
		{[]string{"Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"}, []string{"Connecting", "Yes", "0"}, LagUnknown, "Slave_IO_Running is Connecting"},
		{[]string{"Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master"}, []string{"No", "Yes", "NULL"}, LagUnknown, "Slave_IO_Running is No"},
		{[]string{"Replica_IO_Running", "Replica_SQL_Running", "Seconds_Behind_Source"}, []string{"Yes", "No", "NULL"}, LagUnknown, "Replica_SQL_Running is No"},
		{[]string{"Other"}, []string{"x"}, LagUnknown, ""},
	} {
		var values []sql.NullString
		for _, v := range test.values {
			values = append(values, text(v))
		}
		lag, err := channel(test.names, values)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if lag != test.lag || got != test.err {
			t.Errorf("%q %q: lag %v, error %q", test.names, test.values, lag, got)
		}
	}
}
