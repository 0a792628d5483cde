package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// environmentPlace is ShardingSphere's placeholder for environment variables.
var environmentPlace = regexp.MustCompile(`\$\$\{([^:}]+)(?:::([^}]*))?\}`)

// fromEnvironment returns a value of a document with the placeholders of environment
// variables replaced in all its texts.
func (f *faults) fromEnvironment(value any, path string) any {
	switch v := value.(type) {
	case string:
		return environmentPlace.ReplaceAllStringFunc(v, func(match string) string {
			parts := environmentPlace.FindStringSubmatch(match)
			value, ok := os.LookupEnv(strings.TrimSpace(parts[1]))
			if !ok && !strings.Contains(match, "::") {
				f.add(path, fmt.Sprintf("the environment variable %s is not set", parts[1]), "")
			}
			if !ok {
				value = parts[2]
			}
			return value
		})
	case document:
		out := document{}
		for _, key := range sortedNames(v) {
			out[key] = f.fromEnvironment(v[key], join(path, key))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = f.fromEnvironment(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return out
	}
	return value
}

// Row value expressions of ShardingSphere may begin with the name of what reads them.

// rowValueType is such a name, in front of the expression.
var rowValueType = regexp.MustCompile(`^\s*<([\w.]+)>`)

// rowValue returns a row value expression, in which tables or data sources are
// listed, as one of this package.
func (f *faults) rowValue(text, path string) string {
	match := rowValueType.FindStringSubmatch(text)
	if match == nil {
		return text
	}
	expression := text[len(match[0]):]
	switch strings.ToUpper(match[1]) {
	case "GROOVY", "ESPRESSO":
		return expression
	case "LITERAL":
		if strings.Contains(expression, "${") || strings.Contains(expression, "$->{") {
			f.add(path, "is LITERAL, and holds what stands for an expression here", "names cannot hold ${")
		}
		return expression
	case "INTERVAL":
		return f.intervalNames(expression, path)
	}
	f.add(path, match[1]+" is a class of Java, or unknown", "list the names, or use an expression of Groovy")
	return expression
}

// intervalFields are the letters of a pattern with the steps that they count, the
// finest first.
var intervalFields = []struct{ letter, unit string }{
	{"s", "SECONDS"}, {"m", "MINUTES"}, {"H", "HOURS"}, {"d", "DAYS"}, {"M", "MONTHS"}, {"y", "YEARS"},
}

// intervalNames turns P=t_;SP=yyyyMM;DIA=1;DIU=Months;DL=202401;DU=202412 into
// t_${dates('202401', '202412', 'yyyyMM', 1)}.
func (f *faults) intervalNames(expression, path string) string {
	values := map[string]string{"DIA": "1", "C": "ISO"}
	for part := range strings.SplitSeq(expression, ";") {
		key, value, _ := strings.Cut(part, "=")
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	pattern, unit := values["SP"], ""
	for _, field := range intervalFields {
		if strings.Contains(pattern, field.letter) {
			unit = field.unit
			break
		}
	}
	switch {
	case !strings.EqualFold(values["C"], "ISO"):
		f.add(path, "counts by the calendar "+values["C"], "list the tables, or name their dates by the ISO calendar")
	case !strings.EqualFold(values["DIU"], unit) || strings.ContainsAny(pattern, "S'"):
		f.add(path, fmt.Sprintf("its steps %q are not the finest field of its pattern %q", values["DIU"], pattern), "list the tables")
	}
	return fmt.Sprintf("%s${dates('%s', '%s', '%s', %s)}", values["P"], values["DL"], values["DU"], pattern, values["DIA"])
}

// formula returns the expression of an algorithm without the name of what reads it.
func (f *faults) formula(text, path string) string {
	match := rowValueType.FindStringSubmatch(text)
	if match == nil {
		return text
	}
	if kind := strings.ToUpper(match[1]); kind != "GROOVY" && kind != "ESPRESSO" {
		f.add(path, match[1]+" computes nothing, or is a class of Java", "use an expression of Groovy, or write the algorithm in Go and add it by sharding.WithAlgorithm")
	}
	return text[len(match[0]):]
}
