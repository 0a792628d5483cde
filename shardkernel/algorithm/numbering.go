package algorithm

import (
	"fmt"
	"strings"
)

// numbering is the way in which an algorithm that counts its partitions from 0
// addresses them: partition 3 is the target whose name ends in the number 3,
// such as ds_3 and t_order_03.
type numbering struct{ count int64 }

// number returns the target of each partition. Every partition must have
// exactly one target and every target a partition.
func (n numbering) number(targets []string) ([]int, error) {
	byNumber := make([]int, n.count)
	for i := range byNumber {
		byNumber[i] = noTarget
	}
	for i, name := range targets {
		digits := endDigits(name)
		if digits == "" {
			return nil, fmt.Errorf("target %q does not end in a number; %s", name, n.needs())
		}
		at, ok := smallNumber(digits, n.count)
		if !ok {
			return nil, fmt.Errorf("target %q is never used; %s", name, n.needs())
		}
		if other := byNumber[at]; other != noTarget {
			return nil, fmt.Errorf("targets %q and %q both end in the number %d", targets[other], name, at)
		}
		byNumber[at] = i
	}
	for at, i := range byNumber {
		if i == noTarget {
			return nil, fmt.Errorf("no target ends in the number %d; %s", at, n.needs())
		}
	}
	return byNumber, nil
}

// Shards returns the number of partitions.
func (n numbering) Shards() int { return int(n.count) }

// addressed returns the targets whose names end in the number of a partition.
func (n numbering) addressed(targets []string) []string {
	var out []string
	for _, name := range targets {
		if digits := endDigits(name); digits != "" {
			if _, ok := smallNumber(digits, n.count); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

func (n numbering) needs() string {
	return fmt.Sprintf("the %d partitions need one target each, ending in 0 to %d", n.count, n.count-1)
}

// Label is the number that the name ends in.
func (numbering) Label(target string) string {
	digits := endDigits(target)
	if number := strings.TrimLeft(digits, "0"); number != "" {
		return number
	}
	return digits[:min(len(digits), 1)]
}

func endDigits(name string) string {
	return name[len(strings.TrimRight(name, "0123456789")):]
}

// smallNumber reads digits as a number below limit.
func smallNumber(digits string, limit int64) (n int64, ok bool) {
	for i := range len(digits) {
		n = n*10 + int64(digits[i]-'0')
		if n >= limit {
			return 0, false
		}
	}
	return n, true
}
