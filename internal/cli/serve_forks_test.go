package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/core/query"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// forking is a node whose chain forks. It records all its former chains.
type forking struct {
	*ergotest.Node
	chain *ergogen.Chain
	best  []ergotest.Block
	rng   *rand.Rand

	mu   sync.Mutex
	tips map[string][]ergotest.Block // the chain up to each block that the node ever had
}

func newForking(rng *rand.Rand) *forking {
	f := &forking{
		Node: ergotest.New(ergotest.Options{Network: "testnet"}), rng: rng,
		chain: ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 3}), tips: map[string][]ergotest.Block{},
	}
	f.grow(10)
	return f
}

func hashOf(b ergotest.Block) string { return fmt.Sprintf("%x", b.ID[:]) }

// is records a chain before the node switches to it.
func (f *forking) is(best []ergotest.Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.best = best
	for i := range best {
		f.tips[hashOf(best[i])] = best[:i+1]
	}
}

// upTo returns the chain that ends with a block, or nil if the node never had it.
func (f *forking) upTo(hash string) []ergotest.Block {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tips[hash]
}

// longest returns a height near the node's tip.
func (f *forking) longest() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.best) + 2
}

func (f *forking) grow(n int) {
	more := ergotest.Made(f.chain, n)
	f.is(append(f.best[:len(f.best):len(f.best)], more...))
	f.Extend(more...)
}

// fork adds blocks and replaces them by one block more.
func (f *forking) fork(depth int) {
	reorganize := f.branch()
	f.grow(depth)
	reorganize(depth + 1)
}

// branch returns a function that replaces the blocks above the current tip by n others.
func (f *forking) branch() (reorganize func(n int)) {
	common, other := f.best, f.chain.Fork(f.rng.Uint64())
	return func(n int) {
		f.chain = other
		more := ergotest.Made(f.chain, n)
		f.is(append(common[:len(common):len(common)], more...))
		f.Switch(model.HeightPk(len(common)), more...)
	}
}

// askAround sends requests about a chain to a server until done is closed. Each answer must match one chain that the
// node had, up to the block in its header.
func (f *forking) askAround(t *testing.T, s *serverProcess, seed uint64, done <-chan struct{}) (asked int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	etag := ""
	for ; ; asked++ {
		select {
		case <-done:
			return asked
		case <-time.After(time.Millisecond):
		}
		ref := []string{"tip", strconv.Itoa(1 + rng.IntN(f.longest()))}[rng.IntN(2)]
		r, err := s.try("v1/ergo-testnet/block/"+ref, "If-None-Match", etag)
		if err != nil {
			t.Error(err)
			return asked
		}
		tip := r.header.Get("X-Tip")
		chain := f.upTo(tip)
		if tip != "" && chain == nil || tip == "" && r.status != http.StatusNotFound {
			t.Errorf("%s: %d at the tip %q, which the node never had: %.200s", ref, r.status, tip, r.body)
			return asked
		}
		if height := r.header.Get("X-Tip-Height"); tip != "" && height != strconv.Itoa(len(chain)) {
			t.Errorf("%s: the tip %s has the height %s, expected %d", ref, tip, height, len(chain))
		}
		var block query.BlockAnswer
		switch r.status {
		case http.StatusOK:
			if err := json.Unmarshal(r.body, &block); err != nil {
				t.Error(err)
				return asked
			}
			if int(block.Height) > len(chain) || block.Hash != hashOf(chain[block.Height-1]) || ref == "tip" && int(block.Height) != len(chain) {
				t.Errorf("%s: block %d %s is not in the chain up to %s", ref, block.Height, block.Hash, tip)
			}
			if ref == "tip" {
				etag = r.header.Get("ETag")
			}
		case http.StatusNotModified:
			if got := r.header.Get("ETag"); len(r.body) > 0 || got != etag {
				t.Errorf("%s: status 304 with the ETag %s, but the client has %s: %s", ref, got, etag, r.body)
			}
		case http.StatusNotFound:
			if h, err := strconv.Atoi(ref); err == nil && h <= len(chain) {
				t.Errorf("%s is not found at the tip %s of height %d", ref, tip, len(chain))
			}
		default:
			t.Errorf("%s: %d %s", ref, r.status, r.body)
		}
	}
}

// While the chain grows and forks, each answer belongs to one tip of the node, and names it.
func TestEveryAnswerBelongsToOneTip(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	db := filepath.Join(t.TempDir(), "db")
	s := startServer(t, "--chain", "ergo", "--network", "testnet", "--source", f.Start(t), "--db", db)
	done := make(chan struct{})
	var asking sync.WaitGroup
	var asked atomic.Int64
	for range 2 {
		seed := rng.Uint64()
		asking.Go(func() { asked.Add(int64(f.askAround(t, s, seed, done))) })
	}
	for range 15 {
		if rng.IntN(2) == 0 {
			f.grow(1 + rng.IntN(4))
		} else {
			f.fork(1 + rng.IntN(5))
		}
		if rng.IntN(3) > 0 {
			until(t, "the node's tip", func() bool { _, hash := s.tip(t, "ergo-testnet"); return hash == hashOf(f.best[len(f.best)-1]) })
		}
	}
	until(t, "the node's last tip", func() bool { _, hash := s.tip(t, "ergo-testnet"); return hash == hashOf(f.best[len(f.best)-1]) })
	until(t, "the server to be ready", func() bool { return s.get(t, "readyz").status == http.StatusOK })
	close(done)
	asking.Wait()
	if asked.Load() == 0 {
		t.Error("no request was sent")
	}
	s.stop(t)
	consistent(t, db)
	fresh := filepath.Join(t.TempDir(), "fresh")
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", ergoFile(t, f.best...), "--db", fresh)
	same(t, db, digestOf(t, fresh))
}

// A read-only server shows the blocks that another process writes, removes and writes again. It continues to answer
// after that process has ended.
func TestReadOnlyServerShowsAnotherProcessesWrites(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	db := filepath.Join(t.TempDir(), "db")
	source := f.Start(t)
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", source, "--db", db)
	cmd, _, stderr := process(t, all, "sync", "--follow", "--source", source, "--db", db)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); t.Failed() {
			t.Logf("the log of the sync: %s", stderr)
		}
	})
	s := startServer(t, "--read-only", "--db", db, "--source", source) // the source is not used
	done := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() { f.askAround(t, s, rng.Uint64(), done) })
	for i := range 4 {
		if i%2 == 0 {
			f.grow(2)
		} else {
			f.fork(1 + rng.IntN(3))
		}
		until(t, "what the sync has written", func() bool { _, hash := s.tip(t, "ergo-testnet"); return hash == hashOf(f.best[len(f.best)-1]) })
	}
	close(done)
	asking.Wait()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	ask(t, nil, "rollback", "--db", db, "--to-height", "3")
	until(t, "the rollback", func() bool { h, _ := s.tip(t, "ergo-testnet"); return h == 3 })
	s.stop(t)
}
