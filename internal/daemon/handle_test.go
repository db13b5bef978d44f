package daemon

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/cache"
	"birthmark/core/query"
	"birthmark/internal/progress"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// shownBlocks is a database of blocks of a made-up chain.
func shownBlocks(t *testing.T, blocks []*model.Block) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: modeltest.Variants()[0].Chain("one"), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) > 0 {
		if err := db.Append(t.Context(), blocks); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func newHandleOf(db *core.DB) *handle {
	return newHandle(&Host{Now: time.Now, ErrorText: func(err error) string { return strings.ReplaceAll(err.Error(), "secret", "********") }}, db)
}

// The channel of a tip is closed when the tip changes, also if another database replaces the first one or the chain is
// withdrawn. It can be closed if the new database has the same tip.
func TestChannelOfATipIsClosed(t *testing.T) {
	blocks := modeltest.Variants()[0].NewGenerator(testseed.Rand(t).Uint64()).Blocks(6)
	one, two := shownBlocks(t, blocks[:3]), shownBlocks(t, blocks[:4])
	s := newHandleOf(one)
	wait := func(height model.HeightPk) <-chan struct{} {
		t.Helper()
		tip, moved := s.tip()
		if _, again := s.tip(); tip.Height != height || again != moved {
			t.Errorf("the tip is %d, expected %d; asked twice: %v and %v", tip.Height, height, moved, again)
		}
		return moved
	}
	moved := wait(blocks[2].Height)
	if err := one.Append(t.Context(), blocks[3:4]); err != nil {
		t.Fatal(err)
	}
	<-moved
	moved = wait(blocks[3].Height)
	s.replace(two)()
	wait(blocks[3].Height)
	if err := two.Append(t.Context(), blocks[4:]); err != nil {
		t.Fatal(err)
	}
	<-moved
	moved = wait(blocks[5].Height)
	s.replace(one)()
	<-moved
	moved = wait(blocks[3].Height)
	s.replace(nil)()
	<-moved
	if tip, gone := s.tip(); !tip.IsOrigin() {
		t.Errorf("nothing is shown with the tip %v", tip)
	} else {
		<-gone
	}
	err := s.view(t.Context(), func(*query.View) error { return nil })
	if kind, code := core.Classify(err); kind != model.Refused || code != "shutting_down" {
		t.Errorf("a query without a database: %v", err)
	}
	s.replace(two)() // too late
	if tip, _ := s.tip(); !tip.IsOrigin() {
		t.Errorf("%v is shown after the end", tip)
	}
}

// A replaced database is closed after its last request, even if databases are replaced often.
func TestClosedDatabaseIsNotRead(t *testing.T) {
	rng := testseed.Rand(t)
	blocks := modeltest.Variants()[0].NewGenerator(rng.Uint64()).Blocks(4)
	closed := make([]atomic.Bool, len(blocks)) // by height
	var dbs []*core.DB
	for i := range blocks {
		dbs = append(dbs, shownBlocks(t, blocks[:i+1]))
		closed[i].Store(i > 0)
	}
	s := newHandleOf(dbs[0])
	first := blocks[0].Height
	done := make(chan struct{})
	var asking sync.WaitGroup
	var asked atomic.Int64
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				err := s.view(context.Background(), func(v *query.View) error {
					status, err := v.Status(context.Background())
					if err != nil {
						return err
					}
					if status.Tip == nil || status.Tip.Height != uint32(v.Tip.Height) {
						t.Errorf("a view of the tip %d has the status of %+v", v.Tip.Height, status.Tip)
					}
					if closed[v.Tip.Height-first].Load() {
						t.Errorf("the database of %d blocks is queried after it was closed", v.Tip.Height-first+1)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				tip, _ := s.tip()
				s.state()
				if asked.Add(1); tip.Height < first {
					t.Errorf("the tip is %d", tip.Height)
				}
			}
		})
	}
	at := 0
	for asked.Load() < 2000 {
		next := rng.IntN(len(dbs))
		if next == at {
			continue
		}
		closed[next].Store(false)
		s.replace(dbs[next])()
		closed[at].Store(true)
		at = next
	}
	close(done)
	asking.Wait()
	s.replace(nil)()
}

