package tour

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gormshard/sharding"
)

// printer writes steps for a newcomer to read.
type printer struct {
	out   io.Writer
	rec   *Recorder
	steps int
}

// step runs one step and prints what it did. result is printed as a table: a
// slice of structs, a struct, or a text.
func (p *printer) step(title string, run func() (result any, err error)) error {
	p.rec.take()
	result, err := run()
	logical, units := p.rec.take()
	p.steps++
	fmt.Fprintf(p.out, "\n== %d. %s\n", p.steps, title)
	for _, sql := range logical {
		fmt.Fprintf(p.out, "   logical  %s\n", sql)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, u := range inOrder(units) {
		fmt.Fprintf(w, "   -> %s\t%s\n", u.DataSource, u.SQL)
	}
	if err := errors.Join(err, w.Flush()); err != nil {
		return fmt.Errorf("step %d, %s: %w", p.steps, title, err)
	}
	return p.table(result)
}

// inOrder sorts the units of one statement, which run at the same time, by data
// source. Units with the same SQL one after the other are taken for one
// statement's.
func inOrder(units []sharding.UnitTrace) []sharding.UnitTrace {
	for start := 0; start < len(units); {
		end := start + 1
		for end < len(units) && units[end].SQL == units[start].SQL {
			end++
		}
		slices.SortStableFunc(units[start:end], func(a, b sharding.UnitTrace) int { return strings.Compare(a.DataSource, b.DataSource) })
		start = end
	}
	return units
}

func (p *printer) table(result any) error {
	rows := reflect.Indirect(reflect.ValueOf(result))
	switch {
	case !rows.IsValid():
		return nil
	case rows.Kind() == reflect.Struct:
		one := reflect.MakeSlice(reflect.SliceOf(rows.Type()), 0, 1)
		rows = reflect.Append(one, rows)
	case rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Struct:
		_, err := fmt.Fprintf(p.out, "   %v\n", result)
		return err
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	elem := rows.Type().Elem()
	names := make([]string, elem.NumField())
	for i := range names {
		names[i] = strings.ToLower(elem.Field(i).Name)
	}
	fmt.Fprintf(w, "   | %s\n", strings.Join(names, "\t"))
	for i := range rows.Len() {
		cells := make([]string, len(names))
		for j := range cells {
			cells[j] = cell(rows.Index(i).Field(j).Interface())
		}
		fmt.Fprintf(w, "   | %s\n", strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "   rows: %d\n", rows.Len())
	return err
}

func cell(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("15:04:05")
	case float64:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprint(v)
}
