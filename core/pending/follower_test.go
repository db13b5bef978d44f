package pending

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// node is a scripted source: the node of a world. Its lists have random delays, and its events have gaps.
type node struct {
	mu       sync.Mutex // also guards the world
	w        *world
	rng      *rand.Rand
	late     time.Duration // the longest delay of an answer
	away     bool          // all calls fail
	numbered bool
	sequence uint64
	events   []chan model.MempoolEvent // nil for streams that ended
	listens  bool                      // the node has events
	visits   bool                      // some lists are those of a block that the node has only meanwhile, never two in a row
	visited  bool                      // the last list was one
	lists    atomic.Int64              // number of lists
}

var errAway = errors.New("the node is away")

// delay waits without holding the lock.
func (n *node) delay() {
	n.mu.Lock()
	d := time.Duration(n.rng.Int64N(int64(n.late) + 1))
	n.mu.Unlock()
	time.Sleep(d)
}

// call calls fn unless the node is away.
func (n *node) call(fn func()) error {
	n.delay()
	defer n.delay()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return errAway
	}
	fn()
	return nil
}

func (n *node) Tip(context.Context) (p model.Point, err error) {
	err = n.call(func() { p = n.w.Tip() })
	return p, err
}

func (n *node) MempoolIDs(context.Context) (ids []model.Hash, sequence uint64, err error) {
	n.lists.Add(1)
	err = n.call(func() {
		if n.visited = n.visits && !n.visited && n.rng.IntN(3) == 0; n.visited {
			defer n.visit()()
		}
		if ids = n.w.IDs(); n.numbered {
			sequence = n.sequence
		}
	})
	return ids, sequence, err
}

// visit confirms the mempool in a block, which the database reads in half of the cases. The returned function removes the
// block again. mu is held.
func (n *node) visit() (leave func()) {
	blocks, pool := n.w.Blocks, n.w.Pool
	n.w.Mine(pool)
	read := n.rng.IntN(2) == 0
	if read {
		n.w.Sync()
	}
	return func() {
		if n.w.Blocks, n.w.Pool = slices.Clip(blocks), pool; read {
			n.w.Sync()
		}
	}
}

func (n *node) MempoolTxs(_ context.Context, ids []model.Hash) (txs []*model.Unconfirmed, err error) {
	err = n.call(func() { txs = n.w.Fetch(ids) })
	return txs, err
}

func (n *node) MempoolEvents(ctx context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return nil, errAway
	}
	if !n.listens {
		return nil, nil
	}
	c := make(chan model.MempoolEvent, 1000)
	n.events = append(n.events, c)
	return func(yield func(model.MempoolEvent, error) bool) {
		for {
			select {
			case e, ok := <-c:
				if !ok {
					yield(e, errAway)
					return
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}, nil
}

func (n *node) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] { return nil }
func (n *node) Close() error                                                        { return nil }

// step changes the node and sends events, some of which are lost.
func (n *node) step() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.move()
}

// move is step with mu held.
func (n *node) move() {
	before, blocks := maps.Collect(byID(n.w.Pool)), slices.Clone(n.w.Blocks)
	n.w.Step()
	after := maps.Collect(byID(n.w.Pool))
	confirmed := map[model.Hash]bool{}
	for i, b := range n.w.Blocks {
		if i >= len(blocks) || blocks[i] != b {
			for j := range b.Txs {
				confirmed[b.Txs[j].Hash] = true
			}
			n.send(model.MempoolEvent{Kind: model.BlockConnected, ID: b.Hash})
		}
	}
	for i, b := range blocks {
		if i >= len(n.w.Blocks) || n.w.Blocks[i] != b {
			n.send(model.MempoolEvent{Kind: model.BlockDisconnected, ID: b.Hash})
		}
	}
	for id := range before {
		if after[id] != nil {
			continue
		}
		if n.sequence++; !confirmed[id] {
			n.send(model.MempoolEvent{Kind: model.TxRemoved, ID: id, Sequence: n.sequence})
		}
	}
	for _, u := range n.w.Pool {
		if before[u.Hash] == nil {
			n.sequence++
			e := model.MempoolEvent{Kind: model.TxAdded, ID: u.Hash, Sequence: n.sequence}
			if n.rng.IntN(2) == 0 {
				e.Tx = u
			}
			n.send(e)
		}
	}
}

func byID(pool []*model.Unconfirmed) iter.Seq2[model.Hash, *model.Unconfirmed] {
	return func(yield func(model.Hash, *model.Unconfirmed) bool) {
		for _, u := range pool {
			if !yield(u.Hash, u) {
				return
			}
		}
	}
}

func (n *node) send(e model.MempoolEvent) {
	if !n.numbered || e.Kind >= model.BlockConnected {
		e.Sequence = 0
	}
	if n.away || n.rng.IntN(50) == 0 {
		return // a gap
	}
	for _, c := range n.events {
		if c != nil {
			select {
			case c <- e:
			default: // it is no longer read
			}
		}
	}
}

// leave makes the node unreachable and ends its events, or makes it reachable again.
func (n *node) leave(away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away = away; away {
		for _, c := range n.events {
			close(c)
		}
		n.events = nil
	}
}

// following starts a follower of the node, which runs until stop is called.
func following(w *world, n *node) (f *Follower, stop func()) {
	return followingWith(w, n, w.DB.Chain().Traits())
}

