package config

import (
	"fmt"
	"maps"
	"strings"
)

// sharding reads !SHARDING.
func (r *sphere) sharding(s *section) {
	out := r.section("sharding", s.path)
	r.column, _ = s.text("defaultShardingColumn")
	auditors := map[string]AuditRule{}
	for name, a := range s.children("auditors") {
		auditors[name] = r.auditor(a)
	}
	keys := r.keyStrategies(s)

	tables := document{}
	for name, t := range s.children("tables") {
		above := join("sharding.tables", name)
		r.origins[above] = t.path
		table := document{}
		nodes, path := t.text("actualDataNodes")
		nodes = t.rowValue(nodes, path)
		if nodes == "" {
			// One table of the logical name in each data source.
			var all []string
			for _, source := range r.names() {
				all = append(all, source+"."+name)
			}
			nodes = strings.Join(all, ",")
		}
		r.put(table, above, "actualDataNodes", nodes, path)
		r.strategy(t, "databaseStrategy", table, above, "databaseStrategy")
		r.strategy(t, "tableStrategy", table, above, "tableStrategy")
		r.tableSettings(t, table, above, auditors)
		r.keyStrategy(keys, name, table, above)
		tables[name] = table
	}
	r.put(out, "sharding", "tables", tables, s.path)

	autos := document{}
	for name, t := range s.children("autoTables") {
		above := join("sharding.autoTables", name)
		r.origins[above] = t.path
		table := document{}
		sources, path := t.text("actualDataSources")
		sources = t.rowValue(sources, path)
		if sources == "" {
			t.add(path, "is missing", "name the data sources in the order in which ShardingSphere has them: it decides where the actual tables are")
		}
		r.put(table, above, "dataSources", sources, path)
		r.strategy(t, "shardingStrategy", table, above, "strategy")
		r.tableSettings(t, table, above, auditors)
		r.keyStrategy(keys, name, table, above)
		autos[name] = table
	}
	r.put(out, "sharding", "autoTables", autos, s.path)

	for _, name := range sortedNames(keys) {
		s.add(keys[name].path, fmt.Sprintf("no sharded table %q", name), "")
	}
	r.bindingTables(s, out)
	r.broadcastNames(s, "broadcastTables")

	defaults := document{}
	const above = "sharding.defaults"
	r.strategy(s, "defaultDatabaseStrategy", defaults, above, "databaseStrategy")
	r.strategy(s, "defaultTableStrategy", defaults, above, "tableStrategy")
	r.keyGenerate(s.child("defaultKeyGenerateStrategy"), defaults, above)
	r.audit(s.child("defaultAuditStrategy"), defaults, above, auditors)
	r.put(out, "sharding", "defaults", defaults, s.path)

	r.put(out, "sharding", "algorithms", r.types(s, "shardingAlgorithms", "sharding.algorithms", shardingType), s.path)
	r.put(out, "sharding", "keyGenerators", r.types(s, "keyGenerators", "sharding.keyGenerators", keyType), s.path)
	s.refuse("shardingCache", "is not supported", "remove it: plans are cached by default")
	s.refuse("scaling", "moving data between nodes is not supported", "remove it")
	s.ignore("scalingName")
	s.rest()
}

// section returns the document of a key of what the file becomes.
func (r *sphere) section(key, from string) document {
	out, ok := r.out[key].(document)
	if !ok {
		out = document{}
		r.out[key] = out
		r.origins[key] = from
	}
	return out
}

// tableSettings reads what tables and auto tables have in common.
func (r *sphere) tableSettings(t *section, out document, above string, auditors map[string]AuditRule) {
	r.keyGenerate(t.child("keyGenerateStrategy"), out, above)
	r.audit(t.child("auditStrategy"), out, above, auditors)
	t.ignore("logicTable")
	t.rest()
}

// strategy reads a sharding strategy.
func (r *sphere) strategy(s *section, theirs string, out document, above, ours string) {
	value, path := s.take(theirs)
	from := s.within(path, value)
	if from == nil {
		return
	}
	at := join(above, ours)
	strategy := document{}
	if kind := from.child("standard"); kind != nil {
		column, path := kind.text("shardingColumn")
		if column == "" {
			column = r.column
		}
		r.origins[at+".standard.column"] = path
		algorithm, path := kind.text("shardingAlgorithmName")
		r.origins[at+".standard.algorithm"] = path
		strategy["standard"] = document{"column": column, "algorithm": algorithm}
		strategy["textKey"] = string(r.textKey)
		kind.rest()
	}
	if kind := from.child("complex"); kind != nil {
		columns, path := kind.texts("shardingColumns")
		r.origins[at+".complex.columns"] = path
		algorithm, path := kind.text("shardingAlgorithmName")
		r.origins[at+".complex.algorithm"] = path
		strategy["complex"] = document{"columns": toAny(columns), "algorithm": algorithm}
		strategy["textKey"] = string(r.textKey)
		kind.rest()
	}
	if kind := from.child("hint"); kind != nil {
		algorithm, path := kind.text("shardingAlgorithmName")
		r.origins[at+".hint.algorithm"] = path
		strategy["hint"] = document{"algorithm": algorithm}
		kind.rest()
	}
	if _, given := from.doc["none"]; given {
		strategy["none"] = document{}
	}
	from.ignore("none")
	from.rest()
	out[ours] = strategy
	r.origins[at] = path
}

