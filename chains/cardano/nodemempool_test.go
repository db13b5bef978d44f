package cardano

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blinklabs-io/gouroboros/cbor"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// pooled is a node of a generated chain. Its mempool has the transactions of the block after its tip.
type pooled struct {
	*ouroborostest.Node
	next *model.Block // decoded with the source's network
	txs  []ouroborostest.Tx
	raw  ouroborostest.Block
}

// startPooled starts a pooled node and returns it with a source on its socket.
func startPooled(t *testing.T) (*pooled, *node.Local) {
	t.Helper()
	g := cardanogen.New(cardanogen.Options{Seed: 11})
	var raws [][]byte
	for range 4 {
		raws = append(raws, g.NextOf(5).Raw)
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	n := &pooled{Node: ouroborostest.Start(t, cardanogen.DefaultMagic, blocks[:3]), raw: blocks[3]}
	if n.txs, err = n.raw.Txs(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := g.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	c, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	src, err := c.Open(t.Context(), model.SourceOptions{URI: n.Unix(), Indexes: valueNames})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	l := src.(*node.Local)
	l.Retry, l.MempoolPause = blocksource.Retry{First: time.Millisecond, Most: 20 * time.Millisecond, Patience: 10 * time.Minute}, time.Millisecond
	d, err := c.(*chain).decoder(valueNames, true)
	if err != nil {
		t.Fatal(err)
	}
	if n.next, _, err = d.Block(raws[3]); err != nil {
		t.Fatal(err)
	}
	return n, l
}

func hashes(b *model.Block) (ids []model.Hash) {
	for i := range b.Txs {
		ids = append(ids, b.Txs[i].Hash)
	}
	return ids
}

// The mempool of a node lists its transactions, parents first, with the same values as in a block.
func TestMempoolOfANodeHasItsTransactions(t *testing.T) {
	n, l := startPooled(t)
	ids, _, err := l.MempoolIDs(t.Context())
	if err != nil || len(ids) != 0 {
		t.Fatal(ids, err)
	}
	n.SetMempool(n.txs...)
	want := hashes(n.next)
	unknown := model.Hash{1}
	txs, err := l.MempoolTxs(t.Context(), append(slices.Clone(want), unknown)) // before they are listed
	if err != nil || len(txs) != len(want)+1 || txs[len(want)] != nil {
		t.Fatalf("%d transactions, %v", len(txs), err)
	}
	for i, tx := range txs[:len(want)] {
		block := &n.next.Txs[i]
		if tx == nil || tx.Hash != want[i] || tx.Size != len(block.Raw) || tx.VSize != tx.Size || !slices.Equal(tx.Raw, block.Raw) || len(tx.Outputs) != len(block.Outputs) {
			t.Fatalf("transaction %d: %+v, in its block %+v", i, tx, block)
		}
	}
	if ids, _, err := l.MempoolIDs(t.Context()); err != nil || !slices.Equal(ids, want) {
		t.Fatalf("%v, expected %v; %v", ids, want, err)
	}
	n.Extend(n.raw)
	if ids, _, err := l.MempoolIDs(t.Context()); err != nil || len(ids) != 0 {
		t.Fatal("after the block", ids, err)
	}
	if txs, err := l.MempoolTxs(t.Context(), want[:1]); err != nil || txs[0] != nil {
		t.Fatal("after the block", txs, err)
	}
}

// A transaction with nested transactions, which this release cannot read, leaves the others of the mempool in place.
func TestMempoolWithATransactionOfALaterForm(t *testing.T) {
	n, l := startPooled(t)
	nested := cardanotest.TxBody(cardanotest.Dict{23: cardanotest.List{}})
	later := ouroborostest.Tx{Era: ledger.EraDijkstra - 1, Raw: cardanotest.Raw(t, cardanotest.List{nested, cardanotest.Dict{}, true, nil})}
	n.SetMempool(n.txs[0], later, n.txs[1])
	ids, _, err := l.MempoolIDs(t.Context())
	if err != nil || len(ids) != 3 {
		t.Fatal(ids, err)
	}
	txs, err := l.MempoolTxs(t.Context(), ids)
	if err != nil || txs[0] == nil || txs[1] != nil || txs[2] == nil {
		t.Fatalf("%v, %v: expected the first and the last", txs, err)
	}
	n.SetMempool()
	ctx, cancel := context.WithTimeout(t.Context(), testrun.Patience)
	defer cancel()
	events, err := l.MempoolEvents(ctx)
	if err != nil {
		t.Fatal(err)
	}
	asked := n.Asked()["acquire"]
	go func() { // blocks until the second snapshot, which waits for a change
		for n.Asked()["acquire"] < asked+2 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		n.SetMempool(later, n.txs[0])
	}()
	for e, err := range events {
		if err != nil || e.ID != ids[0] {
			t.Errorf("%+v, %v: expected %s", e, err, ids[0])
		}
		break
	}
}

// Transactions that enter the mempool are events, once each. The events end with the connection.
func TestMempoolEventsAreNewTransactions(t *testing.T) {
	n, l := startPooled(t)
	n.SetMempool(n.txs[0])
	ctx, cancel := context.WithTimeout(t.Context(), testrun.Patience)
	defer cancel()
	events, err := l.MempoolEvents(ctx)
	if err != nil {
		t.Fatal(err)
	}
	asked := n.Asked()["acquire"]
	steps := []func(){
		func() { n.SetMempool(n.txs[:3]...) }, // two new transactions
		func() { n.SetMempool(n.txs[2:4]...) },
		func() { n.Disconnect() },
	}
	go func() { // blocks until the second snapshot, which waits for a change
		for n.Asked()["acquire"] < asked+2 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		steps[0]()
	}()
	var got []model.Hash
	var failed error
	for e, err := range events {
		if err != nil {
			failed = err
			break
		}
		if e.Kind != model.TxAdded || e.Tx == nil || e.Tx.Hash != e.ID {
			t.Fatalf("%+v", e)
		}
		if got = append(got, e.ID); len(got) == 2 || len(got) == 3 {
			steps[len(got)-1]()
		}
	}
	if want := hashes(n.next)[1:4]; !slices.Equal(got, want) || !blocksource.IsTemporary(failed) || !strings.Contains(failed.Error(), "closed the connection") {
		t.Fatalf("%v, expected %v, then %v", got, want, failed)
	}
}

// A node that is unreachable or on another network causes an error that names it. The same source works when the node
// is back, and in the era after Conway.
func TestMempoolFailuresAreNamed(t *testing.T) {
	n, l := startPooled(t)
	n.SetMempool(n.txs...)
	check := func(code string, says ...string) {
		t.Helper()
		_, _, err := l.MempoolIDs(t.Context())
		if _, got := model.KindOf(err); err == nil || got != code {
			t.Fatalf("%v, expected %s", err, code)
		}
		for _, s := range says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not contain %q", err, s)
			}
		}
	}
	works := func() {
		t.Helper()
		if ids, _, err := l.MempoolIDs(t.Context()); err != nil || len(ids) != len(n.txs) {
			t.Fatal(len(ids), err)
		}
	}
	works()
	n.Stop()
	check("unreachable", "no socket")
	if err := n.Restart(); err != nil {
		t.Fatal(err)
	}
	works()
	n.Disconnect()
	works() // over a new connection
	later := slices.Clone(n.txs)
	later[0].Era++ // the same transaction in Dijkstra
	n.SetMempool(later...)
	works()
	n.Misbehave(ouroborostest.Faults{Scrambled: true})
	check("bad_answer", "malformed")
	n.Misbehave(ouroborostest.Faults{})
	works()

	l.Connect.Magic++
	l.Close() // forces a new connection
	check("wrong_network", "rejects network magic", "version data mismatch")
}

