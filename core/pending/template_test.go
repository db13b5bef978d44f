package pending

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// naiveTemplate selects packages one by one: of all transactions that are not placed, the one whose package has the
// highest rate. It returns the transactions of each block.
func naiveTemplate(o *Overlay, size int) (blocks [][]*Tx, rates [][]float64) {
	limit := uint64(max(0, size-coinbaseVSize))
	done := map[*Tx]bool{}
	packageOf := func(t *Tx) (all []*Tx, vsize, fee uint64) {
		seen := map[*Tx]bool{t: true}
		for next := []*Tx{t}; len(next) > 0; {
			one := next[0]
			next = next[1:]
			all, vsize, fee = append(all, one), vsize+uint64(one.VSize), fee+one.Fee
			for i := range one.Inputs() {
				if p := o.Tx(one.Inputs()[i].Outpoint.Tx); p != nil && !done[p] && !seen[p] {
					seen[p] = true
					next = append(next, p)
				}
			}
		}
		return all, vsize, fee
	}
	for len(blocks) < TemplateBlocks {
		var block []*Tx
		var of []float64
		used, passed := uint64(0), map[*Tx]bool{}
		for len(passed) < mostSkipped {
			var best *Tx
			rate := -1.0
			for t := range o.Arrivals(0) {
				if done[t] || passed[t] {
					continue
				}
				if _, vsize, fee := packageOf(t); float64(fee)/float64(max(1, vsize)) > rate && vsize <= limit {
					best, rate = t, float64(fee)/float64(max(1, vsize))
				}
			}
			if best == nil {
				break
			}
			all, vsize, _ := packageOf(best)
			if used+vsize > limit {
				passed[best] = true
				continue
			}
			used += vsize
			for _, t := range all {
				done[t] = true
				block, of = append(block, t), append(of, rate)
			}
		}
		if len(block) == 0 {
			break
		}
		blocks, rates = append(blocks, block), append(rates, of)
	}
	return blocks, rates
}

// The projected blocks are those of a model that compares all packages before each one, over random mempools with chains
// of transactions. No transaction is before its parents.
func TestTemplateEqualsTheModel(t *testing.T) {
	for _, v := range pendingtest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			w := newWorld(t, v, testseed.New(t))
			for range testrun.Amount(3, 1) {
				for range 30 {
					w.Arrive(w.Pay(w.Coins(w.Pool)))
				}
				n := &node{w: w, rng: w.Rand}
				f, stop := following(w, n)
				s := settled(t, w, f)
				total := 0
				for tx := range s.Newest() {
					total += tx.VSize
				}
				for _, size := range []int{0, coinbaseVSize, coinbaseVSize + 300, coinbaseVSize + total/6, coinbaseVSize + total/2, coinbaseVSize + total} {
					templateEquals(t, s.Overlay, size)
				}
				stop()
				w.Mine(nil)
				w.Sync()
			}
		})
	}
}

func templateEquals(t *testing.T, o *Overlay, size int) {
	t.Helper()
	got := o.template(size)
	blocks, rates := naiveTemplate(o, size)
	if len(got.Blocks) != len(blocks) {
		t.Fatalf("%d blocks of %d, expected %d", len(got.Blocks), size, len(blocks))
	}
	rest := o.Count()
	for i, block := range blocks {
		want := ProjectedBlock{Count: len(block), Median: got.Blocks[i].Median}
		rest -= len(block)
		for j, tx := range block {
			want.VSize, want.Fees = want.VSize+uint64(tx.VSize), want.Fees+tx.Fee
			at, rate, ok := got.Place(tx)
			if !ok || at != i || rate != rates[i][j] {
				t.Fatalf("size %d: %v is in block %d at %v (%t), expected %d at %v", size, tx.ID, at, rate, ok, i, rates[i][j])
			}
			for k := range tx.Inputs() {
				if parent := o.Tx(tx.Inputs()[k].Outpoint.Tx); parent != nil {
					if before, _, ok := got.Place(parent); !ok || before > i {
						t.Errorf("a transaction of block %d has a parent in block %d (%t)", i, before, ok)
					}
				}
			}
		}
		inOrder := slices.SortedFunc(slices.Values(block), func(a, b *Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
		if txs := got.Txs(i); !slices.Equal(txs, inOrder) {
			t.Fatalf("size %d, block %d has %d transactions, expected %d, in the order of arrival", size, i, len(txs), len(inOrder))
		}
		want.Highest, want.Lowest = slices.Max(rates[i]), slices.Min(rates[i])
		if got.Blocks[i] != want || want.Median < want.Lowest || want.Median > want.Highest {
			t.Fatalf("size %d, block %d: %+v, expected %+v", size, i, got.Blocks[i], want)
		}
	}
	if got.Rest.Count != rest {
		t.Errorf("%d transactions after the blocks, expected %d", got.Rest.Count, rest)
	}
}

// A template of long chains of transactions ends early, and is exact with enough visits.
func TestTemplateOfLongChains(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	for _, c := range w.Coins(nil)[:2] {
		for range 100 {
			u := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: []model.Input{{Tx: c.Tx, Index: c.Index}}})
			u.Outputs = w.Outputs(1, c.Output.Value-min(c.Output.Value, uint64(w.Rand.IntN(50))))
			c = pendingtest.Coin{Tx: u.Hash, Index: uint32(u.Tx.OutputIndex(0)), Output: &u.Outputs[0]}
			w.Arrive(u)
		}
	}
	n := &node{w: w, rng: w.Rand}
	f, stop := following(w, n)
	defer stop()
	s := settled(t, w, f)
	templateEquals(t, s.Overlay, 10_000)
	whole := s.template(10_000)
	defer func(most int) { mostVisits = most }(mostVisits)
	for _, mostVisits = range []int{0, 10, 1000} {
		part := s.template(10_000)
		placed := part.Rest.Count
		for _, b := range part.Blocks {
			placed += b.Count
		}
		if placed != s.Count() || part.Rest.Count <= whole.Rest.Count {
			t.Errorf("%d visits: %d of %d transactions are after the blocks, with all visits %d", mostVisits, part.Rest.Count, placed, whole.Rest.Count)
		}
	}
}

// Requests share a template, and a chain whose miners do not fill blocks by fee rate has none.
func TestTemplatesAreShared(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	for range 20 {
		w.Arrive(w.Pay(w.Coins(w.Pool)))
	}
	n := &node{w: w, rng: w.Rand}
	f, stop := following(w, n)
	defer stop()
	settled(t, w, f)
	if a := f.Template(); len(a.Blocks) != 0 {
		t.Errorf("a chain without block sizes has %d blocks", len(a.Blocks))
	}
	f.Traits.BlockVSize = 3000
	first := f.Template()
	if len(first.Blocks) == 0 || first != f.Template() {
		t.Errorf("%d blocks; a second template was made", len(first.Blocks))
	}
	long := time.Now().Add(-time.Hour)
	made := f.templates.last.Load()
	f.templates.last.Store(&madeTemplate{of: made.of, at: long, Template: made.Template})
	first = &f.templates.last.Load().Template
	if first != f.Template() {
		t.Error("the template of an unchanged mempool was made again")
	}
	f.Histogram()
	f.histogram.Store(&histogram{of: f.histogram.Load().of, made: long})
	n.mu.Lock() // guards the world too
	w.Arrive(w.Pay(w.Coins(w.Pool)))
	n.mu.Unlock()
	settled(t, w, f)
	if f.templates.last.Load() != nil || f.histogram.Load() != nil {
		t.Error("a histogram or template that nothing requests is kept")
	}
}
