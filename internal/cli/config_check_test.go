package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// config --check lists nodes that do not answer and addresses that are in use with everything else.
func TestConfigCheckFindsNodesAndAddresses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(dir, "birthmark.yaml")
	check := func(listen, source string) (status int, listed, unreachable []string, text string) {
		t.Helper()
		write(t, file, fmt.Sprintf("listen: %s\nchain: bitcoin\nsource: %s\ndb: %s\n", listen, source, filepath.Join(dir, "db")))
		var a struct {
			OK     bool
			Listen []string
			Chains []struct{ Unreachable []string }
		}
		r := birthmark("config", "--check", "--json", "--config", file)
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || len(a.Chains) != 1 || a.OK != (r.status == exitDone) {
			t.Fatalf("%v: %+v", err, r)
		}
		return r.status, a.Listen, a.Chains[0].Unreachable, birthmark("config", "--check", "--config", file).stdout
	}
	blocks := "file://" + realBlocks(t)
	if status, listed, unreachable, text := check("127.0.0.1:0", blocks); status != exitDone || len(listed)+len(unreachable) > 0 {
		t.Errorf("status %d: %q %q %s", status, listed, unreachable, text)
	}
	status, listed, unreachable, text := check(taken.Addr().String(), "http://user:secret@127.0.0.1:1")
	if status != exitFailed || len(listed) != 1 || !strings.Contains(listed[0], taken.Addr().String()) || !strings.Contains(listed[0], "in use") ||
		len(unreachable) != 1 || !strings.Contains(unreachable[0], "127.0.0.1:1 is unreachable") {
		t.Errorf("status %d: %q %q", status, listed, unreachable)
	}
	for _, want := range append(listed, unreachable...) {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) || strings.Contains(text, "secret") {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if status, _, unreachable, _ = check("127.0.0.1:0", filepath.Join(dir, "nosuch")); status != exitFailed || len(unreachable) != 1 {
		t.Errorf("status %d: %q", status, unreachable)
	}
}