// The state has the first failure of a sync until the sync progresses, without secrets.
func TestStateHasTheErrorOfTheSync(t *testing.T) {
	blocks := modeltest.Variants()[0].NewGenerator(1).Blocks(2)
	s := newHandleOf(shownBlocks(t, blocks))
	if st := s.state(); st.Sync != nil || st.Failed != "" {
		t.Errorf("without a sync: %+v", st)
	}
	s.advance(core.Progress{Height: 0, Target: 9})
	if st := s.state(); st.Sync == nil || st.Sync.Height != blocks[1].Height || st.Sync.Target != 9 || st.Failed != "" || !st.Since.IsZero() {
		t.Errorf("on its way: %+v, %+v", st, st.Sync)
	}
	s.fail(errors.New("http://me:secret@host is away"))
	first := s.state()
	if first.Failed != "http://me:********@host is away" || first.Since.IsZero() {
		t.Errorf("failed: %+v", first)
	}
	s.fail(errors.New("still away"))
	s.advance(core.Progress{Done: true})
	if st := s.state(); st.Failed != "still away" || st.Since != first.Since {
		t.Errorf("failed again: %+v", st)
	}
	s.advance(core.Progress{Height: 1})
	if st := s.state(); st.Failed != "" || !st.Since.IsZero() || st.Sync.Target != blocks[1].Height {
		t.Errorf("going on: %+v", st)
	}
}

// A path never changes its meaning: the name of a served chain depends on its network alone, not on the other chains
// that the process serves.
func TestNamesOfServedChainsDependOnTheirNetworksAlone(t *testing.T) {
	of := func(names ...string) (chains []model.Chain) {
		for _, n := range names {
			chains = append(chains, named{name: n[:1], network: n[2:]})
		}
		return chains
	}
	for _, c := range []struct {
		chains []model.Chain
		names  []string
	}{
		{of("b mainnet"), []string{"b"}},
		{of("b testnet4"), []string{"b-testnet4"}},
		{of("b testnet4", "c preview"), []string{"b-testnet4", "c-preview"}},
		{of("c preview", "b mainnet"), []string{"c-preview", "b"}},
		{of("b testnet4", "b mainnet", "b signet"), []string{"b-testnet4", "b", "b-signet"}},
		{of("b testnet4", "b signet"), []string{"b-testnet4", "b-signet"}},
		{of("b mainnet", "b mainnet"), nil},
		{of("b signet", "b mainnet", "b signet"), nil},
	} {
		names, err := namesOf(c.chains)
		if len(names) != len(c.names) || (err == nil) != (c.names != nil) {
			t.Errorf("%v: %v, %v", c.chains, names, err)
			continue
		}
		for i := range names {
			if names[i] != c.names[i] {
				t.Errorf("%v: %v, expected %v", c.chains, names, c.names)
			}
			if served := new(handle).chain(c.chains[i]).Name; served != c.names[i] {
				t.Errorf("%v is served as %s, expected %s", c.chains[i], served, c.names[i])
			}
		}
	}
}

// named is a chain of which no more is known than its name.
type named struct {
	model.Chain
	name, network string
}

func (n named) Name() string    { return n.name }
func (n named) Network() string { return n.network }

func TestSyncReadingHasTheOverflow(t *testing.T) {
	now := core.Progress{Height: 1, Target: 9, Overflow: cache.RunStats{Bytes: 7, Pages: 90}, OverflowReads: 0.5}
	if got, want := SyncReading(&now).Overflow, (progress.Overflow{Bytes: 7, ReadsPerTx: 0.5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
