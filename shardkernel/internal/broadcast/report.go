package broadcast

import (
	"fmt"
	"slices"
	"strings"
)

// Report is what a check of broadcast tables found.
type Report struct {
	// Tables are the tables that were checked, in the order in which they were
	// named, or in that of their names.
	Tables []Table
}

// Consistent reports whether every table is defined alike and holds the same
// rows in all data sources.
func (r *Report) Consistent() bool {
	return !slices.ContainsFunc(r.Tables, func(t Table) bool { return !t.Consistent() })
}

// String says of every table in some lines what was found. It holds the keys of
// rows that differ.
func (r *Report) String() string {
	var b strings.Builder
	for i := range r.Tables {
		b.WriteString(r.Tables[i].String())
	}
	return b.String()
}

// Table is what was found of one broadcast table.
type Table struct {
	Name string
	// Copies are the table in each data source, in the order of the data
	// sources' names. The first is what the others are compared with.
	Copies []Copy
	// Structure names, for each data source where the table is defined otherwise
	// than in the first, one thing that differs: "ds1: lacks …".
	Structure []string
	// NotCompared says why the rows could not be compared; empty when they were.
	NotCompared string
	// Key holds the names of the primary key's columns. It is empty for a table
	// without one: its rows are counted and summed, and those that differ are not
	// named.
	Key []string
	// Differences are rows that are not alike in all data sources, in no order
	// that means anything.
	Differences []Difference
	// More says that there are differences beyond those listed.
	More bool
}

// Copy is a broadcast table in one data source.
type Copy struct {
	DataSource string
	Exists     bool
	Rows       uint64
	// Checksum is 32 hexadecimal digits that do not depend on the order of rows.
	// Two copies with the same rows have the same one; it is empty where the rows
	// were not compared. Generated columns do not count.
	Checksum string
}

// Difference is a row that is not alike in all data sources.
type Difference struct {
	// Key holds the values of Table.Key as text: binary ones in hexadecimal with
	// 0x before them, and of a long text the first 768 characters.
	Key []string
	// Kind says what is the matter in DataSources, against the first copy.
	Kind        Kind
	DataSources []string
}

// Kind says what is the matter with a row.
type Kind string

// The kinds of differences.
const (
	// Missing: the first copy has the row, the data sources lack it.
	Missing Kind = "missing"
	// Extra: the data sources have the row, the first copy lacks it.
	Extra Kind = "extra"
	// Different: the row has other values than in the first copy.
	Different Kind = "different"
)

// Consistent reports whether the table is defined alike and holds the same rows
// in all data sources. A table that no data source has is.
func (t *Table) Consistent() bool {
	return len(t.Structure) == 0 && t.NotCompared == "" && !t.differs()
}

// differs reports whether copies hold other rows than the first.
func (t *Table) differs() bool {
	var first *Copy
	for i := range t.Copies {
		switch c := &t.Copies[i]; {
		case !c.Exists:
		case first == nil:
			first = c
		case c.Rows != first.Rows || c.Checksum != first.Checksum:
			return true
		}
	}
	return false
}

// String says in some lines what was found. It holds the keys of rows that
// differ.
func (t *Table) String() string {
	var b strings.Builder
	b.WriteString(t.Name + ": " + t.verdict() + "\n")
	for _, what := range t.Structure {
		b.WriteString("  " + what + "\n")
	}
	if t.NotCompared == "" && t.differs() {
		for _, c := range t.Copies {
			if c.Exists {
				fmt.Fprintf(&b, "  %s: %d rows, checksum %s\n", c.DataSource, c.Rows, c.Checksum)
			}
		}
		if len(t.Key) == 0 {
			b.WriteString("  the table has no primary key, so the rows that differ cannot be named\n")
		}
	}
	for _, d := range t.Differences {
		fmt.Fprintf(&b, "  (%s) = (%s): %s in %s\n", strings.Join(t.Key, ", "), strings.Join(d.Key, ", "), d.Kind, strings.Join(d.DataSources, ", "))
	}
	if t.More {
		b.WriteString("  and more\n")
	}
	return b.String()
}

func (t *Table) verdict() string {
	exists := slices.IndexFunc(t.Copies, func(c Copy) bool { return c.Exists })
	switch {
	case exists < 0:
		return "no data source has it"
	case t.NotCompared != "":
		return "the rows were not compared: " + t.NotCompared
	case t.differs():
		return "the rows differ"
	case len(t.Structure) > 0:
		return "the definitions differ, the rows do not"
	}
	return fmt.Sprintf("alike, %d rows", t.Copies[exists].Rows)
}
