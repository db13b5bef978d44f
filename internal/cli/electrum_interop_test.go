//go:build interop

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/btcdtest"
)

// electrumKey is the private key of the wallets.
var electrumKey = bytes.Repeat([]byte{0x42}, 32)

// electrumScript returns the P2WPKH script of electrumKey.
func electrumScript() []byte {
	_, pub := btcec.PrivKeyFromBytes(electrumKey)
	return slices.Concat([]byte{0, 20}, address.Hash160(pub.SerializeCompressed()))
}

// electrumNode is a btcd with a chain of 110 blocks that pay to electrumScript, and a server of it.
type electrumNode struct {
	*btcdtest.Node
	chain  *bitcointest.Chain
	server *serverProcess
}

func newElectrumNode(t *testing.T) *electrumNode {
	t.Helper()
	n := &electrumNode{Node: btcdtest.Start(t), chain: bitcointest.NewChain()}
	n.chain.PayTo, n.chain.Start, n.chain.Step = electrumScript(), time.Now().Truncate(time.Second).Add(-12*time.Hour), time.Second
	n.mine(t, 110)
	settings := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, settings, fmt.Sprintf("chain: bitcoin\nnetwork: regtest\nsource: %q\ndb: %s\nraw: on\nindexes: wallet\n"+
		"serve: { electrum: \"127.0.0.1:0\" }\n", n.URL(), filepath.Join(t.TempDir(), "db")))
	// The chains of the program. Their sources have everything that the wallet protocols need.
	cmd, _, stderr := process(t, -1, "serve", "--json", "--listen", "127.0.0.1:0", "--config", settings)
	n.server = startServing(t, cmd, stderr)
	return n
}

// mine submits empty blocks that pay to the wallet.
func (n *electrumNode) mine(t *testing.T, blocks int) {
	t.Helper()
	for range blocks {
		n.Submit(t, n.chain.Mine())
	}
}

func (n *electrumNode) addr(t *testing.T) string {
	t.Helper()
	if len(n.server.Electrum) != 1 {
		t.Fatalf("the server is at %v, expected one address of Electrum", n.server.Electrum)
	}
	return strings.TrimPrefix(n.server.Electrum[0], "tcp://")
}

// answersOf runs a client until it prints its first answer. It returns the answer, and a function that returns the
// second one.
func answersOf(t *testing.T, cmd *exec.Cmd) (first map[string]any, second func() map[string]any) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs what it needs", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	in := bufio.NewReader(out)
	next := func() (answer map[string]any) {
		t.Helper()
		line, err := in.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &answer) != nil {
			t.Fatalf("%v: %s: %v", cmd.Args, line, err)
		}
		return answer
	}
	return next(), next
}

// Two client libraries get the same answers and are notified of the same block.
func TestInteropElectrumLibraries(t *testing.T) {
	t.Parallel()
	n := newElectrumNode(t)
	sum := sha256.Sum256(electrumScript())
	slices.Reverse(sum[:])
	script := hex.EncodeToString(sum[:])
	host, port, _ := strings.Cut(n.addr(t), ":")
	until(t, "the server has the chain", func() bool {
		var status struct{ Tip struct{ Height int } }
		r, err := n.server.try("v1/bitcoin-regtest/status")
		return err == nil && json.Unmarshal(r.body, &status) == nil && status.Tip.Height == 110
	})
	node := exec.CommandContext(t.Context(), "node", "client.js", host, port, script)
	node.Dir = filepath.Join("..", "..", "tools", "interop", "electrum")
	program := filepath.Join(t.TempDir(), "go-electrum")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = filepath.Join("..", "..", "tools", "interop", "go-electrum"), append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fromNode, nextNode := answersOf(t, node)
	fromGo, nextGo := answersOf(t, exec.CommandContext(t.Context(), program, n.addr(t), script))
	if !reflect.DeepEqual(fromNode, fromGo) {
		t.Errorf("the answers differ:\n%v\n%v", fromNode, fromGo)
	}
	const want = `map[confirmed:5.5e+11 unconfirmed:0]`
	if got := fmt.Sprint(fromGo["balances"].([]any)[0]); got != want || fromGo["tip"] != 110. || len(fromGo["raws"].([]any)) != 110 {
		t.Errorf("balance %s, expected %s; %v", got, want, fromGo)
	}
	n.mine(t, 1)
	for _, next := range []func() map[string]any{nextNode, nextGo} {
		if got := next(); got["tip"] != 111. || got["script"] != script {
			t.Errorf("notified of %v, expected height 111 and script %s", got, script)
		}
	}
}

// electrumWallet is Debian's Electrum, run as a daemon with a wallet.
type electrumWallet struct {
	t   *testing.T
	dir string
}

