package algorithm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The layout of an id that carries its owner's slot: 41 bits of time, then the
// slot, then geneShift bits of worker and sequence.
const (
	GeneBits  = 10
	GeneShift = 12

	maxGeneSlots = 1 << GeneBits
)

// gene is the algorithm GENE. The slot of a row is that of its owner, and its id,
// made by the generator GENE_SNOWFLAKE, carries the slot too. So either the
// owner or the id alone finds the node.
//
// Properties:
//
//	idColumn     required: the column with the ids
//	ownerColumn  required: the column whose value decides
//	slots, hash, javaType, substring
//	             as for SLOT_RANGE, at most 1,024 slots: the slot of an owner
//	geneFrom     the first id that carries a slot, by default 0. The rows of
//	             smaller ids, which are older than the rule, are on the nodes of
//	             their owners too, and an id alone does not find them
//
// Targets share the slots as they do for SLOT_RANGE. The slot of an id is
// (id >> 12) & 0x3ff. A row whose id carries another slot than its owner's has no
// target.
type gene struct {
	id, owner string // lower case
	slots     *Slots
	from      int64
}

func newGene(props Props) (Algorithm, error) {
	r := ReadProps(props)
	a := &gene{
		id:    strings.ToLower(r.String("idColumn")),
		owner: strings.ToLower(r.String("ownerColumn")),
		slots: ReadSlots(r, maxGeneSlots),
		from:  r.IntOr("geneFrom", 0, 0, 1<<63-1),
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if a.id == a.owner {
		return nil, errors.New(`properties "idColumn" and "ownerColumn" name the same column`)
	}
	return a, nil
}

// IDs implements GeneSource.
func (a *gene) IDs() (column, owner string, slots *Slots) { return a.id, a.owner, a.slots }

// GeneSource is implemented by the algorithm whose ids carry a slot, so that the
// key generator of the table can be compared with it.
type GeneSource interface {
	// IDs returns the column of the ids, that of their owners, and the slots.
	IDs() (column, owner string, slots *Slots)
}

func (a *gene) BindColumns(columns, targets []string) (ComplexSharder, error) {
	s := &geneSharder{gene: a, idAt: slices.Index(columns, a.id), ownerAt: slices.Index(columns, a.owner)}
	if s.idAt < 0 || s.ownerAt < 0 || len(columns) != 2 {
		return nil, fmt.Errorf("GENE chooses by %s and %s, but the columns of the strategy are %s", a.id, a.owner, strings.Join(columns, ", "))
	}
	var err error
	if s.slotShare, err = a.slots.share(targets); err != nil {
		return nil, err
	}
	return s, nil
}

// Label is the same for all: only the place in the list decides.
func (*gene) Label(string) string { return "" }

type geneSharder struct {
	*gene
	slotShare
	idAt, ownerAt int
}

// slotOf returns the slot that an id carries; ok is false for one from before
// geneFrom.
func (s *geneSharder) slotOf(id Value) (slot uint64, ok bool, err error) {
	v, err := readInteger(id)
	if err != nil {
		return 0, false, err
	}
	n, fits := v.Int64()
	switch {
	case !fits || n < 0:
		return 0, false, errors.New("the id is not one that the generator GENE_SNOWFLAKE makes")
	case n < s.from:
		return 0, false, nil
	}
	slot = uint64(n) >> GeneShift & (maxGeneSlots - 1)
	if slot >= s.gene.slots.count {
		return 0, false, errors.New("the id carries a slot that there is not")
	}
	return slot, true, nil
}

func (s *geneSharder) Shard(values []Value) (int, error) {
	slot, err := s.gene.slots.Of(values[s.ownerAt])
	if err != nil {
		return 0, err
	}
	carried, carries, err := s.slotOf(values[s.idAt])
	switch {
	case err != nil:
		return 0, err
	case carries && carried != slot:
		return 0, fmt.Errorf("the %s carries another slot than that of the %s; let the generator make it", s.id, s.owner)
	}
	return s.target(slot), nil
}

// Narrow needs one of the two values. An id from before geneFrom is not enough.
func (s *geneSharder) Narrow(known []Known) ([]int, bool, error) {
	var targets []int
	if id := known[s.idAt]; id.IsValue() {
		if slot, carries, err := s.slotOf(id.Value); err == nil && carries {
			targets = append(targets, s.target(slot))
		}
	}
	if owner := known[s.ownerAt]; owner.IsValue() {
		if slot, err := s.gene.slots.Of(owner.Value); err == nil {
			targets = append(targets, s.target(slot))
		}
	}
	return targets, len(targets) > 0, nil
}

// Decides implements Decider: with ids from before geneFrom, only the owner.
func (s *geneSharder) Decides(column int) bool { return column == s.ownerAt || s.from == 0 }
