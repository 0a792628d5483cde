package sharding

import (
	"context"

	"github.com/gormshard/sharding/config"
)

// WatchOption changes how Watch goes about it.
type WatchOption func(*watchOptions)

type watchOptions struct{ done func(error) }

// OnReload calls done after each reload that a watched file has caused, with nil or
// with the error for which nothing has changed, that the file cannot be read among
// them. It is called by one goroutine at a time and must not close the plugin.
func OnReload(done func(error)) WatchOption {
	return func(o *watchOptions) { o.done = done }
}

// Watch reloads the configuration whenever the content of a file changes, and at
// once where it differs from the one in force, until the plugin is closed. The file
// is loaded as config.Load does, and watched as config.Watch does; Reload says
// what may change. What is refused leaves everything as it was, is logged, and
// counted in Status; the next change of the file is the next try. It fails where
// files cannot be watched, and where this one cannot be loaded to begin with.
func (p *Plugin) Watch(path string, opts ...WatchOption) error {
	e, err := p.running()
	if err != nil {
		return err
	}
	return e.watch(path, opts)
}

func (e *engine) watch(path string, opts []WatchOption) error {
	o := watchOptions{done: func(error) {}}
	for _, opt := range opts {
		opt(&o)
	}
	if _, err := config.Load(path); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock() // what the watcher finds waits until it is known here
	if e.closed {
		return errClosed
	}
	w, err := config.Watch(context.Background(), path, func(found config.Event) {
		if found.Err != nil {
			e.refused(found.Err)
			o.done(found.Err)
			return
		}
		if changed, err := e.reload(context.Background(), found.Config, nil); changed || err != nil {
			o.done(err)
		}
	})
	if err != nil {
		return err
	}
	e.watchers = append(e.watchers, w)
	return nil
}
