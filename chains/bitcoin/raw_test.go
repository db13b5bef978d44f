package bitcoin

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// hashesTo reports an error if the raw bytes of a transaction do not hash to its id.
func hashesTo(t *testing.T, name string, tx *model.Tx) {
	t.Helper()
	got, err := mainnet.HashTx(tx.Raw)
	if err != nil || got != tx.Hash {
		t.Errorf("%s: the bytes of %s hash to %s, %v", name, block.FormatHash(tx.Hash), block.FormatHash(got), err)
	}
}

// weighsRight reports an error if the weight of a transaction differs from btcd's sizes.
func weighsRight(t *testing.T, name string, tx *model.Tx) {
	t.Helper()
	var oracle wire.MsgTx
	if err := oracle.Deserialize(bytes.NewReader(tx.Raw)); err != nil {
		t.Fatalf("%s: btcd rejects %s: %v", name, block.FormatHash(tx.Hash), err)
	}
	want := 3*oracle.SerializeSizeStripped() + oracle.SerializeSize()
	weight, vsize, err := mainnet.WeighTx(tx.Raw)
	if err != nil || weight != want || vsize != int(math.Ceil(float64(want)/4)) {
		t.Errorf("%s: %s weighs %d, %d virtual bytes, expected %d (%v)", name, block.FormatHash(tx.Hash), weight, vsize, want, err)
	}
}

// withoutRaw removes the raw bytes from a block's transactions and returns their concatenation.
func withoutRaw(b *model.Block) (all []byte) {
	for i := range b.Txs {
		all = append(all, b.Txs[i].Raw...)
		b.Txs[i].Raw = nil
	}
	return all
}

func TestRawTransactionsAddUpToTheRealBlock(t *testing.T) {
	testrun.Slow(t)
	txs, witnesses := 0, 0
	realFiles(t, func(name, network string, input []byte) {
		n, err := networks.Get(Name, network)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := newDecoder(n, allIndexes)
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDecoder(n, allIndexes)
		if err != nil {
			t.Fatal(err)
		}
		d.KeepRaw = true
		for _, raw := range rawBlocks(t, n, input) {
			want, err := plain.Block(raw, 0)
			if err != nil {
				t.Fatal(err)
			}
			buffer := bytes.Clone(raw)
			b, err := d.Block(buffer, 0)
			if err != nil {
				t.Fatal(err)
			}
			clear(buffer) // the buffer is reused
			for i := range b.Txs {
				hashesTo(t, name, &b.Txs[i])
				weighsRight(t, name, &b.Txs[i])
				txs++
				if b.Txs[i].Raw[4] == 0 {
					witnesses++
				}
			}
			if got := withoutRaw(b); !bytes.HasSuffix(raw, got) || len(raw)-len(got) > block.HeaderSize+9 {
				t.Errorf("%s: the transactions of %s have %d bytes, which are not the last bytes of the block of %d", name, block.FormatHash(b.Hash), len(got), len(raw))
			}
			if !reflect.DeepEqual(b, want) {
				t.Errorf("%s: block %s differs with raw transactions", name, block.FormatHash(b.Hash))
			}
		}
	})
	if txs < 10_000 || witnesses < 1000 {
		t.Errorf("%d transactions, %d of them with a witness: expected many", txs, witnesses)
	}
}

func TestEverySourceGivesRawTransactionsOnRequest(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	dir := write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
	s := mustOpen(t, "regtest", dir, func(o *model.SourceOptions) { o.Raw = true })
	blocks, _, err := collect(t, s)
	if err != nil || len(blocks) != 3 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	for _, b := range blocks {
		hashesTo(t, "stream", &b.Txs[0])
		if at, err := s.(model.BlockReader).BlockAt(t.Context(), b.Height); err != nil || !reflect.DeepEqual(at, b) {
			t.Errorf("block %d read separately is %+v, %v", b.Height, at, err)
		}
	}
	src, err := newChain(networks[4]).nodeSource("a node", nodeOf{c}, model.SourceOptions{Indexes: allIndexes, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if served, _, err := collect(t, src); err != nil || !reflect.DeepEqual(served, blocks) {
		t.Errorf("a node returns %d different blocks, %v", len(served), err)
	}
}

// nodeOf returns a node that serves a chain.
type nodeOf struct{ *bitcointest.Chain }

func (n nodeOf) Tip(context.Context) (model.Point, error) {
	return model.Point{Height: model.HeightPk(n.Height()), Hash: model.Hash(n.Chain.Tip().BlockHash())}, nil
}

func (n nodeOf) Hashes(_ context.Context, from model.HeightPk, most int) (hashes []model.Hash, err error) {
	for _, b := range n.Blocks()[from:] {
		hashes = append(hashes, model.Hash(b.BlockHash()))
	}
	return hashes[:min(most, len(hashes))], nil
}

func (n nodeOf) Changed(context.Context, model.Point) error { return nil }
func (n nodeOf) Close() error                               { return nil }
func (n nodeOf) Release([]byte)                             {}

func (n nodeOf) Raw(_ context.Context, points []model.Point, _ int64) (raws [][]byte, err error) {
	for _, p := range points {
		raws = append(raws, bitcointest.Bytes(n.Blocks()[p.Height]))
	}
	return raws, nil
}

func TestHashTxRejectsInvalidTransactions(t *testing.T) {
	d := newTestDecoder(t)
	d.KeepRaw = true
	b, err := d.Block(bitcointest.Bytes(sample()), 2)
	if err != nil {
		t.Fatal(err)
	}
	c := mainnet
	for i := range b.Txs {
		raw := b.Txs[i].Raw
		for n := range raw {
			if n > 1000 && n < len(raw)-100 {
				continue // inside a long witness
			}
			if _, err := c.HashTx(raw[:n]); err == nil {
				t.Fatalf("transaction %d: %d of %d bytes have a hash", i, n, len(raw))
			}
		}
		if _, err := c.HashTx(append(bytes.Clone(raw), 0)); err == nil {
			t.Errorf("transaction %d: a transaction with an extra byte has a hash", i)
		}
	}
}
