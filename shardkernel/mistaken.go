package shardkernel

import "github.com/gormshard/sharding/internal/nearest"

// Mistaken returns the table with a rule that is probably meant by the name of a
// table without one, and the data source that the latter is in. near is empty where
// no table is called nearly so, and where the configuration knows the name.
func (k *Kernel) Mistaken(table string) (near, dataSource string) {
	if k.rules.IsTable(table) {
		return "", ""
	}
	var names []string
	for _, t := range k.rules.Tables() {
		names = append(names, t.Name)
	}
	return nearest.Nearest(table, names), k.rules.SingleSource(table)
}
