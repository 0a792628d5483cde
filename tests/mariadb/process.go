package mariadb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	serverProgram  = "mariadbd"
	installProgram = "mariadb-install-db"
)

// process is one child process. A goroutine waits for it until it ends.
type process struct {
	cmd *exec.Cmd
	// exited is closed when the process has been waited for.
	exited chan struct{}
	// err is what Wait returned; it may be read once exited is closed.
	err error
}

// startProcess runs a MariaDB program in dir as own, its output appended to the
// file logPath.
func startProcess(own account, dir, logPath, program string, args []string) (*process, error) {
	path, err := findProgram(program)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor

	// No CommandContext: the context that bounds a start ends before the server.
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = own.attributes()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ties the death of the child to that of the thread which
		// started it, so the thread has to live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("mariadb: start %s: %w", program, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) signal(sig os.Signal) error {
	return p.cmd.Process.Signal(sig)
}

// kill ends the process without giving it a chance to say goodbye, and waits
// until it is gone.
func (p *process) kill() error {
	if p.ended() {
		return nil
	}
	err := p.signal(os.Kill)
	if err == nil || p.ended() {
		<-p.exited
		return nil
	}
	return fmt.Errorf("mariadb: kill process %d: %w", p.pid(), err)
}

// pause stops the process and returns when none of its threads runs any more: a
// busy one may go on for some milliseconds after the signal.
func (p *process) pause() error {
	if err := p.signal(signalStop); err != nil {
		return fmt.Errorf("mariadb: pause process %d: %w", p.pid(), err)
	}
	for range 1000 {
		if p.ended() || !threadsRun(p.pid()) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("mariadb: process %d was told to stop and still runs", p.pid())
}

// shutdown asks the process to end, also when it is paused, and kills it when it
// takes longer than limit or than ctx allows.
func (p *process) shutdown(ctx context.Context, limit time.Duration) error {
	for _, sig := range []os.Signal{syscall.SIGTERM, signalContinue} {
		if err := p.signal(sig); err != nil {
			return p.kill()
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return p.kill()
	}
}

// wait returns when the process has ended by itself; it is killed when ctx ends
// first.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		if err := p.kill(); err != nil {
			return err
		}
		return ctx.Err()
	}
}

// onExit calls f when the process ends, unless the returned function was called
// before, which also waits for f.
func (p *process) onExit(f func()) (cancel func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-p.exited:
			f()
		case <-quit:
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// findProgram returns the path of a MariaDB program. The server is often in a
// directory that only root has in its PATH.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("mariadb: %s is not installed: on Debian and Ubuntu run "+
		"`apt-get install mariadb-server-core mariadb-client-core` (or mariadb-server), "+
		"elsewhere install MariaDB server 10.5 or newer", name)
}
