package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/spf13/viper"
)

// envPrefix begins the name of every environment variable that is read over a
// file.
const envPrefix = "SHARDING"

// fromEnv is a value of the document that an environment variable replaced.
type fromEnv struct{ name, text string }

// environment puts environment variables over a document. The variable of a key
// is SHARDING and the key's path in upper case, joined by underscores, with an
// underscore for every character other than letters, digits and underscores:
// SHARDING_PROPS_MAXMERGEROWS, SHARDING_DATASOURCES_DS0_DSN. It may set every
// text, number, switch and list of names that has a key of its own in this
// package; of named entries, such as data sources and tables, those that the
// file names. An empty variable counts as not set, a variable of no key is left
// alone, since the prefix may be somebody else's too.
type environment struct {
	faults
	viper *viper.Viper
	paths map[string]string // the key that a variable was used for
}

func (e *environment) over(path string, doc document, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		if byPresence(field) {
			continue
		}
		name := key(field)
		at := join(path, name)
		switch kind := field.Type; {
		case kind.Kind() == reflect.Struct:
			e.within(at, doc, name, kind)
		case kind.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct:
			if doc[name] != nil {
				e.within(at, doc, name, kind.Elem())
			}
		case kind.Kind() == reflect.Map:
			entries, ok := doc[name].(document)
			if !ok || kind.Elem().Kind() != reflect.Struct {
				continue
			}
			for _, entry := range sortedNames(entries) {
				e.within(join(at, entry), entries, entry, kind.Elem())
			}
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() != reflect.String:
		default:
			e.scalar(at, doc, name)
		}
	}
}

// within goes on below a key, which comes into being if a variable needs it.
func (e *environment) within(path string, parent document, name string, t reflect.Type) {
	child, ok := parent[name].(document)
	if !ok {
		if parent[name] != nil {
			return // the decoder reports the type
		}
		child = document{}
	}
	e.over(path, child, t)
	if len(child) > 0 {
		parent[name] = child
	}
}

func (e *environment) scalar(path string, doc document, name string) {
	variable := variableOf(path)
	if err := e.viper.BindEnv(variable, variable); err != nil || !e.viper.IsSet(variable) {
		return
	}
	if other, ok := e.paths[variable]; ok {
		e.add(path, fmt.Sprintf("the environment variable %s stands for this key and for %s", variable, other),
			"unset it, or rename one of the two")
		return
	}
	e.paths[variable] = path
	doc[name] = fromEnv{name: variable, text: e.viper.GetString(variable)}
}

// variableOf returns the environment variable of a key.
func variableOf(path string) string {
	return envPrefix + "_" + strings.Map(func(r rune) rune {
		if r == '_' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(path))
}

// reference finds ${NAME}, and ${ that begins nothing of the kind.
var reference = regexp.MustCompile(`\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?`)

// substitute replaces ${NAME} in the data source names by environment
// variables. What a variable holds is not searched again.
func (c *Config) substitute(f *faults) {
	for _, name := range sortedNames(c.DataSources) {
		source := c.DataSources[name]
		path := join("dataSources", name) + ".dsn"
		source.DSN = DSN(reference.ReplaceAllStringFunc(string(source.DSN), func(match string) string {
			variable := reference.FindStringSubmatch(match)[1]
			if variable == "" {
				f.add(path, "${ is not followed by the name of an environment variable and }",
					"put a password that holds ${ into a variable")
				return match
			}
			text, ok := os.LookupEnv(variable)
			if !ok {
				f.add(path, fmt.Sprintf("the environment variable %s is not set", variable), "")
			}
			return text
		}))
		c.DataSources[name] = source
	}
}
