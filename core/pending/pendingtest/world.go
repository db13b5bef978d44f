package pendingtest

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

// World is a node with a mempool, and a database of its chain. It is the slow reference: it keeps plain lists.
type World struct {
	Variant modeltest.Variant
	Rand    *rand.Rand
	DB      *core.DB

	Blocks []*model.Block
	Pool   []*model.Unconfirmed // of the node; parents first
	Known  []*model.Unconfirmed // all that ever arrived
	Counts Counts
	Wishes bool // transactions have messages, if the chain derives assets

	t     testing.TB
	names uint64
}

// Variants are the rules of the generated chains. The tests write the blocks themselves.
func Variants() []modeltest.Variant {
	all := modeltest.Variants()
	for i := range all {
		all[i].ByHand, all[i].Repeats, all[i].Implied, all[i].Raw = true, false, false, false
	}
	return all
}

// New returns a world of five blocks.
func New(t testing.TB, v modeltest.Variant, seed uint64) *World {
	w := &World{t: t, Variant: v, Rand: rand.New(rand.NewPCG(seed, 7)), DB: coretest.Open(t, memory.New(), v, 1<<20)}
	for range 5 {
		w.Mine(nil)
	}
	w.Sync()
	return w
}

// Name returns a hash that no other call returns.
func (w *World) Name() (h model.Hash) {
	w.names++
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, w.names))
}

// Tip returns the node's tip.
func (w *World) Tip() model.Point {
	if len(w.Blocks) == 0 {
		return model.Point{}
	}
	return w.Blocks[len(w.Blocks)-1].Point()
}

// Coin is an output that can be spent.
type Coin struct {
	Tx     model.Hash
	Index  uint32
	Output *model.Output
}

