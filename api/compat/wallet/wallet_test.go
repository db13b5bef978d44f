package wallet_test

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query/pointers"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// All answers equal those of a naive model on random chains with reorganizations.
func TestAnswersEqualTheNaiveModel(t *testing.T) {
	for name, adapt := range map[string]func(*rig){
		"raw in the database": func(*rig) {},
		"raw from a node":     func(r *rig) { r.options.Raw = false },
		"with a mempool":      func(r *rig) { r.pending = true },
		"with a mempool, without addresses": func(r *rig) {
			r.pending, r.options.Indexes = true, []string{"script_hash"}
			delete(r.options.Keep, "address")
		},
		"no index of addresses": func(r *rig) { delete(r.options.Keep, "address"); r.options.Indexes = []string{"script_hash"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, adapt)
			for range 12 {
				r.step(t)
				r.compare(t)
			}
		})
	}
}

func (r *rig) compare(t *testing.T) {
	t.Helper()
	view(t, r.wallet, func(v *wallet.View) {
		n := newNaive(r.miner.chain, r.miner.pool)
		for _, script := range r.miner.scripts {
			r.compareScript(t, v, n, script)
		}
		compareBlocks(t, v, n)
		compareTxs(t, v, n)
		compareMempool(t, v, n)
	})
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func sameList[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func (r *rig) compareScript(t *testing.T, v *wallet.View, n *naive, script []byte) {
	t.Helper()
	key := wallet.KeyOf(script)
	s, err := v.Script(key)
	if err != nil {
		t.Fatal(err)
	}
	entries, stats := n.history(script)
	unconfirmed, mempoolStats := n.mempool(script)
	confirmed, mempool, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "totals of the mempool", mempool, mempoolStats)
	sameList(t, "mempool", wallet.InStatusOrder(s.Mempool()), unconfirmed)
	short := script[:min(len(script), 40)]
	same(t, "totals", confirmed, stats)
	sameList(t, "history", collect(t, s.History(nil, false)), entries)
	reversed := slices.Clone(entries)
	slices.Reverse(reversed)
	sameList(t, "history, newest first", collect(t, s.History(nil, true)), reversed)
	if len(entries) > 0 {
		i := r.miner.rng.IntN(len(entries))
		e := entries[i]
		sameList(t, "history after a transaction", collect(t, s.History(&e.Tx, false)), entries[i+1:])
		before := slices.Clone(entries[:i])
		slices.Reverse(before)
		sameList(t, "history before a transaction", collect(t, s.History(&e.Tx, true)), before)
		from, to := entries[r.miner.rng.IntN(len(entries))].Height, e.Height+1
		between := slices.DeleteFunc(slices.Clone(entries), func(e wallet.Entry) bool { return e.Height < from || e.Height >= to })
		sameList(t, "history between", collect(t, s.HistoryBetween(from, to)), between)
	}
	for id := range n.places {
		if !slices.ContainsFunc(entries, func(e wallet.Entry) bool { return e.Tx == id }) {
			same(t, "history after a transaction without the script", len(collect(t, s.History(&id, false))), 0)
			break
		}
	}
	unspent, wantUnspent := collect(t, s.Unspent()), n.unspent(script)
	inOrder := func(us []wallet.Unspent) []wallet.Unspent { // the order of arrival can be another one
		first := slices.IndexFunc(us, func(u wallet.Unspent) bool { return u.Height == 0 })
		if first >= 0 {
			slices.SortFunc(us[first:], func(a, b wallet.Unspent) int {
				return cmp.Or(bytes.Compare(a.Tx[:], b.Tx[:]), cmp.Compare(a.Index, b.Index))
			})
		}
		return us
	}
	sameList(t, "unspent outputs", inOrder(unspent), inOrder(wantUnspent))

	status, ok, next, err := s.Status(r.midstates[key])
	if err != nil {
		t.Fatal(err)
	}
	want, some := statusOf(slices.Concat(entries, unconfirmed))
	if ok != some || ok && status != want || next.Tip != v.Tip {
		t.Fatalf("status of %x from midstate %+v: %x, %t, midstate at %v; expected %x, %t, %v",
			short, r.midstates[key], status, ok, next.Tip, want, some, v.Tip)
	}
	r.midstates[key] = next
}

func compareBlocks(t *testing.T, v *wallet.View, n *naive) {
	t.Helper()
	var headers, all []byte
	var hashes []model.Hash
	tip := uint32(len(n.blocks) - 1)
	for h, b := range n.blocks {
		var buf bytes.Buffer
		if err := b.Header.Serialize(&buf); err != nil {
			t.Fatal(err)
		}
		got, err := v.Header(uint32(h))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "header", got, buf.Bytes())
		all = append(all, buf.Bytes()...)
		hashes = append(hashes, model.Hash(b.BlockHash()))

		var ids []model.Hash
		for _, tx := range b.Transactions {
			ids = append(ids, model.Hash(tx.TxHash()))
		}
		gotIDs, err := v.TxIDs(uint32(h))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "ids", gotIDs, ids)
		for i, id := range ids {
			branch, err := v.MerkleBranch(uint32(h), i)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "Merkle root", follow(id, i, branch), model.Hash(b.Header.MerkleRoot))
		}
		if _, err := v.MerkleBranch(uint32(h), len(ids)); err == nil {
			t.Error("a Merkle branch behind the end of a block")
		}

		block, err := v.BlockByHash(model.Hash(b.BlockHash()))
		if err == nil {
			err = v.Weigh(block)
		}
		if err != nil {
			t.Fatal(err)
		}
		var times []int64
		for _, o := range n.blocks[max(0, h-10) : h+1] {
			times = append(times, o.Header.Timestamp.Unix())
		}
		slices.Sort(times)
		weight := 0
		if block.Weight != 0 {
			weight = 3*b.SerializeSizeStripped() + b.SerializeSize()
		}
		same(t, "block", *block, wallet.Block{
			Point: model.Point{Height: model.HeightPk(h), Hash: hashes[h]}, Header: buf.Bytes(), Size: b.SerializeSize(),
			Weight: weight, TxCount: len(ids), Time: b.Header.Timestamp.Unix(), MedianTime: times[len(times)/2],
		})
	}
	for _, c := range [][2]int{{0, 1}, {3, 5}, {int(tip) - 1, 5}, {int(tip) + 1, 3}, {0, len(n.blocks) + 9}} {
		var err error
		if headers, err = v.Headers(uint32(c[0]), c[1]); err != nil {
			t.Fatal(err)
		}
		from, to := min(c[0], len(n.blocks)), min(c[0]+c[1], len(n.blocks))
		if !bytes.Equal(headers, all[80*from:80*to]) {
			t.Fatalf("headers from %d, %d: %d bytes", c[0], c[1], len(headers))
		}
	}
	for _, checkpoint := range []uint32{0, 1, tip / 2, tip} {
		for h := range checkpoint + 1 {
			branch, root, err := v.HeaderProof(h, checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "root over headers", root, rootOf(hashes[:checkpoint+1]))
			same(t, "root of the branch", follow(hashes[h], int(h), branch), root)
		}
	}
	for _, c := range [][2]uint32{{2, 1}, {0, tip + 1}} {
		if _, _, err := v.HeaderProof(c[0], c[1]); err == nil {
			t.Errorf("a proof of header %d at checkpoint %d", c[0], c[1])
		}
	}
	if _, err := v.Header(tip + 1); err == nil {
		t.Error("a header above the tip")
	}
}

