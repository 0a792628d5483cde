package config

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/internal/nearest"
)

// section is a map of a foreign document, of which every key is asked for or
// reported. Keys match as ShardingSphere's do: sharding-column, sharding_column
// and shardingColumn are one.
type section struct {
	*faults
	path  string
	doc   document
	asked []string
}

// canonicalKey brings the spellings of a key together.
func canonicalKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// take returns the value of a key and its path as written; nil where the key is
// absent.
func (s *section) take(name string) (value any, path string) {
	s.asked = append(s.asked, name)
	for _, key := range sortedNames(s.doc) {
		if canonicalKey(key) == canonicalKey(name) {
			return s.doc[key], join(s.path, key)
		}
	}
	return nil, join(s.path, name)
}

// text returns a text or a scalar written out, empty where there is none.
func (s *section) text(name string) (text, path string) {
	value, path := s.take(name)
	switch v := value.(type) {
	case nil:
	case string:
		text = v
	case bool, int, uint64, float64:
		text = fmt.Sprint(v)
	default:
		s.add(path, "must be a text, not "+typeName(value), "")
	}
	return text, path
}

// flag returns a boolean, also as text; false where there is none.
func (s *section) flag(name string) (on bool, path string) {
	text, path := s.text(name)
	if text == "" {
		return false, path
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		s.add(path, "must be true or false", "")
	}
	return on, path
}

// number returns a whole number, also as text.
func (s *section) number(name string) (n int, given bool, path string) {
	text, path := s.text(name)
	if text == "" {
		return 0, false, path
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		s.add(path, "must be a whole number", "")
	}
	return n, true, path
}

// texts returns a list of texts, or the parts of one with commas.
func (s *section) texts(name string) (list []string, path string) {
	value, path := s.take(name)
	switch v := value.(type) {
	case nil:
	case string:
		list = splitNames(v)
	case []any:
		for i, item := range v {
			text, ok := item.(string)
			if !ok {
				s.add(fmt.Sprintf("%s[%d]", path, i), "must be a text, not "+typeName(item), "")
			}
			list = append(list, text)
		}
	default:
		s.add(path, "must be a list, not "+typeName(value), "")
	}
	return list, path
}

// splitNames splits a text at its commas.
func splitNames(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// child returns the section of a key; nil where it is absent or has nothing in it.
func (s *section) child(name string) *section {
	value, path := s.take(name)
	return s.within(path, value)
}

func (s *section) within(path string, value any) *section {
	if value == nil || value == "" {
		return nil
	}
	doc, ok := value.(document)
	if !ok {
		s.add(path, "must be a map, not "+typeName(value), "")
		return nil
	}
	return &section{faults: s.faults, path: path, doc: doc}
}

// children yields the entries of a key that holds a map by names. An entry without
// anything is an empty section.
func (s *section) children(name string) iter.Seq2[string, *section] {
	return func(yield func(string, *section) bool) {
		all := s.child(name)
		if all == nil {
			return
		}
		for _, key := range sortedNames(all.doc) {
			value := all.doc[key]
			if value == nil {
				value = document{}
			}
			if entry := s.within(join(all.path, key), value); entry != nil && !yield(key, entry) {
				return
			}
		}
	}
}

// refuse reports a key that asks for something.
func (s *section) refuse(name, reason, remedy string) {
	if value, path := s.take(name); !empty(value) {
		s.add(path, reason, remedy)
	}
}

// ignore takes keys that have no effect here.
func (s *section) ignore(names ...string) { s.asked = append(s.asked, names...) }

// rest reports the keys that nobody asked for.
func (s *section) rest() {
	for _, key := range sortedNames(s.doc) {
		if !slices.ContainsFunc(s.asked, func(name string) bool { return canonicalKey(name) == canonicalKey(key) }) {
			s.add(join(s.path, key), "unknown key", nearest.HintOrList(key, s.asked))
		}
	}
}
