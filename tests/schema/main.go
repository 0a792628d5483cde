// Command schema writes the JSON schema of the configuration, which editors check
// files with, from the structs of package config and their comments. `go generate
// ./config` runs it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/gormshard/sharding/config"
)

const (
	// file is where the schema is, from the root of the repository.
	file = "docs/sharding.schema.json"
	// id is its address, for the first line of a file.
	id = "https://raw.githubusercontent.com/gormshard/sharding/main/" + file
)

func main() {
	root, err := repository()
	if err == nil {
		var schema []byte
		if schema, err = generate(root); err == nil {
			err = os.WriteFile(filepath.Join(root, file), schema, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// repository finds the root of the repository above the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.work above the working directory")
		}
	}
}

// generate returns the schema. The comments are read from the source.
func generate(root string) ([]byte, error) {
	r := &jsonschema.Reflector{FieldNameTag: "yaml", ExpandedStruct: true, Mapper: schemaOf}
	// The paths of the comments are those of the directories.
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(root); err != nil {
		return nil, err
	}
	err = r.AddGoComments("github.com/gormshard/sharding", "config", jsonschema.WithFullComment())
	if err := os.Chdir(before); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for key, comment := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(comment), " ")
	}
	s := r.Reflect(new(config.Config))
	s.ID, s.Title = id, "Configuration of github.com/gormshard/sharding"
	s.Properties.Set("$schema", &jsonschema.Schema{Type: "string", Description: "The address of this schema, in a JSON file."})

	// An audit may be the list of its rules, and {none: {}} is set by its key.
	audit := *s.Definitions["Audit"]
	rules, _ := audit.Properties.Get("rules")
	*s.Definitions["Audit"] = jsonschema.Schema{AnyOf: []*jsonschema.Schema{&audit, rules}, Description: audit.Description}
	none, _ := s.Definitions["Strategy"].Properties.Get("none")
	none.Type, none.AnyOf = "", []*jsonschema.Schema{
		{Type: "boolean"},
		{Type: "null"},
		{Type: "object", AdditionalProperties: jsonschema.FalseSchema},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// schemaOf returns the schema of a type whose form in a file is not that of its
// kind, nil for others.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`},
			{Const: 0},
		}}
	case reflect.TypeFor[config.AuditRule]():
		return oneOf(config.AuditRequireShardingKey, config.AuditSingleDataSource, config.AuditKeyInFunction,
			config.AuditShardedSubquery, config.AuditMemoryMerge)
	case reflect.TypeFor[config.TextKey]():
		return oneOf(config.TextKeyRefuse, config.TextKeyBinary, config.TextKeyWeight, config.TextKeyExact)
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		item := schemaOf(t.Elem())
		if item == nil {
			item = &jsonschema.Schema{Type: "string"}
		}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "array", Items: item},
			{Type: "string", Description: "A list with commas."},
		}}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: schemaOf(t.Elem())}
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Minimum: "0"}
	}
	return nil
}

func oneOf[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, value := range values {
		s.Enum = append(s.Enum, string(value))
	}
	return s
}