func compareTxs(t *testing.T, v *wallet.View, n *naive) {
	t.Helper()
	var ids []model.Hash
	var want []wallet.Tx
	expect := func(tx *wire.MsgTx) {
		id := model.Hash(tx.TxHash())
		w := wallet.Tx{ID: id, Place: n.places[id], Weight: 3*tx.SerializeSizeStripped() + tx.SerializeSize()}
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		w.Raw, w.VSize = raw.Bytes(), (w.Weight+3)/4
		for _, in := range tx.TxIn {
			if o := n.prevout(in); o != nil {
				w.Prevouts = append(w.Prevouts, wallet.Output{Value: uint64(o.Value), Script: append([]byte{}, o.PkScript...)})
			}
		}
		if w.Prevouts != nil {
			w.Fee = n.fee(tx)
		}
		ids, want = append(ids, id), append(want, w)

		place, err := v.Place(id)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "place", place, w.Place)
		bytes, place, err := v.RawTx(id)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "bytes", bytes, w.Raw)
		same(t, "place of bytes", place, w.Place)
		spenders, err := v.Spenders(id)
		if err != nil {
			t.Fatal(err)
		}
		expected := make([]*wallet.Spender, len(tx.TxOut))
		for i := range expected {
			if s, spent := n.spender[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}]; spent {
				expected[i] = &s
			}
		}
		same(t, "spenders", spenders, expected)
	}
	for h, b := range n.blocks {
		at := len(ids)
		for _, tx := range b.Transactions {
			expect(tx)
		}
		txs, err := v.BlockTxs(uint32(h), 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		compareList(t, txs, want[min(at+1, len(want)):min(at+4, len(want))])
	}
	for _, tx := range n.pool {
		expect(tx)
	}
	txs, err := v.Txs(ids)
	if err != nil {
		t.Fatal(err)
	}
	compareList(t, txs, want)
	if _, err := v.Tx(model.Hash{1}); err == nil {
		t.Error("an unknown transaction is found")
	} else if kind, c := code(err); kind != model.NotFound || c != "unknown_tx" {
		t.Errorf("an unknown transaction is %v", err)
	}
}

