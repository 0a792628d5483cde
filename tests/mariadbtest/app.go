//go:build unix

package mariadbtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
	"github.com/gormshard/sharding/config"
)

// App is an application on a sharded GORM, with what was sent and warned of.
type App struct {
	*gorm.DB
	Plugin *sharding.Plugin

	mu       sync.Mutex
	sent     []string
	warnings []string
}

// Open opens an application, which the test's end closes. It returns the error of
// the plugin where that cannot be used.
func Open(t *testing.T, cfg *config.Config, dialector gorm.Dialector) (*App, error) {
	t.Helper()
	a := &App{}
	a.Plugin = sharding.Register(cfg, sharding.WithUnitTrace(func(_ context.Context, u sharding.UnitTrace) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sent = append(a.sent, u.DataSource+" "+u.SQL)
	}))
	var err error
	a.DB, err = gorm.Open(dialector, &gorm.Config{Logger: warnings{logger.New(a, logger.Config{LogLevel: logger.Warn})}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Use(a.Plugin); err != nil {
		if pool, e := a.DB.DB(); e == nil {
			_ = pool.Close()
		}
		return nil, err
	}
	t.Cleanup(func() {
		if err := a.Plugin.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, nil
}

// Take returns the statements that were sent since the last call, each behind its
// data source.
func (a *App) Take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	sent := a.sent
	a.sent = nil
	return sent
}

// Warnings returns what was warned of.
func (a *App) Warnings() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.warnings...)
}

// Printf implements logger.Writer.
func (a *App) Printf(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.warnings = append(a.warnings, fmt.Sprintf(format, args...))
}

// warnings is a logger that leaves the statements out.
type warnings struct{ logger.Interface }

func (w warnings) LogMode(logger.LogLevel) logger.Interface                      { return w }
func (warnings) Trace(context.Context, time.Time, func() (string, int64), error) {}
