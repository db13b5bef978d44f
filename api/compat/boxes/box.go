package boxes

import (
	"iter"
	"slices"

	"birthmark/chains/ergo/sigma"
	"birthmark/core/schema"
	"birthmark/model"
)

// Box is an output of a transaction, with its place and its spender.
type Box struct {
	Tx    *Tx
	Pos   int          // in the outputs of Tx
	Pk    model.UtxoPk // of a confirmed box
	Block *Block       // nil: genesis or unconfirmed
	Spend *Spend       // nil: unspent, or not requested

	Genesis, Unconfirmed bool
}

// Box returns the box as the transaction has it.
func (b *Box) Box() *sigma.Box { return &b.Tx.Outputs[b.Pos] }

// ID returns the id of the box.
func (b *Box) ID() sigma.ID { return b.Tx.BoxIDs[b.Pos] }

// Height returns the height of the block of the box; 0 for the genesis and for an unconfirmed box.
func (b *Box) Height() int {
	if b.Block == nil {
		return 0
	}
	return int(b.Block.Height)
}

// HeaderOf returns the id of the block of a box. The genesis has the parent of block 1.
func (v *View) HeaderOf(b *Box) (model.Hash, error) {
	if b.Block != nil {
		return b.Block.ID, nil
	}
	first, err := v.Block(firstHeight)
	if err != nil {
		return model.Hash{}, err
	}
	return model.Hash(first.Header.Parent), nil
}

// Spend is the input that spends a box.
type Spend struct {
	Tx    *Tx
	Index int
}

// Input returns the input.
func (s *Spend) Input() *sigma.Input { return &s.Tx.Inputs[s.Index] }

// AllBoxes returns boxes of the chain with their spenders.
func (v *View) AllBoxes(pks []model.UtxoPk) ([]Box, error) {
	spenders, err := v.Q.SpendersOf(pks)
	if err != nil {
		return nil, err
	}
	return v.BoxesSpent(pks, spenders)
}

// UnspentBoxes returns boxes of the chain that are not spent.
func (v *View) UnspentBoxes(pks []model.UtxoPk) ([]Box, error) {
	return v.BoxesSpent(pks, make([]*model.InputPk, len(pks)))
}

// BoxesSpent returns boxes of the chain with the inputs that spend them, nil for an unspent one.
func (v *View) BoxesSpent(pks []model.UtxoPk, spenders []*model.InputPk) ([]Box, error) {
	txs := make([]model.TxPk, 0, 2*len(pks))
	for _, pk := range pks {
		if !v.Q.IsGenesis(pk.Tx()) {
			txs = append(txs, pk.Tx())
		}
	}
	for _, by := range spenders {
		if by != nil {
			txs = append(txs, by.Tx())
		}
	}
	parsed, err := v.Txs(txs)
	if err != nil {
		return nil, err
	}
	boxes := make([]Box, len(pks))
	for i, pk := range pks {
		b := &boxes[i]
		b.Pk = pk
		if v.Q.IsGenesis(pk.Tx()) {
			b.Genesis = true
			if b.Tx, err = v.genesisTx(pk); err != nil {
				return nil, err
			}
			continue
		}
		b.Tx, b.Pos, parsed = parsed[0], pk.Index(), parsed[1:]
		if b.Block, err = v.Block(pk.Height()); err != nil {
			return nil, err
		}
	}
	for i, by := range spenders {
		if by != nil {
			boxes[i].Spend, parsed = &Spend{parsed[0], by.Index()}, parsed[1:]
		}
	}
	return boxes, nil
}

// genesisTx returns the transaction of a genesis box.
func (v *View) genesisTx(pk model.UtxoPk) (*Tx, error) {
	n, err := v.genesisNumber(pk)
	if err != nil {
		return nil, err
	}
	if n >= uint64(len(v.chain.genesis)) {
		return nil, model.Errorf(model.NotFound, "unsupported", "the genesis boxes of this network are not built in")
	}
	return v.chain.genesis[n], nil
}

// BoxOf returns the box with an id; ok is false if the chain has none.
func (v *View) BoxOf(id sigma.ID) (pk model.UtxoPk, ok bool, err error) {
	pks, err := v.BoxesOf([]sigma.ID{id})
	if err != nil || pks[0] == nil {
		return 0, false, err
	}
	return *pks[0], true, nil
}

