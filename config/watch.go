package config

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gormshard/sharding/internal/fault"
)

// Event is what Watch has found in a file: a configuration, or why there is none.
type Event struct {
	Config *Config // as Load returns it; nil with an error
	Err    error   // a *fault.ConfigError, or several joined
}

const (
	// settled is how long a file has to stay as it is before it is read, so that one
	// that is being written is not, and two changes in a row are one.
	settled = 100 * time.Millisecond
	// restless is the time after which a directory in which something changes all
	// the time is looked at nevertheless.
	restless = 10 * settled
	// lookEvery is the time between two looks without a reason, for file systems
	// that tell of no changes and directories that were away.
	lookEvery = 5 * time.Second
)

// Watcher watches a file until it is closed.
type Watcher struct {
	path   string
	report func(Event)
	notify *fsnotify.Watcher

	seen, waiting string // contents: what was reported last, and what is to stay a while

	stop   context.CancelFunc
	joined sync.WaitGroup
}

// Watch calls report with the configuration of a file, once for the file as it is
// and then whenever its content has changed, until ctx ends or the Watcher is
// closed. One goroutine calls report, which must not close the Watcher. Each time
// the file is read as Load reads it, with the environment over it.
//
// The file may be written in place, replaced by a rename, as editors do, or by
// another target of a symbolic link in its path, as Kubernetes does. A file that is
// away, cannot be read, has faults or is empty is reported as an error, once; when
// it is as before again, that is reported, too. A file is reported that has stayed
// as it is for a tenth of a second: what was written in part before is not seen,
// but a writer that stops half-way for longer leaves a file that may be valid. So
// whoever takes over a configuration has to look at what is missing in it, as
// Plugin.Reload does.
//
// Watch fails when the operating system watches no more directories.
func Watch(ctx context.Context, path string, report func(Event)) (*Watcher, error) {
	failed := func(err error) (*Watcher, error) {
		return nil, &fault.ConfigError{Path: path, Reason: "cannot be watched", Err: err}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return failed(err)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return failed(err)
	}
	w := &Watcher{path: absolute, report: report, notify: notify}
	if err := w.follow(); err != nil {
		return failed(errors.Join(err, notify.Close()))
	}
	ctx, w.stop = context.WithCancel(ctx)
	w.joined.Go(func() { w.run(ctx) })
	return w, nil
}

// Close ends the watching and waits for report to return. Calling it again does
// nothing.
func (w *Watcher) Close() {
	w.stop()
	w.joined.Wait()
}

func (w *Watcher) run(ctx context.Context) {
	defer w.notify.Close() //nolint:errcheck // nothing is lost by it
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	var restlessSince time.Time
	events, failures := w.notify.Events, w.notify.Errors
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-events:
			if !open {
				events = nil
			}
		case _, open := <-failures: // too many events at once, for instance: some were missed
			if !open {
				failures = nil
			}
		case <-again.C:
			next.Reset(0)
			continue
		case <-next.C:
			restlessSince = time.Time{}
			if w.look() {
				next.Reset(settled)
			}
			continue
		}
		if restlessSince.IsZero() {
			restlessSince = time.Now()
		}
		if time.Since(restlessSince) < restless {
			next.Reset(settled)
		}
	}
}

// look reads the file and reports what is new in it, if it is as it was at the look
// before. Otherwise it returns true, for another look in a while.
func (w *Watcher) look() (again bool) {
	_ = w.follow() // a directory that is away is looked for at the next look
	data, err := os.ReadFile(w.path)
	content := "content " + string(data)
	if err != nil {
		content = "error " + err.Error()
	}
	switch content {
	case w.seen:
		w.waiting = ""
		return false
	case w.waiting:
	default:
		w.waiting = content
		return true
	}
	w.seen, w.waiting = content, ""
	w.report(w.event(data, err))
	return false
}

func (w *Watcher) event(data []byte, err error) Event {
	if err != nil {
		return Event{Err: unreadable(w.path, err)}
	}
	doc, err := readDocument(data, strings.TrimPrefix(filepath.Ext(w.path), "."))
	switch {
	case err == nil && len(doc) == 0 || len(bytes.TrimSpace(data)) == 0:
		return Event{Err: &fault.ConfigError{Path: w.path, Reason: "is empty", Remedy: "it may be that it is still being written"}}
	case err != nil:
		return Event{Err: &fault.ConfigError{Path: w.path, Err: err}}
	}
	cfg, err := expanded(doc, w.path)
	return Event{Config: cfg, Err: err}
}

// follow watches the directories in which the file may be replaced: its own, and
// those of the symbolic links on the way to it.
func (w *Watcher) follow() error {
	var errs []error
	wanted := map[string]bool{}
	for path, links := w.path, 0; links < 40; links++ {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			errs = append(errs, err)
			break
		}
		wanted[dir] = true
		target, err := os.Readlink(path)
		if err != nil {
			break // no link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	for _, dir := range w.notify.WatchList() { // those that are gone are not in it
		if !wanted[dir] {
			_ = w.notify.Remove(dir) // it may be gone by now
		}
		delete(wanted, dir)
	}
	for dir := range wanted {
		errs = append(errs, w.notify.Add(dir))
	}
	return errors.Join(errs...)
}
