// Package tour walks through what the order service does and shows for every
// step the logical SQL, the units it became and the result.
package tour

import (
	"context"
	"sync"
	"time"

	"gorm.io/gorm/logger"

	"github.com/gormshard/sharding"
)

// Recorder collects what a step did: the logical SQL as GORM's logger gets it,
// and the units as the plugin reports them.
type Recorder struct {
	mu      sync.Mutex
	logical []string
	units   []sharding.UnitTrace
}

// LogMode implements logger.Interface.
func (r *Recorder) LogMode(logger.LogLevel) logger.Interface { return r }

// Info implements logger.Interface.
func (r *Recorder) Info(context.Context, string, ...interface{}) {}

// Warn implements logger.Interface.
func (r *Recorder) Warn(context.Context, string, ...interface{}) {}

// Error implements logger.Interface.
func (r *Recorder) Error(_ context.Context, _ string, _ ...interface{}) {}

// Trace implements logger.Interface: once per logical statement.
func (r *Recorder) Trace(_ context.Context, _ time.Time, fc func() (string, int64), _ error) {
	sql, _ := fc()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logical = append(r.logical, sql)
}

// Unit is the plugin's trace, see sharding.WithUnitTrace.
func (r *Recorder) Unit(_ context.Context, u sharding.UnitTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units = append(r.units, u)
}

func (r *Recorder) take() (logical []string, units []sharding.UnitTrace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	logical, units = r.logical, r.units
	r.logical, r.units = nil, nil
	return logical, units
}
