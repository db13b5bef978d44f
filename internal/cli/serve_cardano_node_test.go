package cli

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/core/query"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// localNode is a Cardano node on this machine, and a server that follows it over its socket.
type localNode struct {
	*serverProcess
	node    *ouroborostest.Node
	chain   model.Chain
	network string                // value of --network
	name    string                // name of the chain in paths
	rest    []ouroborostest.Block // after the node's tip
	made    []*model.Block        // the decoded blocks of rest
	txs     [][]ouroborostest.Tx  // the transactions of each block
}

// cardanoNodeIndexes are the indexes of the database.
var cardanoNodeIndexes = []string{"address", "payment_credential", "stake_credential", "policy", "datum_hash", "script_hash"}

// serveLocalNode starts a server with a node of 20 blocks. The node can add more.
func serveLocalNode(t *testing.T, more int) *localNode {
	t.Helper()
	b := newBranch()
	var raws [][]byte
	for range 20 + more {
		raws = append(raws, b.chain.NextOf(12).Raw)
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	network := b.network(t)
	chain, err := cardano.New(network)
	if err != nil {
		t.Fatal(err)
	}
	n := &localNode{node: ouroborostest.Start(t, cardanogen.DefaultMagic, blocks[:20]), chain: chain, network: network, rest: blocks[20:]}
	n.name = "cardano-" + chain.Network()
	for i, raw := range raws[20:] {
		for block, err := range chain.Decode(t.Context(), strings.NewReader(string(raw)), cardanoNodeIndexes, 0) {
			if err != nil {
				t.Fatal(err)
			}
			n.made = append(n.made, block)
		}
		txs, err := n.rest[i].Txs()
		if err != nil {
			t.Fatal(err)
		}
		n.txs = append(n.txs, txs)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("memory: 256MiB\nchain: cardano\nnetwork: %s\nsource: %s\ndb: %s\nraw: keep\nserve: { submit_api: /api/submit }\n"+
		"indexes: { %s: { balance: true, unspent: true } }\n",
		network, n.node.Unix(), filepath.Join(dir, "db"), strings.Join(cardanoNodeIndexes, ": { balance: true, unspent: true }, ")))
	n.serverProcess = startRealServer(t, "--config", file)
	n.reaches(t, n.name, 19)
	return n
}

// pending waits until the server has the number of unconfirmed transactions and the tip of the node.
func (n *localNode) pending(t *testing.T, count int) {
	t.Helper()
	until(t, fmt.Sprintf("%d unconfirmed transactions", count), func() bool {
		_, hash := n.tip(t, n.name)
		tip := n.node.Tip()
		var a query.MempoolAnswer
		n.get(t, "v1/"+n.name+"/mempool").into(t, &a)
		return a.State == "live" && a.Count == count && hash == hex.EncodeToString(tip.Hash[:])
	})
}

// foundOutput is an output in an answer to find.
type foundOutput struct {
	Tx      string
	Index   int
	Value   string
	SpentBy *struct{ Tx string } `json:"spent_by"`
}

// standing are the answers about a value of an index.
type standing struct {
	balance query.BalanceAnswer
	find    struct {
		Outputs []foundOutput
		Next    *string
		Mempool struct {
			Outputs []foundOutput
			Spends  []foundOutput
		}
	}
	history query.HistoryAnswer
}

func (n *localNode) standing(t *testing.T, index, value string) (s standing) {
	t.Helper()
	of := "/" + index + "/" + value + "?limit=10000&mempool=include"
	n.get(t, "v1/"+n.name+"/balance/"+index+"/"+value+"?mempool=include").into(t, &s.balance)
	n.get(t, "v1/"+n.name+"/find"+of).into(t, &s.find)
	n.get(t, "v1/"+n.name+"/history"+of).into(t, &s.history)
	if s.find.Next != nil || s.history.Next != nil {
		t.Fatalf("%s %s has more than one page", index, value)
	}
	return s
}

// facts returns the parts of answers that have the same form for confirmed and unconfirmed transactions. withMempool
// includes the unconfirmed ones.
func (s *standing) facts(t *testing.T, withMempool bool) (lines []string) {
	t.Helper()
	number := func(text string) *big.Int {
		v, ok := new(big.Int).SetString(text, 10)
		if !ok {
			t.Fatalf("no number: %q", text)
		}
		return v
	}
	b := &s.balance
	balance, received, sent, txs, outputs := number(b.Balance), number(b.Received), number(b.Sent), b.TxCount, b.OutputCount
	unspent := map[string]string{}
	all := 0
	for _, o := range s.find.Outputs {
		all++
		if o.SpentBy == nil {
			unspent[fmt.Sprintf("%s:%d", o.Tx, o.Index)] = o.Value
		}
	}
	var history []string
	for _, e := range s.history.Txs {
		history = append(history, fmt.Sprintf("%s +%s -%s", e.Hash, e.Received, e.Sent))
	}
	if withMempool {
		p := b.Mempool
		balance.Add(balance, number(p.Balance))
		received.Add(received, number(p.Received))
		sent.Add(sent, number(p.Sent))
		txs, outputs = txs+uint64(p.TxCount), outputs+uint64(p.OutputCount)
		for _, o := range s.find.Mempool.Outputs {
			all++
			if o.SpentBy == nil {
				unspent[fmt.Sprintf("%s:%d", o.Tx, o.Index)] = o.Value
			}
		}
		for _, o := range s.find.Mempool.Spends {
			delete(unspent, fmt.Sprintf("%s:%d", o.Tx, o.Index))
		}
		for _, e := range s.history.Mempool.Txs {
			history = append(history, fmt.Sprintf("%s +%s -%s", e.Hash, e.Received, e.Sent))
		}
	}
	slices.Sort(history)
	lines = append(history, fmt.Sprintf("balance %s received %s sent %s in %d transactions, %d outputs", balance, received, sent, txs, outputs), fmt.Sprint(all, " outputs"))
	for out, value := range unspent {
		lines = append(lines, out+" "+value)
	}
	slices.Sort(lines[len(history)+2:])
	return lines
}

// The next block's transactions are in the mempool of the node. The answers about each value that include the mempool
// equal the confirmed answers after that block.
func TestCardanoMempoolAnswersMatchBlock(t *testing.T) {
	slow(t)
	t.Parallel()
	n := serveLocalNode(t, 2)
	for i, block := range n.made {
		n.node.SetMempool(n.txs[i]...)
		n.pending(t, len(block.Txs))
		type value struct{ index, text string }
		before := map[value]standing{}
		for _, tx := range block.Txs {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					x := n.chain.Indexes()[slices.IndexFunc(n.chain.Indexes(), func(x model.Index) bool { return x.Name == cardanoNodeIndexes[k.Index] })]
					before[value{x.Name, x.Format(k.Value)}] = standing{}
				}
			}
		}
		for v := range before {
			before[v] = n.standing(t, v.index, v.text)
		}
		n.node.Extend(n.rest[i])
		n.reaches(t, n.name, 20+i)
		n.pending(t, 0)
		spends := 0
		for v, s := range before {
			after := n.standing(t, v.index, v.text)
			got, want := s.facts(t, true), after.facts(t, false)
			if !slices.Equal(got, want) {
				t.Fatalf("%s %s with the mempool:\n%s\nafter the block:\n%s", v.index, v.text, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			spends += len(s.find.Mempool.Spends)
		}
		if len(before) < 20 || spends == 0 {
			t.Errorf("%d values, %d of their outputs are spent", len(before), spends)
		}
	}
}

// A transaction that is submitted to the server enters the mempool of the node and is found at once. The command also
// submits to the node without a server. A rejection has the node's message.
func TestCardanoTransactionsAreSubmitted(t *testing.T) {
	slow(t)
	t.Parallel()
	n := serveLocalNode(t, 1)
	n.pending(t, 0)
	raw := func(i int) string { return hex.EncodeToString(n.txs[0][i].Raw) }
	post := func(body string) (int, string) {
		t.Helper()
		return n.post(t, "v1/"+n.name+"/tx", body)
	}
	hash := n.made[0].Txs[0].Hash.String()
	if status, body := post(raw(0)); status != 200 || !strings.Contains(body, hash) {
		t.Fatalf("%d %s", status, body)
	}
	if a := n.get(t, "v1/"+n.name+"/tx/"+hash); a.status != 200 || !strings.Contains(string(a.body), `"status":"unconfirmed"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if status, body := post("8200"); status != 400 || !strings.Contains(body, `"code":"rejected"`) {
		t.Errorf("%d %s", status, body)
	}
	r := birthmark("submit", "--chain", "cardano", "--network", n.network, "--node", n.node.Unix(), raw(1))
	if want := n.made[0].Txs[1].Hash.String() + "\n"; r.status != exitDone || r.stdout != want {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	n.pending(t, 2)
	submitted := func(body []byte, kind string) (int, string) {
		t.Helper()
		a, err := n.client.Post(n.URL+"api/submit/tx", kind, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	if status, body := submitted(n.txs[0][2].Raw, "application/cbor"); status != 202 || body != `"`+n.made[0].Txs[2].Hash.String()+`"` {
		t.Errorf("%d %s", status, body)
	}
	if status, body := submitted([]byte{1}, "application/cbor"); status != 400 || !strings.HasPrefix(body, `{"tag":"TxSubmitFail","contents":{"tag":"TxCmdTxReadError"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := submitted(n.txs[0][2].Raw, "text/plain"); status != 415 {
		t.Errorf("text: %d", status)
	}
	n.pending(t, 3)
	n.node.Refuse([]byte{0x65, 'n', 'e', 'v', 'e', 'r'})
	if r := birthmark("submit", "--chain", "cardano", "--network", n.network, "--node", n.node.Unix(), raw(2)); r.status == exitDone || !strings.Contains(r.stderr, "never") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if status, body := post(raw(2)); status != 400 || !strings.Contains(body, "never") {
		t.Errorf("%d %s", status, body)
	}
	wantFailure(t, exitUsage, "bad_setting", "this source of cardano has no unconfirmed transactions", "submit", "--chain", "cardano", "--network", n.network, "--node", n.node.TCP(), raw(2))

	// After a restart of the node the mempool is read again.
	n.node.Refuse(nil)
	n.node.Stop()
	if status, body := post(raw(2)); status != 502 || !strings.Contains(body, "unreachable") {
		t.Errorf("%d %s", status, body)
	}
	if err := n.node.Restart(); err != nil {
		t.Fatal(err)
	}
	n.node.SetMempool(n.txs[0][:4]...)
	n.pending(t, 4)
	n.node.Extend(n.rest[0])
	n.pending(t, 0)
}
