package ergogen

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// The parts of a block that the tests read.
type (
	fullBlock struct {
		Header struct {
			ID, ParentID string
			Height       uint32
		}
		BlockTransactions struct{ Transactions []fullTx }
	}
	fullTx struct {
		ID         string
		Inputs     []struct{ BoxID string }
		DataInputs []struct{ BoxID string }
		Outputs    []fullBox
	}
	fullBox struct {
		BoxID    string
		Value    uint64
		ErgoTree string
		Assets   []struct {
			TokenID string
			Amount  uint64
		}
		AdditionalRegisters map[string]string
		TransactionID       string
		Index               int
	}
)

func parsed(t testing.TB, b Block) (f fullBlock) {
	t.Helper()
	if err := json.Unmarshal(b.JSON, &f); err != nil {
		t.Fatalf("block %d: %v", b.Height, err)
	}
	return f
}

// ledger has the unspent boxes.
type ledger struct {
	boxes map[string]fullBox
	Counts
	ages      []int
	made      map[string]uint32 // heights
	most      int               // tokens in a box
	twice     int               // boxes that contain a token twice
	feeTxs    int
	withToken int
	spreads   int // mints into several boxes
	partial   int // burns of a part
}

func newLedger() *ledger {
	id := hex.EncodeToString(emissionID[:])
	return &ledger{boxes: map[string]fullBox{id: {BoxID: id, Value: emissionValue}}, made: map[string]uint32{}}
}

func (l *ledger) value() (sum uint64) {
	for _, b := range l.boxes {
		sum += b.Value
	}
	return sum
}

func (l *ledger) apply(t testing.TB, b Block) {
	t.Helper()
	f := parsed(t, b)
	if f.Header.ID != b.ID.String() || f.Header.ParentID != b.Parent.String() || f.Header.Height != uint32(b.Height) {
		t.Fatalf("block %d has the header %+v", b.Height, f.Header)
	}
	l.Blocks++
	l.Bytes += len(b.JSON)
	for i, tx := range f.BlockTransactions.Transactions {
		in, out := map[string]uint64{}, map[string]uint64{}
		valueIn, valueOut := uint64(0), uint64(0)
		for _, d := range tx.DataInputs {
			if _, ok := l.boxes[d.BoxID]; !ok {
				t.Fatalf("block %d, transaction %d has the data input %s, which is not unspent", b.Height, i, d.BoxID)
			}
		}
		for _, spent := range tx.Inputs {
			box, ok := l.boxes[spent.BoxID]
			if !ok {
				t.Fatalf("block %d, transaction %d spends %s, which is not unspent", b.Height, i, spent.BoxID)
			}
			delete(l.boxes, spent.BoxID)
			valueIn += box.Value
			for _, a := range box.Assets {
				in[a.TokenID] += a.Amount
			}
			l.ages = append(l.ages, int(f.Header.Height-l.made[spent.BoxID]))
		}
		holders := 0
		for j, box := range tx.Outputs {
			if box.TransactionID != tx.ID || box.Index != j {
				t.Fatalf("block %d: box %d of %s has the position %d of %s", b.Height, j, tx.ID, box.Index, box.TransactionID)
			}
			l.boxes[box.BoxID], l.made[box.BoxID] = box, f.Header.Height
			valueOut += box.Value
			ids := map[string]bool{}
			for _, a := range box.Assets {
				if a.Amount == 0 {
					t.Fatalf("block %d: box %s has an amount of 0 of %s", b.Height, box.BoxID, a.TokenID)
				}
				out[a.TokenID] += a.Amount
				ids[a.TokenID] = true
			}
			if ids[tx.Inputs[0].BoxID] {
				holders++
			}
			if len(ids) < len(box.Assets) {
				l.twice++
			}
			if len(ids) > 0 {
				l.withToken++
			}
			if box.ErgoTree == hex.EncodeToString(feeTree) {
				l.feeTxs++
			}
			l.most = max(l.most, len(box.Assets))
			l.Assets += len(box.Assets)
			l.Registers += len(box.AdditionalRegisters)
		}
		if valueIn != valueOut {
			t.Fatalf("block %d, transaction %d creates %d of %d", b.Height, i, valueOut, valueIn)
		}
		for id, amount := range out {
			if minted := id == tx.Inputs[0].BoxID; minted {
				l.Mints++
			} else if amount > in[id] {
				t.Fatalf("block %d, transaction %d creates %d of %d of %s", b.Height, i, amount, in[id], id)
			}
		}
		if holders > 1 {
			l.spreads++
		}
		for id, amount := range in {
			if out[id] < amount {
				l.Burns++
				if out[id] > 0 {
					l.partial++
				}
			}
		}
		l.Txs++
		l.Inputs += len(tx.Inputs)
		l.Outputs += len(tx.Outputs)
	}
}

func TestInputsSpendUnspentBoxesAndAmountsBalance(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		c, l := New(Options{Seed: seed}), newLedger()
		parent := model.Point{}
		for range 400 {
			b := c.Next()
			if b.Parent != parent.Hash || b.Height != parent.Height+1 || c.Tip() != b.Point() {
				t.Fatalf("block %d %s has the parent %v", b.Height, b.ID, parent)
			}
			parent = b.Point()
			l.apply(t, b)
		}
		if made := c.Made(); made != l.Counts {
			t.Errorf("seed %d: counted %+v, expected %+v", seed, made, l.Counts)
		}
		if got := l.value(); got != emissionValue {
			t.Errorf("seed %d: the unspent boxes have %d nanoErg of %d", seed, got, emissionValue)
		}
	}
}