// run runs a command of Electrum and returns what it prints.
func (w *electrumWallet) run(stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "electrum", append([]string{"--regtest", "-D", w.dir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("electrum %v: %w: %s %s", args, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), err
}

func (w *electrumWallet) must(args ...string) string {
	w.t.Helper()
	out, err := w.run("", args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// waitFor repeats a command until its answer satisfies ok.
func (w *electrumWallet) waitFor(what string, ok func(answer map[string]any) bool, args ...string) {
	w.t.Helper()
	last := ""
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("electrum %v: %s", args, last)
		}
	})
	until(w.t, what, func() bool {
		out, err := w.run("", args...)
		if last = out; err != nil {
			last = err.Error()
			return false
		}
		var answer map[string]any
		return json.Unmarshal([]byte(out), &answer) == nil && ok(answer)
	})
}

// broadcast sends a transaction through the server and returns its id.
func (w *electrumWallet) broadcast(raw string) string {
	w.t.Helper()
	id, err := w.run(raw, "broadcast", "-")
	if err != nil || len(id) != 64 {
		w.t.Fatal(id, err)
	}
	return id
}

// heights returns the heights of the transactions in an answer to onchain_history, by id.
func heights(history map[string]any) map[string]float64 {
	all := map[string]float64{}
	txs, _ := history["transactions"].([]any)
	for _, tx := range txs {
		fields, _ := tx.(map[string]any)
		id, _ := fields["txid"].(string)
		all[id], _ = fields["height"].(float64)
	}
	return all
}

func wif(key []byte) string {
	return base58.CheckEncode(append(slices.Clone(key), 1), chaincfg.RegressionNetParams.PrivateKeyID)
}

// replacement returns a transaction with the inputs of raw, which are coinbases of the wallet, and a fee that is 10,000
// satoshi higher.
func replacement(t *testing.T, raw string) string {
	t.Helper()
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(hex.NewDecoder(strings.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	largest := slices.MaxFunc(tx.TxOut, func(a, b *wire.TxOut) int { return cmp.Compare(a.Value, b.Value) })
	largest.Value -= 10_000
	signCoinbases(t, tx)
	return rawHex(tx)
}

// signCoinbases signs a transaction that spends coinbases of electrumKey.
func signCoinbases(t *testing.T, tx *wire.MsgTx) {
	t.Helper()
	key, _ := btcec.PrivKeyFromBytes(electrumKey)
	script := electrumScript()
	const value = 50e8
	hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(script, value))
	for i, in := range tx.TxIn {
		var err error
		in.Witness, err = txscript.WitnessSignature(tx, hashes, i, value, script, txscript.SigHashAll, key, true)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// startElectrum starts Electrum as a daemon. It is connected to the server of n and has the wallet that a command
// creates.
func startElectrum(t *testing.T, n *electrumNode, wallet ...string) *electrumWallet {
	t.Helper()
	w := &electrumWallet{t, t.TempDir()}
	w.must("setconfig", "--offline", "auto_connect", "false")
	w.must("setconfig", "--offline", "check_updates", "false")
	w.must(wallet...)
	w.must("daemon", "-d", "-1", "-s", n.addr(t)+":t")
	t.Cleanup(func() { // the context of the test is canceled by then
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "electrum", "--regtest", "-D", w.dir, "stop").CombinedOutput(); err != nil {
			t.Errorf("electrum stop: %v: %s", err, out)
		}
	})
	w.must("load_wallet")
	return w
}

// otherAddress is an address that does not belong to the wallet.
func otherAddress(t *testing.T) string {
	t.Helper()
	_, pub := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{0x43}, 32))
	other, err := address.NewAddressWitnessPubKeyHash(address.Hash160(pub.SerializeCompressed()), &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	return other.EncodeAddress()
}

// Electrum restores a wallet, receives, sends, follows a replacement and a reorganization.
func TestInteropElectrumWallet(t *testing.T) {
	t.Parallel()
	n := newElectrumNode(t)
	w := startElectrum(t, n, "restore", "--offline", "p2wpkh:"+wif(electrumKey))

	// 110 coinbases, of which 100 are immature.
	w.waitFor("the restored wallet has its balance", func(b map[string]any) bool {
		return b["confirmed"] == "550" && b["unmatured"] == "4950" || b["confirmed"] == "500" && b["unmatured"] == "5000"
	}, "getbalance")
	before := w.must("getbalance")

	raw := w.must("payto", "--feerate", "2", "--rbf", "true", "--addtransaction", otherAddress(t), "1.5")
	first := w.broadcast(raw)
	// The height is 0 when the server lists the transaction. Before that it is -2 in Electrum, a local transaction.
	listed := func(txid string, height float64) func(map[string]any) bool {
		return func(h map[string]any) bool {
			at, ok := heights(h)[txid]
			return ok && at == height
		}
	}
	w.waitFor("the payment is unconfirmed", listed(first, 0), "onchain_history")

	// The wallet follows a replacement that another program signed.
	second := w.broadcast(replacement(t, raw))
	w.waitFor("its replacement is unconfirmed", listed(second, 0), "onchain_history")
	mined := n.Generate(t, 1) // the coinbase does not belong to the wallet
	w.waitFor("the payment is confirmed", func(s map[string]any) bool { return s["confirmations"] == 1. }, "get_tx_status", second)
	n.Generate(t, 1)
	w.waitFor("it has two confirmations", func(s map[string]any) bool { return s["confirmations"] == 2. }, "get_tx_status", second)
	after := w.must("getbalance")
	if before == after {
		t.Errorf("the balance is still %s", before)
	}

	// The branch with the payment is replaced by a longer one without it.
	n.Invalidate(t, mined[0])
	until(t, "the node is at height 110", func() bool { return n.Tip(t).Height == 110 })
	for n.Tip(t).Height < 113 {
		n.mine(t, 1)
	}
	tip := n.Tip(t)
	w.waitFor("the wallet follows the reorganization", func(info map[string]any) bool {
		return info["blockchain_height"] == float64(tip.Height)
	}, "getinfo")
	// The wallet has 14 mature coinbases, 3 more than before, minus the payment, which is unconfirmed again.
	w.waitFor("the coinbases of the new branch arrive", func(b map[string]any) bool {
		confirmed, _ := b["confirmed"].(string)
		return strings.HasPrefix(confirmed, "698.49") && b["unmatured"] == "4950"
	}, "getbalance")
}
