package config

import (
	"slices"
	"testing"
)

// grouped is a small valid configuration with two groups.
func grouped() *Config {
	c := small()
	c.DataSources = map[string]DataSource{"a": {DSN: "a"}, "a_r0": {DSN: "a0"}, "a_r1": {DSN: "a1"}, "ds1": {DSN: "b"}}
	c.ReadwriteSplitting.Groups = map[string]Group{"ds0": {Primary: "a", Replicas: []string{"a_r0", "a_r1"}, LoadBalancer: "WEIGHT", Weights: map[string]int{"a_r0": 2}}}
	return c
}

func TestGroupsTakeThePlaceOfTheirMembers(t *testing.T) {
	c := grouped()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := c.SourceNames(); !slices.Equal(got, []string{"ds0", "ds1"}) {
		t.Errorf("data sources %q", got)
	}
	if got := c.PrimaryOf("ds0") + " " + c.PrimaryOf("ds1"); got != "a ds1" {
		t.Errorf("primaries %q", got)
	}
	g := c.ReadwriteSplitting.Groups["ds0"]
	if g.Weight("a_r0") != 2 || g.Weight("a_r1") != 1 || g.Transactional() != TransactionalPrimary || (Group{}).Balancer() != "ROUND_ROBIN" {
		t.Errorf("%+v and its defaults", g)
	}
}

func TestFaultsOfGroupsAreFound(t *testing.T) {
	for _, test := range []struct {
		group Group
		name  string
		want  []string
	}{
		{Group{Replicas: []string{"a_r0"}}, "ds0", []string{"readwriteSplitting.groups.ds0.primary: is empty"}},
		{Group{Primary: "a"}, "ds0", []string{"readwriteSplitting.groups.ds0.replicas: is empty; name at least one, or use the primary as a data source by itself"}},
		{Group{Primary: "a", Replicas: []string{"a_r2"}}, "ds0", []string{`readwriteSplitting.groups.ds0.replicas[0]: no data source "a_r2"; did you mean "a_r0"?`}},
		{Group{Primary: "a", Replicas: []string{"a_r0", "a"}}, "ds0", []string{`readwriteSplitting.groups.ds0.replicas[1]: data source "a" is at readwriteSplitting.groups.ds0.primary already`}},
		{Group{Primary: "a", Replicas: []string{"a_r0"}, Weights: map[string]int{"a_r0": 0, "a_r1": 1}, LoadBalancer: "weight"}, "ds0", []string{
			"readwriteSplitting.groups.ds0.weights.a_r0: is 0, less than 1; leave the replica out, if it is to have no reads",
			`readwriteSplitting.groups.ds0.weights.a_r1: is no replica of the group; did you mean "a_r0"?`,
		}},
		{Group{Primary: "a", Replicas: []string{"a_r0"}, Weights: map[string]int{"a_r0": 1}}, "ds0", []string{"readwriteSplitting.groups.ds0.weights: mean nothing to the load balancer ROUND_ROBIN; use WEIGHT"}},
		{Group{Primary: "a", Replicas: []string{"a_r0"}, TransactionalReads: "fixed"}, "ds0", []string{`readwriteSplitting.groups.ds0.transactionalReads: no such choice "fixed"; use PRIMARY, FIXED or DYNAMIC`}},
		{Group{Primary: "a", Replicas: []string{"other"}}, "ds0", []string{`readwriteSplitting.groups.ds0.replicas[0]: the driver "own" is not the one of the primary, "mysql"`}},
	} {
		c := grouped()
		c.DataSources["other"] = DataSource{DSN: "o", Driver: "own"}
		c.ReadwriteSplitting.Groups = map[string]Group{test.name: test.group}
		wantFaults(t, c.Validate(), test.want...)
	}
}

func TestAMemberIsNoDataSourceOfATable(t *testing.T) {
	c := grouped()
	change("t_log", func(t *Table) { t.ActualDataNodes = "a_r0.t_log_${0..3}" })(c)
	wantFaults(t, c.Validate(), `sharding.tables.t_log.actualDataNodes: no data source "a_r0"`)
}

// A write to a broadcast table runs on primaries, so only those must differ.
func TestOnlyPrimariesMustBeDifferentDatabases(t *testing.T) {
	c := grouped()
	c.Sharding.BroadcastTables = []string{"t_region"}
	c.DataSources["a_r0"] = DataSource{DSN: "a"}
	wantFaults(t, c.Validate())
	c.DataSources["ds1"] = DataSource{DSN: "a"}
	if err := c.Validate(); err == nil {
		t.Error("two data sources with one primary database are accepted")
	}
}