// keyGenerate reads a key generation strategy.
func (r *sphere) keyGenerate(s *section, out document, above string) {
	if s == nil {
		return
	}
	column, columnPath := s.text("column")
	generator, generatorPath := s.text("keyGeneratorName")
	r.origins[above+".keyGenerate.column"] = columnPath
	r.origins[above+".keyGenerate.generator"] = generatorPath
	r.put(out, above, "keyGenerate", document{"column": column, "generator": generator}, s.path)
	s.rest()
}

// keyStrategy is an entry of keyGenerateStrategies.
type keyStrategy struct {
	column, generator string
	path              string
}

// keyStrategies reads keyGenerateStrategies, which stand beside the tables in the
// latest 5.x, by table.
func (r *sphere) keyStrategies(s *section) map[string]keyStrategy {
	keys := map[string]keyStrategy{}
	for _, k := range s.children("keyGenerateStrategies") {
		if kind, path := k.text("keyGenerateType"); kind != "" && !strings.EqualFold(kind, "column") {
			k.add(path, "is "+kind+": only columns are filled", "remove it; a sequence is asked for by NEXT VALUE FOR")
			continue
		}
		table, path := k.text("logicTable")
		if _, twice := keys[table]; twice {
			k.add(path, fmt.Sprintf("table %q has a generated column already", table), "keep one of them")
		}
		key := keyStrategy{path: k.path}
		key.column, _ = k.text("keyGenerateColumn")
		key.generator, _ = k.text("keyGeneratorName")
		k.ignore("keyGenerateSequence")
		k.rest()
		keys[table] = key
	}
	return keys
}

// keyStrategy hands a table its entry of keyGenerateStrategies.
func (r *sphere) keyStrategy(keys map[string]keyStrategy, table string, out document, above string) {
	if key, ok := keys[table]; ok {
		delete(keys, table)
		r.put(out, above, "keyGenerate", document{"column": key.column, "generator": key.generator}, key.path)
	}
}

// auditor reads an auditor.
func (r *sphere) auditor(s *section) AuditRule {
	kind, path := s.text("type")
	s.ignore("props")
	s.rest()
	if !strings.EqualFold(kind, "DML_SHARDING_CONDITIONS") {
		s.add(path, fmt.Sprintf("no auditor of type %q", kind), "known: DML_SHARDING_CONDITIONS")
	}
	return AuditRequireShardingKey
}

// audit reads an audit strategy, which hints may switch off by default.
func (r *sphere) audit(s *section, out document, above string, auditors map[string]AuditRule) {
	if s == nil {
		return
	}
	names, path := s.texts("auditorNames")
	seen := map[AuditRule]bool{}
	var rules []any
	for _, name := range names {
		rule, ok := auditors[name]
		if !ok {
			s.add(path, fmt.Sprintf("no auditor %q", name), "")
		}
		if !seen[rule] {
			seen[rule] = true
			rules = append(rules, string(rule))
		}
	}
	allow := true
	if value, _ := s.take("allowHintDisable"); value != nil {
		allow, _ = s.flag("allowHintDisable")
	}
	r.put(out, above, "audit", document{"rules": rules, "allowHintDisable": allow}, s.path)
	s.rest()
}

// bindingTables reads lists of texts with commas, or one such text; a name of the
// list may stand before it with a colon.
func (r *sphere) bindingTables(s *section, out document) {
	value, path := s.take("bindingTables")
	if text, ok := value.(string); ok {
		value = []any{text}
	}
	list, ok := value.([]any)
	if !ok && value != nil {
		s.add(path, "must be a list, not "+typeName(value), "")
		return
	}
	var groups []any
	for i, item := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if names, ok := item.([]any); ok {
			groups = append(groups, names)
			continue
		}
		text, ok := item.(string)
		if !ok {
			s.add(at, "must be a text with commas, not "+typeName(item), "")
			continue
		}
		if _, names, named := strings.Cut(text, ":"); named {
			text = names
		}
		groups = append(groups, toAny(splitNames(text)))
		r.origins[fmt.Sprintf("sharding.bindingTables[%d]", len(groups)-1)] = at
	}
	if len(groups) > 0 {
		r.put(out, "sharding", "bindingTables", groups, path)
	}
}

