package config

import (
	"slices"

	"github.com/gormshard/sharding/internal/fault"
)

// ownForm fails for a document that is one of ShardingSphere, whose keys would be
// reported one by one as unknown.
func ownForm(doc document, place string) error {
	switch what, five := shardingSphereForm(doc); {
	case five:
		return &fault.ConfigError{Path: place, Reason: what, Remedy: "read it with config.LoadShardingSphere; a file that is watched has to be in the form of this package, in which Config.YAML prints it"}
	case what != "":
		return &fault.ConfigError{Path: place, Reason: what, Remedy: "write it in the form of this package, or in the YAML form of ShardingSphere-JDBC 5 for config.LoadShardingSphere"}
	}
	return nil
}

// shardingSphereForm says of which kind of configuration of ShardingSphere a document
// is, and whether that can be read; empty for none.
func shardingSphereForm(doc document) (what string, readable bool) {
	if what := formerForm(sortedNames(doc)); what != "" {
		return what, false
	}
	const five = "is a configuration of ShardingSphere"
	sources, _ := doc["dataSources"].(document)
	for _, source := range sources {
		if holds(source, "jdbcUrl", "standardJdbcUrl", "url", "dataSourceClassName", "driverClassName") {
			return five, true
		}
	}
	rules, _ := doc["rules"].([]any)
	for _, rule := range rules {
		if fields, _ := rule.(document); holds(fields["tables"]) ||
			holds(rule, "autoTables", "shardingAlgorithms", "bindingTables", "dataSourceGroups", "loadBalancers", "broadcastTables", "defaultDatabaseStrategy", "defaultDataSource") {
			return five, true
		}
	}
	return "", false
}

// packageForm reports whether a document is one that Load reads.
func packageForm(doc document) bool {
	sources, _ := doc["dataSources"].(document)
	for _, source := range sources {
		if holds(source, "dsn") {
			return true
		}
	}
	return holds(doc, "sharding", "readwriteSplitting", "rulesVersion")
}

// formerForm says of which kind of configuration the top keys are, of those of
// ShardingSphere that are not read; empty for none.
func formerForm(keys []string) string {
	for _, key := range keys {
		switch key {
		case "shardingRule", "masterSlaveRule", "masterSlaveRules", "encryptRule", "shadowRule", "orchestration":
			return "has the key " + key + ", which is the format of ShardingSphere 4"
		case "spring":
			return "is a configuration of Spring Boot"
		}
	}
	return ""
}

// holds reports whether a value is a map with one of the keys, however they are
// written, or any map where there are no keys.
func holds(value any, names ...string) bool {
	doc, ok := value.(document)
	return ok && (len(names) == 0 || slices.ContainsFunc(sortedNames(doc), func(key string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return canonicalKey(key) == canonicalKey(name) })
	}))
}
