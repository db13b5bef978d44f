package ingest

import (
	"fmt"
	"math/big"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// Batch is a run of blocks that is written at once, and all that has to be known to emit its rows.
// It does not change once it is resolved: the windows after it look into it until it is written.
type Batch struct {
	Blocks []*model.Block
	Txs    []BatchTx

	// In the order of the chain, one for each input, key and kept asset of all txs.
	spends      []spend
	births      []model.BirthPk
	assetBirths []model.AssetBirthPk
	outputs     []outputAt // one for each output

	assets ledger.AssetDeltas // what the window changes in how assets stand
	deltas []*ledger.Deltas   // and in how values stand
	owners owners             // of what it spends
}

type BatchTx struct {
	*model.Tx
	pk      model.TxPk
	block   *model.Block
	genesis bool
	spends  int // where its spends begin in the window's
	outputs int // where its outputs begin in the window's
	mints   []mint
}

// outputAt is where the births of an output's keys and assets begin in the window's.
type outputAt struct{ births, assets int32 }

// spend is a resolved input.
type spend struct {
	Utxo  model.UtxoPk
	Value uint64
}

// mint is what a transaction minted or burned.
type mint struct {
	birth  model.AssetBirthPk
	amount *big.Int
	info   []byte
}

// where names a transaction in errors.
func where(c model.Chain, t *BatchTx) string {
	if t.genesis {
		return "genesis transaction " + c.FormatHash(t.Hash)
	}
	return fmt.Sprintf("block %d %s: transaction %s", t.block.Height, c.FormatHash(t.block.Hash), c.FormatHash(t.Hash))
}

// NewBatch gives every transaction of blocks its pointer: the first pass. The blocks must be the children of head.
func NewBatch(c *schema.Layout, head model.Point, blocks []*model.Block) (*Batch, error) {
	w := &Batch{Blocks: blocks}
	var txs, inputs, outputs, keys, assets int
	for _, b := range blocks {
		if err := extends(c.Chain, head, b); err != nil {
			return nil, err
		}
		if c.Raw {
			if err := checkRaw(c.Chain, b); err != nil {
				return nil, err
			}
		}
		head = b.Point()
		for _, part := range [][]model.Tx{b.Genesis, b.Txs} {
			txs += len(part)
			for i := range part {
				inputs += len(part[i].Inputs)
				outputs += len(part[i].Outputs)
				for j := range part[i].Outputs {
					keys += len(part[i].Outputs[j].Keys)
					assets += len(part[i].Outputs[j].Assets)
				}
			}
		}
	}
	w.Txs = make([]BatchTx, 0, txs)
	w.spends = make([]spend, 0, inputs)
	w.births = make([]model.BirthPk, 0, keys)
	w.assetBirths = make([]model.AssetBirthPk, 0, assets)
	w.outputs = make([]outputAt, 0, outputs)
	for _, b := range blocks {
		err := schema.EachTx(b, func(pk model.TxPk, t *model.Tx, genesis bool) error {
			w.Txs = append(w.Txs, BatchTx{Tx: t, pk: pk, block: b, genesis: genesis})
			return nil
		})
		if err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "block %d: %w", b.Height, err)
		}
	}
	return w, nil
}

// extends reports why b is not the child of head.
func extends(c model.Chain, head model.Point, b *model.Block) error {
	hash := c.FormatHash
	if head.IsOrigin() {
		if b.Height > 1 {
			return model.Errorf(model.BadSource, "bad_block", "block %d %s: the first block of a chain stands at height 0 or 1", b.Height, hash(b.Hash))
		}
		return nil
	}
	switch {
	case b.Height != head.Height+1:
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: expected height %d, the one after the tip", b.Height, hash(b.Hash), head.Height+1)
	case b.Parent != head.Hash:
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: its parent is %s, but block %d is %s", b.Height, hash(b.Hash), hash(b.Parent), head.Height, hash(head.Hash))
	case len(b.Genesis) > 0:
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: only a chain's first block can carry a genesis", b.Height, hash(b.Hash))
	}
	return nil
}

// Weight counts what is in the window, as [model.Block.Weight] does for a block.
func (w *Batch) Weight() int {
	return len(w.Blocks) + len(w.Txs) + len(w.spends) + len(w.outputs) + len(w.assetBirths)
}

// tx is the transaction at pk, which must be in the window.
func (w *Batch) tx(pk model.TxPk) *BatchTx {
	lo, hi := 0, len(w.Txs)
	for lo < hi {
		if mid := (lo + hi) / 2; w.Txs[mid].pk < pk {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return &w.Txs[lo]
}

// contains reports whether pk stands in the window.
func (w *Batch) contains(pk model.UtxoPk) bool {
	return len(w.Txs) > 0 && pk.Tx() >= w.Txs[0].pk && pk.Tx() <= w.Txs[len(w.Txs)-1].pk
}

// held is the assets of output oi of t, and whose they are; the entries are appended to buf.
func (w *Batch) held(indexes []*schema.Index, holders *schema.Index, t *BatchTx, oi int, buf []schema.AssetEntry) ledger.OutputAssets {
	o, at := &t.Outputs[oi], w.outputs[t.outputs+oi]
	h := ledger.OutputAssets{Entries: buf}
	next := at.assets
	for i := range o.Assets {
		if o.Assets[i].Amount > 0 {
			h.Entries = append(h.Entries, schema.AssetEntry{Amount: o.Assets[i].Amount, Birth: w.assetBirths[next]})
			next++
		}
	}
	for ki := range o.Keys {
		if indexes[o.Keys[ki].Index] == holders {
			h.Holder, h.HasHolder = w.births[int(at.births)+ki], true
		}
	}
	return h
}

// checkRaw reports why the bytes of a block's transactions cannot be kept.
func checkRaw(c model.Chain, b *model.Block) error {
	for i := range b.Txs {
		if len(b.Txs[i].Raw) == 0 {
			return model.Errorf(model.BadSource, "bad_block", "block %d %s: transaction %s comes without its bytes, which the database keeps",
				b.Height, c.FormatHash(b.Hash), c.FormatHash(b.Txs[i].Hash))
		}
	}
	return nil
}