// BoxesOf returns the boxes with ids; nil for one that the chain does not have.
func (v *View) BoxesOf(ids []sigma.ID) ([]*model.UtxoPk, error) {
	x, err := v.Q.Index(BoxIndex)
	if err != nil {
		return nil, err
	}
	values := make([][]byte, len(ids))
	for i := range ids {
		values[i] = ids[i][:]
	}
	births, err := v.Q.Births(v.Q.R, x.Number, values)
	if err != nil {
		return nil, err
	}
	pks := make([]*model.UtxoPk, len(ids))
	for i, b := range births {
		if b != nil {
			pks[i] = &b.Utxo
		}
	}
	return pks, nil
}

// BoxesBetween yields the boxes of the chain from a position to another one.
func (v *View) BoxesBetween(from, to []byte) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		for kv, err := range v.Q.R.Scan(schema.FamilyUtxo, from, to, false) {
			var pk model.UtxoPk
			if err == nil {
				pk, err = model.ParseUtxoPk(kv.Key)
			}
			if !yield(pk, err) || err != nil {
				return
			}
		}
	}
}

// BoxIDs returns the ids of boxes of the chain.
func (v *View) BoxIDs(pks []model.UtxoPk) ([]sigma.ID, error) {
	x, err := v.Q.Index(BoxIndex)
	if err != nil {
		return nil, err
	}
	births := make([]model.BirthPk, len(pks)) // a box id occurs once
	for i, pk := range pks {
		births[i].Utxo = pk
	}
	values, err := v.Q.StoredValues(x, births)
	if err != nil {
		return nil, err
	}
	ids := make([]sigma.ID, len(values))
	for i, value := range values {
		ids[i] = sigma.ID(value)
	}
	return ids, nil
}

// Genesis returns the boxes that existed before block 1.
func (v *View) Genesis() ([]Box, error) {
	from, to := v.Q.FirstPk(0).AppendTo(nil), v.Q.FirstPk(firstHeight).AppendTo(nil)
	pks, err := v.boxesFrom(from, to, v.Q.Totals.GenesisOutputs)
	if err != nil {
		return nil, err
	}
	return v.UnspentBoxes(pks)
}

// boxRows is the number of boxes that are read together.
const boxRows = 128

// BoxBatches yields boxes of the chain, with their spenders unless all are unspent.
func (v *View) BoxBatches(pks []model.UtxoPk, unspent bool) iter.Seq2[[]Box, error] {
	read := v.AllBoxes
	if unspent {
		read = v.UnspentBoxes
	}
	return batches(pks, boxRows, read)
}

func batches[K, T any](keys []K, size int, read func([]K) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for part := range slices.Chunk(keys, size) {
			if all, err := read(part); !yield(all, err) || err != nil {
				return
			}
		}
	}
}

// StreamedBoxes yields the boxes that read returns for parts of a list.
func (v *View) StreamedBoxes(
	pks iter.Seq2[model.UtxoPk, error], read func([]model.UtxoPk) ([]Box, error),
) iter.Seq2[[]Box, error] {
	return func(yield func([]Box, error) bool) {
		part := make([]model.UtxoPk, 0, boxRows)
		for pk, err := range pks {
			if err != nil {
				yield(nil, err)
				return
			}
			if part = append(part, pk); len(part) < boxRows {
				continue
			}
			all, err := read(part)
			if err == nil {
				err = v.Q.Ctx.Err()
			}
			if !yield(all, err) || err != nil {
				return
			}
			part = part[:0]
		}
		if len(part) > 0 {
			yield(read(part))
		}
	}
}

// AmongUnspent returns the boxes that are unspent.
func (v *View) AmongUnspent(pks []model.UtxoPk) ([]Box, error) {
	kept, err := v.unspent(pks)
	if err != nil {
		return nil, err
	}
	return v.UnspentBoxes(kept)
}

// Each yields the values of the items of batches.
func Each[T, V any](all iter.Seq2[[]T, error], value func(*T) (V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var none V
		for batch, err := range all {
			if err != nil {
				yield(none, err)
				return
			}
			for i := range batch {
				if v, err := value(&batch[i]); !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}
