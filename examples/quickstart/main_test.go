package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestQuickstartShowsEveryStepAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp) // Windows
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text := out.String()
	for _, want := range []string{
		"Four databases, ds0 to ds3", "logical  SELECT", "-> ds0", "-> ds3", "t_ent_order_item_", "| id", "rows: ",
		"sharding: unsupported", "gave what one database would have given.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^== \d+\. `).FindAllString(text, -1)); n < 10 {
		t.Errorf("%d steps are shown", n)
	}
	if t.Failed() {
		t.Log(text)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestQuickstartFailsWithoutAPlaceForItsDatabases(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing)
	var out bytes.Buffer
	if err := run(t.Context(), &out); err == nil || !os.IsNotExist(err) {
		t.Errorf("run gave %v", err)
	}
}

func TestQuickstartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, &out); err == nil {
		t.Errorf("run under a dead context succeeded:\n%s", &out)
	}
}
