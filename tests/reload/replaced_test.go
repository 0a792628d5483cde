//go:build unix

package reload_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gormshard/sharding"
)

// must fails the test on an error of what makes files.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// mount makes the directory what Kubernetes makes it for a ConfigMap: the file is a
// link into ..data, a link to the directory of a version that is exchanged at once.
func mount(t *testing.T, path, text string) {
	t.Helper()
	dir, name := filepath.Split(path)
	data := filepath.Join(dir, "..data")
	before, _ := os.Readlink(data) // none at first
	version, err := os.MkdirTemp(dir, "..version")
	must(t, err)
	writeFile(t, filepath.Join(version, name), text)
	must(t, os.Symlink(filepath.Base(version), data+"_tmp"))
	must(t, os.Rename(data+"_tmp", data))
	if before != "" {
		must(t, os.RemoveAll(filepath.Join(dir, before)))
		return
	}
	must(t, os.Symlink(filepath.Join("..data", name), path))
}

// However a file gets its content: what is wrong in it is told of and changes nothing,
// and the next that is right comes into force.
func TestAWatchedFileMayBeReplacedInAnyWay(t *testing.T) {
	s := newShop(t, "ways")
	if err := s.db.Create(&[]Order{{UserID: 1}, {UserID: 2}, {UserID: 3}}).Error; err != nil {
		t.Fatal(err)
	}
	whole := s.document()
	limited := func(n int) string { return fmt.Sprintf("%sprops: {maxMergeRows: %d}\n", whole, 1000+n) }
	itemAt, orderAt := strings.Index(whole, "    t_item:"), strings.Index(whole, "    t_order:")
	applied := 0
	for _, way := range []struct {
		name    string
		replace func(t *testing.T, path, text string)
		several bool // what is there for a moment may be seen, if the machine is slow
	}{
		{name: "written in place", replace: writeFile},
		{name: "a rename over it", replace: func(t *testing.T, path, text string) {
			writeFile(t, path+".tmp", text)
			must(t, os.Rename(path+".tmp", path))
		}},
		{name: "a ConfigMap", replace: mount},
		{name: "moved away before", several: true, replace: func(t *testing.T, path, text string) {
			writeFile(t, path+".new", text)
			if err := os.Rename(path, path+"~"); !errors.Is(err, os.ErrNotExist) {
				must(t, err)
			}
			must(t, os.Rename(path+".new", path))
		}},
		{name: "written twice", several: true, replace: func(t *testing.T, path, text string) {
			writeFile(t, path, limited(77))
			writeFile(t, path, text)
		}},
		{name: "written in pieces", several: true, replace: func(t *testing.T, path, text string) {
			f, err := os.Create(path)
			must(t, err)
			defer f.Close()
			for piece := range strings.SplitAfterSeq(text, "\n") {
				_, err := f.WriteString(piece)
				must(t, err)
				must(t, f.Sync())
			}
		}},
	} {
		path := filepath.Join(t.TempDir(), "sharding.yaml")
		applied++
		way.replace(t, path, limited(applied))
		done := make(chan error, 100)
		must(t, s.plugin.Watch(path, sharding.OnReload(func(err error) { done <- err })))
		// becomes waits for what the file that is there now has led to.
		becomes := func(what, refusal string) {
			t.Helper()
			for {
				select {
				case err := <-done:
					switch {
					case refusal == "" && err == nil && s.plugin.Config().Props.MaxMergeRows == 1000+applied:
						return
					case refusal != "" && errors.Is(err, sharding.ErrConfig) && strings.Contains(err.Error(), refusal):
						return
					case !way.several:
						t.Fatalf("%s, %s: %v", way.name, what, err)
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("%s, %s: nothing happened", way.name, what)
				}
			}
		}
		becomes("to begin with", "")
		for _, wrong := range []struct{ what, text, refusal string }{
			{"without a table", whole[:itemAt] + whole[orderAt:], "sharding.tables.t_item"},
			{"cut off", whole[:orderAt+20], "sharding"},
			{"emptied", "", "is empty"},
		} {
			before, generation := s.plugin.Config(), s.plugin.Status().Generation
			way.replace(t, path, wrong.text)
			becomes(wrong.what, wrong.refusal)
			if !way.several && (!reflect.DeepEqual(s.plugin.Config(), before) || s.plugin.Status().Generation != generation) {
				t.Errorf("%s, %s: the configuration has changed", way.name, wrong.what)
			}
			if err := s.plugin.Status().Reloads.Err; err == nil || !strings.Contains(err.Error(), wrong.refusal) {
				t.Errorf("%s, %s: the status says %v", way.name, wrong.what, err)
			}
			var n int64
			if err := s.db.Model(&Order{}).Count(&n).Error; err != nil || n != 3 {
				t.Errorf("%s, %s: %d rows, %v", way.name, wrong.what, n, err)
			}
		}
		applied++
		way.replace(t, path, limited(applied))
		becomes("as it should be", "")
		if !way.several && len(done) > 0 {
			t.Errorf("%s: %d events nobody expected, the first: %v", way.name, len(done), <-done)
		}
	}
	s.drained(t)
}
