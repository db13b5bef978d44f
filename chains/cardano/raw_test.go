package cardano

import (
	"bytes"
	"reflect"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// whole decodes a block with the raw bytes of its transactions. It checks that the block is otherwise the same and does
// not share memory with raw.
func whole(t *testing.T, network string, raw []byte) *model.Block {
	t.Helper()
	d := decodedAs(t, network, indexAddress)
	want, _, err := d.Block(raw)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Clone()
	d.Raw = true
	buffer := bytes.Clone(raw)
	b, _, err := d.Clone().Block(buffer)
	if err != nil {
		t.Fatal(err)
	}
	clear(buffer) // the buffer is reused
	plain := *b
	plain.Txs = nil
	for _, tx := range b.Txs {
		tx.Raw = nil
		plain.Txs = append(plain.Txs, tx)
	}
	want.Txs = append([]model.Tx(nil), want.Txs...)
	if !reflect.DeepEqual(&plain, want) {
		t.Errorf("block %s differs with raw transactions", b.Hash)
	}
	return b
}

// The raw bytes of transactions of every era are transactions to gouroboros, with the same id.
func TestRawTxsMatchGouroboros(t *testing.T) {
	testrun.Slow(t)
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	eras := map[byte]int{}
	each := func(name, network string, raw []byte) {
		b := whole(t, network, raw)
		era := b.Header[0]
		for i := range b.Txs {
			tx := &b.Txs[i]
			eras[era]++
			if got, err := c.(model.TxHasher).HashTx(tx.Raw); err != nil || got != tx.Hash {
				t.Fatalf("%s: the bytes of %s hash to %s, %v", name, tx.Hash, got, err)
			}
			if era == ledger.EraByron {
				if !bytes.Contains(raw, tx.Raw) {
					t.Errorf("%s: the bytes of %s are not in the block", name, tx.Hash)
				}
				continue // gouroboros does not decode a separate TxAux
			}
			theirs, err := gouroboros.NewTransactionFromCbor(uint(era)-ledger.EraShelley+gouroboros.TxTypeShelley, tx.Raw)
			if err != nil {
				t.Fatalf("%s: gouroboros cannot read %s: %v", name, tx.Hash, err)
			}
			if theirs.Hash().String() != tx.Hash.String() || !bytes.Equal(theirs.Cbor(), tx.Raw) {
				t.Errorf("%s: gouroboros decodes %s, expected %s", name, theirs.Hash(), tx.Hash)
			}
		}
	}
	for _, s := range singles(t) {
		each(s.File, s.network(), realFile(t, s.File))
	}
	chunks(t, func(name, network string, blocks [][]byte) {
		for _, raw := range blocks {
			each(name, network, raw)
		}
	})
	for era := byte(ledger.EraByron); era <= ledger.EraConway; era++ { // no real blocks of Dijkstra are available
		if eras[era] == 0 {
			t.Errorf("no transaction of %s", ledger.EraNames[era])
		}
	}
}

// Every source provides raw transactions, in its stream and for single blocks.
func TestSourcesProvideRawTxs(t *testing.T) {
	_, raws := made(t, 0, 1, 2)
	src := stored(t, model.SourceOptions{Raw: true}, raws...)
	blocks := followed(t, src)
	wantChildren(t, src, blocks, 1)
	want := raw(t, list{cbor.RawMessage(raw(t, txBody(dict{0: list{list{filled(32, 2), 0}}}))), dict{}, true, nil})
	if got := blocks[2].Txs[0].Raw; !bytes.Equal(got, want) {
		t.Errorf("the bytes are %x, expected %x", got, want)
	}
	for _, tx := range blocks[0].Genesis {
		if tx.Raw != nil {
			t.Errorf("genesis transaction %s has bytes", tx.Hash)
		}
	}
}
