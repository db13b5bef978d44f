package ergo

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// firstBlocks returns blocks 1 to 2000 of mainnet.
func firstBlocks(t *testing.T) (path string, blocks []ergotest.Block) {
	t.Helper()
	path = testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")
	blocks, err := ergotest.ReadFile(path)
	if err != nil || len(blocks) != 2000 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	return path, blocks
}

func openAt(t *testing.T, network, uri string, change ...func(*model.SourceOptions)) model.Source {
	t.Helper()
	src, err := tryOpen(t, network, uri, change...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func tryOpen(t *testing.T, network, uri string, change ...func(*model.SourceOptions)) (model.Source, error) {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	o := model.SourceOptions{URI: uri, Indexes: []string{indexBoxID, indexAddress}, Workers: 4}
	for _, f := range change {
		f(&o)
	}
	src, err := c.Open(t.Context(), o)
	if err == nil {
		quick(src)
		t.Cleanup(func() {
			if err := src.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return src, err
}

// quick makes a source poll more often than by default.
func quick(src model.Source) {
	if f, ok := src.(*fileSource); ok {
		f.poll = time.Millisecond
	}
}

func upTo(h model.HeightPk) func(*model.SourceOptions) {
	return func(o *model.SourceOptions) { o.To = &h }
}

// allOf returns the events of a source up to its end.
func allOf(t *testing.T, src model.Source, known ...model.Point) (events []model.Event, err error) {
	t.Helper()
	for e, err := range src.Follow(t.Context(), known) {
		if err != nil {
			return events, err
		}
		if e.Block != nil {
			e.Block.SourceSize = 0 // the only difference between sources
		}
		events = append(events, e)
	}
	return events, nil
}

// apply returns the chain after some events.
func apply(t *testing.T, chain []model.Point, events ...model.Event) []model.Point {
	t.Helper()
	for _, e := range events {
		var err error
		if chain, err = after(chain, e); err != nil {
			t.Fatal(err)
		}
	}
	return chain
}

// after returns the chain after an event.
func after(chain []model.Point, e model.Event) ([]model.Point, error) {
	if e.Rollback != nil {
		for len(chain) > 0 && chain[len(chain)-1] != *e.Rollback {
			chain = chain[:len(chain)-1]
		}
		if len(chain) == 0 && !e.Rollback.IsOrigin() {
			return nil, fmt.Errorf("rollback to %v, which is not in the chain", *e.Rollback)
		}
		return chain, nil
	}
	parent := model.Point{}
	if len(chain) > 0 {
		parent = chain[len(chain)-1]
	}
	if e.Block.Parent != parent.Hash || e.Block.Height != parent.Height+1 {
		return nil, fmt.Errorf("block %d %s follows block %d %s", e.Block.Height, e.Block.Hash, parent.Height, parent.Hash)
	}
	if genesis := len(e.Block.Genesis) > 0; genesis != (e.Block.Height == firstHeight) {
		return nil, fmt.Errorf("block %d has %d genesis transactions", e.Block.Height, len(e.Block.Genesis))
	}
	return append(chain, e.Block.Point()), nil
}

func pointsOf(blocks ...[]ergotest.Block) (points []model.Point) {
	for _, some := range blocks {
		for i := range some {
			points = append(points, some[i].Point())
		}
	}
	return points
}

// newestFirst returns the points in reverse order.
func newestFirst(points []model.Point) []model.Point {
	known := make([]model.Point, len(points))
	for i, p := range points {
		known[len(points)-1-i] = p
	}
	return known
}

// leaks fails the test if it leaves goroutines.
func leaks(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		all := make([]byte, 1<<20)
		for end := time.Now().Add(testrun.Patience); ; time.Sleep(time.Millisecond) {
			left := 0
			stacks := strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n")
			for _, s := range stacks[1:] {
				if strings.Contains(s, "birthmark/chains/") && !strings.Contains(s, "testing.tRunner") {
					left++
				}
			}
			if left == 0 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d goroutines are left:\n%s", left, strings.Join(stacks[1:], "\n\n"))
			}
		}
	})
}

// nodeAt returns a source of a testnet node with short delays.
func nodeAt(t *testing.T, uri string, follows bool) model.Source {
	t.Helper()
	n, err := networks.Get(Name, "testnet")
	if err != nil {
		t.Fatal(err)
	}
	o := model.SourceOptions{URI: uri, Indexes: []string{indexBoxID}, Follow: follows}
	client := restOptions(n, o)
	client.Poll = time.Millisecond
	retry := blocksource.Retry{First: time.Millisecond, Most: 10 * time.Millisecond}
	src, err := openNode(decoderAs(t, n, indexBoxID), client, blocksource.Options{SourceOptions: o, Retry: retry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return src
}
