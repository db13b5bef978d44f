//go:build interop

package cli

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testnode/btcdtest"
)

// bcoin, which synced from btcd, yields the same database. `make test-interop` runs it.
func TestInteropBcoinGivesTheSameDatabaseAsBtcd(t *testing.T) {
	t.Parallel()
	node := btcdtest.Start(t)
	node.MineEveryScript(t, 160)
	node.Generate(t, 900)
	bcoin := startBcoin(t, node)

	fromBtcd, fromBcoin := filepath.Join(t.TempDir(), "btcd"), filepath.Join(t.TempDir(), "bcoin")
	indexes := everyIndex
	syncTo(t, fromBtcd, node.URL(), "--network", "regtest", "--index", indexes)
	syncTo(t, fromBcoin, "p2p://"+bcoin, "--network", "regtest", "--index", indexes)
	consistent(t, fromBcoin)
	same(t, fromBcoin, digestOf(t, fromBtcd))
}

// startBcoin starts bcoin with node as its only peer, waits until it has all of its blocks, and returns its address.
func startBcoin(t *testing.T, node *btcdtest.Node) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	free.Close()

	cmd := exec.Command("node", "peer.js", port, node.P2P)
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "bcoin")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs what it needs", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	tip := node.Tip(t)
	want := fmt.Sprintf("height %d ", tip.Height)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), want) {
			go func() { // bcoin continues to write
				for lines.Scan() {
				}
			}()
			return address
		}
	}
	t.Fatal("bcoin ended before it had all blocks")
	return ""
}
