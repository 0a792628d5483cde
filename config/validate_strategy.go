package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
	"github.com/gormshard/sharding/shardkernel/algorithm"
	"github.com/gormshard/sharding/shardkernel/keygen"
)

// compose hands the algorithms that are made of others their parts.
func (k *checker) compose() {
	names := sortedNames(k.cfg.Sharding.Algorithms)
	for _, name := range sortedNames(k.algorithms) {
		composite, ok := k.algorithms[name].(algorithm.Composite)
		if !ok {
			continue
		}
		path := join("sharding.algorithms", name)
		var parts []algorithm.Algorithm
		sound := true
		for _, part := range composite.Parts() {
			switch {
			case !slices.Contains(names, part):
				k.add(path, fmt.Sprintf("no algorithm %q", part), nearest.Hint(part, names))
				sound = false
			case k.leadsTo(part, name, nil):
				k.add(path, fmt.Sprintf("algorithm %q leads back to it", part), "")
				sound = false
			case k.algorithms[part] == nil: // reported, or not judged here
				sound = false
			}
			parts = append(parts, k.algorithms[part])
		}
		if !sound {
			delete(k.algorithms, name)
			continue
		}
		if err := composite.Compose(parts); err != nil {
			k.wrap(path, err)
			delete(k.algorithms, name)
		}
	}
}

// leadsTo reports whether an algorithm is another one or made of it.
func (k *checker) leadsTo(from, to string, seen []string) bool {
	if from == to {
		return true
	}
	composite, ok := k.algorithms[from].(algorithm.Composite)
	if !ok || slices.Contains(seen, from) {
		return false
	}
	return slices.ContainsFunc(composite.Parts(), func(part string) bool {
		return k.leadsTo(part, to, append(seen, from))
	})
}

