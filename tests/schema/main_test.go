package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func TestTheCommittedSchemaIsThatOfTheStructs(t *testing.T) {
	root, want := schema(t)
	got, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is stale: run go generate ./config", file)
	}
}

func schema(t *testing.T) (root string, text []byte) {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if text, err = generate(root); err != nil {
		t.Fatal(err)
	}
	return root, text
}

// check returns a function that validates a document.
func check(t *testing.T) (root string, validate func(any) error) {
	t.Helper()
	root, text := schema(t)
	doc, err := validator.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(id, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return root, compiled.Validate
}

// read returns the document of a file as the validator wants it.
func read(t *testing.T, text []byte, ext string) any {
	t.Helper()
	var doc any
	var err error
	switch ext {
	case ".yaml":
		err = yaml.Unmarshal(text, &doc)
	case ".toml":
		err = toml.Unmarshal(text, &doc)
	default:
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = validator.UnmarshalJSON(strings.NewReader(string(data))); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestConfigurationsFitTheSchema(t *testing.T) {
	root, validate := check(t)
	for _, path := range []string{
		"examples/orders/sharding.yaml",
		"config/testdata/valid.yaml", "config/testdata/valid.toml", "config/testdata/valid.json",
		"config/testdata/short.yaml", "config/testdata/short.toml", "config/testdata/short.json",
	} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(read(t, text, filepath.Ext(path))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// yamlBlock is an example in the documentation.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestExamplesOfTheDocumentationFitTheSchema(t *testing.T) {
	root, validate := check(t)
	for _, path := range []string{"README.md", "docs/configuration.md"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			t.Fatalf("%s has no example", path)
		}
		for _, block := range blocks {
			if err := validate(read(t, []byte(block[1]), ".yaml")); err != nil {
				t.Errorf("%s: %v\n%s", path, err, block[1])
			}
		}
	}
}

func TestTheSchemaFindsWhatLoadingWouldRefuse(t *testing.T) {
	_, validate := check(t)
	for _, text := range []string{
		"colour: red",
		"dataSources: {ds0: {maxOpenConns: 5}}",
		"dataSources: {ds0: {dsn: 5}}",
		"dataSources: {ds0: {dsn: x, maxOpenConn: 5}}",
		"dataSources: {ds0: {dsn: x, maxOpenConns: -1}}",
		"dataSources: {ds0: {dsn: x, connMaxLifetime: 30}}",
		"dataSources: {ds0: {dsn: x, connMaxLifetime: 30 minutes}}",
		"sharding: {tables: {t: {tableStrategy: {none: {a: 1}}}}}",
		"sharding: {tables: {t: {tableStrategy: {standard: {column: a}}}}}",
		"sharding: {tables: {t: {tableStrategy: {standard: {column: a, algorithm: b}, textKey: exakt}}}}",
		"sharding: {tables: {t: {audit: [requireShardingKeys]}}}",
		"sharding: {algorithms: {a: {type: X, props: [1]}}}",
		"sharding: {bindingTables: 'a,b'}",
		"rules: [{range: 0..7}]",
		"props: {sqlShow: 1}",
		"transaction: {xa: {cluster: a}}",
	} {
		if validate(read(t, []byte(text), ".yaml")) == nil {
			t.Errorf("fits: %s", text)
		}
	}
	for _, text := range []string{
		"sharding: {tables: {t: {tableStrategy: {none: }, databaseStrategy: {none: {}}, audit: []}}}",
		"sharding: {bindingTables: ['a,b', [c, d]], broadcastTables: 'a, b', defaults: {audit: {rules: [memoryMerge], maxNodes: 3}}}",
		"sharding: {algorithms: {a: {type: OWN, props: {a: [1, {b: c}], d: 0.5}}}}",
		"props: {statementTimeout: 1m30s, gather: false}\nreadwriteSplitting: {health: {interval: 0}}",
	} {
		if err := validate(read(t, []byte(text), ".yaml")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