// A submitted transaction enters the mempool. A rejection has the names of the ledger's rules and the node's bytes.
func TestTransactionsAreSubmittedToTheNode(t *testing.T) {
	n, l := startPooled(t)
	ids := hashes(n.next)
	submit := func(raw []byte, o model.SubmitOptions) (model.Hash, error) { return l.Submit(t.Context(), raw, o) }
	if id, err := submit(n.txs[0].Raw, model.SubmitOptions{}); err != nil || id != ids[0] || len(n.Mempool()) != 1 {
		t.Fatal(id, err, len(n.Mempool()))
	}
	if txs, err := l.MempoolTxs(t.Context(), ids[:1]); err != nil || txs[0] == nil {
		t.Fatal("the transaction is not in the mempool", err)
	}
	refused := func(err error, message string) {
		t.Helper()
		kind, code := model.KindOf(err)
		if e, ok := errors.AsType[*model.NodeError](err); kind != model.Usage || code != "rejected" || !ok || e.Message != err.Error() || !strings.Contains(e.Message, message) {
			t.Errorf("%v (%v %s), expected %q", err, kind, code, message)
		}
	}
	encode := func(v any) []byte {
		raw, err := cbor.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	// Conway: LEDGER (0) / UTXOW (0) / UTXO (0) / FeeTooSmallUTxO (5) and BadInputsUTxO (1).
	spent := []any{[32]byte{0xab}, 1}
	n.Refuse(encode([]any{[]any{6, []any{
		[]any{1, []any{0, []any{5, []any{170_000, 5}}}},
		[]any{1, []any{0, []any{1, cbor.Tag{Number: 258, Content: []any{spent}}}}},
	}}}))
	_, err := submit(n.txs[1].Raw, model.SubmitOptions{})
	refused(err, "FeeTooSmallUTxO [170000, 5]; BadInputsUTxO 258([[h'ab00")
	refused(err, "(CBOR 818206")
	era := []any{[]any{5, "Babbage"}, []any{6, "Conway"}}
	n.Refuse(encode(era))
	_, err = submit(n.txs[1].Raw, model.SubmitOptions{})
	refused(err, "running in the Conway era, but the transaction is for the Babbage era.")
	n.Refuse(encode("the mempool is full"))
	_, err = submit(n.txs[1].Raw, model.SubmitOptions{})
	refused(err, "the mempool is full")
	for _, strange := range [][]byte{{0xf6}, encode([]any{1}), encode([]any{[]any{6, []any{}}}), encode([]any{[]any{6, []any{[]any{99, "?"}}}}), encode(map[int]int{})} {
		n.Refuse(strange)
		_, err = submit(n.txs[1].Raw, model.SubmitOptions{})
		refused(err, "(CBOR ")
	}
	n.Refuse(nil)
	_, err = submit([]byte{1, 2}, model.SubmitOptions{})
	refused(err, "no transaction")
	if _, err := submit(n.txs[1].Raw, model.SubmitOptions{MaxFeeRate: "1"}); err == nil || !strings.Contains(err.Error(), "does not support a limit of the fee rate") {
		t.Error(err)
	}
	n.Stop()
	if _, err := submit(n.txs[1].Raw, model.SubmitOptions{}); !blocksource.IsTemporary(err) {
		t.Error(err)
	}
	if len(n.Mempool()) != 1 {
		t.Errorf("%d transactions", len(n.Mempool()))
	}
}

// BenchmarkMempool lists and decodes a mempool of two blocks, about 300 transactions, over the node's socket.
func BenchmarkMempool(b *testing.B) {
	g := cardanogen.New(cardanogen.Options{Seed: 3})
	first, full := g.NextOf(1).Raw, g.NextOf(300).Raw
	blocks, err := ouroborostest.Blocks(first, full)
	if err != nil {
		b.Fatal(err)
	}
	txs, err := blocks[1].Txs()
	if err != nil {
		b.Fatal(err)
	}
	n := ouroborostest.Start(b, cardanogen.DefaultMagic, blocks[:1])
	n.SetMempool(txs...)
	dir := b.TempDir()
	if err := g.Genesis().Write(dir); err != nil {
		b.Fatal(err)
	}
	c, err := New(dir)
	if err != nil {
		b.Fatal(err)
	}
	src, err := c.Open(b.Context(), model.SourceOptions{URI: n.Unix(), Indexes: valueNames})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	l := src.(*node.Local)
	ids, _, err := l.MempoolIDs(b.Context())
	if err != nil || len(ids) != len(txs) {
		b.Fatal(len(ids), err)
	}
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := l.MempoolIDs(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(ids)), "txs")
	})
	b.Run("decode", func(b *testing.B) {
		size := 0
		for b.Loop() {
			got, err := l.MempoolTxs(b.Context(), ids)
			if err != nil {
				b.Fatal(err)
			}
			size = 0
			for _, tx := range got {
				size += tx.Size
			}
		}
		b.ReportMetric(float64(size), "bytes")
	})
}
