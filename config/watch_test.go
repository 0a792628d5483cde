package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gormshard/sharding/config"
)

// watched is a file that is watched, and what was found in it.
type watched struct {
	t     *testing.T
	path  string
	found chan config.Event
}

func watch(t *testing.T, path string) *watched {
	t.Helper()
	f := &watched{t: t, path: path, found: make(chan config.Event, 100)}
	w, err := config.Watch(t.Context(), path, func(e config.Event) { f.found <- e })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		w.Close()
		if len(f.found) > 0 {
			t.Errorf("%d events nobody expected, the first: %+v", len(f.found), <-f.found)
		}
	})
	return f
}

func document(rows int) string {
	return fmt.Sprintf("props:\n  maxMergeRows: %d\n  maxNodes: 7\n", rows)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f *watched) next() config.Event {
	f.t.Helper()
	select {
	case e := <-f.found:
		return e
	case <-time.After(20 * time.Second):
		f.t.Fatal("nothing was found")
		return config.Event{}
	}
}

// wants waits for a configuration with that limit.
func (f *watched) wants(rows int) {
	f.t.Helper()
	if e := f.next(); e.Err != nil || e.Config.Props.MaxMergeRows != rows {
		f.t.Fatalf("found %+v, error %v; want %d rows", e.Config, e.Err, rows)
	}
}

func (f *watched) refuses(text string) {
	f.t.Helper()
	if e := f.next(); e.Err == nil || e.Config != nil || !strings.Contains(e.Err.Error(), text) {
		f.t.Fatalf("found %+v, error %v; want an error with %q", e.Config, e.Err, text)
	}
}

func TestWatchFindsWhatIsWrittenInPlace(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	path := filepath.Join(t.TempDir(), "sharding.yaml")
	write(t, path, document(1))
	f := watch(t, path)
	f.wants(1)
	write(t, path, document(2))
	f.wants(2)
	write(t, path, document(2)) // the same
	write(t, filepath.Join(filepath.Dir(path), "other.yaml"), document(9))
	write(t, path, document(3)) // two in a row are one
	write(t, path, document(4))
	f.wants(4)
	t.Setenv("SHARDING_PROPS_MAXMERGEROWS", "55")
	write(t, path, document(5))
	f.wants(55)
}

func TestWatchFindsTheFileThatAnEditorPutInItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sharding.yaml")
	write(t, path, document(1))
	f := watch(t, path)
	f.wants(1)
	for rows := 2; rows < 5; rows++ {
		if err := os.Rename(path, path+"~"); err != nil {
			t.Fatal(err)
		}
		write(t, path+".tmp", document(rows))
		if err := os.Rename(path+".tmp", path); err != nil {
			t.Fatal(err)
		}
		f.wants(rows)
	}
}

func TestWatchFollowsTheLinksOfAMountedConfigMap(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sharding.yaml")
	put := func(version, rows int) {
		t.Helper()
		data := filepath.Join(dir, fmt.Sprintf("..%d", version))
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(data, "sharding.yaml"), document(rows))
		link := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(fmt.Sprintf("..%d", version), link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
		if version > 1 {
			if err := os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..%d", version-1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(1, 1)
	if err := os.Symlink("..data/sharding.yaml", path); err != nil {
		t.Fatal(err)
	}
	f := watch(t, path)
	f.wants(1)
	for version := 2; version < 6; version++ {
		put(version, version)
		f.wants(version)
	}
	write(t, filepath.Join(dir, "..5", "sharding.yaml"), document(6)) // where the links lead
	f.wants(6)
}

func TestWatchNeverGivesWhatIsNoConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sharding.yaml")
	f := watch(t, path)
	f.refuses("cannot be read")
	write(t, path, document(1))
	f.wants(1)
	write(t, path, "")
	f.refuses("is empty")
	write(t, path, "# nothing but a comment\n")
	f.refuses("is empty")
	write(t, path, "props: {maxMerge")
	f.refuses("sharding.yaml")
	write(t, path, "props: {maxMerge: 1}")
	f.refuses("maxMerge")
	write(t, path, document(1)) // as it was before
	f.wants(1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.refuses("cannot be read")
	write(t, path, document(1))
	f.wants(1)
}

func TestWatchSaysThatThereIsNoDirectory(t *testing.T) {
	_, err := config.Watch(t.Context(), filepath.Join(t.TempDir(), "none", "sharding.yaml"), func(config.Event) {})
	if err == nil || !strings.Contains(err.Error(), "cannot be watched") {
		t.Errorf("error %v", err)
	}
}
