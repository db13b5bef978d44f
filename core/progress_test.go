package core

import (
	"testing"
	"testing/synctest"
	"time"

	"birthmark/core/cache"
	"birthmark/model"
)

// Progress that follows shortly after a report is reported a little later, even if no blocks follow. Nothing is
// reported after the end.
func TestTheLastBlocksAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []Progress
		m := newMeter(func(p Progress) { reports = append(reports, p) }, 0, 9, nil, model.Extent{})
		wants := func(n int, height model.HeightPk, done bool) {
			t.Helper()
			time.Sleep(2 * progressEvery)
			synctest.Wait()
			if last := reports[len(reports)-1]; len(reports) != n || last.Height != height || last.Target != 9 || last.Done != done {
				t.Errorf("%d reports, the last is %+v; expected %d, height %d, done %t", len(reports), last, n, height, done)
			}
		}
		wrote := func(h model.HeightPk) {
			m.wrote([]*model.Block{{Height: h}})
			synctest.Wait() // the first update may be reported without delay
		}
		wrote(1)
		wrote(2)
		wants(2, 2, false)
		wrote(3)
		wrote(4)
		m.rolledBack(3)
		wants(4, 3, false)
		wrote(5)
		wrote(6)
		m.finish(6)
		wants(6, 6, true)
	})
}

// A slow progress callback delays only the next call.
func TestASlowProgressCallbackDoesNotStallTheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var reports []Progress
		m := newMeter(func(p Progress) {
			if reports = append(reports, p); p.Blocks == 1 {
				<-release
			}
		}, 0, 9, nil, model.Extent{})
		wrote := func(h model.HeightPk) { m.wrote([]*model.Block{{Height: h}}) }
		time.Sleep(progressEvery)
		stalled := true
		go func() {
			wrote(1)
			stalled = false
		}()
		synctest.Wait()
		if stalled {
			t.Error("a block cannot be counted while the callback runs")
		}
		if !stalled {
			time.Sleep(progressEvery)
			wrote(2)
		}
		close(release)
		m.finish(2)
		time.Sleep(2 * progressEvery)
		for i, p := range reports {
			if i > 0 && p.Height < reports[i-1].Height || p.Done != (i == len(reports)-1) {
				t.Errorf("call %d of %d: block %d, done %t", i, len(reports), p.Height, p.Done)
			}
		}
	})
}

// The first half of the blocks is nearly empty. The remaining time and the fraction are computed from sizes, in both
// units.
func TestTimeLeftGoesBySize(t *testing.T) {
	const blocks, small, large = 1000, 1, 2000 // transactions per block
	block := func(h, txs int) *model.Block {
		return &model.Block{Height: model.HeightPk(h), Size: 500 * txs, Txs: make([]model.Tx, txs)}
	}
	for _, unit := range []struct {
		extent model.Extent
		size   uint64 // of a transaction in bytes
	}{{model.Extent{Txs: true}, 1}, {model.Extent{}, 500}} {
		synctest.Test(t, func(t *testing.T) {
			var last Progress
			extent := unit.extent
			extent.Done, extent.Total = unit.size, unit.size*(1+blocks/2*(small+large))
			m := newMeter(func(p Progress) { last = p }, 0, blocks, nil, extent)
			check := func(what string, left time.Duration, fraction float64) {
				t.Helper()
				synctest.Wait()
				if got := last.Left; got < left*95/100 || got > left*105/100 {
					t.Errorf("%s: %s left, expected %s", what, got, left)
				}
				if got := last.Fraction(); got < fraction-0.01 || got > fraction+0.01 {
					t.Errorf("%s: a fraction of %f, expected %f", what, got, fraction)
				}
			}
			// 100 transactions per second.
			for h := 1; h <= blocks/2; h++ {
				time.Sleep(10 * time.Millisecond * small)
				m.wrote([]*model.Block{block(h, small)})
			}
			time.Sleep(progressEvery)
			check("after the empty blocks", blocks/2*20*time.Second, 0)
			for h := blocks/2 + 1; h <= blocks*3/4; h++ {
				time.Sleep(10 * time.Millisecond * large)
				m.wrote([]*model.Block{block(h, large)})
			}
			time.Sleep(progressEvery)
			check("in the middle", blocks/4*20*time.Second, 0.5)
			for h := blocks*3/4 + 1; h <= blocks; h++ {
				time.Sleep(10 * time.Millisecond * large)
				m.wrote([]*model.Block{block(h, large)})
			}
			m.finish(blocks)
			if last.Left != 0 || last.Fraction() != 1 || last.Extent.Done != last.Extent.Total {
				t.Errorf("at the end: %+v", last)
			}
		})
	}
}

// Overflow reads are counted since the start of the sync, and over the last seconds.
func TestOverflowReadsPerTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last Progress
		m := newMeter(func(p Progress) { last = p }, 0, 9, nil, model.Extent{})
		m.pagesBefore = 1_000
		expect := func(pages int64, height model.HeightPk, want float64) {
			t.Helper()
			m.overflows(cache.RunStats{Bytes: 1, Pages: pages})
			m.wrote([]*model.Block{{Height: height, Txs: make([]model.Tx, 10)}})
			time.Sleep(2 * progressEvery)
			synctest.Wait()
			if last.OverflowReads != want || last.Overflow.Bytes != 1 {
				t.Errorf("after %d pages: %g reads per transaction of %d bytes, expected %g of 1", pages, last.OverflowReads, last.Overflow.Bytes, want)
			}
		}
		expect(1_005, 1, 0.5)
		time.Sleep(2 * rateOver)
		expect(1_025, 2, 2)
		m.finish(2)
		if last.OverflowReads != 1.25 {
			t.Errorf("%g reads per transaction in total, expected 1.25", last.OverflowReads)
		}
	})
}

func TestTimeLeftGoesByBlocksIfTheSizeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last Progress
		m := newMeter(func(p Progress) { last = p }, 10, 40, nil, model.Extent{})
		for h := range 10 {
			time.Sleep(time.Second)
			m.wrote([]*model.Block{{Height: model.HeightPk(11 + h)}})
		}
		time.Sleep(progressEvery)
		synctest.Wait()
		if last.Left < 19*time.Second || last.Left > 22*time.Second || last.Fraction() != 0.5 {
			t.Errorf("%s left, a fraction of %f", last.Left, last.Fraction())
		}
	})
}
