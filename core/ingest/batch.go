package ingest

import (
	"fmt"
	"math/big"
	"sort"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// Batch is a sequence of blocks that is written in one commit, and the data needed to emit its rows. It is immutable
// after Resolve: later batches read it until it is written.
type Batch struct {
	Blocks []*model.Block
	Txs    []BatchTx

	// In chain order, one per input, key and non-zero asset entry of all transactions.
	spends      []cache.Output
	births      []model.BirthPk
	assetBirths []model.AssetBirthPk
	outputs     []outputAt // one per output

	inputs, keys, entries int // the lengths of spends, births and assetBirths

	derives bool // assets are derived: BatchTx.derived has them

	assets ledger.AssetDeltas // changes of asset totals and holdings
	deltas []*ledger.Deltas   // changes of accounts
	owners owners             // owners of the spent outputs
}

type BatchTx struct {
	*model.Tx
	pk      model.TxPk
	block   *model.Block
	genesis bool
	spends  int // index of the first of its spends in Batch.spends
	outputs int // index of the first of its outputs in Batch.outputs
	mints   []mint
	derived *derived // only on chains with derived assets; nil: nothing
}

// outputAt is the index of an output's first birth in Batch.births and in Batch.assetBirths.
type outputAt struct{ births, assets int32 }

// mint is the amount of an asset that a transaction minted (positive) or burned (negative).
type mint struct {
	birth  model.AssetBirthPk
	amount *big.Int
	info   []byte
}

// describe names a transaction in error messages.
func describe(c model.Chain, t *BatchTx) string {
	if t.genesis {
		return "genesis transaction " + c.FormatHash(t.Hash)
	}
	return fmt.Sprintf("block %d %s: transaction %s", t.block.Height, c.FormatHash(t.block.Hash), c.FormatHash(t.Hash))
}

// NewBatch is the first pass: it assigns a pointer to every transaction. The blocks must be consecutive children of
// head. Error: bad_block.
func NewBatch(l *schema.Layout, head model.Point, blocks []*model.Block) (*Batch, error) {
	batch := &Batch{Blocks: blocks, derives: l.Traits.Tokens != nil}
	var txs, outputs int
	for _, b := range blocks {
		if err := extends(l.Chain, head, b); err != nil {
			return nil, err
		}
		if l.Raw {
			if err := CheckRaw(l.Chain, b); err != nil {
				return nil, err
			}
		}
		if l.RawFiles {
			if err := CheckPlace(l.Chain, b); err != nil {
				return nil, err
			}
		}
		head = b.Point()
		for _, part := range [][]model.Tx{b.Genesis, b.Txs} {
			txs += len(part)
			for i := range part {
				outputs += len(part[i].Outputs)
			}
		}
	}
	batch.Txs = make([]BatchTx, 0, txs)
	batch.outputs = make([]outputAt, 0, outputs)
	for _, b := range blocks {
		err := l.EachTx(b, func(pk model.TxPk, t *model.Tx, genesis bool) error {
			batch.Txs = append(batch.Txs, BatchTx{Tx: t, pk: pk, block: b, genesis: genesis, spends: batch.inputs, outputs: len(batch.outputs)})
			batch.inputs += len(t.Inputs)
			for i := range t.Outputs {
				batch.outputs = append(batch.outputs, outputAt{int32(batch.keys), int32(batch.entries)})
				batch.keys += len(t.Outputs[i].Keys)
				if batch.derives {
					continue
				}
				for j := range t.Outputs[i].Assets {
					if t.Outputs[i].Assets[j].Amount > 0 {
						batch.entries++
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "block %d: %w", b.Height, err)
		}
	}
	return batch, nil
}

// extends returns bad_block if b is not the child of head.
func extends(c model.Chain, head model.Point, b *model.Block) error {
	hash := c.FormatHash
	if head.IsOrigin() {
		if b.Height > 1 {
			return model.Errorf(model.BadSource, "bad_block", "block %d %s: the first block of a chain has height 0 or 1", b.Height, hash(b.Hash))
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

// Weight counts the batch in the unit of [model.Block.Weight].
func (b *Batch) Weight() int {
	return len(b.Blocks) + len(b.Txs) + b.inputs + len(b.outputs) + b.entries
}

// tx returns the transaction at pk, which must be in the batch.
func (b *Batch) tx(pk model.TxPk) *BatchTx {
	lo, hi := 0, len(b.Txs)
	for lo < hi {
		if mid := (lo + hi) / 2; b.Txs[mid].pk < pk {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return &b.Txs[lo]
}

// occurrence returns the transaction, the output and the key or asset that entry at of [cache.Lookups.Births] refers
// to: keys of all outputs, then their assets. The index is nil for an asset.
func (b *Batch) occurrence(indexes []*schema.Index, at int) (t *BatchTx, x *schema.Index, value []byte) {
	asset := at - b.keys
	after := func(i int) bool { return int(b.outputs[i].births) > at }
	if asset >= 0 {
		after = func(i int) bool { return int(b.outputs[i].assets) > asset }
	}
	oi := sort.Search(len(b.outputs), after) - 1
	t = &b.Txs[sort.Search(len(b.Txs), func(i int) bool { return b.Txs[i].outputs > oi })-1]
	o := &t.Outputs[oi-t.outputs]
	if asset < 0 {
		k := &o.Keys[at-int(b.outputs[oi].births)]
		return t, indexes[k.Index], k.Value
	}
	left := asset - int(b.outputs[oi].assets)
	for i := range o.Assets {
		if o.Assets[i].Amount == 0 {
			continue
		}
		if left == 0 {
			value = o.Assets[i].ID
			break
		}
		left--
	}
	return t, nil, value
}

// keysWith returns the range of the values of the output that has the value at.
func (b *Batch) keysWith(at int) (from, to int) {
	next := sort.Search(len(b.outputs), func(i int) bool { return int(b.outputs[i].births) > at })
	if from, to = int(b.outputs[next-1].births), b.keys; next < len(b.outputs) {
		to = int(b.outputs[next].births)
	}
	return from, to
}

// contains reports whether pk is an output of the batch.
func (b *Batch) contains(pk model.UtxoPk) bool {
	return len(b.Txs) > 0 && pk.Tx() >= b.Txs[0].pk && pk.Tx() <= b.Txs[len(b.Txs)-1].pk
}

// held returns the assets of output oi of t and their holder; it appends the entries to buf.
func (b *Batch) held(indexes []*schema.Index, holders *schema.Index, t *BatchTx, oi int, buf []schema.AssetEntry) ledger.OutputAssets {
	o, at := &t.Outputs[oi], b.outputs[t.outputs+oi]
	h := ledger.OutputAssets{Entries: buf}
	if b.derives {
		if h.Entries = append(h.Entries, schema.Holdings(t.derived.entries(oi))...); len(h.Entries) == 0 {
			return h
		}
	} else {
		next := at.assets
		for i := range o.Assets {
			if o.Assets[i].Amount > 0 {
				h.Entries = append(h.Entries, schema.AssetEntry{Amount: model.Uint128Of(o.Assets[i].Amount), Birth: b.assetBirths[next]})
				next++
			}
		}
	}
	b.setHolder(&h, indexes, holders, t, oi)
	return h
}

// setHolder sets the holder of output oi of t.
func (b *Batch) setHolder(h *ledger.OutputAssets, indexes []*schema.Index, holders *schema.Index, t *BatchTx, oi int) {
	keys, births := t.Outputs[oi].Keys, b.births[b.outputs[t.outputs+oi].births:]
	for ki := range keys {
		if indexes[keys[ki].Index] == holders {
			h.Holder, h.HasHolder = births[ki], true
		}
	}
}

// CheckRaw returns bad_block if a transaction of the block has no raw bytes.
func CheckRaw(c model.Chain, b *model.Block) error {
	for i := range b.Txs {
		if len(b.Txs[i].Raw) == 0 {
			return model.Errorf(model.BadSource, "bad_block", "block %d %s: transaction %s has no raw bytes, which the database stores",
				b.Height, c.FormatHash(b.Hash), c.FormatHash(b.Txs[i].Hash))
		}
	}
	return nil
}

// CheckPlace returns bad_block if the place of the block, which may be unknown, cannot be right.
func CheckPlace(c model.Chain, b *model.Block) error {
	if b.Place == nil {
		return nil
	}
	if err := schema.CheckPlace(b.Place, &schema.BlockRow{TxCount: len(b.Txs), Size: b.Size}); err != nil {
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: its place: %w", b.Height, c.FormatHash(b.Hash), err)
	}
	return nil
}
