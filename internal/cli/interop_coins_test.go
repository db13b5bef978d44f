//go:build interop

package cli

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"

	"birthmark/chains"
	"birthmark/core/query"
	"birthmark/internal/testnode/toolbuild"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// Unchanged nodes of other coins: the blocks that they mine are indexed over JSON-RPC, and from bchd as a peer. A
// reorganization is followed, and the balance of the miner equals the sum of its unspent outputs in the node. `make test-interop` runs it.
func TestInteropNodesOfCoins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ chain, folder, module string }{
		{"litecoin", "tools/interop/ltcd", "github.com/ltcsuite/ltcd"},
		{"bitcoin-cash", "tools/interop/bchd", "github.com/gcash/bchd"},
	} {
		t.Run(c.chain, func(t *testing.T) {
			program, err := toolbuild.Build(c.folder, c.module)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := chains.New(c.chain, "regtest")
			if err != nil {
				t.Fatal(err)
			}
			keyHash := strings.Repeat("\x42", 20)
			miner := chain.(model.Scripter).ScriptAddress([]byte("\x76\xa9\x14" + keyHash + "\x88\xac"))
			ours, theirs := startCoinNode(t, program, miner), startCoinNode(t, program, miner)
			db := filepath.Join(t.TempDir(), "db")
			args := []string{"sync", "--chain", c.chain, "--network", "regtest", "--db", db, "--source", ours.url()}

			ours.call(t, nil, "generate", 130)
			ask(t, nil, args...)
			ours.compare(t, db, miner)
			theirs.call(t, nil, "generate", 150)
			ours.call(t, nil, "addnode", theirs.p2p, "add")
			ours.wait(t, theirs.count(t))
			ask(t, nil, args...)
			consistent(t, db)
			ours.compare(t, db, miner)

			fresh := filepath.Join(t.TempDir(), "fresh")
			args[6] = fresh
			ask(t, nil, args...)
			same(t, db, digestOf(t, fresh))
			if c.chain == "litecoin" {
				return // ltcd does not serve blocks with extensions to peers
			}
			peers := filepath.Join(t.TempDir(), "peers")
			args[6], args[8] = peers, "p2p://"+ours.p2p
			ask(t, nil, args...)
			same(t, db, digestOf(t, peers))
		})
	}
}

// coinNode is a node of a coin with the interface of btcd.
type coinNode struct{ rpc, p2p string }

func startCoinNode(t *testing.T, program, miner string) *coinNode {
	t.Helper()
	n := &coinNode{freeAddress(t), freeAddress(t)}
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--configfile=" + os.DevNull, "--regtest", "--nodnsseed", "--notls", "--datadir=" + dir, "--logdir=" + dir,
		"--listen=" + n.p2p, "--rpclisten=" + n.rpc, "--rpcuser=user", "--rpcpass=pass", "--miningaddr=" + miner}
	if strings.Contains(program, "bchd") { // bchd has gRPC with TLS
		cert, key, err := btcutil.NewTLSCertPair("test", time.Now().Add(24*time.Hour), nil)
		if err != nil {
			t.Fatal(err)
		}
		for flag, content := range map[string][]byte{"rpccert": cert, "rpckey": key} {
			path := filepath.Join(dir, flag)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--"+flag+"="+path)
		}
		args = append(args, "--grpclisten="+freeAddress(t))
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the end of the log of %s:\n%s", program, text[max(0, len(text)-3000):])
		}
		_ = log.Close()
	})
	n.wait(t, 0)
	return n
}

func (n *coinNode) url() string { return "http://user:pass@" + n.rpc }

// wait waits until the node answers and has this many blocks.
func (n *coinNode) wait(t *testing.T, blocks int) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		have := -1
		if err := n.try(t, &have, "getblockcount"); err == nil && have == blocks {
			return
		} else if time.Since(begun) > testrun.Patience {
			t.Fatalf("the node at %s has %d blocks, expected %d: %v", n.rpc, have, blocks, err)
		}
	}
}

func (n *coinNode) count(t *testing.T) (blocks int) {
	t.Helper()
	n.call(t, &blocks, "getblockcount")
	return blocks
}

func (n *coinNode) call(t *testing.T, result any, method string, params ...any) {
	t.Helper()
	if err := n.try(t, result, method, params...); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func (n *coinNode) try(t *testing.T, result any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(n.url(), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	reply := struct {
		Result any
		Error  *model.NodeError
	}{Result: result}
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return reply.Error
	}
	return nil
}

// compare compares the tip and the balance of the miner with the answers of the node.
func (n *coinNode) compare(t *testing.T, db, miner string) {
	t.Helper()
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	var hash string
	if n.call(t, &hash, "getbestblockhash"); status.Tip.Hash != hash {
		t.Errorf("the tip is %s, the node has %s", status.Tip.Hash, hash)
	}
	sum := new(big.Int)
	for h := 1; h <= n.count(t); h++ {
		var block struct{ Tx []string }
		n.call(t, &hash, "getblockhash", h)
		n.call(t, &block, "getblock", hash, 1)
		var out struct {
			Value        json.Number
			ScriptPubKey struct{ Addresses []string }
		}
		n.call(t, &out, "gettxout", block.Tx[0], 0)
		value, ok := new(big.Rat).SetString(string(out.Value))
		if !ok || len(out.ScriptPubKey.Addresses) != 1 || !strings.HasSuffix(miner, out.ScriptPubKey.Addresses[0]) {
			t.Fatalf("block %d: the node has %+v, expected an output to %s", h, out, miner)
		}
		sum.Add(sum, value.Mul(value, big.NewRat(100_000_000, 1)).Num())
	}
	var balance query.BalanceAnswer
	if ask(t, &balance, "balance", "--db", db, "address", miner); balance.Balance != sum.String() || balance.UnspentCount == nil || *balance.UnspentCount != uint64(n.count(t)) {
		t.Errorf("the balance is %+v, the node has %s in %d outputs", balance, sum, n.count(t))
	}
}
