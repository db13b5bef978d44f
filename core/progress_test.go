package core

import (
	"testing"
	"testing/synctest"
	"time"

	"birthmark/model"
)

// Progress that follows shortly after a report is reported a little later, even if no blocks follow. Nothing is
// reported after the end.
func TestTheLastBlocksAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []Progress
		m := newMeter(func(p Progress) { reports = append(reports, p) }, 0, 9, nil)
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
			synctest.Wait() // the first update may be reported at once
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
		}, 0, 9, nil)
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