// strategy checks what can be said without a table. Its own faults are reported
// once, at the place where it is written.
func (k *checker) strategy(path string, s *Strategy) {
	if s == nil {
		return
	}
	before := len(k.list)
	var kinds []string
	for kind, set := range map[string]bool{"standard": s.Standard != nil, "complex": s.Complex != nil, "hint": s.Hint != nil, "none": s.None} {
		if set {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	switch len(kinds) {
	case 0:
		k.add(path, "is neither standard, complex, hint nor none", "")
	case 1:
		k.oneStrategy(path+"."+kinds[0], s)
	default:
		k.add(path, "is "+strings.Join(kinds, " and ")+" at once", "keep one of them")
	}
	k.textKey(path, s)
	k.broken[path] = len(k.list) > before
}

// oneStrategy checks the columns and the algorithm's name; the path is that of
// the kind.
func (k *checker) oneStrategy(path string, s *Strategy) {
	switch {
	case s.Standard != nil:
		if strings.TrimSpace(s.Standard.Column) == "" {
			k.add(path+".column", "is empty", "")
		}
	case s.Complex != nil:
		k.columns(path+".columns", s.Columns())
	}
	if !s.None {
		k.reference(path+".algorithm", "algorithm", s.AlgorithmName(), sortedNames(k.cfg.Sharding.Algorithms))
	}
}

func (k *checker) columns(path string, columns []string) {
	if len(columns) == 0 {
		k.add(path, "names no column", "")
	}
	for i, column := range columns {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case strings.TrimSpace(column) == "":
			k.add(at, "is empty", "")
		case slices.Contains(columns[:i], column):
			k.add(at, fmt.Sprintf("column %q stands twice", column), "")
		}
	}
}

func (k *checker) textKey(path string, s *Strategy) {
	const choices = "use refuse, binary, exact or weight"
	switch s.TextKey {
	case "":
	case TextKeyRefuse, TextKeyBinary, TextKeyExact, TextKeyWeight:
		if s.None || s.Hint != nil {
			k.add(path+".textKey", "is of no use without a sharding column", "remove it")
		}
	default:
		k.add(path+".textKey", fmt.Sprintf("no such choice %q", string(s.TextKey)), choices)
	}
}

// sameTextKey reports a column that chooses at both levels, by two readings of its
// text.
func (k *checker) sameTextKey(t *checkedTable) {
	database, table := t.DatabaseStrategy, t.TableStrategy
	for _, column := range database.Columns() {
		if slices.Contains(table.Columns(), column) && database.TextKey != table.TextKey {
			k.add(t.path+".tableStrategy.textKey", fmt.Sprintf("differs from that of the database strategy, which has the column %q too", column), "give both the same")
		}
	}
}

// bind asks the algorithm of a strategy whether it can choose among the
// targets.
func (k *checker) bind(path string, s *Strategy, targets []string) {
	if s.IsNone() {
		return
	}
	name := s.AlgorithmName()
	a, ok := k.algorithms[name]
	if !ok {
		return
	}
	path += "." + s.kind()
	if standard, ok := a.(algorithm.ColumnChecker); ok && s.Standard != nil {
		if err := standard.CheckColumn(s.Standard.Column); err != nil {
			k.wrap(path+".column", err)
			return
		}
	}
	sharder, err := bindTo(a, s, targets)
	switch {
	case err != nil:
		k.wrap(path+".algorithm", err)
	case sharder == nil:
		k.add(path+".algorithm", fmt.Sprintf("algorithm %q binds to nothing", name), "")
	}
}

// bindTo binds an algorithm as the kind of the strategy asks for.
func bindTo(a algorithm.Algorithm, s *Strategy, targets []string) (sharder any, err error) {
	notFit := func() error {
		return fmt.Errorf("algorithm %q is none for a %s strategy; use %s", s.AlgorithmName(), s.kind(), map[string]string{
			"standard": "one that takes a single column, such as INLINE or HASH_MOD, or a complex strategy",
			"complex":  "COMPLEX_INLINE, GENE or THRESHOLD, or a standard strategy",
			"hint":     "HINT_INLINE, or one for standard strategies",
		}[s.kind()])
	}
	switch s.kind() {
	case "standard":
		if standard, ok := a.(algorithm.Standard); ok {
			if sharder, err := standard.Bind(targets); sharder != nil || err != nil {
				return sharder, err
			}
			return nil, nil
		}
	case "complex":
		if several, ok := a.(algorithm.Complex); ok {
			if sharder, err := several.BindColumns(s.Columns(), targets); sharder != nil || err != nil {
				return sharder, err
			}
			return nil, nil
		}
	case "hint":
		if hint, ok := algorithm.HintOf(a); ok {
			if sharder, err := hint.BindHint(targets); sharder != nil || err != nil {
				return sharder, err
			}
			return nil, nil
		}
	}
	return nil, notFit()
}

// geneKeys reports a key generator whose keys do not carry the slots that the
// table is sharded by.
func (k *checker) geneKeys(t *checkedTable) {
	if t.KeyGenerate == nil {
		return
	}
	generator, known := k.generators[t.KeyGenerate.Generator]
	if !known {
		return
	}
	for _, s := range []*Strategy{t.DatabaseStrategy, t.TableStrategy} {
		source, ok := k.algorithms[s.AlgorithmName()].(algorithm.GeneSource)
		if !ok {
			continue
		}
		column, owner, slots := source.IDs()
		if column != strings.ToLower(t.KeyGenerate.Column) {
			continue
		}
		path := t.path + ".keyGenerate.generator"
		owners, ok := generator.(keygen.OwnerGenerator)
		if !ok {
			k.add(path, fmt.Sprintf("the keys of %q do not carry the slot by which algorithm %q finds them", t.KeyGenerate.Generator, s.AlgorithmName()), "use a generator of type GENE_SNOWFLAKE")
			continue
		}
		if owners.OwnerColumn() != owner {
			k.add(path, fmt.Sprintf("the keys carry the slot of %q, those of algorithm %q that of %q", owners.OwnerColumn(), s.AlgorithmName(), owner), "")
		}
		if own, ok := generator.(interface{ Slots() *algorithm.Slots }); ok && own.Slots().String() != slots.String() {
			k.add(path, fmt.Sprintf("its slots are %s, those of algorithm %q %s", own.Slots(), s.AlgorithmName(), slots), "give both the same properties")
		}
	}
}
