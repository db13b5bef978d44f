package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// kinds of nodes that must behave the same for callers.
var flavours = []struct {
	name string
	user string
	set  func(*fake)
}{
	{"Core", "user:secret@", func(f *fake) { f.auth = "user:secret" }},
	{"btcd", "user:secret@", func(f *fake) { f.auth, f.btcd = "user:secret", true }},
	{"REST", "", func(f *fake) { f.auth, f.rest = "user:secret", true }},
	{"Core with REST", "user:secret@", func(f *fake) { f.auth, f.rest = "user:secret", true }},
}

func eachFlavour(t *testing.T, blocks int, test func(t *testing.T, f *fake, c *Client)) {
	for _, flavour := range flavours {
		t.Run(flavour.name, func(t *testing.T) {
			f := newFake(t, blocks)
			flavour.set(f)
			test(t, f, f.client(flavour.user, nil))
		})
	}
}

func TestClientReturnsTheNodesChain(t *testing.T) {
	eachFlavour(t, 5000, func(t *testing.T, f *fake, c *Client) {
		if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(4999) {
			t.Fatalf("the tip is %v, %v", tip, err)
		}
		for _, q := range []struct{ from, n, want int }{
			{0, 1, 1}, {0, 2, 2}, {7, 0, 0}, {10, 500, 500}, {10, 501, 501}, {10, 4321, 4321}, {0, 9999, 5000}, {0, 2000, 2000}, {1, 2001, 2001},
			{1, 3999, 3999}, {1, 4000, 4000}, {4999, 1, 1}, {4999, 7, 1}, {4500, 500, 500}, {4000, 1001, 1000}, {5000, 1, 0}, {5000, 20, 0}, {9000, 3, 0},
		} {
			hashes, err := c.Hashes(t.Context(), model.HeightPk(q.from), q.n)
			if err != nil || len(hashes) != q.want {
				t.Fatalf("%d hashes from %d: %d, %v", q.n, q.from, len(hashes), err)
			}
			for i, h := range hashes {
				if h != f.point(q.from+i).Hash {
					t.Fatalf("%d hashes from %d: the hash at %d differs", q.n, q.from, q.from+i)
				}
			}
		}
		for _, q := range []struct{ from, n int }{{0, 1}, {0, 5000}, {4999, 1}, {100, 37}} {
			blocks, err := c.Raw(t.Context(), f.points(q.from, q.n), 1<<40)
			if err == nil {
				err = sameBlocks(blocks, f.chain[q.from:q.from+q.n])
			}
			if err != nil {
				t.Fatalf("%d blocks from %d: %v", q.n, q.from, err)
			}
		}
		if blocks, err := c.Raw(t.Context(), nil, 1); len(blocks) != 0 || err != nil {
			t.Errorf("no blocks: %d, %v", len(blocks), err)
		}
	})
}

// Responses of a batch may be in any order; the blocks are returned in the order of the request.
func TestResponsesInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	f := newFake(t, 300)
	f.reorder = func(r []json.RawMessage) { rng.Shuffle(len(r), func(i, k int) { r[i], r[k] = r[k], r[i] }) }
	c := f.client("", nil)
	if hashes, err := c.Hashes(t.Context(), 0, 400); err != nil || len(hashes) != 300 || hashes[299] != f.point(299).Hash {
		t.Errorf("%d hashes, %v", len(hashes), err)
	}
	for range 50 {
		n := 1 + rng.IntN(200)
		limit := int64(rng.IntN(300 * 300))
		blocks, err := c.Raw(t.Context(), f.points(50, n), limit)
		if err != nil || len(blocks) == 0 {
			t.Fatalf("%d blocks, %v", len(blocks), err)
		}
		if err := sameBlocks(blocks, f.chain[50:50+len(blocks)]); err != nil {
			t.Fatal(err)
		}
		if len(blocks) < n && limit > int64(n)*300 {
			t.Errorf("%d of %d blocks were returned, within the limit", len(blocks), n)
		}
	}
}

func TestBlocksEndAtTheLimit(t *testing.T) {
	eachFlavour(t, 100, func(t *testing.T, f *fake, c *Client) {
		for _, q := range []struct {
			limit int64
			want  int
		}{{0, 1}, {-5, 1}, {1, 1}, {300, 1}, {301, 2}, {3000, 10}, {300 * 60, 60}, {1 << 40, 60}} {
			blocks, err := c.Raw(t.Context(), f.points(20, 60), q.limit)
			if err == nil {
				err = sameBlocks(blocks, f.chain[20:20+q.want])
			}
			if err != nil {
				t.Errorf("limit %d: %v", q.limit, err)
			}
		}
	})
}

