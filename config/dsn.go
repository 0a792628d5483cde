package config

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// DSN is a data source name. Printing, logging or marshalling it shows where it
// leads but neither user nor password nor parameters; string(dsn) is the whole
// text, for the driver alone.
type DSN string

const hidden = "***"

// mysqlPlace is what follows the credentials of a MySQL data source name:
// protocol(address)/schema. Anything else may be part of a password.
var mysqlPlace = regexp.MustCompile(`^[a-z0-9]+\([^()@]*\)/[\w$.-]*$`)

// String returns ***@protocol(address)/schema, or *** for a text of another
// form.
func (d DSN) String() string {
	if d == "" {
		return ""
	}
	text, _, _ := strings.Cut(string(d), "?")
	// The driver, too, takes the last @ for the end of the credentials.
	at := strings.LastIndexByte(text, '@')
	if at < 0 || !mysqlPlace.MatchString(text[at+1:]) {
		return hidden
	}
	return hidden + text[at:]
}

// Format implements fmt.Formatter, so that no verb shows the text.
func (d DSN) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.String()) }

// MarshalText implements encoding.TextMarshaler, which YAML and JSON use.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// LogValue implements slog.LogValuer.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }
