package dialect

import "testing"

// Measured on MariaDB 10.11.19; MySQL 8.4 by its manual, "Comments".
func TestExecutableCommentsAreReadByVersion(t *testing.T) {
	maria := &Server{MariaDB: true, Series: 101100}
	my := &Server{Series: 80400}
	for _, test := range []struct {
		server          *Server
		mariadb         bool
		version, digits int
		want            Reading
	}{
		{nil, false, 0, 0, ReadByAll},
		{nil, false, 40000, 5, ReadByAll},
		{nil, false, 80000, 5, ReadBySome},
		{nil, false, 99999, 5, ReadByNone},
		{nil, true, 0, 0, ReadBySome},
		{maria, false, 50701, 5, ReadByNone},
		{maria, false, 100500, 6, ReadByAll},
		{maria, false, 101119, 6, ReadBySome},
		{maria, false, 101200, 6, ReadByNone},
		{maria, true, 0, 0, ReadByAll},
		{maria, true, 50701, 5, ReadByAll},
		{maria, true, 999999, 6, ReadByNone},
		{my, false, 80000, 5, ReadByAll},
		{my, false, 80436, 5, ReadBySome},
		{my, false, 80500, 5, ReadByNone},
		{my, false, 100500, 6, ReadBySome},
		{my, true, 0, 0, ReadByNone},
		{my, true, 100500, 6, ReadByNone},
	} {
		if got := test.server.Reads(test.mariadb, test.version, test.digits); got != test.want {
			t.Errorf("%+v, M! %v, %d: %d, want %d", test.server, test.mariadb, test.version, got, test.want)
		}
	}
}
