//go:build unix && !linux

package mariadb

import "syscall"

// dieWithParent does nothing: only Linux ends a child with its parent. Here a
// server outlives a parent that is killed.
func dieWithParent(*syscall.SysProcAttr) {}

// threadsRun cannot tell and trusts the signal.
func threadsRun(int) bool { return false }
