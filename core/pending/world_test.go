package pending

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// world is a node with a mempool, and a database of its chain. It is the slow reference: it keeps plain lists.
type world struct {
	t   testing.TB
	v   modeltest.Variant
	rng *rand.Rand
	db  *core.DB

	names  uint64
	blocks []*model.Block
	pool   []*model.Unconfirmed // of the node; parents first
	known  []*model.Unconfirmed // all that ever arrived
}

// variants are the rules of the generated chains. The tests write the blocks themselves.
func variants() []modeltest.Variant {
	all := modeltest.Variants()
	for i := range all {
		all[i].ByHand, all[i].Repeats, all[i].Implied, all[i].Raw = true, false, false, false
	}
	return all
}

func newWorld(t testing.TB, v modeltest.Variant, seed uint64) *world {
	w := &world{t: t, v: v, rng: rand.New(rand.NewPCG(seed, 7)), db: coretest.Open(t, memory.New(), v, 1<<20)}
	for range 5 {
		w.mine(nil)
	}
	w.sync()
	return w
}

func (w *world) name() (h model.Hash) {
	w.names++
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, w.names))
}

// tip returns the node's tip.
func (w *world) tip() model.Point {
	if len(w.blocks) == 0 {
		return model.Point{}
	}
	return w.blocks[len(w.blocks)-1].Point()
}

// coin is an output that can be spent.
type worldCoin struct {
	tx     model.Hash
	index  uint32
	output *model.Output
}

// coins returns the unspent outputs after all blocks and, with pool, after all transactions of the mempool.
func (w *world) coins(pool []*model.Unconfirmed) (coins []worldCoin) {
	add := func(t *model.Tx) {
		for i := range t.Inputs {
			coins = slices.DeleteFunc(coins, func(c worldCoin) bool { return w.spends(&t.Inputs[i], c) })
		}
		for i := range t.Outputs {
			coins = append(coins, worldCoin{t.Hash, uint32(t.OutputIndex(i)), &t.Outputs[i]})
		}
	}
	for _, b := range w.blocks {
		for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
			for i := range txs {
				add(&txs[i])
			}
		}
	}
	for _, u := range pool {
		add(&u.Tx)
	}
	return coins
}

func (w *world) spends(in *model.Input, c worldCoin) bool {
	if w.v.Boxes {
		return string(in.Value) == string(boxOf(c.output))
	}
	return in.Tx == c.tx && in.Index == c.index
}

const box = 2 // position of the one-to-one index in modeltest.IndexNames

func boxOf(o *model.Output) []byte {
	for _, k := range o.Keys {
		if k.Index == box {
			return k.Value
		}
	}
	return nil
}

// outputs returns n outputs with values that often occur elsewhere.
func (w *world) outputs(n int, value uint64) []model.Output {
	list := make([]model.Output, n)
	for i := range list {
		o := &list[i]
		o.Value = value / uint64(n)
		if w.rng.IntN(8) > 0 {
			o.Keys = append(o.Keys, model.Key{Index: 0, Value: fmt.Appendf(nil, "address %d", w.rng.IntN(30))})
		}
		if w.rng.IntN(2) > 0 {
			o.Keys = append(o.Keys, model.Key{Index: 1, Value: []byte{byte(w.rng.IntN(3))}})
		}
		if w.v.Boxes || w.rng.IntN(3) == 0 {
			id := w.name()
			o.Keys = append(o.Keys, model.Key{Index: box, Value: id[:]})
		}
		for label := range w.rng.IntN(3) {
			o.Keys = append(o.Keys, model.Key{Index: 3, Value: fmt.Appendf(nil, "label %d %d", label, w.rng.IntN(9))})
		}
	}
	return list
}

// unconfirmedOf returns a transaction as a node would: its sizes depend on the hash.
func unconfirmedOf(t model.Tx) *model.Unconfirmed {
	u := &model.Unconfirmed{Tx: t, Size: 100 + int(t.Hash[0])*3, Weight: 400 + int(t.Hash[1])*15, Seen: time.Unix(int64(t.Hash[2]), 0)}
	u.VSize = (u.Weight + 3) / 4
	u.Raw = fmt.Appendf(nil, "raw %x", t.Hash)
	return u
}