// broadcast reads !BROADCAST.
func (r *sphere) broadcast(s *section) {
	r.broadcastNames(s, "tables")
	s.rest()
}

// broadcastNames reads the broadcast tables, which were part of !SHARDING up to
// 5.3.
func (r *sphere) broadcastNames(s *section, key string) {
	names, path := s.texts(key)
	if len(names) == 0 {
		return
	}
	out := r.section("sharding", s.path)
	before, _ := out["broadcastTables"].([]any)
	for i := range names {
		r.origins[fmt.Sprintf("sharding.broadcastTables[%d]", len(before)+i)] = fmt.Sprintf("%s[%d]", path, i)
	}
	out["broadcastTables"] = append(before, toAny(names)...)
}

// singleTables reads !SINGLE.
func (r *sphere) singleTables(s *section) {
	source, path := s.text("defaultDataSource")
	r.single = source
	r.put(r.out, "", "defaultDataSource", source, path)
	names, path := s.texts("tables")
	single := document{}
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			s.add(at, "is not of the form dataSource.table", "")
			continue
		}
		source, table := name[:dot], name[dot+1:]
		if table != "*" {
			single[table] = source
			r.origins[join("sharding.singleTables", table)] = at
			continue
		}
		// Tables without a rule are found in the default data source anyway.
		if source != r.defaultName() && !(source == "*" && len(r.names()) == 1) {
			s.add(at, fmt.Sprintf("%q stands for tables that would have to be looked for in the databases", name),
				fmt.Sprintf("remove it, which is enough where all single tables are in the default data source, %s; list those that are not, such as ds_1.t_log", r.defaultName()))
		}
	}
	s.rest()
	r.put(r.section("sharding", s.path), "sharding", "singleTables", single, path)
}

// types reads algorithms or key generators.
func (r *sphere) types(s *section, theirs, above string, adapt func(kind string, props document) (why, remedy string)) document {
	out := document{}
	for name, t := range s.children(theirs) {
		kind, path := t.text("type")
		r.origins[join(above, name)] = t.path
		r.origins[join(above, name)+".type"] = path
		props := document{}
		if given := t.child("props"); given != nil {
			props = maps.Clone(given.doc)
		}
		for key, value := range props {
			if text, ok := value.(string); ok && canonicalKey(key) == "algorithmexpression" {
				props[key] = t.formula(text, join(join(t.path, "props"), key))
			}
		}
		if why, remedy := adapt(strings.ToUpper(kind), props); why != "" {
			t.add(path, why, remedy)
		}
		one := document{"type": kind}
		if len(props) > 0 {
			one["props"] = props
		}
		out[name] = one
		t.rest()
	}
	return out
}

// setDefault sets a property that is not given.
func setDefault(props document, name string, value any, aliases ...string) {
	for key := range props {
		for _, other := range append(aliases, name) {
			if canonicalKey(key) == canonicalKey(other) {
				return
			}
		}
	}
	props[name] = value
}

// shardingType gives a sharding algorithm ShardingSphere's defaults.
func shardingType(kind string, props document) (why, remedy string) {
	switch kind {
	case "INLINE", "COMPLEX_INLINE":
		setDefault(props, "allowRangeQuery", false, "allow-range-query-with-inline-sharding")
		setDefault(props, "arithmetic", "java")
	case "HINT_INLINE":
		setDefault(props, "arithmetic", "java")
	case "AUTO_INTERVAL":
		setDefault(props, "rounding", "shardingSphere")
	case "MOD", "HASH_MOD":
		for _, key := range sortedNames(props) {
			switch canonicalKey(key) {
			case "startoffset", "stopoffset", "zeropadding":
				return "has " + key + ", by which a part of the value counts, or names are padded", "use INLINE, such as t_${(k % 16).toString().padLeft(2, '0')}"
			case "normalizenumericintrange":
				if kind == "HASH_MOD" && fmt.Sprint(props[key]) == "true" {
					setDefault(props, "javaType", "integer")
				}
				delete(props, key)
			}
		}
		if kind == "MOD" {
			setDefault(props, "arithmetic", "java")
		}
	case "CLASS_BASED", "COSID_MOD", "COSID_INTERVAL", "COSID_INTERVAL_SNOWFLAKE":
		return kind + " is a class of Java", "write the algorithm in Go, add it by sharding.WithAlgorithm, and use its name as type"
	}
	return "", ""
}

// keyType gives a key generator ShardingSphere's form of keys.
func keyType(kind string, props document) (why, remedy string) {
	switch kind {
	case "UUID":
		setDefault(props, "dashes", false)
	case "COSID", "COSID_SNOWFLAKE":
		return kind + " is a class of Java", "use SNOWFLAKE or SEGMENT, or add a generator of yours by sharding.WithKeyGenerator"
	}
	return "", ""
}
