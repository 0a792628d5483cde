package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestDSNShowsThePlaceOnly(t *testing.T) {
	for _, test := range []struct{ dsn, want DSN }{
		{"", ""},
		{"app:s3cret@tcp(127.0.0.1:3306)/orders_0?parseTime=true&x=s3cret", "***@tcp(127.0.0.1:3306)/orders_0"},
		{"s3cret@tcp([::1]:3306)/", "***@tcp([::1]:3306)/"},
		{"app:s3@c:r/e?t@unix(/tmp/my.sock)/orders_0", "***"},
		{"app:s3@c:r/et@unix(/tmp/my.sock)/orders_0", "***@unix(/tmp/my.sock)/orders_0"},
		{"app:s3cret", "***"},
		{"app:s3cret/db", "***"},
		{"app:x@s3cret/db", "***"},
		{"postgres://app:s3cret@host/db", "***"},
		{"host=h password=s3cret", "***"},
		{"file:orders.db?_auth_pass=s3cret", "***"},
	} {
		if got := test.dsn.String(); got != string(test.want) {
			t.Errorf("%s is shown as %s, want %s", string(test.dsn), got, string(test.want))
		}
	}
}

func TestNothingPrintsAPassword(t *testing.T) {
	cfg := valid()
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%z"} {
		shown = append(shown,
			fmt.Sprintf(verb, cfg), fmt.Sprintf(verb, *cfg), fmt.Sprintf(verb, cfg.DataSources), fmt.Sprintf(verb, cfg.DataSources["ds0"].DSN))
	}
	asYAML, err := yaml.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("configuration", "config", cfg, "dsn", cfg.DataSources["ds0"].DSN)
	}
	shown = append(shown, string(asYAML), string(asJSON), log.String())
	for _, text := range shown {
		for _, secret := range []string{"s3cret", "w/rd", fmt.Sprintf("%x", "s3cret"), fmt.Sprintf("%X", "s3cret")} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is shown in %s", secret, text)
			}
		}
	}
	if !strings.Contains(string(asYAML), "dsn: '***@tcp(127.0.0.1:3306)/orders_0'") {
		t.Errorf("the place of ds0 is not shown in\n%s", asYAML)
	}
}

// Every kind of slip near a password: a wrong type, a broken syntax, a password
// in the wrong place.
func TestNoErrorShowsAPassword(t *testing.T) {
	const secret = "s3cretWord"
	t.Setenv("TEST_PASSWORD", secret)
	for format, texts := range map[string][]string{
		"yaml": {
			"dataSources: {ds0: {dsn: [" + secret + "]}}",
			"dataSources: {ds0: " + secret + "}",
			"dataSources: {ds0: {dsn: a, password: " + secret + ", maxOpenConns: " + secret + "}}",
			"dataSources: {ds0: {dsn: *" + secret + "}}",
			"dataSources: {ds0: {dsn: !!int " + secret + "}}",
			"dataSources: {ds0: {dsn: !" + secret + " [a]}}",
			"dataSources: {ds0: {dsn: \"\\" + secret + "\"}}",
			"dataSources: {ds0: {dsn: &" + secret + "}}",
			"dataSources: {ds0: {dsn: '" + secret,
			"dataSources:\n  ds0: " + secret + ": x\n",
			"dataSources:\n\tds0: " + secret,
			secret,
			"- " + secret,
			"dataSources: {ds0: {dsn: 'app:${" + secret + "'}}",
			"dataSources: {ds0: {dsn: 'app:${TEST_PASSWORD}@tcp(h)/d'}, ds1: {dsn: 'app:${TEST_PASSWORD}@tcp(h)/d'}}\nsharding: {broadcastTables: [a]}",
			"dataSources: {ds0: {dsn: 'app:${TEST_PASSWORD}${NOT_SET}@tcp(h)/d'}}",
		},
		"json": {
			`{"dataSources": {"ds0": {"dsn": ["` + secret + `"]}}}`,
			`{"dataSources": {"ds0": {"dsn": ` + secret + `}}}`,
			`{"dataSources": {"ds0": {"dsn": "` + secret + `}}}`,
			`{"dataSources": {"ds0": {"dsn": "a" "` + secret + `"}}}`,
			`"` + secret + `"`,
		},
		"toml": {
			"[dataSources.ds0]\ndsn = " + secret,
			"[dataSources.ds0]\ndsn = '" + secret,
			"[dataSources.ds0]\ndsn = 'a' " + secret,
			"[dataSources.ds0]\ndsn = \"\\" + secret + "\"",
			"[dataSources.ds0]\ndsn = 1" + secret,
			"[dataSources]\nds0 = '" + secret + "'",
		},
	} {
		for _, text := range texts {
			cfg, err := Parse([]byte(text), format)
			if err == nil {
				t.Errorf("%s: no error for %s: %v", format, text, cfg)
				continue
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
				t.Errorf("%s: %s\nshows the password: %v", format, text, err)
			}
		}
	}
}

func TestAReadersMessageKeepsTheCharactersItExpects(t *testing.T) {
	_, err := Parse([]byte("sharding:\n  tables:\n    t_order: {actualDataNodes: ds${0..1}.t_order}\n"), "yaml")
	if err == nil || !strings.Contains(err.Error(), "did not find expected ',' or '}'") {
		t.Errorf("%v", err)
	}
	for message, want := range map[string]string{
		`expected ',' or ']' before 'secret'`:             `expected ',' or ']' before ***`,
		`invalid character '\'' in "secret"`:              `invalid character '\'' in ***`,
		`character ''' before '' and 'secret'`:            `character ''' before '' and ***`,
		"cannot unmarshal `it's` into \"\" or \"secret\"": `cannot unmarshal *** into "" or ***`,
	} {
		if got := withoutContent(message); got != want {
			t.Errorf("%s\n is shown as %s\n      want %s", message, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, format := range []string{"yaml", "json", "toml"} {
		data, err := os.ReadFile(filepath.Join("testdata", "valid."+format))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, format)
	}
	f.Add([]byte("a: &a [*a]\n*a : 1\n<<: {b: 1}\n? [x]\n: y"), "yaml")
	f.Add([]byte("sharding: {tables: {t: {actualDataNodes: 'default.t_${[1, 10]}'}}}"), "yaml")
	setPasswords(f)
	f.Fuzz(func(t *testing.T, data []byte, format string) {
		cfg, err := Parse(data, format)
		if (cfg == nil) == (err == nil) {
			t.Fatalf("configuration %v, error %v", cfg, err)
		}
		if cfg == nil {
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Fatalf("Parse took what Validate refuses: %v", err)
		}
		for name, table := range cfg.Sharding.Tables {
			if table.Broadcast {
				continue
			}
			if nodes, err := cfg.DataNodes(name); err != nil || len(nodes) == 0 {
				t.Fatalf("table %q has the nodes %v and the error %v", name, nodes, err)
			}
		}
	})
}
