package config

import (
	"fmt"
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// autoTable checks an auto table as a table whose nodes were listed.
func (k *checker) autoTable(name string) {
	own := k.cfg.Sharding.AutoTables[name]
	t := &checkedTable{
		Table: own.Table(k.cfg.Sharding.Defaults),
		name:  name,
		path:  join("sharding.autoTables", name),
	}
	before := len(k.list)
	if name == "" {
		k.add(t.path, "the name is empty", "")
	}
	k.keyGenerate(t.path+".keyGenerate", own.KeyGenerate)
	k.audit(t.path+".audit", own.Audit)
	shards, ok := k.shards(t.path+".strategy", own.Strategy)
	switch {
	case strings.TrimSpace(own.DataSources) == "":
		k.add(t.path+".dataSources", "names no data source", "")
	case ok:
		nodes, err := own.Nodes(name, shards, k.sources)
		if err != nil {
			k.wrap(t.path+".dataSources", err)
			break
		}
		f := nodeFaults{faults: &k.faults, path: t.path}
		k.own(t, nodes, &f)
		f.rest()
		t.targets()
		if len(k.list) == before {
			k.bind(t.path+".strategy", own.Strategy, t.actualTables)
			k.geneKeys(t)
		}
	}
	t.sound = ok && len(k.list) == before && k.algorithmSound(own.Strategy)
	k.tables = append(k.tables, t)
}

// shards returns the number of shards of an auto table.
func (k *checker) shards(path string, s *Strategy) (n int, ok bool) {
	if s == nil || s.None {
		k.add(path, "is missing", "an auto table needs a standard strategy")
		return 0, false
	}
	k.strategy(path, s)
	if k.broken[path] {
		return 0, false
	}
	if s.Standard == nil {
		k.add(path, "is "+s.kind(), "an auto table needs a standard strategy")
		return 0, false
	}
	a, known := k.algorithms[s.Standard.Algorithm]
	if !known {
		return 0, false // reported, or not judged here
	}
	counter, ok := a.(algorithm.Counter)
	if !ok {
		k.add(path+".standard.algorithm", fmt.Sprintf("algorithm %q does not know its number of shards", s.Standard.Algorithm),
			"use MOD, HASH_MOD, VOLUME_RANGE, BOUNDARY_RANGE or AUTO_INTERVAL, or list the nodes under tables")
		return 0, false
	}
	return counter.Shards(), true
}
