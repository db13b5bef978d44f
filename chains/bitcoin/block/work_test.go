package block_test

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
)

type work = block.Work

func TestWorkAdds(t *testing.T) {
	if w := block.WorkOf(0x1d00ffff); w != (work{0, 0x100010001}) {
		t.Errorf("work of the easiest target of mainnet: %x", w)
	}
	most := work{^uint64(0), ^uint64(0)}
	for _, c := range []struct{ a, b, sum work }{
		{work{0, 1}, work{0, 2}, work{0, 3}},
		{work{0, ^uint64(0)}, work{0, 1}, work{1, 0}},
		{most, work{0, 1}, most},
		{work{1 << 63, 0}, work{1 << 63, 0}, most},
	} {
		if got := c.a.Add(c.b); got != c.sum {
			t.Errorf("%x and %x is %x", c.a, c.b, got)
		}
		if !c.sum.More(work{}) || c.sum.More(c.sum) || (work{}).More(c.sum) {
			t.Errorf("order of %x", c.sum)
		}
	}
	if w := block.WorkOf(0x03000001); w != most {
		t.Errorf("work of the hardest target: %x", w)
	}
	for _, none := range []uint32{0, 0x04923456} {
		if w := block.WorkOf(none); w != (work{}) {
			t.Errorf("work of the impossible target %08x: %x", none, w)
		}
	}
}

func TestMerkleRootIsBtcds(t *testing.T) {
	var txs []*btcutil.Tx
	var ids []chainhash.Hash
	for n := range 70 {
		tx := wire.NewMsgTx(int32(n))
		txs, ids = append(txs, btcutil.NewTx(tx)), append(ids, tx.TxHash())
		root, repeats := block.MerkleRoot(slices.Clone(ids))
		if want := blockchain.CalcMerkleRoot(txs, false); root != want || repeats {
			t.Errorf("%d transactions: %s, repeats %t, expected %s", n+1, root, repeats, want)
		}
		// If the number of ids is odd and above 1, repeating the last id does not change the root.
		twice, repeats := block.MerkleRoot(append(slices.Clone(ids), ids[n]))
		if odd := n%2 == 0; (odd && n > 0) != (twice == root) || odd != repeats {
			t.Errorf("%d transactions and the last again: repeats %t", n+1, repeats)
		}
	}
}