func TestShapeMatchesMainnet(t *testing.T) {
	c, l := New(Options{Seed: 7}), newLedger()
	for range 1500 {
		l.apply(t, c.Next())
	}
	slices.Sort(l.ages)
	for _, f := range []struct {
		what      string
		got, want float64
		within    float64
	}{
		{"transactions of a block", float64(l.Txs) / float64(l.Blocks), 6.85, 0.5},
		{"inputs of a transaction", float64(l.Inputs) / float64(l.Txs), 3.76, 0.4},
		{"outputs of a transaction", float64(l.Outputs) / float64(l.Txs), 3.84, 0.4},
		{"boxes with tokens", float64(l.withToken) / float64(l.Outputs), 0.46, 0.08},
		{"tokens of a box with some", float64(l.Assets) / float64(l.withToken), 1.96, 0.5},
		{"transactions with a fee", float64(l.feeTxs) / float64(l.Txs), 0.55, 0.06}, // of all transactions; 74% are not the miners'
		{"registers of a box", float64(l.Registers) / float64(l.Outputs), 0.66, 0.15},
		{"median age of what is spent", float64(l.ages[len(l.ages)/2]), 3, 2},
		{"entries of the fullest box", float64(l.most), 255, 0},
	} {
		if f.got < f.want-f.within || f.got > f.want+f.within {
			t.Errorf("%s: %.3f, expected %.3f", f.what, f.got, f.want)
		}
	}
	for what, n := range map[string]int{"boxes with a token twice": l.twice, "mints over several boxes": l.spreads, "partial burns": l.partial, "whole burns": l.Burns - l.partial} {
		if n < 20 {
			t.Errorf("%s: only %d", what, n)
		}
	}
}

func TestIDsAndRoots(t *testing.T) {
	c := New(Options{Seed: 3})
	for range 60 {
		b := c.Next()
		f := parsed(t, b)
		var ids []sigma.ID
		for _, tx := range f.BlockTransactions.Transactions {
			ids = append(ids, sigma.ID(unhex(tx.ID)))
			for _, box := range tx.Outputs {
				made := sigma.Box{Value: box.Value, Tree: unhex(box.ErgoTree), Height: f.Header.Height}
				for _, a := range box.Assets {
					made.Tokens = append(made.Tokens, sigma.Token{ID: sigma.ID(unhex(a.TokenID)), Amount: a.Amount})
				}
				for i := range len(box.AdditionalRegisters) {
					made.Registers = append(made.Registers, unhex(box.AdditionalRegisters["R"+string(rune('4'+i))]))
				}
				id := sigma.ID(unhex(tx.ID))
				if got := made.ID(&id, box.Index); got != sigma.ID(unhex(box.BoxID)) {
					t.Fatalf("block %d: box %s has the id %x", b.Height, box.BoxID, got)
				}
				for _, r := range made.Registers {
					if n, err := sigma.ValueSize(r); err != nil || n != len(r) {
						t.Fatalf("register %x is a constant of %d bytes, %v", r, n, err)
					}
				}
			}
		}
		if !slices.Equal(ids, c.ids) {
			t.Fatalf("the transactions of block %d differ from the generated ones", b.Height)
		}
	}
}

func TestSeedDeterminesTheBlocks(t *testing.T) {
	a, b, other := New(Options{Seed: 5}), New(Options{Seed: 5}), New(Options{Seed: 6})
	for range 30 {
		x, y := a.Next(), b.Next()
		if !bytes.Equal(x.JSON, y.JSON) {
			t.Fatalf("block %d differs", x.Height)
		}
		if z := other.Next(); z.ID == x.ID {
			t.Fatalf("block %d is the same with another seed", x.Height)
		}
	}
	fork, same := a.Fork(9), b.Fork(9)
	straight := newLedger()
	again := New(Options{Seed: 5})
	for range 30 {
		straight.apply(t, again.Next())
	}
	branch := newLedger()
	again = New(Options{Seed: 5})
	for range 30 {
		branch.apply(t, again.Next())
	}
	for range 60 {
		x, y, z := a.Next(), fork.Next(), same.Next()
		straight.apply(t, x)
		branch.apply(t, y)
		if !bytes.Equal(y.JSON, z.JSON) {
			t.Fatalf("block %d of two forks of one seed differs", y.Height)
		}
		if x.ID == y.ID {
			t.Fatalf("block %d of a fork equals that of the chain", x.Height)
		}
	}
}

func TestBlockSizes(t *testing.T) {
	c := New(Options{Seed: 1})
	for _, n := range []int{0, 1, 400} {
		b := c.NextOf(n)
		if fees := b.Txs - n - 1; fees < 0 || fees > 1 {
			t.Errorf("%d transactions were requested, got %d", n, b.Txs)
		}
	}
	c = New(Options{Seed: 1, TxsPerBlock: 60})
	for range 20 {
		c.Next()
	}
	if each := c.Made().Txs / 20; each < 45 || each > 75 {
		t.Errorf("%d transactions per block, expected 60", each)
	}
}

func BenchmarkNext(b *testing.B) {
	c := New(Options{Seed: 1})
	for range 200 {
		c.Next()
	}
	txs, size := 0, 0
	for b.Loop() {
		made := c.Next()
		txs += made.Txs
		size += len(made.JSON)
	}
	b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "txs/s")
	b.ReportMetric(float64(size)/float64(b.N), "B/block")
}
