package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/spf13/viper"

	"github.com/gormshard/sharding/internal/fault"
)

// Load reads a configuration from a file, whose extension says whether it is
// YAML, TOML or JSON, puts environment variables over it, validates it, and
// expands its short form. The errors are all that were found, each a
// *fault.ConfigError with the path of its key, joined; no error shows a password.
//
// The variable of a key is SHARDING and the path of the key in upper case,
// joined by underscores, with an underscore for every character other than
// letters and digits: SHARDING_PROPS_MAXMERGEROWS, SHARDING_DATASOURCES_DS0_DSN.
// It may set every text, number, switch and list of names but the properties of
// algorithms and generators; of named entries, such as data sources and tables,
// only those that the file names. An empty variable counts as not set, and one
// that stands for no key is left alone, since the prefix may be somebody else's
// too.
//
// ${NAME} in the dsn of a data source, wherever it comes from, stands for the
// environment variable NAME, which must be set. No other text is searched for
// variables: ${0..1} in actualDataNodes is an inline expression.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return parse(data, strings.TrimPrefix(filepath.Ext(path), "."), path)
}

// unreadable returns the error of a file that cannot be read, which names it once.
func unreadable(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return &fault.ConfigError{Path: path, Reason: "cannot be read", Err: err}
}

// Parse is Load for the content of a file. The format is yaml, yml, toml or
// json.
func Parse(data []byte, format string) (*Config, error) {
	return parse(data, format, "configuration")
}

func parse(data []byte, format, place string) (*Config, error) {
	doc, err := readDocument(data, format)
	if err != nil {
		return nil, &fault.ConfigError{Path: place, Err: err}
	}
	return expanded(doc, place)
}

// expanded is the configuration of a document, in the long form.
func expanded(doc document, place string) (*Config, error) {
	if err := ownForm(doc, place); err != nil {
		return nil, err
	}
	cfg, all := fromDocument(doc, (*Config).substitute)
	if err := all.err(); err != nil {
		return nil, err
	}
	return cfg.Expand(), nil
}

// fromDocument puts environment variables over a document, decodes it, has it
// completed, and validates it.
func fromDocument(doc document, complete func(*Config, *faults)) (*Config, *faults) {
	delete(doc, "$schema") // tells editors of JSON files how to check them
	env := environment{viper: viper.New(), paths: map[string]string{}}
	env.over("", doc, reflect.TypeFor[Config]())

	cfg := new(Config)
	d := decoder{faults: env.faults}
	d.value("", doc, reflect.ValueOf(cfg).Elem())
	complete(cfg, &d.faults)

	// What could not be read looks like something missing to the validation.
	all := d.faults
	for _, f := range cfg.check(builtin).list {
		if !d.touches(f.Path) {
			all.list = append(all.list, f)
		}
	}
	return cfg, &all
}
