package config

import "testing"

// What an algorithm chooses by decides whether nodes belong together: the number
// at a name's end, its date, the place in the list, or the whole name.
func TestBindingGoesByWhatTheAlgorithmChoosesBy(t *testing.T) {
	const otherValues = "the algorithms give node 1, ds0.x_1, other values than ds0.t_order_0 there"
	inOrder, reversed := "ds${0..1}.x_${0..1}", "ds${0..1}.x_${1..0}"
	volume := Algorithm{Type: "VOLUME_RANGE", Props: map[string]any{"rangeLower": 0, "rangeUpper": 10, "shardingVolume": 10}}
	boundary := Algorithm{Type: "boundary_range", Props: map[string]any{"shardingRanges": "10"}}
	slots := Algorithm{Type: "SLOT_RANGE"}
	ring := Algorithm{Type: "CONSISTENT_HASH"}
	monthly := func(suffix string) Algorithm {
		return Algorithm{Type: "INTERVAL", Props: map[string]any{
			"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-02-01 00:00:00", "suffixPattern": suffix, "unit": "MONTHS",
		}}
	}
	for _, test := range []struct {
		name            string
		order, item     string // nodes
		byOrder, byItem Algorithm
		columns         [2]string
		want            string // "" for bound
	}{
		{name: "numbers", order: "ds${0..1}.t_order_${0..1}", item: inOrder, byOrder: boundary, byItem: boundary},
		{name: "numbers in another form", order: "ds${0..1}.t_order_${0..1}", item: "ds${0..1}.x${['00','01']}", byOrder: boundary, byItem: boundary},
		{name: "numbers in another order", order: "ds${0..1}.t_order_${0..1}", item: reversed, byOrder: boundary, byItem: boundary, want: otherValues},
		{
			name: "three partitions in another order", order: "ds${0..1}.t_order_${0..2}", item: "ds${0..1}.x_${[0, 2, 1]}", byOrder: volume, byItem: volume,
			want: "the algorithms give node 2, ds0.x_2, other values than ds0.t_order_1 there",
		},
		{
			name: "other boundaries", order: "ds${0..1}.t_order_${0..1}", item: inOrder, byOrder: boundary,
			byItem: Algorithm{Type: "BOUNDARY_RANGE", Props: map[string]any{"shardingRanges": "11"}},
			want:   `the algorithms "by_item" and "by_order" of the table strategies differ in more than the names of table and column`,
		},
		{name: "dates", order: "ds${0..1}.t_order_${202401..202402}", item: "ds${0..1}.x${202401..202402}", byOrder: monthly("yyyyMM"), byItem: monthly("yyyyMM")},
		{
			name: "dates in another order", order: "ds${0..1}.t_order_${202401..202402}", item: "ds${0..1}.x_${202402..202401}", byOrder: monthly("yyyyMM"), byItem: monthly("yyyyMM"),
			want: "the algorithms give node 1, ds0.x_202402, other values than ds0.t_order_202401 there",
		},
		{
			name: "a column called like a unit", order: "ds${0..1}.t_order_${202401..202402}", item: "ds${0..1}.x_${202401..202402}",
			byOrder: monthly("yyyyMM"), columns: [2]string{"months", "days"},
			byItem: Algorithm{Type: "INTERVAL", Props: map[string]any{
				"datetimeLower": "2024-01-01 00:00:00", "datetimeUpper": "2024-02-01 00:00:00", "suffixPattern": "yyyyMM", "unit": "DAYS",
			}},
			want: `the algorithms "by_item" and "by_order" of the table strategies differ in more than the names of table and column`,
		},
		{name: "places", order: "ds${0..1}.t_order_${0..1}", item: inOrder, byOrder: slots, byItem: slots},
		{name: "places with unlike numbers", order: "ds${0..1}.t_order_${0..1}", item: reversed, byOrder: slots, byItem: slots},
		{
			name: "other places", order: "ds0.t_order_${0..1}, ds1.t_order_${0..1}", item: "ds0.x_${0..1}, ds1.x_${1..0}", byOrder: slots, byItem: slots,
			want: "the nodes are not in the same order: node 3 is ds1.x_1, but ds1.t_order_0 there",
		},
		{
			name: "other slots", order: "ds${0..1}.t_order_${0..1}", item: inOrder, byOrder: slots,
			byItem: Algorithm{Type: "SLOT_RANGE", Props: map[string]any{"slots": 2048}},
			want:   `the algorithms "by_item" and "by_order" of the table strategies differ in more than the names of table and column`,
		},
		{
			name: "whole names", order: "ds${0..1}.t_order_${0..1}", item: "ds${0..1}.t_item_${0..1}", byOrder: ring, byItem: ring,
			want: "the algorithms give node 1, ds0.t_item_0, other values than ds0.t_order_0 there",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.columns[0] == "" {
				test.columns = [2]string{"k", "key"}
			}
			cfg := small()
			cfg.Sharding.Algorithms["by_order"], cfg.Sharding.Algorithms["by_item"] = test.byOrder, test.byItem
			change("t_order", func(t *Table) { t.ActualDataNodes, t.TableStrategy = test.order, strategy(test.columns[0], "by_order") })(cfg)
			change("t_item", func(t *Table) { t.ActualDataNodes, t.TableStrategy = test.item, strategy(test.columns[1], "by_item") })(cfg)
			if test.want == "" {
				wantFaults(t, cfg.Validate())
			} else {
				wantFaults(t, cfg.Validate(), `sharding.bindingTables[0][1]: table "t_item" cannot be bound to "t_order": `+test.want)
			}
		})
	}
}