// The first block is returned even if others arrive first, and those are dropped.
func TestTheFirstBlockMayComeLast(t *testing.T) {
	f := newFake(t, 100)
	f.reorder = slices.Reverse[[]json.RawMessage]
	c := f.client("", nil)
	blocks, err := c.Raw(t.Context(), f.points(20, 60), 3000)
	if err == nil {
		err = sameBlocks(blocks, f.chain[20:21])
	}
	if err != nil {
		t.Error(err)
	}
}

func TestABlockOfAnotherBranchHasMoved(t *testing.T) {
	eachFlavour(t, 100, func(t *testing.T, f *fake, c *Client) {
		old := f.points(0, 100)
		if _, err := c.Tip(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.chain = fakeChain(f.chain[:90], 20, 200, 1) })
		if blocks, err := c.Raw(t.Context(), old[95:], 1<<40); !errors.Is(err, blocksource.ErrMoved) {
			t.Errorf("%d blocks, %v", len(blocks), err)
		}
		blocks, err := c.Raw(t.Context(), old[85:], 1<<40)
		if err == nil {
			err = sameBlocks(blocks, f.chain[85:90])
		}
		if err != nil {
			t.Errorf("if a later block has moved: %v", err)
		}
		if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(109) {
			t.Errorf("the tip is %v, %v", tip, err)
		}
	})
}

func TestChangedReturnsWhenTheTipIsAnother(t *testing.T) {
	eachFlavour(t, 10, func(t *testing.T, f *fake, c *Client) {
		c.poll = 1
		if err := c.Changed(t.Context(), f.point(5)); err != nil {
			t.Error(err)
		}
		tip := f.point(9)
		asked := 0
		f.set(func() {
			f.first = func(http.ResponseWriter, *http.Request) bool {
				// The block becomes available after some requests.
				f.set(func() {
					if asked++; asked == 8 {
						f.chain = fakeChain(f.chain, 1, 200, 0)
					}
				})
				return false
			}
		})
		if err := c.Changed(t.Context(), tip); err != nil || asked < 8 {
			t.Errorf("changed after %d requests: %v", asked, err)
		}
	})
}

func TestErrorOfAPrunedBlockNamesTheFirstBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	eachFlavour(t, 1800, func(t *testing.T, f *fake, c *Client) {
		f.set(func() { f.below = 1001 + rng.IntN(700) })
		blocks, err := c.Raw(t.Context(), f.points(f.below, 5), 1<<40)
		if err == nil {
			err = sameBlocks(blocks, f.chain[f.below:f.below+5])
		}
		if err != nil {
			t.Errorf("the remaining blocks: %v", err)
		}
		for _, h := range []int{0, 1, 1000, f.below - 1} {
			_, err := c.Raw(t.Context(), f.points(h, 5), 1<<40)
			want := fmt.Sprintf("%s is pruned: it has deleted the blocks below %s, but block %s is needed: use a node that has it",
				c.Host(), adapter.Thousands(int64(f.below)), adapter.Thousands(int64(h)))
			if kind, code := model.KindOf(err); kind != model.BadSource || code != "pruned" || blocksource.IsTemporary(err) || err.Error() != want {
				t.Errorf("block %d: %s: %v, expected %s", h, code, err, want)
			}
		}
		f.set(func() { f.stale = fakeChain(f.chain[:1], 2, 100, 3)[1:] })
		gone := []model.Point{{Height: 500, Hash: model.Hash{1}}}
		if _, err := c.Raw(t.Context(), gone, 1); !errors.Is(err, blocksource.ErrMoved) {
			t.Errorf("a block of another branch: %v", err)
		}
	})
}

func TestABlockTheNodeDoesNotHaveYet(t *testing.T) {
	f := newFake(t, 10)
	f.set(func() { f.errors["getblock"] = rpcError{-1, "Block not available (not fully downloaded)"} })
	_, err := f.client("", nil).Raw(t.Context(), f.points(3, 2), 1)
	want := "does not return block 3 " + block.FormatHash(f.point(3).Hash) + " of its own chain: Block not available (not fully downloaded)"
	if _, code := model.KindOf(err); code != "block_missing" || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v", code, err)
	}
}

