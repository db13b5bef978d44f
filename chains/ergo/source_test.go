package ergo

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func TestNodeAndFileYieldTheSame(t *testing.T) {
	testrun.Slow(t)
	leaks(t)
	path, blocks := firstBlocks(t)
	plain := filepath.Join(t.TempDir(), "blocks.jsonl")
	if err := ergotest.WriteFile(plain, blocks); err != nil {
		t.Fatal(err)
	}
	n := ergotest.New(ergotest.Options{})
	n.Extend(blocks...)
	n.Break(func(r *http.Request, a *ergotest.Answer) {
		if r.Method == http.MethodPost {
			a.Delay = 10 * time.Millisecond // so that requests overlap
		}
	})
	old := ergotest.New(ergotest.Options{Old: true, Gzip: true})
	old.Extend(blocks...)
	var want []model.Event
	uris := []string{plain, n.Start(t), "file://" + path, old.Start(t)}
	for _, uri := range uris[:testrun.Amount(len(uris), 2)] {
		src := openAt(t, "mainnet", uri)
		if tip, err := src.Tip(t.Context()); err != nil || tip != blocks[1999].Point() {
			t.Errorf("%s: the tip is %v, %v", uri, tip, err)
		}
		got, err := allOf(t, src)
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		if chain := apply(t, nil, got...); !reflect.DeepEqual(chain, pointsOf(blocks)) {
			t.Fatalf("%s: %d blocks, expected 2000", uri, len(chain))
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if !reflect.DeepEqual(got[i].Block, want[i].Block) { // a source of files has no tip to wait for
				t.Fatalf("%s: block %d differs from that of %s", uri, i+1, plain)
			}
		}
		reader := src.(model.BlockReader)
		for _, h := range []model.HeightPk{2000, 1, 777, 776, 64, 1999} {
			b, err := reader.BlockAt(t.Context(), h)
			if err != nil || !reflect.DeepEqual(b, want[h-1].Block) {
				t.Errorf("%s: block %d read separately differs, %v", uri, h, err)
			}
		}
		for _, h := range []model.HeightPk{0, 2001} {
			if b, err := reader.BlockAt(t.Context(), h); err == nil {
				t.Errorf("%s: block %d exists: %s", uri, h, b.Hash)
			} else if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" {
				t.Errorf("%s: block %d: %v", uri, h, err)
			}
		}
	}
	if n.AtOnce() < 2 || n.Requests("/blocks/headerIds") > 40 {
		t.Errorf("%d requests for 2000 blocks, at most %d concurrent", n.Requests("/blocks/headerIds"), n.AtOnce())
	}
}