// pay returns a transaction that spends some of the coins.
func (w *world) pay(coins []worldCoin) *model.Unconfirmed {
	u := unconfirmedOf(model.Tx{Hash: w.name()})
	coins = slices.Clone(coins)
	total, moved := uint64(0), map[string]uint64{}
	for range min(1+w.rng.IntN(3), len(coins)) {
		i := w.rng.IntN(len(coins))
		if w.rng.IntN(2) == 0 {
			i = len(coins) - 1 - w.rng.IntN(min(4, len(coins))) // chains of unconfirmed transactions
		}
		c := coins[i]
		coins = slices.Delete(coins, i, i+1)
		in := model.Input{Tx: c.tx, Index: c.index}
		if w.v.Boxes {
			in = model.Input{Value: boxOf(c.output)}
		}
		u.Inputs = append(u.Inputs, in)
		total += c.output.Value
		for _, a := range c.output.Assets {
			moved[string(a.ID)] += a.Amount
		}
	}
	u.Outputs = w.outputs(1+w.rng.IntN(4), total-min(total, uint64(w.rng.IntN(300))))
	if w.v.OutputOffset && w.rng.IntN(6) == 0 {
		u.FirstOutput = 1 + w.rng.Uint32N(4)
	}
	if w.rng.IntN(3) == 0 {
		id := w.name()
		moved[string(id[:5])] = 1000
		u.Mints = []model.Mint{{Asset: id[:5], Amount: big.NewInt(1000)}}
	}
	for id, amount := range moved {
		o := &u.Outputs[w.rng.IntN(len(u.Outputs))]
		o.Assets = append(o.Assets, model.Asset{ID: []byte(id), Amount: amount})
	}
	if w.v.FeeOutputs || w.rng.IntN(4) == 0 {
		u.Fee = model.Fee{Stated: true, Amount: w.rng.Uint64N(5000)}
	}
	return u
}

// valid returns the transactions whose inputs are unspent after the blocks, in order; of two that conflict the first.
func (w *world) valid(pool []*model.Unconfirmed) (kept []*model.Unconfirmed) {
	coins := w.coins(nil)
next:
	for _, u := range pool {
		left := coins
		for i := range u.Inputs {
			n := len(left)
			left = slices.DeleteFunc(slices.Clone(left), func(c worldCoin) bool { return w.spends(&u.Inputs[i], c) })
			if len(left) == n {
				continue next
			}
		}
		for i := range u.Outputs {
			left = append(slices.Clip(left), worldCoin{u.Hash, uint32(u.OutputIndex(i)), &u.Outputs[i]})
		}
		coins, kept = left, append(kept, u)
	}
	return kept
}

// arrive adds a transaction to the mempool of the node. Transactions that conflict with it leave, with their
// descendants.
func (w *world) arrive(u *model.Unconfirmed) {
	w.known = append(w.known, u)
	conflict := func(other *model.Unconfirmed) bool {
		return slices.ContainsFunc(other.Inputs, func(a model.Input) bool {
			return slices.ContainsFunc(u.Inputs, func(b model.Input) bool {
				return a.Tx == b.Tx && a.Index == b.Index && string(a.Value) == string(b.Value)
			})
		})
	}
	w.pool = w.valid(append(slices.DeleteFunc(slices.Clone(w.pool), conflict), u))
}

// mine adds a block with transactions to the node's chain.
func (w *world) mine(txs []*model.Unconfirmed) {
	b := w.block(txs)
	w.blocks = append(w.blocks, b)
	w.pool = w.valid(slices.DeleteFunc(slices.Clone(w.pool), func(u *model.Unconfirmed) bool {
		return slices.ContainsFunc(b.Txs, func(t model.Tx) bool { return t.Hash == u.Hash })
	}))
}

func (w *world) block(txs []*model.Unconfirmed) *model.Block {
	b := &model.Block{Height: w.v.First, Hash: w.name(), Time: 1_600_000_000, Size: 1000}
	if tip := w.tip(); !tip.IsOrigin() {
		b.Height, b.Parent = tip.Height+1, tip.Hash
	} else if w.v.Genesis {
		b.Genesis = []model.Tx{{Hash: w.name(), Outputs: w.outputs(40, 9_000_000)}}
	}
	b.Time += int64(b.Height) * 600
	b.Header = append([]byte("header "), b.Hash[:]...)
	if w.v.Slots {
		b.Slot = uint64(b.Height) * 20
	}
	if w.v.Coinbase {
		b.Txs = append(b.Txs, model.Tx{Hash: w.name(), Outputs: w.outputs(1+w.rng.IntN(3), 50_000)})
	}
	for _, u := range txs {
		t := u.Tx
		t.Raw = nil
		b.Txs = append(b.Txs, t)
	}
	return b
}