func TestWrongNetworkIsNamed(t *testing.T) {
	for chain, name := range map[string]string{"main": "mainnet", "test": "testnet3", "testnet4": "testnet4", "simnet": "simnet"} {
		eachFlavour(t, 3, func(t *testing.T, f *fake, c *Client) {
			f.set(func() { f.network = chain })
			c.options.Network = network("regtest", model.Hash{7})
			want := fmt.Sprintf("%s is a node of bitcoin %s, its block 0 is %s: expected regtest, %s", c.Host(), name, block.FormatHash(f.point(0).Hash), block.FormatHash(model.Hash{7}))
			err := c.Connect(t.Context())
			if _, code := model.KindOf(err); code != "wrong_network" || blocksource.IsTemporary(err) || err.Error() != want {
				t.Errorf("%s: %v, expected %s", code, err, want)
			}
			if _, err := c.Tip(t.Context()); err == nil {
				t.Error("a request was sent to the wrong network")
			}
		})
	}
}

func TestSyncingNodeIsLoggedOnce(t *testing.T) {
	var log lines
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	for _, extra := range []struct {
		info map[string]any
		want int
	}{
		{nil, 0},
		{map[string]any{"headers": 12}, 0}, // a node that is connecting a block
		{map[string]any{"headers": 800_000}, 1},
		{map[string]any{"initialblockdownload": true}, 1},
	} {
		eachFlavour(t, 12, func(t *testing.T, f *fake, c *Client) {
			f.set(func() { f.extra = extra.info })
			log.taken()
			for range 3 {
				if err := c.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tip, err := c.Tip(t.Context()); err != nil || tip != f.point(11) {
					t.Fatalf("the tip is %v, %v", tip, err)
				}
			}
			got := log.taken()
			if len(got) != extra.want || extra.want > 0 && !strings.Contains(got[0], "blocks=11 headers=") {
				t.Errorf("%v: logged %q", extra.info, got)
			}
		})
	}
}

// lines of a log.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(b))
	return len(b), nil
}

func (l *lines) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text
	l.text = nil
	return text
}

// Concurrent callers send no more requests than a node accepts, and all get their responses.
func TestConcurrentRequestsAreBounded(t *testing.T) {
	eachFlavour(t, 200, func(t *testing.T, f *fake, c *Client) {
		var mu sync.Mutex
		now, most := 0, 0
		wait := make(chan struct{})
		f.first = func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			now++
			most = max(most, now)
			if now == nodehttp.Places {
				select {
				case <-wait:
				default:
					close(wait) // the maximum number of requests is active
				}
			}
			mu.Unlock()
			if strings.Contains(r.URL.Path, "/block/") || r.Method == http.MethodPost && c.session.Load() != nil {
				<-wait
			}
			f.serve(w, r)
			mu.Lock()
			now--
			mu.Unlock()
			return true
		}
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				blocks, err := c.Raw(t.Context(), f.points(i*5, 5), 1<<40)
				if err == nil {
					err = sameBlocks(blocks, f.chain[i*5:i*5+5])
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most > nodehttp.Places {
			t.Errorf("%d concurrent requests", most)
		}
	})
}

// Connect creates a new session.
func (c *Client) Connect(ctx context.Context) error {
	_, err := c.connect(ctx, c.session.Load())
	return err
}

// A block was invalidated if the node has it, knows no header at its height, and is not in its initial download: not if
// the node restarted, reads its blocks again, or is an older copy.
func TestInvalidated(t *testing.T) {
	for _, rest := range []bool{false, true} {
		for name, c := range map[string]struct {
			change func(f *fake)
			want   bool
		}{
			"invalidated":            {func(*fake) {}, true},
			"on the chain":           {func(f *fake) { f.chain = append(f.chain, f.stale...); f.stale = nil }, false},
			"restarted":              {func(f *fake) { f.extra = map[string]any{"headers": 12} }, false},
			"in initial download":    {func(f *fake) { f.extra = map[string]any{"initialblockdownload": true} }, false},
			"an older copy":          {func(f *fake) { f.stale = nil }, false},
			"another, longer branch": {func(f *fake) { f.chain = fakeChain(f.chain, 3, 300, 7) }, false},
		} {
			t.Run(fmt.Sprintf("%s, REST %t", name, rest), func(t *testing.T) {
				f := newFake(t, 13)
				p := f.point(11)
				f.set(func() {
					f.rest = rest
					f.chain, f.stale = f.chain[:11], f.chain[11:]
					c.change(f)
				})
				got, err := f.client("", nil).Invalidated(t.Context(), p)
				if got != c.want || err != nil {
					t.Errorf("%t, %v, expected %t", got, err, c.want)
				}
			})
		}
	}
}
