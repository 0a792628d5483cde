package sharding

import (
	"context"

	"github.com/gormshard/sharding/shardkernel"
)

type (
	// BroadcastReport is what CheckBroadcast found. Its String holds the keys of
	// rows that differ.
	BroadcastReport = shardkernel.BroadcastReport
	// BroadcastTable is what was found of one broadcast table.
	BroadcastTable = shardkernel.BroadcastTable
	// BroadcastCopy is a broadcast table in one data source.
	BroadcastCopy = shardkernel.BroadcastCopy
	// BroadcastDifference is a row that is not alike in all data sources.
	BroadcastDifference = shardkernel.BroadcastDifference
	// BroadcastKind says what is the matter with a row: BroadcastMissing,
	// BroadcastExtra or BroadcastDifferent.
	BroadcastKind = shardkernel.BroadcastKind
)

// The kinds of differences between the copies of a broadcast table.
const (
	// BroadcastMissing: the first data source has the row, others lack it.
	BroadcastMissing = shardkernel.BroadcastMissing
	// BroadcastExtra: others have the row, the first data source lacks it.
	BroadcastExtra = shardkernel.BroadcastExtra
	// BroadcastDifferent: the row has other values than in the first data source.
	BroadcastDifferent = shardkernel.BroadcastDifferent
)

// CheckBroadcast compares the copies of the named broadcast tables, or of all of
// them, in all data sources: how they are defined, the number of their rows, a
// checksum of these, and, where they differ, which rows do, by their primary key.
// The first data source, in the order of names, is what the others are compared
// with. Nothing is changed, and differences are no error: BroadcastReport says
// whether there are any.
//
// The checksum counts every column but generated ones, byte by byte, also where
// a collation takes texts for equal, and tells NULL from an empty text. The
// servers compute it, each scanning the table once; where sums differ, a scan
// more for each 64 of 4,096 chunks brings the hashes of the rows in these, not
// the rows. Each row that is listed was found to differ twice. The copies are not
// read at one moment: rows that are being written may be listed, so that a
// difference in a table in use is worth a second check.
//
// The report holds primary keys of rows, as many as
// sharding.broadcastCheck.maxDifferences says; nothing else of them. Of a table
// without a primary key, and of a view, only number and checksum are compared.
//
// It uses a control connection of each data source, not the application's pools,
// for one check at a time, and ends with ctx. It fails with ErrUnknownTable for a
// name that is no broadcast table, with a NodeError where a data source cannot
// be asked, and with ErrUnsupported on SQLite.
func (p *Plugin) CheckBroadcast(ctx context.Context, tables ...string) (*BroadcastReport, error) {
	e, err := p.running()
	if err != nil {
		return nil, err
	}
	kernel := e.live.Acquire()
	defer kernel.Release()
	return kernel.CheckBroadcast(ctx, tables)
}