func compareMempool(t *testing.T, v *wallet.View, n *naive) {
	t.Helper()
	want := wallet.MempoolInfo{State: "none"}
	if v.MempoolInfo().State != "none" {
		want.State = "live"
	}
	inputs := map[model.Hash]uint64{}
	for _, tx := range n.pool {
		vsize := uint64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
		want.Count++
		want.VSize += vsize
		want.Fees += n.fee(tx)
		for _, in := range tx.TxIn {
			inputs[model.Hash(tx.TxHash())] += uint64(n.prevout(in).Value)
		}
	}
	same(t, "totals of the mempool", v.MempoolInfo(), want)
	var ids []model.Hash
	for id, err := range v.MempoolIDs() {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	same(t, "size of the mempool", len(ids), len(n.pool))
	for _, id := range ids {
		if place, known := n.places[id]; !known || place.Confirmed {
			t.Fatalf("the mempool has %v", id)
		}
	}
	sum, last := uint64(0), math.Inf(1)
	for r := range v.MempoolRates() {
		if sum += r.VSize; r.PerVByte > last {
			t.Fatalf("a rate of %f after %f", r.PerVByte, last)
		}
		last = r.PerVByte
	}
	same(t, "sizes by rate", sum, want.VSize)
	slices.Reverse(ids)
	for i, r := range v.MempoolRecent(10) {
		tx := n.txs[ids[i]]
		vsize := (3*tx.SerializeSizeStripped() + tx.SerializeSize() + 3) / 4
		same(t, "recent transaction", r, wallet.Recent{ID: ids[i], Fee: n.fee(tx), VSize: vsize, Inputs: inputs[ids[i]], Seen: v.Seen(ids[i])})
	}
}

func compareList(t *testing.T, got []*wallet.Tx, want []wallet.Tx) {
	t.Helper()
	same(t, "number of transactions", len(got), len(want))
	for i := range got {
		g := *got[i]
		same(t, "parsed transaction", model.Hash(g.Msg.TxHash()), g.ID)
		if g.Place.Confirmed != g.Seen.IsZero() {
			t.Errorf("transaction %v with place %+v was seen at %v", g.ID, g.Place, g.Seen)
		}
		g.Msg, g.Seen = nil, time.Time{}
		if len(g.Prevouts) == 0 {
			g.Prevouts = nil
		}
		for j := range g.Prevouts {
			if len(g.Prevouts[j].Script) == 0 {
				g.Prevouts[j].Script = []byte{}
			}
		}
		same(t, "transaction", g, want[i])
	}
}

// rig is a database that follows a random chain.
type rig struct {
	miner     *miner
	options   core.Options
	pending   bool // with a mempool
	bare      bool // its transactions arrive without bytes
	leaving   *pendingtest.Leaving
	db        *core.DB
	src       *source
	follower  *pending.Follower
	wallet    *wallet.Chain
	midstates map[wallet.Key]*wallet.Midstate
}

func newRig(t *testing.T, adapt func(*rig)) *rig {
	r := &rig{miner: newMiner(testseed.Rand(t)), options: options(t), midstates: map[wallet.Key]*wallet.Midstate{}}
	adapt(r)
	r.db = open(t, memory.New(), r.options)
	c := serve(r.db)
	if !r.options.Raw {
		r.db.SetRawAccess(pointers.RawAccess{Node: r, Ask: true})
	}
	syncTo(t, r.db, r.miner.chain)
	if r.pending {
		r.src = &source{chain: r.db.Chain(), tip: r.db.Tip()}
		r.leaving = pendingtest.NewLeaving(r.src)
		opened := model.Source(r.src)
		if r.bare {
			opened = r.leaving
		}
		r.follower = follower(t, r.db, r.src, opened)
		c.Mempool = r.follower
	}
	r.wallet = newChain(t, c)
	return r
}

// RawTx returns raw transactions, like a node.
func (r *rig) RawTx(_ context.Context, block model.Point, index int, id model.Hash) ([]byte, error) {
	b := r.miner.chain.Blocks()[block.Height]
	tx := b.Transactions[index]
	if model.Hash(b.BlockHash()) != block.Hash || model.Hash(tx.TxHash()) != id {
		return nil, model.Errorf(model.NotFound, "no_raw", "transaction %v is not at %v, %d", id, block, index)
	}
	var raw bytes.Buffer
	err := tx.Serialize(&raw)
	return raw.Bytes(), err
}

func (r *rig) Close() error { return nil }

// step extends the chain or replaces its end, and changes the mempool. fork reports whether the end was replaced.
func (r *rig) step(t *testing.T) (fork bool) {
	m := r.miner
	switch h := m.chain.Height(); {
	case r.pending && h > 8 && m.rng.IntN(2) == 0:
	case h > 8 && m.rng.IntN(2) == 0:
		m.fork(1 + m.rng.IntN(min(h-1, 8)))
		fork = true
	default:
		m.mine(1+m.rng.IntN(4), 10)
	}
	if r.pending {
		m.submit(10)
		b := m.chain.Tip()
		r.src.set(model.Point{Height: model.HeightPk(m.chain.Height()), Hash: model.Hash(b.BlockHash())}, m.pool)
	}
	syncTo(t, r.db, m.chain)
	if r.pending {
		await(t, r.follower, r.db, r.src)
	}
	return fork
}
