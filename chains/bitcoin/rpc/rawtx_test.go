package rpc

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// withTxs sets a fake's chain to blocks with transactions, and returns the transactions of block 2.
func withTxs(t *testing.T, f *fake) (txs [][]byte, ids []model.Hash) {
	t.Helper()
	c := bitcointest.NewChain()
	c.MineEmpty(1)
	c.Mine(bitcointest.Spend(c.Tip().Transactions[0], 0, wire.NewTxOut(1, []byte{0x51})))
	f.set(func() {
		f.chain = nil
		for _, b := range c.Blocks() {
			f.chain = append(f.chain, bitcointest.Bytes(b))
		}
	})
	for _, tx := range c.Tip().Transactions {
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		txs, ids = append(txs, raw.Bytes()), append(ids, model.Hash(tx.TxHash()))
	}
	return txs, ids
}

func TestRawTransactionsOfANode(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*fake)
		user   string
		asked  []string // the second time
	}{
		"JSON-RPC":              {func(f *fake) { f.txCalls = true }, "", []string{"POST getrawtransaction"}},
		"without the call":      {func(*fake) {}, "", nil},
		"btcd":                  {func(f *fake) { f.btcd = true }, "", nil},
		"refused":               {func(f *fake) { f.errors["getrawtransaction"] = rpcError{-5, "No such transaction"} }, "", []string{"POST getrawtransaction"}},
		"REST":                  {func(f *fake) { f.rest = true }, "", nil},
		"REST, with a password": {func(f *fake) { f.rest, f.txCalls, f.auth = true, true, "u:"+password }, "u:" + password + "@", []string{"POST getrawtransaction"}},
	} {
		f := newFake(t, 1)
		txs, ids := withTxs(t, f)
		f.set(func() { c.change(f) })
		client := f.client(c.user, nil)
		for i := range txs {
			f.asked()
			raw, err := client.RawTx(t.Context(), f.point(2), i, ids[i])
			if err != nil || !bytes.Equal(raw, txs[i]) {
				t.Errorf("%s: transaction %d: %x, %v", what, i, raw, err)
			}
			if asked := f.asked(); i > 0 && !slices.Equal(asked, c.asked) {
				t.Errorf("%s: requests %v, expected %v", what, asked, c.asked)
			}
		}
	}
}

func TestRawTransactionsThatANodeLacks(t *testing.T) {
	f := newFake(t, 1)
	_, ids := withTxs(t, f)
	refused := func(what string, err error, kind model.ErrorKind, code, text string) {
		t.Helper()
		if k, c := model.KindOf(err); k != kind || c != code || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := f.client("", nil).RawTx(t.Context(), f.point(2), 9, ids[0])
	refused("no such position", err, model.BadSource, "bad_answer", "none at position 9")
	_, err = f.client("", nil).RawTx(t.Context(), model.Point{Height: 2, Hash: model.Hash{7}}, 0, ids[0])
	refused("of a lost block", err, model.NotFound, "no_raw", block.FormatHash(ids[0]))
	f.set(func() { f.below = 2 + 1; f.chain = append(f.chain, f.chain[2]) })
	_, err = f.client("", nil).RawTx(t.Context(), f.point(1), 0, ids[0])
	refused("pruned", err, model.NotFound, "no_raw", "is pruned")
	f.set(func() { f.errors["getrawtransaction"] = rpcError{-28, "Loading block index…"} })
	_, err = f.client("", nil).RawTx(t.Context(), f.point(1), 0, ids[0])
	refused("starting", err, model.BadSource, "starting", "Loading")
}
