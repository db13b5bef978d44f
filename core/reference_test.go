package core_test

import (
	"math/big"
	"strconv"

	"birthmark/core"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// reference is a chain read the naive way: every block again, lists and loops, nothing forgotten. What it answers is
// what a database of the same blocks must answer. A shorter chain is another reference.
type reference struct {
	v      modeltest.Variant
	chain  model.Chain
	blocks []*model.Block
	txs    []*refTx // of the whole chain, genesis first
	byHash map[model.Hash]*refTx
	boxes  map[string]*refOutput
	values []*refValue // of every index, in the order of their births
	assets []*refAsset // likewise

	totals core.TotalsAnswer
}

type refTx struct {
	*model.Tx
	block   *model.Block // nil at genesis
	height  uint32
	index   int
	spends  []*refOutput
	outputs []*refOutput
	changes map[*refAsset]*big.Int // what it minted or burned of which asset
}

type refOutput struct {
	*model.Output
	tx      *refTx
	index   int
	spentBy *refTx
	input   int
	entries []refEntry
}

// refEntry is an asset entry that holds something.
type refEntry struct {
	asset  *refAsset
	amount uint64
}

type refValue struct {
	index   int
	value   []byte
	outputs []*refOutput
	moves   []*refMove
}

// refMove is what a value received and sent in one transaction.
type refMove struct {
	tx             *refTx
	received, sent uint64
}

type refAsset struct {
	id      []byte
	outputs []*refOutput // each once
	events  []*refTx
}

func newReference(v modeltest.Variant, blocks []*model.Block) *reference {
	r := &reference{v: v, chain: v.Chain("one"), blocks: blocks, byHash: map[model.Hash]*refTx{}, boxes: map[string]*refOutput{}}
	for _, b := range blocks {
		r.totals.Blocks++
		for i := range b.Genesis {
			r.add(&refTx{Tx: &b.Genesis[i], index: i})
			r.totals.GenesisOutputs += uint64(len(b.Genesis[i].Outputs))
		}
		for i := range b.Txs {
			r.add(&refTx{Tx: &b.Txs[i], block: b, height: uint32(b.Height), index: i})
			r.totals.Txs++
			r.totals.Inputs += uint64(len(b.Txs[i].Inputs))
			r.totals.Outputs += uint64(len(b.Txs[i].Outputs))
		}
	}
	unspent := uint64(0)
	for _, t := range r.txs {
		for _, o := range t.outputs {
			r.totals.Assets += uint64(len(o.entries))
			if o.spentBy == nil {
				r.totals.Unspent++
				unspent += o.Value
			}
		}
	}
	r.totals.UnspentValue = strconv.FormatUint(unspent, 10)
	return r
}

func (r *reference) add(t *refTx) {
	r.txs = append(r.txs, t)
	for i, in := range t.Inputs {
		var o *refOutput
		if r.v.Boxes {
			o = r.boxes[string(in.Value)]
		} else {
			o = r.byHash[in.Tx].outputs[in.Index]
		}
		if o.spentBy != nil {
			panic("the made-up chain spends an output twice")
		}
		o.spentBy, o.input = t, i
		t.spends = append(t.spends, o)
		for _, k := range o.Keys {
			r.value(k).move(t).sent += o.Value
		}
	}
	r.byHash[t.Hash] = t
	for i := range t.Outputs {
		o := &refOutput{Output: &t.Outputs[i], tx: t, index: i}
		t.outputs = append(t.outputs, o)
		for _, k := range o.Keys {
			v := r.value(k)
			v.outputs = append(v.outputs, o)
			v.move(t).received += o.Value
			if modeltest.IndexNames[k.Index] == "box" {
				r.boxes[string(k.Value)] = o
			}
		}
		for _, a := range o.Assets {
			if a.Amount > 0 {
				asset := r.asset(a.ID)
				o.entries = append(o.entries, refEntry{asset, a.Amount})
				if n := len(asset.outputs); n == 0 || asset.outputs[n-1] != o {
					asset.outputs = append(asset.outputs, o)
				}
			}
		}
	}
	r.supply(t)
}

// supply finds what t minted and burned: what it says, or, where burns are implied, what came out less what went in.
func (r *reference) supply(t *refTx) {
	t.changes = map[*refAsset]*big.Int{}
	change := func(a *refAsset, n *big.Int) {
		if t.changes[a] == nil {
			t.changes[a] = new(big.Int)
		}
		t.changes[a].Add(t.changes[a], n)
	}
	if r.v.Implied {
		for sign, outputs := range map[int64][]*refOutput{-1: t.spends, 1: t.outputs} {
			for _, o := range outputs {
				for _, e := range o.entries {
					n := new(big.Int).SetUint64(e.amount)
					change(e.asset, n.Mul(n, big.NewInt(sign)))
				}
			}
		}
	} else {
		for _, m := range t.Mints {
			change(r.asset(m.Asset), m.Amount)
		}
	}
	for a, n := range t.changes {
		if n.Sign() == 0 {
			delete(t.changes, a)
		} else {
			a.events = append(a.events, t)
		}
	}
}

func (r *reference) value(k model.Key) *refValue {
	for _, v := range r.values {
		if v.index == k.Index && string(v.value) == string(k.Value) {
			return v
		}
	}
	v := &refValue{index: k.Index, value: k.Value}
	r.values = append(r.values, v)
	return v
}

func (r *reference) asset(id []byte) *refAsset {
	for _, a := range r.assets {
		if string(a.id) == string(id) {
			return a
		}
	}
	a := &refAsset{id: id}
	r.assets = append(r.assets, a)
	return a
}

func (v *refValue) move(t *refTx) *refMove {
	if n := len(v.moves); n > 0 && v.moves[n-1].tx == t {
		return v.moves[n-1]
	}
	m := &refMove{tx: t}
	v.moves = append(v.moves, m)
	return m
}

// sum of the values of outputs.
func refSum(outputs []*refOutput) *big.Int {
	n := new(big.Int)
	for _, o := range outputs {
		n.Add(n, new(big.Int).SetUint64(o.Value))
	}
	return n
}

// held is what unspent outputs hold of each asset.
func held(outputs []*refOutput) map[*refAsset]*big.Int {
	sums := map[*refAsset]*big.Int{}
	for _, o := range unspent(outputs) {
		for _, e := range o.entries {
			if sums[e.asset] == nil {
				sums[e.asset] = new(big.Int)
			}
			sums[e.asset].Add(sums[e.asset], new(big.Int).SetUint64(e.amount))
		}
	}
	return sums
}

func unspent(outputs []*refOutput) (left []*refOutput) {
	for _, o := range outputs {
		if o.spentBy == nil {
			left = append(left, o)
		}
	}
	return left
}
