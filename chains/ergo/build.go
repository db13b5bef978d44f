package ergo

import (
	"encoding/binary"
	"math/big"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// builder makes model transactions in arrays of the exact sizes.
type builder struct {
	selected []adapter.Selected
	points   *points
	user     *userIndexes
	inputs   []model.Input
	outputs  []model.Output
	keys     []model.Key
	assets   []model.Asset
	arena    []byte
}

func (d *decoder) build(b *model.Block) {
	b.Txs = d.transactions(b)
	if d.raw {
		d.keepRaw(b.Txs)
	}
}

// transactions returns the transactions that were read: of block b, or of the genesis if b is nil.
func (d *decoder) transactions(b *model.Block) []model.Tx {
	w := newBuilder(d.selected, len(d.names), d.txs)
	w.points, w.user = &d.points, d.user
	switch {
	case w.user == nil:
	case d.unmined:
		w.user.enterUnconfirmed()
	default:
		w.user.enter(b)
	}
	txs := make([]model.Tx, len(d.txs))
	for i := range txs {
		w.add(i, &txs[i], &d.txs[i])
	}
	return txs
}

func newBuilder(selected []adapter.Selected, indexes int, txs []transaction) *builder {
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
			keys += indexes
			for _, s := range selected {
				switch s.Builtin {
				case addressIndex:
					bytes += 1 + len(b.Tree)
				case registerIndex:
					keys += len(b.Registers) - 1
					for _, r := range b.Registers {
						bytes += 1 + len(r)
					}
				default:
					bytes += hashSize
				}
			}
		}
	}
	return &builder{
		selected: selected, inputs: make([]model.Input, 0, inputs), outputs: make([]model.Output, 0, outputs),
		keys: make([]model.Key, 0, keys), assets: make([]model.Asset, 0, assets), arena: make([]byte, 0, bytes),
	}
}

// keep copies b into the block's memory.
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
	if w.user != nil {
		w.user.enterTx(index, tx, t)
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

// addKeys appends the keys of a box.
func (w *builder) addKeys(index int, b *sigma.Box, id *sigma.ID) []model.Key {
	first := len(w.keys)
	for _, s := range w.selected {
		var value []byte
		switch s.Builtin {
		case boxIDIndex:
			value = w.keep(id[:])
		case addressIndex:
			start := len(w.arena)
			w.arena = appendAddress(w.arena, b.Tree, w.points)
			value = w.arena[start:len(w.arena):len(w.arena)]
		case treeHashIndex:
			sum := treeHash(b.Tree)
			value = w.keep(sum[:])
		case templateHashIndex:
			if sum, ok := templateHash(b.Tree); ok {
				value = w.keep(sum[:])
			}
		case registerIndex:
			for j, r := range b.Registers {
				start := len(w.arena)
				w.arena = append(append(w.arena, byte(firstRegister+j)), r...)
				w.keys = append(w.keys, model.Key{Index: s.Position, Value: w.arena[start:len(w.arena):len(w.arena)]})
			}
		}
		if value != nil {
			w.keys = append(w.keys, model.Key{Index: s.Position, Value: value})
		}
	}
	if w.user != nil {
		w.keys = w.user.keys(w.keys, index, b, id)
		w.user.run.InOrder(w.keys[first:])
	}
	return w.keys[first:len(w.keys):len(w.keys)]
}

// minted returns the token that a transaction mints: its id equals the id of the first spent box, its amount is the sum
// of all outputs. The first output with the token describes it.
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

// tokenInfo returns [model.Mint.Info]: the registers R4 to R6 of the issuing box that exist, each after its length.
func tokenInfo(registers [][]byte) (info []byte) {
	for _, r := range registers[:min(len(registers), tokenRegisters)] {
		info = append(binary.AppendUvarint(info, uint64(len(r))), r...)
	}
	return info
}
