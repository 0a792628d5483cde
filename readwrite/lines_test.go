package readwrite

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestWhoWaitsOnALineIsTold(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed at the end
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var lines Lines
	conn, err := lines.Dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := lines.Dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(lines.open); n != 1 {
		t.Errorf("%d lines are known, want the one that is open", n)
	}
	if _, err := conn.(syscall.Conn).SyscallConn(); err != nil {
		t.Errorf("the driver cannot look at the connection: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("the read ended by itself: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	lines.HangUp()
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the read still waits")
	}
	if err := conn.Close(); err != nil || len(lines.open) != 0 {
		t.Errorf("%v, %d lines are left", err, len(lines.open))
	}
}
