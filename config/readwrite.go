package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gormshard/sharding/internal/nearest"
)

// ReadwriteSplitting groups data sources into primaries and their replicas.
type ReadwriteSplitting struct {
	// Groups are data sources made of several, by name: the name is that of a
	// data source wherever one is wanted, those of its members are not. Defaults
	// to none.
	Groups map[string]Group `yaml:"groups,omitempty"`
	// Health says how the replicas of all groups are probed. Defaults to the
	// default of each setting.
	Health Health `yaml:"health,omitempty"`
}

// Health says when a replica answers no reads: it is out after failed probes in a
// row, or at once when the connection fails during a read, and back after good
// ones. A replica whose replication is stopped, or whose lag is not known, fails
// a probe as one does that is too far behind or gives no answer.
type Health struct {
	// Off ends all probes: every replica answers reads, whatever its state.
	// Defaults to false.
	Off bool `yaml:"off,omitempty"`
	// Interval is the time between two probes of a replica, give or take a tenth.
	// Defaults to 1 second.
	Interval time.Duration `yaml:"interval,omitempty"`
	// Timeout is how long a probe may take. Defaults to 500 milliseconds.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// MaxLag is how far a replica may be behind. Defaults to 5 seconds.
	MaxLag time.Duration `yaml:"maxLag,omitempty"`
	// FailAfter is the number of failed probes in a row after which a replica is
	// out. Defaults to 3.
	FailAfter int `yaml:"failAfter,omitempty"`
	// RecoverAfter is the number of good probes in a row after which it is back.
	// Defaults to 2.
	RecoverAfter int `yaml:"recoverAfter,omitempty"`
	// IgnoreLag probes whether replicas answer, and not how far they are behind:
	// for servers that replicate by other means than MySQL's own. Defaults to
	// false.
	IgnoreLag bool `yaml:"ignoreLag,omitempty"`
	// LagQuery asks the replica for its lag in the place of SHOW REPLICA STATUS: a
	// query, such as over a heartbeat table, that gives the seconds as one number,
	// NULL where they are not known. Defaults to none.
	LagQuery string `yaml:"lagQuery,omitempty"`
}

// Group is one primary and the replicas that follow it. They must hold the same
// schema. What writes, locks or reads the state of a session goes to the primary,
// and so does all of a transaction that may write; other reads go to a replica.
type Group struct {
	// Primary names the data source that is written to. Required.
	Primary string `yaml:"primary"`
	// Replicas name the data sources that answer reads. In a file the list may
	// also be one text with commas. Required.
	Replicas []string `yaml:"replicas"`
	// LoadBalancer is the type of what chooses among the replicas: ROUND_ROBIN,
	// RANDOM, WEIGHT, LEAST_CONNECTIONS or one that was added with an option of
	// the plugin. Defaults to "ROUND_ROBIN".
	LoadBalancer string `yaml:"loadBalancer,omitempty"`
	// Weights are the shares of replicas in the reads, for WEIGHT. Defaults to 1
	// for each.
	Weights map[string]int `yaml:"weights,omitempty"`
	// PrimaryOnly sends all reads to the primary. Plugin.PrimaryOnly changes it
	// while the plugin runs. Defaults to false.
	PrimaryOnly bool `yaml:"primaryOnly,omitempty"`
	// NoReplica says what becomes of reads while no replica may answer them:
	// NoReplicaPrimary or NoReplicaError. Defaults to "PRIMARY".
	NoReplica string `yaml:"noReplica,omitempty"`
	// TransactionalReads says where reads of a read-only transaction go:
	// TransactionalPrimary, TransactionalFixed or TransactionalDynamic. Those of
	// other transactions go to the primary. Defaults to "PRIMARY".
	TransactionalReads string `yaml:"transactionalReads,omitempty"`
}

// What becomes of reads while no replica may answer them.
const (
	// NoReplicaPrimary sends them to the primary.
	NoReplicaPrimary = "PRIMARY"
	// NoReplicaError fails them with ErrNoReplica, to keep the load of reads away
	// from the primary.
	NoReplicaError = "ERROR"
)

// Where the reads of a transaction go that was begun as read-only.
const (
	// TransactionalPrimary keeps the whole transaction on the primary.
	TransactionalPrimary = "PRIMARY"
	// TransactionalFixed reads from one replica, chosen at the first read, in a
	// transaction there.
	TransactionalFixed = "FIXED"
	// TransactionalDynamic reads each statement from any replica, as outside of a
	// transaction: what two statements see may differ.
	TransactionalDynamic = "DYNAMIC"
)

