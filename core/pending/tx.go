package pending

import (
	"encoding/binary"
	"iter"
	"math/big"
	"sync/atomic"
	"time"
	"unsafe"

	"birthmark/model"
)

// Outpoint identifies an output of a transaction.
type Outpoint struct {
	Tx    model.Hash
	Index uint32
}

// Tx is an unconfirmed transaction. It is immutable.
type Tx struct {
	ID      model.Hash
	Arrival uint64 // number of the arrival: later ones are higher
	Fee     uint64 // in the chain's smallest unit; 0 if it is unknown

	Size        int // bytes of the serialized transaction
	VSize       int // the size that fee rates refer to
	Weight      int // 0 on chains without weight
	FirstOutput uint32
	FeeKnown    bool

	Mints   []model.Mint
	Created []Created // the derived assets that it creates, if they have an info

	seen    int64 // Unix nanoseconds
	inputs  []Input
	outputs []coin
	data    []byte                 // of the coins
	raw     atomic.Pointer[[]byte] // nil: dropped, see [Follower.Raw]

	// pks are the pointers of the outputs that the inputs spend; unconfirmed for an output of the overlay. Only the
	// writer uses them.
	pks []model.UtxoPk

	// tokens are the derived assets; nil: none, and no message. Only the writer uses it, and changes it after a block.
	tokens      *derived
	tokenOutput uint32 // see [model.Tx.TokenOutput]
	extra       int64  // bytes that tokens needed when the transaction entered
}

// Asset is an asset entry of an output. The id of a derived asset whose creation is not confirmed can be another one
// after it: see [model.TokenTx].
type Asset struct {
	ID     []byte
	Amount model.Uint128
}

// Created is an asset that a transaction creates: see [model.TokenBirth].
type Created struct{ ID, Info []byte }

// Input is an input of an unconfirmed transaction.
type Input struct {
	Outpoint // the output that it spends
	Index    uint32
	Tx       *Tx

	coin coin
}

// Output is an output of an unconfirmed transaction, or one that it spends.
type Output struct {
	Value uint64
	keys  []byte
}

// coin is an output in [Tx.data].
type coin struct {
	value    uint64
	from, to uint32
}

// Seen returns when the node received the transaction, or when it arrived here if the node does not report it.
func (t *Tx) Seen() time.Time { return time.Unix(0, t.seen) }

// Rate returns the fee per virtual byte.
func (t *Tx) Rate() float64 { return float64(t.Fee) / float64(max(1, t.VSize)) }

// Inputs returns the inputs. The caller must not change them.
func (t *Tx) Inputs() []Input { return t.inputs }

// Spends returns the output that the input spends.
func (in *Input) Spends() Output { return in.Tx.output(in.coin) }

// NumOutputs returns the number of outputs.
func (t *Tx) NumOutputs() int { return len(t.outputs) }

// Output returns the output at position i. Its index in the transaction is FirstOutput + i.
func (t *Tx) Output(i int) Output { return t.output(t.outputs[i]) }

// OutputAt returns the output with an index; ok is false if the transaction has none.
func (t *Tx) OutputAt(index uint32) (o Output, ok bool) {
	if index < t.FirstOutput || index-t.FirstOutput >= uint32(len(t.outputs)) {
		return o, false
	}
	return t.Output(int(index - t.FirstOutput)), true
}

func (t *Tx) output(c coin) Output { return Output{c.value, t.data[c.from:c.to]} }

// Raw returns the serialized transaction; nil if it was dropped to save memory. [Follower.Raw] then fetches it.
func (t *Tx) Raw() []byte {
	if raw := t.raw.Load(); raw != nil {
		return *raw
	}
	return nil
}

// Amounts returns what a value of an index receives and sends in the transaction. The index is a position in
// [Overlay.Indexes].
func (t *Tx) Amounts(index int, value []byte) (received, sent uint64) {
	for i := range t.outputs {
		if o := t.Output(i); o.Has(index, value) {
			received += o.Value
		}
	}
	for i := range t.inputs {
		if o := t.inputs[i].Spends(); o.Has(index, value) {
			sent += o.Value
		}
	}
	return received, sent
}

// Keys yields the values of indexes that the output has: the position of the index in [Overlay.Indexes], and the value.
func (o Output) Keys() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		r := packed(o.keys)
		for n := r.number(); n > 0; n-- {
			if !yield(int(r.number()), r.bytes()) {
				return
			}
		}
	}
}

// Key returns the first value of an index, by its position in [Overlay.Indexes]; nil if the output has none.
func (o Output) Key(index int) []byte {
	for x, value := range o.Keys() {
		if x == index {
			return value
		}
	}
	return nil
}

