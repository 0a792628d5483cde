//go:build !unix

package mariadb

import (
	"errors"
	"syscall"
)

const (
	signalStop     = syscall.SIGTERM
	signalContinue = syscall.SIGTERM
)

// account would be the user that servers run as.
type account struct{}

func serverAccount() (account, error) {
	return account{}, errors.New("mariadb: private servers are started on Unix systems only")
}

func (account) attributes() *syscall.SysProcAttr { return nil }

func (account) give(string) error { return nil }

func (account) checkReach(string) error { return nil }

func alive(int) bool { return true }

func threadsRun(int) bool { return false }
