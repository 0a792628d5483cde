package metadata

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding/internal/fault"
)

func TestClientSettingsMustAgree(t *testing.T) {
	const base = "app:p/ss?@tcp(127.0.0.1:3306)/orders?parseTime=true&charset=utf8mb4&loc=UTC"
	first, err := ParseClient("ds0", base)
	if err != nil {
		t.Fatal(err)
	}
	for dsn, differs := range map[string]string{
		base: "",
		"x@tcp(other:3307)/orders_1?charset=utf8mb4&parseTime=1&timeout=5s&maxAllowedPacket=0": "",
		base + "&interpolateParams=true":          "interpolateParams",
		base + "&clientFoundRows=true":            "clientFoundRows",
		base + "&collation=utf8mb4_unicode_ci":    "collation",
		base + "&timeTruncate=1ms":                "timeTruncate",
		"x@tcp(h)/o?charset=utf8mb4":              "parseTime",
		"x@tcp(h)/o?parseTime=true":               "charset",
		base + "&loc=" + "Asia%2FShanghai":        "loc",
		strings.Replace(base, "UTC", "Local", 1):  "loc",
		strings.Replace(base, "mb4", "mb4,x", 1):  "charset",
		strings.Replace(base, "true", "false", 1): "parseTime",
	} {
		c, err := ParseClient("ds1", dsn)
		if err != nil {
			if strings.Contains(dsn, "Shanghai") {
				continue // no time zone database
			}
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		err = c.Equal(first)
		if (differs == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), differs) {
			t.Errorf("%s: Equal = %v, want %q to differ", dsn, err, differs)
		}
		if err != nil && !errors.Is(err, fault.ErrConfig) {
			t.Errorf("%s: not an ErrConfig: %v", dsn, err)
		}
	}
}

func TestAParameterThatIsNotSetIsNamedAsSuch(t *testing.T) {
	set, err := ParseClient("ds0", "app@tcp(h)/o?charset=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	bare, err := ParseClient("ds1", "app@tcp(h)/o")
	if err != nil {
		t.Fatal(err)
	}
	if err := bare.Equal(set); err == nil || !strings.Contains(err.Error(), "charset is not set here and utf8mb4 in ds0") {
		t.Errorf("error %v", err)
	}
}

func TestColumnsWithAliasIsRefused(t *testing.T) {
	_, err := ParseClient("ds1", "app:secret@tcp(h)/o?columnsWithAlias=true")
	if !errors.Is(err, fault.ErrConfig) || !strings.Contains(err.Error(), "dataSources.ds1.dsn") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestClientTellsHowTimesAreSent(t *testing.T) {
	c, err := ParseClient("ds0", "app:secret@unix(/tmp/x.sock)/orders?loc=Local&timeTruncate=1ms")
	if err != nil || c.Location != time.Local || c.TimeTruncate != time.Millisecond || c.Schema != "orders" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = ParseClient("ds0", "app@/orders")
	if err != nil || c.Location != time.UTC || c.TimeTruncate != 0 {
		t.Errorf("defaults: %+v, %v", c, err)
	}
}

func TestClientErrorsShowNoPassword(t *testing.T) {
	for _, dsn := range []string{"app:secret@tcp(h:1", "app:secret", "app:secret@tcp(h)/o?parseTime=secret", "app:x@secret/y"} {
		_, err := ParseClient("ds0", dsn)
		if err == nil {
			t.Errorf("%s was read", dsn)
			continue
		}
		if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "dataSources.ds0.dsn") || !errors.Is(err, fault.ErrConfig) {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
