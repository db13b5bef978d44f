package ergo

import (
	"encoding/binary"
	"math/big"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// builder makes model transactions, out of arrays that are as long as they have to be.
type builder struct {
	wanted  wanted
	points  *points
	own     *own
	inputs  []model.Input
	outputs []model.Output
	keys    []model.Key
	assets  []model.Asset
	arena   []byte
}

// build puts the transactions that were read into a block.
func (d *decoder) build(b *model.Block) {
	b.Txs = d.transactions(b)
	if d.raw {
		d.keepRaw(b.Txs)
	}
}

// transactions makes model transactions of those that were read: of a block, or where that is nil of the genesis.
func (d *decoder) transactions(b *model.Block) []model.Tx {
	w := newBuilder(d.wanted, d.txs)
	w.points, w.own = &d.points, d.own
	if w.own != nil {
		w.own.enter(b)
	}
	txs := make([]model.Tx, len(d.txs))
	for i := range txs {
		w.add(i, &txs[i], &d.txs[i])
	}
	return txs
}

func newBuilder(w wanted, txs []transaction) *builder {
	var inputs, outputs, keys, assets, bytes int
	for i := range txs {
		t := &txs[i]
		inputs += len(t.Inputs)
		outputs += len(t.Outputs)
		bytes += len(sigma.ID{}) * len(t.Inputs)
		for j := range t.Outputs {
			b := &t.Outputs[j]
			assets += len(b.Tokens)
			bytes += len(sigma.ID{}) * len(b.Tokens)
			for _, v := range w {
				switch v {
				case valueAddress:
					keys++
					bytes += 1 + len(b.Tree)
				case valueRegister:
					keys += len(b.Registers)
					for _, r := range b.Registers {
						bytes += 1 + len(r)
					}
				case valueOwn:
					keys++
				default:
					keys++
					bytes += hashSize
				}
			}
		}
	}
	return &builder{
		wanted: w, inputs: make([]model.Input, 0, inputs), outputs: make([]model.Output, 0, outputs),
		keys: make([]model.Key, 0, keys), assets: make([]model.Asset, 0, assets), arena: make([]byte, 0, bytes),
	}
}

// keep is a copy of b that the block owns.
func (w *builder) keep(b []byte) []byte {
	start := len(w.arena)
	w.arena = append(w.arena, b...)
	return w.arena[start:len(w.arena):len(w.arena)]
}

func (w *builder) add(index int, tx *model.Tx, t *transaction) {
	tx.Hash = model.Hash(t.id)
	first := len(w.inputs)
	for i := range t.Inputs {
		w.inputs = append(w.inputs, model.Input{Value: w.keep(t.Inputs[i].Box[:])})
	}
	tx.Inputs = w.inputs[first:len(w.inputs):len(w.inputs)]
	tx.Mints, tx.Fee = minted(tx, t), feeOf(t)
	if w.own != nil {
		w.own.enterTx(index, tx, t)
	}
	first = len(w.outputs)
	for i := range t.Outputs {
		b := &t.Outputs[i]
		o := model.Output{Value: b.Value, Keys: w.addKeys(i, b, &t.claims[i].id)}
		start := len(w.assets)
		for j := range b.Tokens {
			w.assets = append(w.assets, model.Asset{ID: w.keep(b.Tokens[j].ID[:]), Amount: b.Tokens[j].Amount})
		}
		o.Assets = w.assets[start:len(w.assets):len(w.assets)]
		w.outputs = append(w.outputs, o)
	}
	tx.Outputs = w.outputs[first:len(w.outputs):len(w.outputs)]
}

// addKeys makes the values of a box that are wanted.
func (w *builder) addKeys(index int, b *sigma.Box, id *sigma.ID) []model.Key {
	first := len(w.keys)
	for i, v := range w.wanted {
		var value []byte
		switch v {
		case valueBoxID:
			value = w.keep(id[:])
		case valueAddress:
			start := len(w.arena)
			w.arena = appendAddress(w.arena, b.Tree, w.points)
			value = w.arena[start:len(w.arena):len(w.arena)]
		case valueTreeHash:
			sum := treeHash(b.Tree)
			value = w.keep(sum[:])
		case valueTemplateHash:
			if sum, ok := templateHash(b.Tree); ok {
				value = w.keep(sum[:])
			}
		case valueRegister:
			for j, r := range b.Registers {
				start := len(w.arena)
				w.arena = append(append(w.arena, byte(firstRegister+j)), r...)
				w.keys = append(w.keys, model.Key{Index: i, Value: w.arena[start:len(w.arena):len(w.arena)]})
			}
		}
		if value != nil {
			w.keys = append(w.keys, model.Key{Index: i, Value: value})
		}
	}
	if w.own != nil {
		w.keys = w.own.keys(w.keys, index, b, id)
		w.own.run.InOrder(w.keys[first:])
	}
	return w.keys[first:len(w.keys):len(w.keys)]
}

// minted is what a transaction minted: a token that has the id of the first box it spends. Its amount is what all the
// outputs hold of it, and what is said of it stands in the first that holds any.
func minted(tx *model.Tx, t *transaction) []model.Mint {
	if len(t.Inputs) == 0 {
		return nil
	}
	id := &t.Inputs[0].Box
	var m *model.Mint
	for i := range t.Outputs {
		b := &t.Outputs[i]
		for j := range b.Tokens {
			if b.Tokens[j].ID != *id || b.Tokens[j].Amount == 0 {
				continue
			}
			if m == nil {
				m = &model.Mint{Asset: tx.Inputs[0].Value, Amount: new(big.Int), Info: tokenInfo(b.Registers)}
			}
			m.Amount.Add(m.Amount, new(big.Int).SetUint64(b.Tokens[j].Amount))
		}
	}
	if m == nil {
		return nil
	}
	return []model.Mint{*m}
}

// tokenRegisters are R4, R5 and R6.
const tokenRegisters = 3

// tokenInfo is [model.Mint.Info]: the registers R4 to R6 of the issuing box as far as it has them, each behind the
// number of its bytes.
func tokenInfo(registers [][]byte) (info []byte) {
	for _, r := range registers[:min(len(registers), tokenRegisters)] {
		info = append(binary.AppendUvarint(info, uint64(len(r))), r...)
	}
	return info
}
