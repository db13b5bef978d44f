package p2p

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// journal is a log for tests.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// line returns the first line that contains all of the parts, or "".
func (j *journal) line(parts ...string) string {
	for line := range strings.Lines(j.String()) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return line
		}
	}
	return ""
}

// open returns a started network of peers with short timeouts, which is closed at the end of the test. db may be nil.
func open(t *testing.T, db *database, change func(*Options), fakes ...*fake) (*Network, *journal) {
	t.Helper()
	j := &journal{}
	o := Options{
		Params: regtest, First: time.Millisecond, Most: 20 * time.Millisecond, Stall: 10 * time.Second,
		Log: slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range fakes {
		o.Peers = append(o.Peers, f.address)
	}
	top := 0
	if db != nil {
		top, o.Header = db.top, db.header
	}
	if change != nil {
		change(&o)
	}
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if line := j.line("level=ERROR"); line != "" {
			t.Error(line)
		}
		if t.Failed() {
			t.Log(j)
		}
	})
	n.Start(model.HeightPk(top))
	return n, j
}

// TestMain fails if goroutines of closed networks do not end.
func TestMain(m *testing.M) {
	code := m.Run()
	stacks := make([]byte, 1<<20)
	var left string
	for range 30_000 {
		left = string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(left, "btcd/peer.") && !strings.Contains(left, "p2p.(*Network)") {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("goroutines are left:\n%s\n", left)
	os.Exit(1)
}

// tipOf waits for the network's tip.
func tipOf(t *testing.T, n *Network) model.Point {
	t.Helper()
	tip, err := n.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

func pointOf(height int, b *wire.MsgBlock) model.Point {
	return model.Point{Height: model.HeightPk(height), Hash: model.Hash(b.BlockHash())}
}

func pointsOf(blocks []*wire.MsgBlock) []model.Point {
	all := make([]model.Point, len(blocks))
	for h, b := range blocks {
		all[h] = pointOf(h, b)
	}
	return all
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(testrun.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("timeout: waited for %s", what)
}

// reaches waits until the tip is that of the chain. On a busy machine, peers can exceed the short timeouts.
func reaches(t *testing.T, n *Network, want []*wire.MsgBlock) {
	t.Helper()
	until(t, "the tip of the chain", func() bool {
		tip, err := n.Tip(t.Context())
		return err == nil && tip == pointOf(len(want)-1, want[len(want)-1])
	})
}

// download fetches every block of the network's best chain, in concurrent groups, and compares them with the expected
// chain.
func download(t *testing.T, n *Network, want []*wire.MsgBlock) {
	t.Helper()
	const group, limit = 40, 1 << 20
	if tip := tipOf(t, n); tip != pointOf(len(want)-1, want[len(want)-1]) {
		t.Fatalf("the tip is %d %s, expected %d", tip.Height, tip.Hash, len(want)-1)
	}
	hashes, err := n.Hashes(t.Context(), 0, len(want)+1)
	if err != nil || len(hashes) != len(want) {
		t.Fatalf("%d hashes of %d: %v", len(hashes), len(want), err)
	}
	points := make([]model.Point, len(hashes))
	for h := range hashes {
		points[h] = model.Point{Height: model.HeightPk(h), Hash: hashes[h]}
	}
	places := make(chan bool, 6)
	var running sync.WaitGroup
	for from := 0; from < len(points); from += group {
		places <- true
		running.Go(func() {
			defer func() { <-places }()
			to := min(from+group, len(points))
			for at := from; at < to; {
				raws, err := n.Raw(t.Context(), points[at:to], limit)
				if err != nil || len(raws) == 0 {
					t.Errorf("blocks from %d: %d of them, %v", at, len(raws), err)
					return
				}
				for _, raw := range raws {
					if !bytes.Equal(raw, bitcointest.Bytes(want[at])) {
						t.Errorf("block %d differs", at)
					}
					at++
				}
			}
		})
	}
	running.Wait()
}

// spending returns a chain with witnesses in its blocks.
func spending(height int) *bitcointest.Chain {
	c := bitcointest.NewChain()
	for c.Height() < height {
		paid := c.Mine().Transactions[0]
		spend := bitcointest.Spend(paid, 0, wire.NewTxOut(1, []byte{0x51}), wire.NewTxOut(2, []byte{0x51}))
		spend.TxIn[0].Witness = wire.TxWitness{[]byte(fmt.Sprint(c.Height()))}
		c.Mine(spend, bitcointest.Spend(spend, 0, wire.NewTxOut(1, []byte{0x52})))
	}
	return c
}