func TestConcurrentBlockAt(t *testing.T) {
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 4, TxsPerBlock: 2}), 300)
	dir := t.TempDir()
	for _, name := range []string{"blocks.jsonl", "blocks.gz"} {
		path := filepath.Join(dir, name)
		if err := ergotest.WriteFile(path, blocks); err != nil {
			t.Fatal(err)
		}
		reader := openAt(t, "testnet", path).(model.BlockReader)
		wrong := make(chan error)
		for worker := range 5 {
			go func() {
				for h := 1 + worker; h <= 300; h += 17 {
					b, err := reader.BlockAt(t.Context(), model.HeightPk(h))
					if err == nil && b.Hash != blocks[h-1].ID {
						err = fmt.Errorf("block %d is %s", h, b.Hash)
					}
					if err != nil {
						wrong <- err
						return
					}
				}
				wrong <- nil
			}()
		}
		for range 5 {
			if err := <-wrong; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestASourceBeginsAfterTheKnownBlocks(t *testing.T) {
	testrun.Slow(t)
	leaks(t)
	c := ergogen.New(ergogen.Options{Seed: 11, TxsPerBlock: 2})
	blocks := ergotest.Made(c, 250)
	fork := ergotest.Made(c.Fork(1), 20)
	blocks = append(blocks, ergotest.Made(c, 50)...)
	all := pointsOf(blocks)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	n.Extend(blocks...)
	dir := t.TempDir()
	uris := []string{n.Start(t)}
	for _, name := range []string{"all.jsonl", "all.gz"} {
		uris = append(uris, filepath.Join(dir, name))
		if err := ergotest.WriteFile(filepath.Join(dir, name), blocks); err != nil {
			t.Fatal(err)
		}
	}
	for _, uri := range uris {
		for name, c := range map[string]struct {
			known []model.Point
			back  *model.Point
			from  int // number of known blocks
			to    model.HeightPk
		}{
			"nothing known":                       {},
			"up to a height":                      {to: 33},
			"some known":                          {known: newestFirst(all[:120]), from: 120},
			"few known":                           {known: []model.Point{all[119], all[60], all[0]}, from: 120},
			"all known":                           {known: newestFirst(all), from: 300},
			"known beyond the last block to read": {known: newestFirst(all[:120]), from: 120, to: 100},
			"a fork known":                        {known: append(newestFirst(pointsOf(fork)), newestFirst(all[:250])...), back: &all[249], from: 250},
			"a fork and few others known":         {known: []model.Point{fork[19].Point(), fork[0].Point(), all[199], all[99]}, back: &all[199], from: 200},
			"nothing known that is there":         {known: newestFirst(pointsOf(fork)), back: &model.Point{}},
			"known beyond the end":                {known: append([]model.Point{{Height: 310, Hash: model.Hash{1}}}, newestFirst(all)...), back: &all[299], from: 300},
			"another first block is known":        {known: []model.Point{{Height: 1, Hash: model.Hash{1}}}, back: &model.Point{}},
		} {
			name = uri + ", " + name
			end := 300
			var change []func(*model.SourceOptions)
			if c.to > 0 {
				change, end = append(change, upTo(c.to)), max(int(c.to), c.from)
			}
			events, err := allOf(t, openAt(t, "testnet", uri, change...), c.known...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if c.back != nil {
				if len(events) == 0 || events[0].Rollback == nil || *events[0].Rollback != *c.back {
					t.Errorf("%s: the first event is not a rollback to %v", name, *c.back)
					continue
				}
				events = events[1:]
			}
			if got := apply(t, all[:c.from:c.from], events...); len(events) != end-c.from || !reflect.DeepEqual(got, all[:end]) {
				t.Errorf("%s: %d events, expected blocks %d to %d", name, len(events), c.from+1, end)
			}
		}
	}
}

func TestReorganizationsOfANodeAreFollowed(t *testing.T) {
	leaks(t)
	for _, depth := range []int{1, 10, 200} {
		for _, longer := range []int{1, 0, -1} {
			c := ergogen.New(ergogen.Options{Seed: uint64(depth), TxsPerBlock: 2})
			common := ergotest.Made(c, 12)
			fork := c.Fork(uint64(longer + 5))
			branch, other := ergotest.Made(c, depth), ergotest.Made(fork, max(depth+longer, 0))
			more := ergotest.Made(fork, 3)
			n := ergotest.New(ergotest.Options{Network: "testnet"})
			n.Extend(common...)
			n.Extend(branch...)
			got := chase(t, nodeAt(t, n.Start(t), true))
			got.reaches(n.Tip())
			n.Switch(12, other...)
			if longer >= 0 {
				got.reaches(n.Tip())
			}
			n.Extend(more...)
			got.reaches(n.Tip())
			got.end()
			if got.backs.Load() != 1 {
				t.Errorf("depth %d, %+d: %d rollbacks", depth, longer, got.backs.Load())
			}
		}
	}
}

func TestAMovingTipIsFollowed(t *testing.T) {
	leaks(t)
	c := ergogen.New(ergogen.Options{Seed: 21, TxsPerBlock: 2})
	blocks := ergotest.Made(c, 40)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	n.Extend(blocks[:5]...)
	got := chase(t, nodeAt(t, n.Start(t), true))
	got.reaches(n.Tip())
	n.Extend(blocks[5:6]...)
	got.reaches(n.Tip())
	n.Extend(blocks[6:30]...)
	got.reaches(n.Tip())
	// Headers arrive first, and their blocks a moment later.
	n.Announce(30, blocks[30:]...)
	asked := n.Requests("/info")
	for n.Requests("/info") < asked+2 {
		time.Sleep(time.Millisecond)
	}
	got.reaches(blocks[29].Point())
	n.Deliver()
	got.reaches(blocks[39].Point())
	got.end()
	if got.backs.Load() != 0 {
		t.Errorf("%d rollbacks", got.backs.Load())
	}
}

func TestTheSourceWaitsForBlocksAfterTheirHeaders(t *testing.T) {
	leaks(t)
	c := ergogen.New(ergogen.Options{Seed: 22, TxsPerBlock: 2})
	blocks := ergotest.Made(c, 20)
	fork := ergotest.Made(c.Fork(1), 5)
	blocks = append(blocks, ergotest.Made(c, 4)...)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	n.Extend(blocks...)
	n.Announce(20, fork...)
	// The node lists ids of a chain of which it lacks some blocks.
	got := chase(t, nodeAt(t, n.Start(t), true))
	got.reaches(blocks[19].Point())
	for n.Requests("/info") < 6 {
		time.Sleep(time.Millisecond)
	}
	n.Deliver()
	got.reaches(fork[4].Point())
	got.end()
}

func TestSlowAndFailingNodesAreRetried(t *testing.T) {
	testrun.Slow(t)
	leaks(t)
	seed := testseed.Of(t, 1)
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 23, TxsPerBlock: 2}), 300)
	for name, fault := range map[string]func(chance float64, a *ergotest.Answer){
		"slow":    func(_ float64, a *ergotest.Answer) { a.Delay = 5 * time.Millisecond },
		"failing": func(chance float64, a *ergotest.Answer) { a.Cut = chance < 0.3 },
		"busy": func(chance float64, a *ergotest.Answer) {
			if chance < 0.3 {
				a.Status, a.Body = http.StatusServiceUnavailable, nil
			}
		},
	} {
		n := ergotest.New(ergotest.Options{Network: "testnet"})
		n.Extend(blocks...)
		var mu sync.Mutex
		chances := rand.New(rand.NewPCG(seed, 0))
		url := n.Start(t)
		n.Break(func(_ *http.Request, a *ergotest.Answer) {
			mu.Lock()
			chance := chances.Float64()
			mu.Unlock()
			fault(chance, a)
		})
		// A source that follows retries forever, also at the start.
		got := chase(t, nodeAt(t, url, true))
		got.reaches(n.Tip())
		got.end()
		if got.backs.Load() != 0 || !reflect.DeepEqual(got.chain, pointsOf(blocks)) {
			t.Errorf("%s: %d blocks, %d rollbacks", name, len(got.chain), got.backs.Load())
		}
	}
}