// Has reports whether the output has this value of an index.
func (o Output) Has(index int, value []byte) bool {
	for x, v := range o.Keys() {
		if x == index && string(v) == string(value) {
			return true
		}
	}
	return false
}

// HasAny reports whether the output has a value of an index.
func (o Output) HasAny(index int) bool {
	for x := range o.Keys() {
		if x == index {
			return true
		}
	}
	return false
}

// Assets returns the asset entries of the output.
func (o Output) Assets() (assets []Asset) {
	r := packed(o.keys[o.keySize():])
	for len(r) > 0 {
		assets = append(assets, Asset{r.bytes(), r.number128()})
	}
	return assets
}

// keySize returns the number of bytes before the assets.
func (o Output) keySize() int {
	r := packed(o.keys)
	for n := r.number(); n > 0; n-- {
		r.number()
		r.bytes()
	}
	return len(o.keys) - len(r)
}

// statedAssets returns the assets that an output states itself.
func statedAssets(o *model.Output) (assets []Asset) {
	for _, a := range o.Assets {
		assets = append(assets, Asset{a.ID, model.Uint128Of(a.Amount)})
	}
	return assets
}

// pack appends the values of an output and its assets to data.
func pack(data []byte, o *model.Output, assets []Asset) ([]byte, coin) {
	c := coin{value: o.Value, from: uint32(len(data))}
	data = binary.AppendUvarint(data, uint64(len(o.Keys)))
	for _, k := range o.Keys {
		data = binary.AppendUvarint(data, uint64(k.Index))
		data = append(binary.AppendUvarint(data, uint64(len(k.Value))), k.Value...)
	}
	data = appendAssets(data, assets)
	c.to = uint32(len(data))
	return data, c
}

func appendAssets(data []byte, assets []Asset) []byte {
	for _, a := range assets {
		data = append(binary.AppendUvarint(data, uint64(len(a.ID))), a.ID...)
		data = a.Amount.AppendUvarint(data)
	}
	return data
}

// packed is the unread rest of the bytes that pack appended.
type packed []byte

func (p *packed) number() uint64 {
	n, size := binary.Uvarint(*p)
	*p = (*p)[size:]
	return n
}

func (p *packed) number128() model.Uint128 {
	n, size, _ := model.Uvarint128(*p) // pack appended it
	*p = (*p)[size:]
	return n
}

func (p *packed) bytes() []byte {
	n := p.number()
	b := (*p)[:n:n]
	*p = (*p)[n:]
	return b
}

// fee returns the fee of a transaction; ok is false if it is unknown.
func fee(t *model.Tx, traits *model.Traits, in *big.Int) (amount uint64, ok bool) {
	if t.Fee.Stated {
		return t.Fee.Amount, true
	}
	if traits.FeeOutputs {
		return 0, false
	}
	left, v := new(big.Int).Set(in), new(big.Int)
	for i := range t.Outputs {
		left.Sub(left, v.SetUint64(t.Outputs[i].Value))
	}
	return left.Uint64(), left.IsUint64()
}

// Memory per transaction, in bytes: the items of the tables at their usual load of two thirds.
const (
	txCost    = int64(unsafe.Sizeof(Tx{})) + 150
	inputCost = int64(unsafe.Sizeof(Input{})) + 80 // with its pointer, its row of spends and its row of coins
	valueCost = 30                                 // a row of values
)

// cost returns the memory that the transaction needs without its serialized bytes.
func (t *Tx) cost(values int) int64 {
	return txCost + int64(len(t.inputs))*inputCost + int64(len(t.outputs))*int64(unsafe.Sizeof(coin{})) +
		int64(cap(t.data)) + int64(values)*valueCost + t.extra
}

// Memory of derived assets, in bytes.
const (
	derivedCost = int64(unsafe.Sizeof(derived{})) + 300 // with a short message
	heldCost    = int64(unsafe.Sizeof(model.TokenOutput{}))
	birthCost   = int64(unsafe.Sizeof(model.TokenBirth{})) + 150
)

// cost returns the memory that derived assets need in addition to their entries in [Tx.data].
func (d *derived) cost() (n int64) {
	if d == nil {
		return 0
	}
	for _, amounts := range d.spent {
		n += int64(unsafe.Sizeof(amounts)) + int64(len(amounts))*heldCost
	}
	return n + derivedCost + int64(len(d.held))*heldCost + int64(len(d.births))*birthCost +
		int64(len(d.supplies))*int64(unsafe.Sizeof(model.TokenSupply{}))
}
