package merge

import "database/sql/driver"

// distinctFold lets a fold take in one of the rows of a group that are equal in
// the arguments of an aggregate (semantics row 18).
type distinctFold struct {
	fold
	keys *keySet // shared by the groups, which are not read at the same time
	seen map[string]struct{}
}

func (f *distinctFold) add(kept, row []driver.Value, memory *account) error {
	key, err := f.keys.of(row)
	if err != nil {
		return err
	}
	if _, known := f.seen[string(key)]; known {
		return nil
	}
	if err := remember(f.seen, key, memory); err != nil {
		return err
	}
	return f.fold.add(kept, row, memory)
}

// adjacentFold is a distinctFold for rows of which equal ones follow one another.
type adjacentFold struct {
	fold
	keys  *keySet
	last  []byte
	taken bool
}

func (f *adjacentFold) add(kept, row []driver.Value, memory *account) error {
	key, err := f.keys.of(row)
	if err != nil || f.taken && string(key) == string(f.last) {
		return err
	}
	f.last, f.taken = append(f.last[:0], key...), true
	return f.fold.add(kept, row, memory)
}
