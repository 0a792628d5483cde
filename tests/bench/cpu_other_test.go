//go:build !unix

package bench

import "time"

var started = time.Now()

// cpuTime stands in by the time of the clock.
func cpuTime() time.Duration { return time.Since(started) }