// Coins returns the unspent outputs after all blocks and, with pool, after all transactions of the mempool.
func (w *World) Coins(pool []*model.Unconfirmed) (coins []Coin) {
	add := func(t *model.Tx) {
		for i := range t.Inputs {
			coins = slices.DeleteFunc(coins, func(c Coin) bool { return w.spends(&t.Inputs[i], c) })
		}
		for i := range t.Outputs {
			coins = append(coins, Coin{t.Hash, uint32(t.OutputIndex(i)), &t.Outputs[i]})
		}
	}
	for _, b := range w.Blocks {
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

func (w *World) spends(in *model.Input, c Coin) bool {
	if w.Variant.Boxes {
		return string(in.Value) == string(boxOf(c.Output))
	}
	return in.Tx == c.Tx && in.Index == c.Index
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

// Outputs returns n outputs with values that often occur elsewhere.
func (w *World) Outputs(n int, value uint64) []model.Output {
	list := make([]model.Output, n)
	for i := range list {
		o := &list[i]
		o.Value = value / uint64(n)
		if w.Rand.IntN(8) > 0 {
			o.Keys = append(o.Keys, model.Key{Index: 0, Value: fmt.Appendf(nil, "address %d", w.Rand.IntN(30))})
		}
		if w.Rand.IntN(2) > 0 {
			o.Keys = append(o.Keys, model.Key{Index: 1, Value: []byte{byte(w.Rand.IntN(3))}})
		}
		if w.Variant.Boxes || w.Rand.IntN(3) == 0 {
			id := w.Name()
			o.Keys = append(o.Keys, model.Key{Index: box, Value: id[:]})
		}
		for label := range w.Rand.IntN(3) {
			o.Keys = append(o.Keys, model.Key{Index: 3, Value: fmt.Appendf(nil, "label %d %d", label, w.Rand.IntN(9))})
		}
	}
	return list
}

// Unconfirmed returns a transaction as a node would: its sizes depend on the hash.
func Unconfirmed(t model.Tx) *model.Unconfirmed {
	u := &model.Unconfirmed{Tx: t, Size: 100 + int(t.Hash[0])*3, Weight: 400 + int(t.Hash[1])*15, Seen: time.Unix(int64(t.Hash[2]), 0)}
	u.VSize = (u.Weight + 3) / 4
	u.Raw = fmt.Appendf(nil, "raw %x", t.Hash)
	return u
}

// Pay returns a transaction that spends some of the coins.
func (w *World) Pay(coins []Coin) *model.Unconfirmed {
	u := Unconfirmed(model.Tx{Hash: w.Name()})
	coins = slices.Clone(coins)
	total, moved := uint64(0), map[string]uint64{}
	for range min(1+w.Rand.IntN(3), len(coins)) {
		i := w.Rand.IntN(len(coins))
		if w.Rand.IntN(2) == 0 {
			i = len(coins) - 1 - w.Rand.IntN(min(4, len(coins))) // chains of unconfirmed transactions
		}
		c := coins[i]
		coins = slices.Delete(coins, i, i+1)
		in := model.Input{Tx: c.Tx, Index: c.Index}
		if w.Variant.Boxes {
			in = model.Input{Value: boxOf(c.Output)}
		}
		u.Inputs = append(u.Inputs, in)
		total += c.Output.Value
		for _, a := range c.Output.Assets {
			moved[string(a.ID)] += a.Amount
		}
	}
	u.Outputs = w.Outputs(1+w.Rand.IntN(4), total-min(total, uint64(w.Rand.IntN(300))))
	if w.Variant.OutputOffset && w.Rand.IntN(6) == 0 {
		u.FirstOutput = 1 + w.Rand.Uint32N(4)
	}
	if w.Rand.IntN(3) == 0 {
		id := w.Name()
		moved[string(id[:5])] = 1000
		u.Mints = []model.Mint{{Asset: id[:5], Amount: big.NewInt(1000)}}
	}
	if w.Variant.Tokens {
		clear(moved)
		u.Mints = nil
	}
	if w.Wishes {
		if u.TokenOutput = w.Rand.Uint32N(uint32(len(u.Outputs))); w.Rand.IntN(10) == 0 {
			u.TokenOutput = uint32(len(u.Outputs))
		}
		if w.Rand.IntN(3) > 0 {
			u.Message = w.wish(len(u.Outputs))
		}
	}
	for id, amount := range moved {
		o := &u.Outputs[w.Rand.IntN(len(u.Outputs))]
		o.Assets = append(o.Assets, model.Asset{ID: []byte(id), Amount: amount})
	}
	if w.Variant.FeeOutputs || w.Rand.IntN(4) == 0 {
		u.Fee = model.Fee{Stated: true, Amount: w.Rand.Uint64N(5000)}
	}
	return u
}

// wish returns a message of a transaction with n outputs. Few names occur at a time, so that messages meet.
func (w *World) wish(n int) *modeltest.TokenWish {
	name := func() string { return fmt.Sprint("name", int(w.Tip().Height)/4*3+w.Rand.IntN(5)) }
	m := &modeltest.TokenWish{}
	if w.Rand.IntN(2) == 0 {
		m.Create, m.Cap, m.Until = name(), w.Rand.Uint64N(4), w.Tip().Height+1+model.HeightPk(w.Rand.IntN(12))
	}
	if w.Rand.IntN(3) > 0 {
		m.Mint = name()
	}
	for i := range n {
		if w.Rand.IntN(3) > 0 {
			m.To = append(m.To, i)
		}
	}
	return m
}

// Valid returns the transactions whose inputs are unspent after the blocks, in order; of two that conflict the first.
func (w *World) Valid(pool []*model.Unconfirmed) (kept []*model.Unconfirmed) {
	coins := w.Coins(nil)
next:
	for _, u := range pool {
		left := coins
		for i := range u.Inputs {
			n := len(left)
			left = slices.DeleteFunc(slices.Clone(left), func(c Coin) bool { return w.spends(&u.Inputs[i], c) })
			if len(left) == n {
				continue next
			}
		}
		for i := range u.Outputs {
			left = append(slices.Clip(left), Coin{u.Hash, uint32(u.OutputIndex(i)), &u.Outputs[i]})
		}
		coins, kept = left, append(kept, u)
	}
	return kept
}

// Arrive adds a transaction to the mempool of the node. Transactions that conflict with it leave, with their
// descendants.
func (w *World) Arrive(u *model.Unconfirmed) {
	w.Known = append(w.Known, u)
	conflict := func(other *model.Unconfirmed) bool {
		return slices.ContainsFunc(other.Inputs, func(a model.Input) bool {
			return slices.ContainsFunc(u.Inputs, func(b model.Input) bool {
				return a.Tx == b.Tx && a.Index == b.Index && string(a.Value) == string(b.Value)
			})
		})
	}
	w.Pool = w.Valid(append(slices.DeleteFunc(slices.Clone(w.Pool), conflict), u))
}

// Mine adds a block with transactions to the node's chain.
func (w *World) Mine(txs []*model.Unconfirmed) {
	b := w.Block(txs)
	w.Blocks = append(w.Blocks, b)
	w.Pool = w.Valid(slices.DeleteFunc(slices.Clone(w.Pool), func(u *model.Unconfirmed) bool {
		return slices.ContainsFunc(b.Txs, func(t model.Tx) bool { return t.Hash == u.Hash })
	}))
}

// Block returns the next block of the chain, with transactions.
func (w *World) Block(txs []*model.Unconfirmed) *model.Block {
	b := &model.Block{Height: w.Variant.First, Hash: w.Name(), Time: 1_600_000_000, Size: 1000}
	if tip := w.Tip(); !tip.IsOrigin() {
		b.Height, b.Parent = tip.Height+1, tip.Hash
	} else if w.Variant.Genesis {
		b.Genesis = []model.Tx{{Hash: w.Name(), Outputs: w.Outputs(40, 9_000_000)}}
	}
	b.Time += int64(b.Height) * 600
	b.Header = append([]byte("header "), b.Hash[:]...)
	if w.Variant.Slots {
		b.Slot = uint64(b.Height) * 20
	}
	if w.Variant.Coinbase {
		b.Txs = append(b.Txs, model.Tx{Hash: w.Name(), Outputs: w.Outputs(1+w.Rand.IntN(3), 50_000)})
	}
	for _, u := range txs {
		t := u.Tx
		t.Raw = nil
		b.Txs = append(b.Txs, t)
	}
	return b
}

// Fork removes n blocks, whose transactions are unconfirmed again, and mines longer without some of them.
func (w *World) Fork(n int) {
	n = min(n, len(w.Blocks)-5)
	w.Orphan(n)
	for range n + 1 {
		w.Mine(w.some())
	}
}

// Orphan removes n blocks, whose transactions are unconfirmed again.
func (w *World) Orphan(n int) {
	lost := w.Blocks[len(w.Blocks)-n:]
	w.Blocks = slices.Clone(w.Blocks[:len(w.Blocks)-n])
	var back []*model.Unconfirmed
	for _, b := range lost {
		for i := range b.Txs {
			if len(b.Txs[i].Inputs) > 0 {
				back = append(back, Unconfirmed(b.Txs[i]))
			}
		}
	}
	w.Pool = w.Valid(append(back, w.Pool...))
}

// some returns transactions for the next block: some of the mempool, and sometimes others that conflict with it.
func (w *World) some() []*model.Unconfirmed {
	var txs []*model.Unconfirmed
	if w.Rand.IntN(3) == 0 {
		u := w.Pay(w.Coins(nil))
		w.Known = append(w.Known, u) // a fork may return it to the mempool
		txs = append(txs, u)
	}
	for _, u := range w.Pool {
		if w.Rand.IntN(2) == 0 {
			txs = append(txs, u)
		}
	}
	return w.Valid(txs)
}

// Counts are the changes of a node by [World.Step]; of transactions, descendants included.
type Counts struct{ Arrived, Replaced, Evicted, Blocks, Forks int }

// Step changes the node at random.
func (w *World) Step() {
	before := len(w.Pool)
	switch n := w.Rand.IntN(20); {
	case n < 12:
		pool := w.Pool
		if n >= 9 {
			pool = nil // it may replace others
		}
		w.Arrive(w.Pay(w.Coins(pool)))
		w.Counts.Arrived++
		w.Counts.Replaced += before + 1 - len(w.Pool)
	case n < 14 && len(w.Pool) > 0:
		w.Pool = w.Valid(slices.Delete(slices.Clone(w.Pool), 0, 1+w.Rand.IntN(len(w.Pool))/4))
		w.Counts.Evicted += before - len(w.Pool)
	case n < 18:
		w.Mine(w.some())
		w.Counts.Blocks++
	case n < 19:
		w.Mine(w.Pool)
		w.Counts.Blocks++
	default:
		w.Fork(1 + w.Rand.IntN(min(10, len(w.Blocks)-5+1)))
		w.Counts.Forks++
	}
}

// Sync brings the database to the node's chain.
func (w *World) Sync() {
	ctx := context.Background()
	for {
		tip := w.DB.Tip()
		if tip.IsOrigin() {
			break
		}
		if i := int(tip.Height - w.Variant.First); i < len(w.Blocks) && w.Blocks[i].Hash == tip.Hash {
			break
		}
		to := model.Point{}
		if tip.Height > w.Variant.First {
			if err := w.DB.View(ctx, func(v *query.View) (err error) {
				to, err = v.PointAt(ctx, tip.Height-1)
				return err
			}); err != nil {
				w.t.Fatal(err)
			}
		}
		coretest.Rollback(w.t, w.DB, to)
	}
	from := 0
	if tip := w.DB.Tip(); !tip.IsOrigin() {
		from = int(tip.Height-w.Variant.First) + 1
	}
	coretest.AppendAll(w.t, w.DB, w.Blocks[from:], 1+w.Rand.IntN(3))
}

// IDs returns the list of the node.
func (w *World) IDs() []model.Hash {
	ids := make([]model.Hash, len(w.Pool))
	for i, u := range w.Pool {
		ids[i] = u.Hash
	}
	return ids
}

// Fetch returns transactions of the node in random order.
func (w *World) Fetch(ids []model.Hash) []*model.Unconfirmed {
	txs := make([]*model.Unconfirmed, len(ids))
	for i, id := range ids {
		for _, u := range w.Pool {
			if u.Hash == id {
				txs[i] = u
			}
		}
	}
	w.Rand.Shuffle(len(txs), func(i, j int) { txs[i], txs[j] = txs[j], txs[i] })
	return txs
}

// Query calls fn with a snapshot of the database.
func (w *World) Query(fn func(*query.Query) error) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.DB.From(ctx, fn); err != nil {
		w.t.Fatal(err)
	}
}
