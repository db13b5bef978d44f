package pending

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
)

// The bins on the logarithmic scale match a sorted list of all transactions.
func TestRatesMatchAllTransactions(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	for range 40 {
		w.Arrive(w.Pay(w.Coins(w.Pool)))
	}
	n := &node{w: w, rng: w.Rand}
	f, stop := following(w, n)
	defer stop()
	s := settled(t, w, f)
	var all []*Tx
	for tx := range s.Newest() {
		all = append(all, tx)
	}
	slices.SortFunc(all, func(a, b *Tx) int { return cmp.Or(cmp.Compare(b.Rate(), a.Rate()), cmp.Compare(a.Arrival, b.Arrival)) })
	if len(all) < 3 {
		t.Fatalf("%d transactions", len(all))
	}
	bins, total := s.scaled(), 0
	for i, b := range bins {
		top := 1e300
		if i+1 < len(bins) {
			top = bins[i+1].Rate
		}
		count, size := 0, uint64(0)
		for _, tx := range all {
			if tx.Rate() >= b.Rate && tx.Rate() < top {
				count, size = count+1, size+uint64(tx.VSize)
			}
		}
		if b.Count != count || b.VSize != size {
			t.Errorf("bin from %v to %v: %+v, expected %d transactions of %d", b.Rate, top, b, count, size)
		}
		total += b.Count
	}
	if total != len(all) || bins[0].Count == 0 || bins[len(bins)-1].Count == 0 {
		t.Errorf("%d of %d transactions are in the bins %+v", total, len(all), bins)
	}
}

// The bounds of the scale rise. The scale covers rates from 0.01 to 10,000,000.
func TestScaleOfFeeRatesRises(t *testing.T) {
	for bin := range 60 {
		if bound(bin) >= bound(bin+1) {
			t.Errorf("bin %d begins at %v, the next at %v", bin, bound(bin), bound(bin+1))
		}
	}
	if first := bound(1); first != 0.01 {
		t.Errorf("the first bin with a rate begins at %v", first)
	}
}

// The bins of ages count every transaction once, by its age; the last bin is that of the oldest.
func TestAgesCountEveryTransaction(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
	now := time.Unix(1_700_000_000, 0)
	if a := p.Overlay().ages(now); len(a.Bins) != 0 || a.Oldest != 0 {
		t.Errorf("an empty mempool has %+v", a)
	}
	for range 60 {
		if u := w.Pay(w.Coins(w.Pool)); u != nil {
			u.Seen = now.Add(-time.Duration(math.Exp(20*w.Rand.Float64()) * float64(time.Millisecond)))
			w.Arrive(u)
		}
	}
	w.Query(func(q *query.Query) error { return p.Enter(q, w.Pool) })
	o := p.Overlay()
	a := o.ages(now)
	least := time.Duration(0)
	for i, b := range a.Bins {
		most := b.Below
		if most == 0 {
			most = math.MaxInt64
		}
		want := AgeBin{Below: b.Below}
		for tx := range o.Arrivals(0) {
			if age := now.Sub(tx.Seen()); age >= least && age < most {
				want.Count++
				want.VSize += uint64(tx.VSize)
			}
		}
		if b != want || i == len(a.Bins)-1 && b.Count == 0 {
			t.Errorf("bin %d is %+v, expected %+v", i, b, want)
		}
		least = most
	}
	oldest := time.Duration(0)
	for tx := range o.Arrivals(0) {
		oldest = max(oldest, now.Sub(tx.Seen()))
	}
	if a.Oldest != oldest {
		t.Errorf("the oldest waits %v, expected %v", a.Oldest, oldest)
	}
}
