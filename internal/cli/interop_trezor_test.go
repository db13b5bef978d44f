//go:build interop

package cli

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/account"
	"birthmark/chains/bitcoin/descriptor"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// trezorLink is the library of Trezor Suite, connected to a server.
type trezorLink struct {
	t      *testing.T
	in     io.Writer
	lines  chan []byte
	events []trezorEvent
}

type trezorEvent struct {
	Event string
	Data  json.RawMessage
}

func startTrezor(t *testing.T, worker, url string) *trezorLink {
	t.Helper()
	cmd := exec.Command("node", "client.js", worker, url)
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "trezor")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: make test-interop installs what it needs", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	l := &trezorLink{t: t, in: in, lines: make(chan []byte, 1000)}
	go func() {
		defer close(l.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			l.lines <- bytes.Clone(s.Bytes())
		}
	}()
	return l
}

func (l *trezorLink) line() []byte {
	l.t.Helper()
	select {
	case line, ok := <-l.lines:
		if !ok {
			l.t.Fatal("the client ended")
		}
		return line
	case <-time.After(testrun.Patience):
		l.t.Fatal("the client does not respond")
	}
	return nil
}

// try calls a method and returns its result, or its error.
func (l *trezorLink) try(method string, parameters, result any) (message string) {
	l.t.Helper()
	request, err := json.Marshal([]any{method, parameters})
	if err == nil {
		_, err = fmt.Fprintf(l.in, "%s\n", request)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	for {
		var answer struct {
			trezorEvent
			Result json.RawMessage
			Error  string
		}
		line := l.line()
		if err := json.Unmarshal(line, &answer); err != nil {
			l.t.Fatalf("%s: %v", line, err)
		}
		switch {
		case answer.Event != "":
			l.events = append(l.events, answer.trezorEvent)
			continue
		case answer.Error != "":
			return answer.Error
		}
		if err := json.Unmarshal(answer.Result, result); err != nil {
			l.t.Fatalf("%s: %v in %s", method, err, line)
		}
		return ""
	}
}

func (l *trezorLink) call(method string, parameters, result any) {
	l.t.Helper()
	if message := l.try(method, parameters, result); message != "" {
		l.t.Fatalf("%s: %s", method, message)
	}
}

// event returns the next notification of a kind.
func (l *trezorLink) event(kind string, data any) {
	l.t.Helper()
	for {
		for i, e := range l.events {
			if e.Event == kind {
				l.events = append(l.events[:i:i], l.events[i+1:]...)
				if err := json.Unmarshal(e.Data, data); err != nil {
					l.t.Fatalf("%s: %v", e.Data, err)
				}
				return
			}
		}
		var e trezorEvent
		if err := json.Unmarshal(l.line(), &e); err != nil {
			l.t.Fatal(err)
		}
		l.events = append(l.events, e)
	}
}

// trezorAccount is an account of regtest with its private key.
type trezorAccount struct {
	*account.Account
	key *hdkeychain.ExtendedKey
}

func newTrezorAccount(t *testing.T) *trezorAccount {
	t.Helper()
	key, err := hdkeychain.NewMaster(bytes.Repeat([]byte{1}, 32), &chaincfg.RegressionNetParams)
	for _, step := range []uint32{84, 1, 0} {
		if err == nil {
			key, err = key.Derive(step + hdkeychain.HardenedKeyStart)
		}
	}
	var public *hdkeychain.ExtendedKey
	if err == nil {
		public, err = key.Neuter()
	}
	if err == nil {
		public, err = public.CloneWithVersion([]byte{0x04, 0x5f, 0x1c, 0xf6}) // vpub
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := account.Parse(public.String(), &descriptor.Network{Coin: "bitcoin", Test: true})
	if err != nil {
		t.Fatal(err)
	}
	return &trezorAccount{a, key}
}

func (a *trezorAccount) script(t *testing.T, branch, index int) []byte {
	t.Helper()
	script, err := a.Script(branch, index)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func (a *trezorAccount) address(t *testing.T, branch, index int) string {
	t.Helper()
	_, list, _, err := txscript.ExtractPkScriptAddrs(a.script(t, branch, index), &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	return list[0].EncodeAddress()
}

// pay returns a signed transaction that spends the first output of from, which is the account's first address.
func (a *trezorAccount) pay(t *testing.T, from *wire.MsgTx, outputs ...*wire.TxOut) *wire.MsgTx {
	t.Helper()
	tx := bitcointest.Spend(from, 0, outputs...)
	branch, err := a.key.Derive(0)
	if err != nil {
		t.Fatal(err)
	}
	child, err := branch.Derive(0)
	if err != nil {
		t.Fatal(err)
	}
	private, err := child.ECPrivKey()
	if err != nil {
		t.Fatal(err)
	}
	spent := from.TxOut[0]
	hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(spent.PkScript, spent.Value))
	tx.TxIn[0].Witness, err = txscript.WitnessSignature(tx, hashes, 0, spent.Value, spent.PkScript,
		txscript.SigHashAll, private, true)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// trezorChain is a chain whose first three coinbases belong to an account, and are mature.
func trezorChain(t *testing.T, a *trezorAccount) *bitcointest.Chain {
	t.Helper()
	chain := bitcointest.NewChain()
	chain.Start = time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	chain.Step = time.Minute
	chain.PayTo = a.script(t, 0, 0)
	chain.MineEmpty(3)
	chain.PayTo = []byte{txscript.OP_TRUE}
	chain.MineEmpty(101)
	return chain
}

// serveTrezor serves the chain of a node over Blockbook and Electrum. It returns the address of the Electrum server.
func serveTrezor(t *testing.T, node string) (s *serverProcess, electrum string) {
	t.Helper()
	electrum = freeAddress(t)
	s = startRealServer(t, "--config", writeConfig(t, fmt.Sprintf(`chain: bitcoin
network: regtest
source: %s
db: %s
raw: on
memory: 128MiB
indexes:
  address: {}
  script_hash: { balance: true, unspent: true, history: true }
serve: { blockbook: /blockbook, electrum: "%s" }
`, node, filepath.Join(t.TempDir(), "db"), electrum)))
	return s, electrum
}

// Trezor Suite discovers an account, sends a payment from it, and follows it into a block and through a reorganization.
func TestInteropTrezorSuite(t *testing.T) {
	t.Parallel()
	for _, worker := range []string{"blockbook", "electrum"} {
		t.Run(worker, func(t *testing.T) {
			t.Parallel()
			node := btcdtest.Start(t)
			a := newTrezorAccount(t)
			chain := trezorChain(t, a)
			node.Submit(t, chain.Blocks()[1:]...)
			s, electrum := serveTrezor(t, node.URL())
			s.reaches(t, "bitcoin-regtest", chain.Height())
			url := map[string]string{"blockbook": s.URL + "blockbook", "electrum": electrum + ":t"}[worker]
			trezorFindsPaysAndFollows(t, worker == "blockbook", startTrezor(t, worker, url), a, node, chain)
		})
	}
}

// The Electrum worker counts a transaction once per address, and lists outputs in chain order. Some conditions are
// therefore checked for Blockbook only.
func trezorFindsPaysAndFollows(
	t *testing.T, blockbook bool, l *trezorLink, a *trezorAccount, node *btcdtest.Node, chain *bitcointest.Chain,
) {
	tip := func() string { h := chain.Tip().BlockHash(); return h.String() }
	var info struct {
		Name, Shortcut, BlockHash string
		Testnet                   bool
		Decimals, BlockHeight     int
	}
	l.call("getInfo", nil, &info)
	if info.BlockHash != tip() || info.BlockHeight != chain.Height() || !info.Testnet ||
		info.Decimals != 8 || info.Shortcut == "" {
		t.Errorf("getInfo: %+v", info)
	}
	var hash string
	if l.call("getBlockHash", chain.Height(), &hash); hash != tip() {
		t.Errorf("block hash %s", hash)
	}
	type used struct { // sent back with the same keys
		Address   string `json:"address"`
		Path      string `json:"path"`
		Transfers int    `json:"transfers"`
	}
	type transaction struct {
		Type, TxID, Amount, Fee string
		BlockHeight             int
		Targets                 []struct{ Addresses []string }
	}
	type accountInfo struct {
		Descriptor, Balance, AvailableBalance string
		Empty                                 bool
		Addresses                             struct {
			Change []used `json:"change"`
			Used   []used `json:"used"`
			Unused []used `json:"unused"`
		}
		History struct {
			Total, Unconfirmed int
			Transactions       []transaction
		}
		Page struct{ Index, Size, Total int }
	}
	find := func() (i accountInfo) {
		l.call("getAccountInfo", map[string]any{"descriptor": a.Text, "details": "txs", "pageSize": 10}, &i)
		return i
	}
	i := find()
	if i.Descriptor != a.Text || i.Balance != "15000000000" || i.Empty || len(i.Addresses.Used) != 1 ||
		len(i.Addresses.Unused) != 20 ||
		len(i.Addresses.Change) < 20 || i.Addresses.Used[0].Path != "m/84'/1'/0'/0/0" || i.Addresses.Used[0].Transfers != 3 ||
		i.History.Total != 3 || len(i.History.Transactions) != 3 || i.History.Transactions[0].Type != "recv" {
		t.Errorf("account: %+v", i)
	}
	var utxos []struct {
		TxID, Amount, Address, Path string
		Vout, BlockHeight           int
		Confirmations               int
		Coinbase                    bool
	}
	l.call("getAccountUtxo", a.Text, &utxos)
	if len(utxos) != 3 || blockbook && (utxos[2].BlockHeight != 1 || utxos[2].Path != "m/84'/1'/0'/0/0" ||
		utxos[2].Confirmations != chain.Height()) {
		t.Errorf("unspent outputs: %+v", utxos)
	}
	var history []struct{ Received, Sent string }
	if l.call("getAccountBalanceHistory", map[string]any{"descriptor": a.Text, "groupBy": 3600}, &history); len(history) == 0 {
		t.Error("no balance history")
	}
	var fees []struct{ FeePerUnit string }
	if message := l.try("estimateFee", map[string]any{"blocks": []int{1, 6}}, &fees); message == "" && len(fees) != 2 {
		t.Errorf("fees: %+v", fees)
	}

	var subscribed struct{ Subscribed bool }
	l.call("subscribe", map[string]any{"type": "block"}, &subscribed)
	l.call("subscribe", map[string]any{"type": "accounts",
		"accounts": []any{map[string]any{"descriptor": a.Text, "addresses": i.Addresses}}}, &subscribed)
	if !subscribed.Subscribed {
		t.Error("not subscribed")
	}
	payment := a.pay(t, chain.Blocks()[1].Transactions[0],
		wire.NewTxOut(1e9, append([]byte{0, 20}, bytes.Repeat([]byte{9}, 20)...)), wire.NewTxOut(3_999_990_000, a.script(t, 1, 0)))
	var raw bytes.Buffer
	if err := payment.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	var id string
	l.call("pushTransaction", map[string]any{"hex": hex.EncodeToString(raw.Bytes())}, &id)
	if want := payment.TxHash().String(); id != want {
		t.Fatalf("pushed %s, expected %s", id, want)
	}
	var noted struct {
		Descriptor string
		Tx         transaction
	}
	l.event("notification", &noted)
	if noted.Descriptor != a.Text || noted.Tx.TxID != id ||
		noted.Tx.Type != "sent" || noted.Tx.Amount != "1000000000" || noted.Tx.Fee != "10000" {
		t.Errorf("notification: %+v", noted)
	}
	if i = find(); i.Balance != "15000000000" || i.AvailableBalance != "13999990000" ||
		blockbook && i.History.Unconfirmed != 1 || i.History.Transactions[0].TxID != id {
		t.Errorf("account with an unconfirmed transaction: %+v", i)
	}
	message := l.try("pushTransaction", map[string]any{"hex": "00"}, &id)
	if message == "" {
		t.Error("an invalid transaction was sent")
	}

	chain.Mine(payment)
	node.Submit(t, chain.Tip())
	var block struct {
		BlockHash   string
		BlockHeight int
	}
	if l.event("block", &block); block.BlockHash != tip() || block.BlockHeight != chain.Height() {
		t.Errorf("block: %+v", block)
	}
	if i = find(); i.Balance != "13999990000" || i.History.Unconfirmed != 0 ||
		blockbook && i.History.Total != 4 || i.History.Transactions[0].BlockHeight != chain.Height() {
		t.Errorf("account after the block: %+v", i)
	}
	var tx transaction
	if l.call("getTransaction", id, &tx); tx.TxID != id || tx.BlockHeight != chain.Height() || tx.Fee != "10000" {
		t.Errorf("transaction: %+v", tx)
	}
	if message := l.try("getTransaction", strings.Repeat("0", 64), &tx); message == "" ||
		blockbook && !strings.Contains(message, "not found") {
		t.Errorf("an unknown transaction: %s", message)
	}
	fork := chain.Fork(chain.Height() - 1)
	fork.MineEmpty(2)
	node.Submit(t, fork.Blocks()[chain.Height():]...)
	h := fork.Tip().BlockHash()
	for block.BlockHash != h.String() {
		l.event("block", &block)
	}
	if got := node.Tip(t).Hash; got != model.Hash(h) {
		t.Errorf("the node is at %x", got)
	}
}
