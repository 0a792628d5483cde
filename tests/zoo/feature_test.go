//go:build unix

package zoo_test

import (
	"slices"
	"strings"
	"testing"
)

// feature is a finisher, a clause or another thing that GORM offers, with the
// assertions that hold on every placement.
type feature struct {
	// name says what it is, for the documentation; no other has it.
	name string
	// run uses the feature on the rows of seed, asserts, and returns the error of
	// the feature itself, which may be a refusal.
	run func(w *way) error
	// onlyMySQL is for what SQLite has not.
	onlyMySQL bool
}

// section is features that belong together.
type section struct {
	title string
	// reads is whether the features only read, and so may share their rows.
	reads bool
	of    []feature
}

var sections = []section{
	{title: "Create", of: creates},
	{title: "Upsert", of: upserts},
	{title: "Read", reads: true, of: reads},
	{title: "Conditions and clauses", reads: true, of: slices.Concat(clauses, modifiers)},
	{title: "Joins and subqueries", reads: true, of: joins},
	{title: "Read or create", of: firsts},
	{title: "Update", of: slices.Concat(updates, computed)},
	{title: "Save", of: saves},
	{title: "Delete", of: deletes},
	{title: "Associations", of: associations},
	{title: "Preload", reads: true, of: preloading},
	{title: "Raw SQL", of: raws},
	{title: "Transactions and connections", of: transactions},
	{title: "Sessions", of: sessions},
	{title: "Fields", of: fields},
	{title: "Generics", of: slices.Concat(generic, associationSets)},
}

// TestFeatures runs every feature on every placement, and in every variant of GORM
// over plain and bound tables. In short runs a variant takes every third feature,
// each another third.
func TestFeatures(t *testing.T) {
	inWays(t, &usual, []placement{plain, single, broadcast, sharded, bound}, func(t *testing.T, w *way) {
		runFeatures(t, w, func(int) bool { return true })
	})
	checkSupport(t)
	for i := range variants {
		inWays(t, &variants[i], []placement{plain, bound}, func(t *testing.T, w *way) {
			runFeatures(t, w, func(n int) bool { return long() || n%3 == i%3 || variants[i].sqlite && n%3 == 1 })
		})
	}
}

// runFeatures runs the features whose number is taken.
func runFeatures(t *testing.T, w *way, taken func(n int) bool) {
	t.Helper()
	n := 0
	for _, s := range sections {
		seeded := false
		for _, f := range s.of {
			n++
			if !taken(n) || f.onlyMySQL && w.variant.sqlite {
				continue
			}
			t.Run(s.title+"/"+f.name, func(t *testing.T) {
				mine := w.on(t)
				if !s.reads || !seeded {
					w.reset.seed(mine)
					seeded = true
				}
				cells.set(mine, f.name, mine.run(f))
			})
		}
	}
}

// run runs a feature and returns its refusal, nil where it was answered.
func (w *way) run(f feature) error {
	w.t.Helper()
	err := f.run(w)
	if w.refused(err, f.name) {
		return err
	}
	return nil
}

// plainly holds a value that a feature has seen against that of plain GORM in the
// same variant, for what is easier compared than foretold.
func (w *way) plainly(what string, value any) {
	w.t.Helper()
	key := w.variant.name + "/" + w.t.Name()[strings.LastIndex(w.t.Name(), "/")+1:] + "/" + what
	if w.placement == plain {
		plainValues[key] = value
		return
	}
	want, ok := plainValues[key]
	if !ok {
		w.t.Logf("%s: %v; plain GORM has not run this", what, value)
		return
	}
	w.same(what+" of plain GORM", value, want)
}

// plainValues holds what plain GORM has seen.
var plainValues = map[string]any{}