func followingWith(w *world, n *node, traits model.Traits) (f *Follower, stop func()) {
	f = NewFollower(Options{
		View: w.DB.View, Moved: w.DB.Moved, Traits: traits, Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
		Interval: 5 * time.Millisecond,
		Open:     func(context.Context, []string) (model.Source, error) { return n, nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	return f, func() { cancel(); <-ended }
}

// settled waits until the follower has the transactions of the node.
func settled(t testing.TB, w *world, f *Follower) *Standing {
	t.Helper()
	for deadline := time.Now().Add(testrun.Patience); ; time.Sleep(5 * time.Millisecond) {
		s := f.Standing()
		lacks := func(id model.Hash) bool { return s.Tx(id) == nil }
		if s.Tip == w.Tip() && s.State() == Live && s.Count() == len(w.Pool) && !slices.ContainsFunc(w.IDs(), lacks) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("tip %v, expected %v; %+v, expected %d transactions", s.Tip, w.Tip(), s.Info(), len(w.Pool))
		}
	}
}

// followedRounds is the number of rounds of a random history that a follower follows; see historyRounds.
const followedRounds = 120

// A follower reaches the transactions of its node for any history: late lists, gaps in the events, outages, blocks that
// arrive before or after the list that has them. Readers always see a consistent state.
func TestFollowerOfRandomHistories(t *testing.T) {
	rounds := testrun.Rounds(t, followedRounds)
	for i, v := range pendingtest.Variants() {
		if testing.Short() && i > 0 {
			break
		}
		for _, mode := range []string{"lists", "events", "numbered events"} {
			t.Run(v.Name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				seed := testseed.New(t)
				for begun := 0; begun < rounds; begun += followedRounds {
					followHistory(t, newWorld(t, v, seed+uint64(begun)), mode)
				}
			})
		}
	}
}

func followHistory(t *testing.T, w *world, mode string) {
	n := &node{
		w: w, rng: rand.New(rand.NewPCG(w.Rand.Uint64(), 1)), late: 3 * time.Millisecond,
		listens: mode != "lists", numbered: mode == "numbered events",
	}
	f, stop := following(w, n)
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	readers.Go(func() { readMoments(ctx, t, f) })
	seen := &follows{ids: map[model.Hash]bool{}}
	readers.Go(func() { seen.run(ctx, t, f) })
	for round := range followedRounds {
		n.step()
		n.mu.Lock()
		if w.Rand.IntN(3) > 0 {
			w.Sync()
		}
		pause := time.Duration(w.Rand.IntN(4)) * time.Millisecond
		n.mu.Unlock()
		time.Sleep(pause)
		if round%40 == 20 {
			n.leave(true)
		}
		if round%40 == 24 {
			n.leave(false)
		}
		if round%40 != 39 {
			continue
		}
		n.mu.Lock()
		w.Sync()
		n.mu.Unlock()
		s := settled(t, w, f)
		n.mu.Lock()
		w.consistent(s.Overlay)
		same(t, fmt.Sprintf("round %d", round), dump(s.Overlay), dump(w.fresh()))
		n.mu.Unlock()
		seen.equal(t)
	}
	coretest.Consistent(t, w.DB)
}

// readMoments checks that the inputs of the overlay are unspent in its snapshot.
func readMoments(ctx context.Context, t *testing.T, f *Follower) {
	for ctx.Err() == nil {
		err := f.View(ctx, func(v *query.View, o *Overlay) error {
			return v.From(ctx, func(q *query.Query) error {
				var inputs []model.Input
				for tx := range o.Arrivals(0) {
					for i := range tx.Inputs() {
						if out := tx.Inputs()[i].Outpoint; o.Tx(out.Tx) == nil {
							inputs = append(inputs, model.Input{Tx: out.Tx, Index: out.Index})
						}
					}
				}
				found, err := q.Prevouts(inputs)
				for i, p := range found {
					if p == nil || p.Spent {
						t.Errorf("an unconfirmed transaction spends %v:%d, which is spent or unknown at tip %v",
							inputs[i].Tx, inputs[i].Index, v.Tip)
					}
				}
				return err
			})
		})
		if err != nil && ctx.Err() == nil {
			t.Error(err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// follows is a consumer of changes that stores the ids.
type follows struct {
	mu  sync.Mutex
	ids map[model.Hash]bool
	at  *Standing
}

func (c *follows) run(ctx context.Context, t *testing.T, f *Follower) {
	for u := range f.Changes(ctx) {
		c.mu.Lock()
		if c.at = u.Standing; u.Change.All {
			c.ids = map[model.Hash]bool{}
			for tx := range u.Arrivals(0) {
				c.ids[tx.ID] = true
			}
		} else {
			c.apply(t, &u.Change)
		}
		c.mu.Unlock()
	}
}

// apply adds the transactions that arrived and removes the ones that left. A transaction that did both in one change is in
// both lists.
func (c *follows) apply(t *testing.T, change *Change) {
	for _, tx := range change.In {
		c.ids[tx.ID] = true
	}
	for _, gone := range change.Out {
		if c.at.Tx(gone.ID) == nil {
			delete(c.ids, gone.ID)
		}
	}
}

// equal fails if the ids differ from those of the overlay of the last change.
func (c *follows) equal(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var got, want []string
	for id := range c.ids {
		got = append(got, id.String())
	}
	for tx := range c.at.Arrivals(0) {
		want = append(want, tx.ID.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	same(t, "the ids by changes", got, want)
}

// A session ends when the indexes change, even if the source sends no event. The next one lists the transactions.
func TestOtherIndexesEndAQuietSession(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	n := &node{w: w, rng: rand.New(rand.NewPCG(1, 1)), listens: true}
	f, stop := following(w, n)
	defer stop()
	settled(t, w, f)
	sessions := func() int {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.events)
	}
	before := sessions()
	signal(f.reopen)
	for end := time.Now().Add(testrun.Patience); sessions() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d sessions, expected another one", before)
		}
	}
}
