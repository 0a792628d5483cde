package mariadb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dieWithParent lets the kernel kill the server when this process ends in
// whatever way.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// threadsRun tells whether a thread of the process is in another state than
// stopped.
func threadsRun(pid int) bool {
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has just ended
		}
		// The state follows the program's name, which is in parentheses.
		if end := bytes.LastIndexByte(stat, ')'); end >= 0 && !bytes.HasPrefix(stat[end+1:], []byte(" T")) {
			return true
		}
	}
	return false
}
