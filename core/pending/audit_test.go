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

// naiveAudit compares a block with the transactions of the first block of the slow template.
func naiveAudit(o *Overlay, size int, b *model.Block) *Audit {
	a := &Audit{Block: b.Point()}
	blocks, rates := naiveTemplate(o, size)
	expected := map[*Tx]bool{}
	if len(blocks) > 0 {
		for _, tx := range blocks[0] {
			expected[tx] = true
		}
	}
	has := map[model.Hash]bool{}
	for i := range b.Txs {
		has[b.Txs[i].Hash] = true
		tx := o.Tx(b.Txs[i].Hash)
		switch {
		case tx == nil:
			a.Unknown++
		case expected[tx]:
			a.Both.add(tx)
		default:
			one := AuditTx{tx.ID, tx.Fee, tx.Rate(), -1}
			for n := range blocks {
				if at := slices.Index(blocks[n], tx); at >= 0 {
					one.Rate, one.Block = rates[n][at], n
				}
			}
			a.Added.add(tx)
			a.AddedTxs = append(a.AddedTxs, one)
		}
	}
	for tx := range expected {
		if !has[tx.ID] {
			a.Missing.add(tx)
			a.MissingTxs = append(a.MissingTxs, AuditTx{tx.ID, tx.Fee, rates[0][slices.Index(blocks[0], tx)], 0})
		}
	}
	for _, list := range []*[]AuditTx{&a.MissingTxs, &a.AddedTxs} {
		slices.SortFunc(*list, func(a, b AuditTx) int {
			return cmp.Or(cmp.Compare(b.Fee, a.Fee), slices.Compare(a.ID[:], b.ID[:]))
		})
		*list = (*list)[:min(len(*list), AuditTxs)]
	}
	return a
}

// Each block that arrives is compared with the projected block of the mempool just before it, as the slow model does. An
// unknown block has none.
func TestBlocksAreComparedWithTheProjectedOne(t *testing.T) {
	for _, v := range pendingtest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			w := newWorld(t, v, testseed.New(t))
			n := &node{w: w, rng: w.Rand}
			traits := w.DB.Chain().Traits()
			traits.BlockVSize = coinbaseVSize + 4000
			f, stop := followingWith(w, n, traits)
			defer stop()
			for round := range testrun.Amount(6, 3) {
				n.mu.Lock()
				for range 40 {
					w.Arrive(w.Pay(w.Coins(w.Pool)))
				}
				n.mu.Unlock()
				s := settled(t, w, f)
				n.mu.Lock()
				txs := w.Valid(slices.DeleteFunc(slices.Clone(w.Pool), func(*model.Unconfirmed) bool { return w.Rand.IntN(4) == 0 }))
				if round%2 == 1 { // with transactions that the mempool does not have
					txs = append(txs, w.Pay(w.Coins(txs)))
				}
				w.Mine(slices.DeleteFunc(txs, func(u *model.Unconfirmed) bool { return u == nil }))
				block := w.Blocks[len(w.Blocks)-1]
				w.Sync() // before the node lists the mempool without these transactions
				n.mu.Unlock()
				want := naiveAudit(s.Overlay, traits.BlockVSize, block)
				got := awaitAudit(t, f, block.Hash)
				if len(s.template(traits.BlockVSize).Blocks) > 0 {
					want.Expected = s.template(traits.BlockVSize).Blocks[0]
				}
				if !slices.Equal(got.MissingTxs, want.MissingTxs) || !slices.Equal(got.AddedTxs, want.AddedTxs) {
					t.Fatalf("missing %v, added %v\nexpected %v, %v", got.MissingTxs, got.AddedTxs, want.MissingTxs, want.AddedTxs)
				}
				got.MissingTxs, got.AddedTxs, want.MissingTxs, want.AddedTxs = nil, nil, nil, nil
				if got.Both != want.Both || got.Missing != want.Missing || got.Added != want.Added || got.Unknown != want.Unknown ||
					got.Block != want.Block || got.Expected != want.Expected {
					t.Fatalf("%+v\nexpected %+v", got, want)
				}
				if got.Both.Count+got.Added.Count+got.Unknown != len(block.Txs) || got.Both.Count+got.Missing.Count != got.Expected.Count {
					t.Fatalf("the sums of %+v are not those of the block, which has %d transactions", got, len(block.Txs))
				}
			}
			if a := f.Audit(w.Name()); a != nil {
				t.Errorf("an unknown block has the comparison %+v", a)
			}
		})
	}
}

func awaitAudit(t *testing.T, f *Follower, block model.Hash) *Audit {
	t.Helper()
	for deadline := time.Now().Add(testrun.Patience); ; time.Sleep(2 * time.Millisecond) {
		if a := f.Audit(block); a != nil {
			c := *a
			return &c
		}
		if time.Now().After(deadline) {
			t.Fatalf("no comparison of the block %v", block)
		}
	}
}

// The comparisons of the newest blocks are kept.
func TestTheNewestComparisonsAreKept(t *testing.T) {
	f := NewFollower(Options{})
	at := func(i int) (h model.Hash) {
		h[0], h[1] = byte(i), byte(i>>8)
		return h
	}
	for i := range 2 * keptAudits {
		f.audits.keep(&Audit{Block: model.Point{Hash: at(i)}})
		f.audits.keep(&Audit{Block: model.Point{Hash: at(i)}, Unknown: 1}) // again, after a reorganization and back
	}
	for i := range 2 * keptAudits {
		if a := f.Audit(at(i)); (a != nil) != (i >= keptAudits) || a != nil && a.Unknown != 1 {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	if len(f.audits.byID) != keptAudits || len(f.audits.order) != keptAudits {
		t.Errorf("%d and %d are kept, expected %d", len(f.audits.byID), len(f.audits.order), keptAudits)
	}
}
