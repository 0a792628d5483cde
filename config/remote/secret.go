package remote

import (
	"fmt"
	"io"
)

// Secret is a password. Printing, logging or marshalling it shows none of it;
// string(secret) is the whole text.
type Secret string

// Format implements fmt.Formatter, so that no verb shows the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.hidden()) }

// MarshalText implements encoding.TextMarshaler, which JSON and slog use.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.hidden()), nil }

func (s Secret) hidden() string {
	if s == "" {
		return ""
	}
	return "***"
}
