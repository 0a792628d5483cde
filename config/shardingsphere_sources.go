package config

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/gormshard/sharding/shardkernel/algorithm"
)

// The pool settings that ShardingSphere gives a HikariCP pool that sets none.
const (
	poolSize        = 50
	poolIdle        = 60_000    // milliseconds
	poolLifetime    = 2_100_000 // milliseconds
	poolNeverCloses = 0
)

// dataSource reads one data source: its URL, and what its pool is called in
// HikariCP, ShardingSphere, Druid or DBCP.
func (r *sphere) dataSource(name string, s *section) {
	above := join("dataSources", name)
	out := document{}
	address, path := "", join(s.path, "jdbcUrl")
	for _, key := range []string{"jdbcUrl", "url", "standardJdbcUrl"} {
		if text, at := s.text(key); text != "" {
			address, path = text, at
		}
	}
	user, _ := s.text("username")
	password, _ := s.text("password")
	beside := map[string]string{}
	for _, key := range []string{"dataSourceProperties", "customPoolProps"} {
		if properties := s.child(key); properties != nil {
			for name := range properties.doc {
				beside[name], _ = properties.text(name)
			}
		}
	}
	r.put(out, above, "dsn", s.jdbcDSN(path, address, user, password, beside), path)

	size := r.pool(s, poolSize, "maximumPoolSize", "maxPoolSize", "maxActive", "maxTotal")
	r.put(out, above, "maxOpenConns", size, s.path)
	r.put(out, above, "maxIdleConns", size, s.path)
	for key, milliseconds := range map[string]int{
		"connMaxIdleTime": r.pool(s, poolIdle, "idleTimeout", "idleTimeoutMilliseconds", "minEvictableIdleTimeMillis"),
		"connMaxLifetime": r.pool(s, poolLifetime, "maxLifetime", "maxLifetimeMilliseconds", "maxConnLifetimeMillis"),
	} {
		if milliseconds != poolNeverCloses {
			r.put(out, above, key, strconv.Itoa(milliseconds)+"ms", s.path)
		}
	}
	if on, path := s.flag("readOnly"); on {
		s.add(path, "would refuse every write", "remove it; a replica is one by readwrite splitting")
	}
	if text, path := s.text("autoCommit"); text != "" && !strings.EqualFold(text, "true") {
		s.add(path, "is off, and each statement outside of a transaction is its own here", "remove it, and begin transactions where they are needed")
	}
	s.refuse("transactionIsolation", "is not read", "set it by the property sessionVariables of the URL: transaction_isolation in MySQL, tx_isolation in MariaDB")
	s.refuse("connectionInitSql", "is not sent", "set what it sets by the property sessionVariables of the URL")
	s.refuse("catalog", "is not read", "name the schema in the URL")
	s.refuse("schema", "is not read", "name the schema in the URL")
	s.ignore("dataSourceClassName", "driverClassName", "type", "minimumIdle", "minPoolSize", "minIdle", "initialSize",
		"connectionTimeout", "connectionTimeoutMilliseconds", "maxWait", "maxWaitMillis", "keepaliveTime", "validationTimeout",
		"leakDetectionThreshold", "initializationFailTimeout", "poolName", "connectionTestQuery", "validationQuery",
		"testWhileIdle", "testOnBorrow", "testOnReturn", "timeBetweenEvictionRunsMillis", "isolateInternalQueries",
		"allowPoolSuspension", "registerMbeans", "poolPreparedStatements", "maxPoolPreparedStatementPerConnectionSize", "filters")
	s.rest()
	r.sources[name] = out
	r.origins[above] = s.path
}

// pool returns the first of several numbers that is given.
func (r *sphere) pool(s *section, fallback int, names ...string) int {
	result := fallback
	for i := len(names) - 1; i >= 0; i-- {
		if n, given, _ := s.number(names[i]); given {
			result = n
		}
	}
	return result
}

// readwriteSplitting reads !READWRITE_SPLITTING of 5.0 to 5.5.
func (r *sphere) readwriteSplitting(s *section) {
	type balancer struct {
		kind  string
		props *section
		path  string
	}
	balancers := map[string]balancer{}
	for name, b := range s.children("loadBalancers") {
		kind, path := b.text("type")
		balancers[name] = balancer{kind: strings.ToUpper(kind), props: b.child("props"), path: path}
		b.rest()
	}
	for _, key := range []string{"dataSourceGroups", "dataSources"} {
		for name, g := range s.children(key) {
			above := join("readwriteSplitting.groups", name)
			r.origins[above] = g.path
			out := document{}
			r.members(g, g, out, above)
			if static := g.child("staticStrategy"); static != nil {
				r.members(static, g, out, above)
				static.rest()
			}
			if kind, path := g.text("type"); kind != "" && !strings.EqualFold(kind, "Static") {
				g.add(path, "is "+kind+": primaries are not discovered here", "name the primary and the replicas")
			} else if props := g.child("props"); props != nil {
				r.members(props, g, out, above)
				props.rest()
			}
			g.refuse("dynamicStrategy", "primaries are not discovered here", "name the primary and the replicas")
			g.refuse("autoAwareDataSourceName", "primaries are not discovered here", "name the primary and the replicas")
			reads, path := g.text("transactionalReadQueryStrategy")
			r.put(out, above, "transactionalReads", strings.ToUpper(reads), path)
			if name, path := g.text("loadBalancerName"); name != "" {
				b, ok := balancers[name]
				if !ok {
					g.add(path, fmt.Sprintf("no load balancer %q", name), "")
				}
				r.balancer(b.kind, b.path, b.props, out, above)
			}
			g.rest()
			r.groups[name] = out
		}
	}
	s.rest()
	r.put(r.out, "", "readwriteSplitting", document{"groups": r.groups}, s.path)
}

// members reads the data sources of a group.
func (r *sphere) members(s, group *section, out document, above string) {
	if primary, path := s.text("writeDataSourceName"); primary != "" {
		if strings.Contains(group.path+primary, "${") || strings.Contains(group.path+primary, "$->{") {
			s.add(path, "is an expression", "write each group by itself")
		}
		r.put(out, above, "primary", primary, path)
	}
	names, path := s.texts("readDataSourceNames")
	var replicas []string
	for _, name := range names {
		expanded, err := algorithm.ExpandNames(s.rowValue(name, path))
		if err != nil {
			s.wrap(path, err)
		}
		replicas = append(replicas, expanded...)
	}
	if len(replicas) > 0 {
		r.put(out, above, "replicas", toAny(replicas), path)
	}
}

// weightText bounds weights, so that whole numbers in their proportion are small.
var weightText = regexp.MustCompile(`^\d{1,6}(\.\d{1,3}0*)?$`)

// balancer reads a load balancer for a group.
func (r *sphere) balancer(kind, path string, props *section, out document, above string) {
	r.put(out, above, "loadBalancer", kind, path)
	switch {
	case strings.HasPrefix(kind, "TRANSACTION_"):
		r.add(path, "chooses a replica also in transactions that may write, which could not read what they wrote", "use "+strings.TrimPrefix(kind, "TRANSACTION_")+" with transactionalReadQueryStrategy: DYNAMIC, for read-only transactions")
	case strings.HasPrefix(kind, "FIXED_REPLICA_"):
		r.add(path, "chooses one replica for a transaction", "use "+strings.TrimPrefix(kind, "FIXED_REPLICA_")+" with transactionalReadQueryStrategy: FIXED")
	case kind == "FIXED_PRIMARY":
		r.add(path, "sends all reads to the primary", "remove the rule, or use primaryOnly of this package")
	}
	if props == nil {
		return
	}
	weights := map[string]*big.Rat{}
	for name := range props.doc {
		text, at := props.text(name)
		weight, ok := new(big.Rat), weightText.MatchString(text)
		if ok {
			weight.SetString(text)
		}
		if weight.Sign() <= 0 {
			props.add(at, "must be a number above 0 and below 1000000, with at most three decimals", "")
			return
		}
		weights[name] = weight
	}
	own, _ := out["replicas"].([]any)
	mine := map[string]*big.Rat{} // a load balancer may serve several groups
	for _, replica := range own {
		if w, ok := weights[replica.(string)]; ok {
			mine[replica.(string)] = w
		}
	}
	r.put(out, above, "weights", wholeWeights(mine), props.path)
}

// wholeWeights returns the smallest whole numbers in the same proportion.
func wholeWeights(weights map[string]*big.Rat) document {
	denominator, divisor := big.NewInt(1), new(big.Int)
	for _, w := range weights {
		gcd := new(big.Int).GCD(nil, nil, denominator, w.Denom())
		denominator.Mul(denominator, new(big.Int).Quo(w.Denom(), gcd))
	}
	whole := map[string]*big.Int{}
	for name, w := range weights {
		n := new(big.Rat).Mul(w, new(big.Rat).SetInt(denominator)).Num()
		whole[name] = n
		divisor.GCD(nil, nil, divisor, n)
	}
	out := document{}
	for name, n := range whole {
		out[name] = int(new(big.Int).Quo(n, divisor).Int64())
	}
	return out
}