// fork removes n blocks, whose transactions are unconfirmed again, and mines longer without some of them.
func (w *world) fork(n int) {
	n = min(n, len(w.blocks)-5)
	lost := w.blocks[len(w.blocks)-n:]
	w.blocks = slices.Clone(w.blocks[:len(w.blocks)-n])
	var back []*model.Unconfirmed
	for _, b := range lost {
		for i := range b.Txs {
			if len(b.Txs[i].Inputs) > 0 {
				back = append(back, unconfirmedOf(b.Txs[i]))
			}
		}
	}
	w.pool = w.valid(append(back, w.pool...))
	for range n + 1 {
		w.mine(w.some())
	}
}

// some returns transactions for the next block: some of the mempool, and sometimes others that conflict with it.
func (w *world) some() []*model.Unconfirmed {
	var txs []*model.Unconfirmed
	if w.rng.IntN(3) == 0 {
		u := w.pay(w.coins(nil))
		w.known = append(w.known, u) // a fork may return it to the mempool
		txs = append(txs, u)
	}
	for _, u := range w.pool {
		if w.rng.IntN(2) == 0 {
			txs = append(txs, u)
		}
	}
	return w.valid(txs)
}

// step changes the node at random, and counts what it does.
func (w *world) step(done *counts) {
	before := len(w.pool)
	switch n := w.rng.IntN(20); {
	case n < 12:
		pool := w.pool
		if n >= 9 {
			pool = nil // it may replace others
		}
		w.arrive(w.pay(w.coins(pool)))
		done.arrived++
		done.replaced += before + 1 - len(w.pool)
	case n < 14 && len(w.pool) > 0:
		w.pool = w.valid(slices.Delete(slices.Clone(w.pool), 0, 1+w.rng.IntN(len(w.pool))/4))
		done.evicted += before - len(w.pool)
	case n < 18:
		w.mine(w.some())
		done.blocks++
	case n < 19:
		w.mine(w.pool)
		done.blocks++
	default:
		w.fork(1 + w.rng.IntN(min(10, len(w.blocks)-5+1)))
		done.forks++
	}
}

// sync brings the database to the node's chain.
func (w *world) sync() {
	ctx := context.Background()
	for {
		tip := w.db.Tip()
		if tip.IsOrigin() {
			break
		}
		if i := int(tip.Height - w.v.First); i < len(w.blocks) && w.blocks[i].Hash == tip.Hash {
			break
		}
		to := model.Point{}
		if tip.Height > w.v.First {
			if err := w.db.View(ctx, func(v *query.View) (err error) {
				to, err = v.PointAt(ctx, tip.Height-1)
				return err
			}); err != nil {
				w.t.Fatal(err)
			}
		}
		coretest.Rollback(w.t, w.db, to)
	}
	from := 0
	if tip := w.db.Tip(); !tip.IsOrigin() {
		from = int(tip.Height-w.v.First) + 1
	}
	coretest.AppendAll(w.t, w.db, w.blocks[from:], 1+w.rng.IntN(3))
}

// ids returns the list of the node.
func (w *world) ids() []model.Hash {
	ids := make([]model.Hash, len(w.pool))
	for i, u := range w.pool {
		ids[i] = u.Hash
	}
	return ids
}

// fetch returns transactions of the node in random order.
func (w *world) fetch(ids []model.Hash) []*model.Unconfirmed {
	txs := make([]*model.Unconfirmed, len(ids))
	for i, id := range ids {
		for _, u := range w.pool {
			if u.Hash == id {
				txs[i] = u
			}
		}
	}
	w.rng.Shuffle(len(txs), func(i, j int) { txs[i], txs[j] = txs[j], txs[i] })
	return txs
}

// query calls fn with a snapshot of the database.
func (w *world) query(fn func(*query.Query) error) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.From(ctx, fn); err != nil {
		w.t.Fatal(err)
	}
}
