package rewrite

import (
	"github.com/gormshard/sharding/shardkernel/internal/parse"
	"github.com/gormshard/sharding/shardkernel/internal/route"
)

// cut returns the result with every unit of an INSERT … VALUES that has more
// parameter markers than a server takes made into several, each with some of the
// rows.
func (t *Template) cut(result *route.Result) *route.Result {
	insert, most := t.stmt.Insert, t.server.Dialect.MaxMarkers
	if insert == nil || len(insert.Rows) < 2 || result.Broadcast && insert.Returning {
		return result
	}
	rows := make([]int, len(insert.Rows)) // markers of each
	outside := len(t.stmt.Markers)        // of none
	for i := range insert.Rows {
		rows[i] = markersIn(t.stmt, insert.Rows[i].Span)
		outside -= rows[i]
		if len(result.Keys) > 0 {
			rows[i]++ // at most, for a generated key
		}
	}
	out := *result
	out.Units = nil
	for i := range result.Units {
		out.Units = append(out.Units, cutUnit(&result.Units[i], rows, most-outside)...)
	}
	return &out
}

// cutUnit makes several units of one whose rows have more markers than room, or
// returns it alone.
func cutUnit(u *route.Unit, markers []int, room int) []route.Unit {
	own := u.Rows
	if own == nil {
		own = make([]int, len(markers))
		for i := range own {
			own[i] = i
		}
	}
	var units []route.Unit
	begin, sum := 0, 0
	for i, row := range own {
		if sum+markers[row] > room && i > begin {
			part := *u
			part.Rows = own[begin:i]
			units = append(units, part)
			begin, sum = i, 0
		}
		sum += markers[row]
	}
	if begin == 0 {
		return []route.Unit{*u}
	}
	part := *u
	part.Rows = own[begin:]
	return append(units, part)
}

// rowEdits returns the edits that leave only some rows of an INSERT; nil rows
// means all.
func rowEdits(insert *parse.Insert, rows []int) []edit {
	if rows == nil || len(rows) == len(insert.Rows) {
		return nil
	}
	spans := make([]parse.Span, len(insert.Rows))
	for i := range insert.Rows {
		spans[i] = insert.Rows[i].Span
	}
	return keep(spans, rows)
}
