package mariadb

import (
	"strings"
	"testing"
)

func TestMissingProgramNamesThePackage(t *testing.T) {
	_, err := findProgram("no-such-server")
	if err == nil || !strings.Contains(err.Error(), "no-such-server is not installed") ||
		!strings.Contains(err.Error(), "apt-get install mariadb-server-core mariadb-client-core") {
		t.Errorf("got %v, want the missing program and how to install it", err)
	}
}
