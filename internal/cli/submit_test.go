package cli

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/coretest"
)

func TestSubmitSendsToTheNode(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 4)
	password := filepath.Join(t.TempDir(), "cookie")
	write(t, password, coretest.User+":"+coretest.Password)
	flags := []string{"--chain", "bitcoin", "--network", "regtest", "--node", "http://" + n.Host(), "--password-file", password}
	submit := func(stdin string, args ...string) result {
		return birthmarkReading(stdin, append(append([]string{"submit"}, args...), flags...)...)
	}
	inHex := func(tx *wire.MsgTx) string { return hex.EncodeToString(coretest.Raw(tx)) }

	tx := coretest.Spend(500, coins[0])
	if r := submit("", inHex(tx)); r.status != exitDone || r.stdout != tx.TxHash().String()+"\n" {
		t.Errorf("%+v", r)
	}
	tx = coretest.Spend(500, coins[1])
	if r := submit("\n"+inHex(tx)+"\n\n", "-", "--json"); r.status != exitDone || r.stdout != fmt.Sprintf("{\"hash\":%q}\n", tx.TxHash()) {
		t.Errorf("%+v", r)
	}
	parent := coretest.Spend(0, coins[2])
	child := coretest.Spend(1000, coretest.Outputs(parent)[0])
	file := filepath.Join(t.TempDir(), "package.hex")
	write(t, file, inHex(parent)+"\n"+inHex(child)+"\n")
	if r := submit("", file, "--test"); r.status != exitDone || !strings.Contains(r.stdout, `"allowed":false`) {
		t.Errorf("%+v", r)
	}
	if r := submit("", file, "--package"); r.status != exitDone || !strings.Contains(r.stdout, `"package_msg":"success"`) {
		t.Errorf("%+v", r)
	}
	if len(n.Mempool()) != 4 {
		t.Errorf("the node has %d transactions", len(n.Mempool()))
	}
	low := inHex(coretest.Spend(1, coins[3]))
	wantFailure(t, exitUsage, "rejected", `^min relay fee not met, 1 < 61$`, append([]string{"submit", low}, flags...)...)
	wantFailure(t, exitUsage, "bad_value", `^2 transactions: expected one, or --package or --test`, append([]string{"submit", file}, flags...)...)
	wantFailure(t, exitUsage, "bad_value", `neither a transaction in hex nor a file`, append([]string{"submit", "xyz"}, flags...)...)
	wantFailure(t, exitUsage, "bad_value", `^--max-fee-rate: expected a decimal number`, append([]string{"submit", low, "--max-fee-rate", "1e5"}, flags...)...)
	wantFailure(t, exitUsage, "missing_flag", `^missing --node URL`, "submit", low, "--chain", "bitcoin")
	wantFailure(t, exitUsage, "bad_setting", `^--node: node: this source of bitcoin has no unconfirmed transactions`, "submit", low, "--chain", "bitcoin", "--node", "p2p://127.0.0.1:1")
	wantFailure(t, exitSource, "unreachable", `is unreachable`, "submit", low, "--chain", "bitcoin", "--node", "http://u:p@127.0.0.1:1")
}

// A database that is synced from block files submits to the node of its settings, also if it is only read.
func TestANodeBesideBlockFilesSubmits(t *testing.T) {
	t.Parallel()
	n := coretest.Start(t)
	coins := n.Coins(t, 2)
	dir := t.TempDir()
	blocks := filepath.Join(dir, "blk00000.dat")
	if err := os.WriteFile(blocks, bitcointest.BlockFile(wire.TestNet, n.Blocks()...), 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "db")
	for i, args := range [][]string{{}, {"--read-only"}} {
		file := filepath.Join(dir, "birthmark.yaml")
		write(t, file, fmt.Sprintf("chain: bitcoin\nnetwork: regtest\nsource: \"file://%s\"\nnode: %q\ndb: %s\nmemory: 256MiB\n", blocks, n.URL(), db))
		s := startServer(t, append([]string{"--config", file}, args...)...)
		s.reaches(t, "bitcoin-regtest", int(n.Tip().Height))
		tx := coretest.Spend(500, coins[i])
		r, err := s.client.Post(s.URL+"v1/bitcoin-regtest/tx", "text/plain", strings.NewReader(hex.EncodeToString(coretest.Raw(tx))))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if pool := n.Mempool(); r.StatusCode != http.StatusOK || len(pool) != i+1 || pool[i].TxHash() != tx.TxHash() {
			t.Errorf("%v: %s, %d transactions in the mempool", args, r.Status, len(pool))
		}
		if r := s.get(t, "v1/bitcoin-regtest/fees"); r.status != http.StatusOK {
			t.Errorf("%v: fees: %d %s", args, r.status, r.body)
		}
		s.stop(t)
	}
}