// Balancer returns the type of the load balancer, or its default.
func (g Group) Balancer() string {
	if g.LoadBalancer == "" {
		return "ROUND_ROBIN"
	}
	return g.LoadBalancer
}

// Weight returns the weight of a replica, or its default.
func (g Group) Weight(replica string) int {
	if w, ok := g.Weights[replica]; ok {
		return w
	}
	return 1
}

// Transactional returns TransactionalReads, or its default.
func (g Group) Transactional() string {
	if g.TransactionalReads == "" {
		return TransactionalPrimary
	}
	return g.TransactionalReads
}

// PrimaryOf returns the name of the database behind a data source: that of the
// primary for a group, the same name for others.
func (c *Config) PrimaryOf(name string) string {
	if g, ok := c.ReadwriteSplitting.Groups[name]; ok {
		return g.Primary
	}
	return name
}

// members returns the databases that are in a group.
func (c *Config) members() map[string]bool {
	in := map[string]bool{}
	for _, g := range c.ReadwriteSplitting.Groups {
		in[g.Primary] = true
		for _, name := range g.Replicas {
			in[name] = true
		}
	}
	return in
}

func (k *checker) readwriteSplitting() {
	owner := map[string]string{} // path of the member that was seen first
	names := sortedNames(k.cfg.DataSources)
	for _, name := range sortedNames(k.cfg.ReadwriteSplitting.Groups) {
		path := join("readwriteSplitting.groups", name)
		g := k.cfg.ReadwriteSplitting.Groups[name]
		if name == "" {
			k.add(path, "the name is empty", "")
		}
		if _, taken := k.cfg.DataSources[name]; taken {
			k.add(path, "a data source has that name", "name the group as tables are to find it, and its primary otherwise")
		}
		member := func(path, name string) {
			k.reference(path, "data source", name, names)
			if other, ok := owner[name]; ok && name != "" {
				k.add(path, fmt.Sprintf("data source %q is at %s already", name, other), "")
			}
			owner[name] = path
			if of, first := k.cfg.DataSources[name], k.cfg.DataSources[g.Primary]; slices.Contains(names, name) && of.DriverName() != first.DriverName() {
				k.add(path, fmt.Sprintf("the driver %q is not the one of the primary, %q", of.DriverName(), first.DriverName()), "")
			}
		}
		member(path+".primary", g.Primary)
		if len(g.Replicas) == 0 {
			k.add(path+".replicas", "is empty", "name at least one, or use the primary as a data source by itself")
		}
		for i, replica := range g.Replicas {
			member(fmt.Sprintf("%s.replicas[%d]", path, i), replica)
		}
		for _, replica := range sortedNames(g.Weights) {
			at := join(path+".weights", replica)
			if !slices.Contains(g.Replicas, replica) {
				k.add(at, "is no replica of the group", nearest.Hint(replica, g.Replicas))
			}
			if w := g.Weights[replica]; w < 1 {
				k.add(at, fmt.Sprintf("is %d, less than 1", w), "leave the replica out, if it is to have no reads")
			}
		}
		if len(g.Weights) > 0 && !strings.EqualFold(strings.TrimSpace(g.Balancer()), "WEIGHT") && has(balancers, g.Balancer()) {
			k.add(path+".weights", "mean nothing to the load balancer "+g.Balancer(), "use WEIGHT")
		}
		switch g.NoReplica {
		case "", NoReplicaPrimary, NoReplicaError:
		default:
			k.add(path+".noReplica", fmt.Sprintf("no such choice %q", g.NoReplica), "use PRIMARY or ERROR")
		}
		switch g.Transactional() {
		case TransactionalPrimary, TransactionalFixed, TransactionalDynamic:
		default:
			k.add(path+".transactionalReads", fmt.Sprintf("no such choice %q", g.TransactionalReads), "use PRIMARY, FIXED or DYNAMIC")
		}
	}
	h := k.cfg.ReadwriteSplitting.Health
	const path = "readwriteSplitting.health"
	k.notNegative(path+".interval", int64(h.Interval))
	k.notNegative(path+".timeout", int64(h.Timeout))
	k.notNegative(path+".maxLag", int64(h.MaxLag))
	k.notNegative(path+".failAfter", int64(h.FailAfter))
	k.notNegative(path+".recoverAfter", int64(h.RecoverAfter))
	if h.IgnoreLag && h.LagQuery != "" {
		k.add(path+".lagQuery", "is not asked, since the lag is ignored", "set one of ignoreLag and lagQuery")
	}
}

// balancers are the built-in types of load balancers.
var balancers = []string{"ROUND_ROBIN", "RANDOM", "WEIGHT", "LEAST_CONNECTIONS"}
