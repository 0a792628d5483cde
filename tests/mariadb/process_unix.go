//go:build unix

package mariadb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	signalStop     = syscall.SIGSTOP
	signalContinue = syscall.SIGCONT
)

// account is the user that the servers run as: the caller, or, since mariadbd
// refuses to serve as root, an unprivileged user when the caller is root.
type account struct {
	name     string
	uid, gid uint32
	switched bool
}

// serverAccount prefers the user that MariaDB's package makes; its core package
// alone makes none.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"mysql", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return account{}, fmt.Errorf("mariadb: user %s: %w", name, err)
		}
		return account{name: name, uid: uint32(uid), gid: uint32(gid), switched: true}, nil
	}
	return account{}, errors.New("mariadb: root may not run a server, and there is no user mysql or nobody: " +
		"run `useradd --system mysql`, or start as another user")
}

// attributes put the server into a process group of its own, so that an
// interrupt from the terminal reaches the caller only, which then stops it.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	dieWithParent(attr)
	return attr
}

// give makes the account the owner of path and of all that is in it.
func (a account) give(path string) error {
	if !a.switched {
		return nil
	}
	return filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(a.uid), int(a.gid))
	})
}

// checkReach returns an error when the account may not enter dir.
func (a account) checkReach(dir string) error {
	if !a.switched {
		return nil
	}
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("mariadb: root's servers run as user %s, who may not enter %s: "+
				"set TMPDIR to a directory that every user may enter", a.name, dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// alive tells whether there is a process with that id.
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
