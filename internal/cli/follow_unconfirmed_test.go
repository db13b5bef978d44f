package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/coretest"
)

// followedLine returns a line of a follower without heights and times. It is empty for a block, a rollback, and the
// state of the mempool before the list of the node was read.
func followedLine(t *testing.T, line string) string {
	t.Helper()
	var e struct {
		Type, Tx, Value, Reason, By, State string
		Count                              int
		Reset                              bool
		Outputs                            []struct{ Value string }
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	switch {
	case e.Type == "output":
		return fmt.Sprintf("output %s %s", e.Tx, e.Value)
	case e.Type == "pending" && len(e.Outputs) == 1:
		return fmt.Sprintf("pending %s %s", e.Tx, e.Outputs[0].Value)
	case e.Type == "gone":
		return fmt.Sprintf("gone %s %s %s", e.Tx, e.Reason, e.By)
	case e.Type == "mempool" && e.State == "live" && !e.Reset:
		return fmt.Sprintf("mempool %d", e.Count)
	case e.Type == "block", e.Type == "rollback", e.Type == "mempool":
		return ""
	}
	t.Fatalf("an unexpected line %s", line)
	return ""
}

// A follower of a database and a node prints the transactions that enter the mempool, leave it, and are confirmed.
func TestFollowTheMempoolOfANode(t *testing.T) {
	t.Parallel()
	n := coretest.Start(t)
	coin := n.Coins(t, 1)[0]
	dir := t.TempDir()
	blocks, db := filepath.Join(dir, "blk00000.dat"), filepath.Join(dir, "db")
	sync := func() {
		t.Helper()
		if err := os.WriteFile(blocks, bitcointest.BlockFile(wire.TestNet, n.Blocks()...), 0o600); err != nil {
			t.Fatal(err)
		}
		ask(t, nil, "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+blocks, "--db", db)
	}
	sync()
	script := append([]byte{0, 20}, make([]byte, 20)...) // witness_v0_keyhash
	pay := func(value int64) string {
		tx := coretest.Pay([]coretest.Coin{coin}, wire.NewTxOut(value, script))
		n.Send(t, tx)
		return tx.TxHash().String()
	}
	high, low := coin.Value-1000, coin.Value-100_000
	first := pay(high)
	follow := []string{"find", "--follow", "--pending", "--height-from", "1", "address", "--db", db}
	wantFailure(t, exitUsage, "no_mempool", `^bitcoin regtest has no node that lists unconfirmed transactions`, follow...)
	wantFailure(t, exitUsage, "bad_value", `^--pending and --until-tip cannot be combined`, append(follow, "--until-tip")...)
	cmd, _, stderr := process(t, -1, append(follow, "--json", "--node", n.URL())...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect := func(want ...string) {
		t.Helper()
		for _, line := range want {
			got := ""
			for got == "" && lines.Scan() {
				got = followedLine(t, lines.Text())
			}
			if got != line {
				t.Fatalf("got %q, expected %q\n%s", got, line, stderr)
			}
		}
	}
	expect(fmt.Sprintf("pending %s %d", first, high), "mempool 1")
	second := pay(low)
	expect(fmt.Sprintf("gone %s replaced %s", first, second), fmt.Sprintf("pending %s %d", second, low), "mempool 1")
	n.Mine(t)
	sync()
	expect(fmt.Sprintf("output %s %d", second, low), "mempool 0")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("a line after the signal: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
}
