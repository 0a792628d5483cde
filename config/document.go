package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// A document is a file as written: maps by text, lists, texts, booleans, int,
// uint64 and float64. Viper's own reader would fold the case of names and split
// them at dots.
type document = map[string]any

// readDocument reads data in one of the formats yaml, yml, toml and json.
func readDocument(data []byte, format string) (document, error) {
	var doc document
	var err error
	switch strings.ToLower(format) {
	case "yaml", "yml":
		doc, err = readYAML(data)
	case "json":
		doc, err = readJSON(data)
	case "toml":
		doc, err = readTOML(data)
	default:
		return nil, fmt.Errorf("format %q is not one of yaml, yml, toml, json", format)
	}
	if err != nil {
		return nil, errors.New(withoutContent(err.Error()))
	}
	return doc, nil
}

// quoted finds what a reader's message quotes from the document, which may be
// part of a password. Single characters, as in `expected ',' or '}'`, tell nothing;
// they are found as well, so that the text between two of them is not.
var (
	quoted = regexp.MustCompile(`'\\?.?'|"\\?.?"|` + "`[^`]*`" + `|'[^']{2,}'|"[^"]{2,}"`)
	single = regexp.MustCompile(`^(?:'\\?.?'|"\\?.?")$`)
)

func withoutContent(message string) string {
	return quoted.ReplaceAllStringFunc(message, func(part string) string {
		if single.MatchString(part) {
			return part
		}
		return hidden
	})
}

func readYAML(data []byte) (document, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	return decodeYAML(root)
}

// parseYAML returns the one document of a text, the zero node for none.
func parseYAML(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	root := new(yaml.Node)
	if err := decoder.Decode(root); errors.Is(err, io.EOF) {
		return root, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); err == nil {
		return nil, errors.New("yaml: a second document follows the first; only one is read")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return root, keepText(root)
}

func decodeYAML(root *yaml.Node) (document, error) {
	if root.IsZero() {
		return document{}, nil
	}
	var top any
	if err := root.Decode(&top); err != nil {
		return nil, err
	}
	if top == nil {
		return document{}, nil
	}
	doc, ok := top.(document)
	if !ok {
		return nil, errors.New("yaml: the document is not a map")
	}
	return doc, nil
}

// keepText makes map keys and dates the texts they are written as, and refuses
// whole numbers that would lose digits.
func keepText(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		switch n.Tag {
		case "!!timestamp":
			n.Tag = "!!str"
		case "!!float":
			if strings.Trim(n.Value, "+-0123456789_") == "" {
				return fmt.Errorf("yaml: line %d: the number does not fit 64 bits; write it as a text in quotes", n.Line)
			}
		}
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode && child.Tag != "!!merge" {
			child.Tag = "!!str"
		}
		if err := keepText(child); err != nil {
			return err
		}
	}
	return nil
}

// maxDepth is how deep a JSON document may nest.
const maxDepth = 100

func readJSON(data []byte) (document, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return document{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	top, err := readJSONValue(decoder, "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("json: text follows the document")
	}
	doc, ok := top.(document)
	if !ok {
		return nil, errors.New("json: the document is not an object")
	}
	return doc, nil
}

// readJSONValue reads one value by tokens: decoded into a map, a repeated key
// would silently replace the one before.
func readJSONValue(decoder *json.Decoder, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("json: nested deeper than %d", maxDepth)
	}
	token, err := decoder.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("json: near byte %d: %w", decoder.InputOffset(), err)
	}
	switch token {
	case json.Delim('{'):
		object := document{}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return nil, fmt.Errorf("json: near byte %d: %w", decoder.InputOffset(), err)
			}
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("json: near byte %d: a key must be a text", decoder.InputOffset())
			}
			at := join(path, name)
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("json: %s stands twice", at)
			}
			if object[name], err = readJSONValue(decoder, at, depth+1); err != nil {
				return nil, err
			}
		}
		_, err = decoder.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			item, err := readJSONValue(decoder, path, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = decoder.Token()
		return list, err
	}
	if number, ok := token.(json.Number); ok {
		return exactNumber(number.String(), path)
	}
	return token, nil
}

// exactNumber keeps every digit of a whole number.
func exactNumber(text, path string) (any, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return nil, fmt.Errorf("json: %s: the number does not fit 64 bits; write it as a text in quotes", path)
	}
	return f, nil
}

func readTOML(data []byte) (document, error) {
	decoder, err := viper.NewCodecRegistry().Decoder("toml")
	if err != nil {
		return nil, err
	}
	doc := document{}
	if err := decoder.Decode(data, doc); err != nil {
		return nil, err
	}
	for key, value := range doc {
		doc[key] = plainTOML(value)
	}
	return doc, nil
}

// plainTOML turns int64 into int and dates into text, as the other formats have
// them.
func plainTOML(value any) any {
	switch v := value.(type) {
	case document:
		for key, item := range v {
			v[key] = plainTOML(item)
		}
	case []any:
		for i, item := range v {
			v[i] = plainTOML(item)
		}
	case int64:
		return int(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer: // a date or a time without a zone
		return v.String()
	}
	return value
}
