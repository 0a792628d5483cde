package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gormshard/sharding/internal/fault"
)

// LoadShardingSphere reads a YAML file of ShardingSphere-JDBC 5 as it is, puts
// environment variables over what it becomes, as Load does, and validates it.
// Every row stays on the node that ShardingSphere has put it on. What the file
// holds and this package does not honour is an error that names it; all are
// reported at once, each a *fault.ConfigError with the path in the file. What
// became of the file is printed by Config.YAML. docs/from-shardingsphere.md has a
// table of what maps to what.
//
// A JDBC URL becomes a DSN of Go's driver with the same meaning. $${NAME::default}
// in any text is the environment variable NAME, or the default.
func LoadShardingSphere(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return parseShardingSphere(data, path)
}

// ParseShardingSphere is LoadShardingSphere for the content of a file.
func ParseShardingSphere(data []byte) (*Config, error) {
	return parseShardingSphere(data, "configuration")
}

func parseShardingSphere(data []byte, place string) (*Config, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, &fault.ConfigError{Path: place, Err: errors.New(withoutContent(err.Error()))}
	}
	if why := otherFormat(root); why != "" {
		return nil, &fault.ConfigError{Path: place, Reason: why, Remedy: "write it in the YAML form of ShardingSphere-JDBC 5"}
	}
	tags := ruleTags(root)
	doc, err := decodeYAML(root)
	if err != nil {
		return nil, &fault.ConfigError{Path: place, Err: errors.New(withoutContent(err.Error()))}
	}
	if packageForm(doc) {
		return nil, &fault.ConfigError{Path: place, Reason: "is in the form of this package, not of ShardingSphere", Remedy: "read it with config.Load"}
	}
	r := &sphere{
		faults:  new(faults),
		out:     document{},
		sources: document{},
		groups:  document{},
		origins: origins{},
		textKey: TextKeyBinary,
	}
	doc, _ = r.fromEnvironment(doc, "").(document)
	r.read(&section{faults: r.faults, doc: doc}, tags)

	cfg, all := fromDocument(r.out, func(*Config, *faults) {})
	for _, f := range r.origins.back(all.list) {
		if !r.touches(f.Path) {
			r.list = append(r.list, f)
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return cfg, nil
}

// otherFormat says what a document is that is none of ShardingSphere-JDBC 5.
func otherFormat(n *yaml.Node) string {
	var keys []string
	for i := 0; i < len(rootContent(n)); i += 2 {
		keys = append(keys, rootContent(n)[i].Value)
	}
	if what := formerForm(keys); what != "" {
		return what
	}
	if javaTyped(n) {
		return "names the Java classes of values (!!), which is the format of ShardingSphere 4"
	}
	return ""
}

func rootContent(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 && n.Content[0].Kind == yaml.MappingNode {
		return n.Content[0].Content
	}
	return nil
}

// javaTyped reports whether a value has a tag such as !!com.zaxxer.HikariDataSource.
func javaTyped(n *yaml.Node) bool {
	tag := n.ShortTag()
	return strings.HasPrefix(tag, "!!") && strings.Contains(tag, ".") || slices.ContainsFunc(n.Content, javaTyped)
}

// ruleTags returns the tags of the rules and takes them off.
func ruleTags(n *yaml.Node) []string {
	var tags []string
	content := rootContent(n)
	for i := 0; i < len(content); i += 2 {
		if content[i].Value != "rules" {
			continue
		}
		for _, rule := range content[i+1].Content {
			tag := ""
			if strings.HasPrefix(rule.Tag, "!") && !strings.HasPrefix(rule.Tag, "!!") {
				tag = rule.Tag[1:]
				rule.Tag = ""
			}
			tags = append(tags, strings.ToUpper(tag))
		}
	}
	return tags
}

// sphere turns a document of ShardingSphere into one of this package.
type sphere struct {
	*faults
	out     document // what it becomes
	sources document // its dataSources
	groups  document // its readwriteSplitting.groups
	origins origins
	textKey TextKey
	column  string // of standard strategies that name none
	single  string // the data source that !SINGLE names
}

// put sets a key of what the file becomes, unless there is nothing to set.
func (r *sphere) put(out document, above, key string, value any, from string) {
	if value == nil || value == "" || reflect.ValueOf(value).Kind() == reflect.Map && reflect.ValueOf(value).Len() == 0 {
		return
	}
	out[key] = value
	r.origins[join(above, key)] = from
}

func (r *sphere) read(s *section, tags []string) {
	for name, source := range s.children("dataSources") {
		r.dataSource(name, source)
	}
	r.put(r.out, "", "dataSources", r.sources, "dataSources")
	for _, name := range []string{"databaseName", "schemaName"} {
		value, path := s.text(name)
		r.put(r.out, "", "schema", value, path)
	}
	r.props(s)
	r.mode(s.child("mode"))
	r.rules(s, tags)
	r.transaction(s.child("transaction"))
	s.refuse("authority", "privileges are the server's here", "remove it")
	s.refuse("logging", "loggers are GORM's here", "remove it")
	s.refuse("traffic", "there is no traffic governance here", "remove it")
	s.refuse("globalClock", "there is no global clock here", "remove it")
	if translator := s.child("sqlTranslator"); translator != nil {
		if kind, path := translator.text("type"); !strings.EqualFold(kind, "Native") {
			s.add(path, "SQL is not translated here", "remove it, and write the SQL of the servers")
		}
	}
	s.ignore("sqlParser", "sqlFederation")
	s.rest()
	r.defaultDataSource()
}

// defaultDataSource names a data source of the file: the application's own pool may
// lead to one of them, and what goes to all would go there twice.
func (r *sphere) defaultDataSource() {
	if name := r.defaultName(); name != "" && r.single == "" {
		r.out["defaultDataSource"] = name
	}
}

// defaultName returns the data source of !SINGLE, else the first in order.
func (r *sphere) defaultName() string {
	if names := r.names(); r.single == "" && len(names) > 0 {
		return names[0]
	}
	return r.single
}

// names returns the data sources that tables can be in: groups in the place of
// their members.
func (r *sphere) names() []string {
	cfg := Config{DefaultDataSource: "-", DataSources: map[string]DataSource{}, ReadwriteSplitting: ReadwriteSplitting{Groups: map[string]Group{}}}
	for name := range r.sources {
		cfg.DataSources[name] = DataSource{}
	}
	for name, group := range r.groups {
		g := group.(document)
		primary, _ := g["primary"].(string)
		cfg.ReadwriteSplitting.Groups[name] = Group{Primary: primary, Replicas: anyTexts(g["replicas"])}
	}
	return cfg.SourceNames()
}

func anyTexts(list any) []string {
	var texts []string
	items, _ := list.([]any)
	for _, item := range items {
		texts = append(texts, item.(string))
	}
	return texts
}

func toAny(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// rules reads the rules, groups of data sources first.
func (r *sphere) rules(s *section, tags []string) {
	value, path := s.take("rules")
	list, ok := value.([]any)
	if !ok && value != nil {
		s.add(path, "must be a list of rules with tags, not "+typeName(value), "write - !SHARDING and the like")
		return
	}
	readers := map[string]func(*section){
		"READWRITE_SPLITTING": r.readwriteSplitting,
		"SHARDING":            r.sharding,
		"BROADCAST":           func(s *section) { r.broadcast(s) },
		"SINGLE":              r.singleTables,
		"TRANSACTION":         r.transaction,
		"SQL_PARSER":          func(*section) {},
		"SQL_FEDERATION":      func(*section) {},
	}
	refused := map[string]string{
		"ENCRYPT":            "encryption of columns",
		"COMPATIBLE_ENCRYPT": "encryption of columns",
		"MASK":               "masking of columns",
		"SHADOW":             "shadow databases",
		"DB_DISCOVERY":       "discovery of primaries",
		"AUTHORITY":          "privileges apart from the server's",
		"TRAFFIC":            "traffic governance",
		"LOGGING":            "loggers apart from GORM's",
		"GLOBAL_CLOCK":       "a global clock",
		"SQL_TRANSLATOR":     "translation of SQL",
		"CACHE":              "a cache of rules",
		"SHARDING_CACHE":     "a cache of routes",
	}
	seen := map[string]string{}
	for _, first := range []bool{true, false} {
		for i, item := range list {
			at, tag := fmt.Sprintf("%s[%d]", path, i), ""
			if i < len(tags) { // a list that stands elsewhere, as an alias, has none
				tag = tags[i]
			}
			if (tag == "READWRITE_SPLITTING") != first {
				continue
			}
			rule := s.within(at, item)
			read, known := readers[tag]
			switch feature := refused[tag]; {
			case tag == "":
				s.add(at, "has no tag", "write its kind before it, such as - !SHARDING")
			case feature != "":
				s.add(at, fmt.Sprintf("!%s: %s is not supported", tag, feature), "remove the rule, if the application can do without")
			case !known:
				s.add(at, fmt.Sprintf("!%s is no rule that is known", tag), "known: !"+strings.Join(slices.Sorted(maps.Keys(readers)), ", !"))
			case seen[tag] != "":
				s.add(at, fmt.Sprintf("!%s stands at %s already", tag, seen[tag]), "make one rule of the two")
			default:
				seen[tag] = at
				if rule != nil {
					read(rule)
				}
			}
		}
	}
}

// transaction reads !TRANSACTION.
func (r *sphere) transaction(s *section) {
	if s == nil {
		return
	}
	kind, path := s.text("defaultType")
	out, _ := r.out["transaction"].(document)
	if out == nil {
		out = document{}
	}
	r.put(out, "transaction", "type", strings.ToUpper(kind), path)
	r.put(r.out, "", "transaction", out, s.path)
	s.ignore("providerType", "props")
	s.rest()
}

// mode accepts a configuration that is in the file alone.
func (r *sphere) mode(s *section) {
	if s == nil {
		return
	}
	kind, path := s.text("type")
	switch strings.ToUpper(kind) {
	case "", "STANDALONE", "MEMORY":
	default:
		s.add(path, "is "+kind+": rules that a governance centre holds may be others than those of the file", "write down the rules in force and remove mode")
	}
	s.ignore("repository", "overwrite")
	s.rest()
}

// props reads the properties.
func (r *sphere) props(root *section) {
	s := root.child("props")
	if s == nil {
		return
	}
	out := document{}
	numbers := []struct{ theirs, ours string }{
		{"max-connections-size-per-query", "maxConnectionsPerQuery"},
		{"kernel-executor-size", "maxParallelUnits"},
	}
	for _, p := range numbers {
		if n, given, path := s.number(p.theirs); given {
			r.put(out, "props", p.ours, n, path)
		}
	}
	flags := []struct{ theirs, ours string }{
		{"sql-show", "sqlShow"},
		{"check-table-metadata-enabled", "checkTables"},
	}
	for _, p := range flags {
		if on, path := s.flag(p.theirs); on {
			r.put(out, "props", p.ours, true, path)
		}
	}
	r.put(r.out, "", "props", out, s.path)
	switch choice, path := s.text("text-key"); TextKey(choice) {
	case "":
	case TextKeyRefuse, TextKeyBinary, TextKeyExact:
		r.textKey = TextKey(choice)
	default:
		s.add(path, fmt.Sprintf("no such choice %q for rows that were placed by the bytes of a text", choice), "use refuse, binary or exact")
	}
	if kind, path := s.text("sql-federation-type"); kind != "" && !strings.EqualFold(kind, "NONE") {
		s.add(path, "there is one way to answer joins of several data sources, and it is on by default", "remove it; props.gather of this package switches it off")
	}
	s.ignore("sql-simple", "max-union-size-per-datasource", "load-table-metadata-batch-size", "sql-comment-parse-enabled",
		"check-duplicate-table-enabled", "sql-federation-enabled", "system-log-level", "agent-plugins-enabled",
		"groovy-inline-expression-parsing-cache-max-size", "persist-schemas-to-repository-enabled", "cached-connections",
		"cdc-server-port", "instance-connection-enabled", "system-schema-metadata-assembly-enabled", "show-process-list-enabled",
		"lock-enabled", "lock-wait-timeout-milliseconds", "lock-attempts-max", "xa-transaction-manager-type", "query-with-cipher-column")
	for name := range s.doc {
		if strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "table-cache-") {
			s.ignore(name)
		}
	}
	s.rest()
}
