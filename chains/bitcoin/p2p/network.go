package p2p

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/internal/guard"
	"birthmark/internal/humanize"
	"birthmark/model"
)

var errClosed = errors.New("the network's connections are closed")

// enough is the number of discovered peers that must report their chains before the tip is known. After a handshake
// period, fewer are enough.
const enough = 3

// Network follows the best chain of the peers of a network. Its methods may be called concurrently. They wait until
// [Network.Start] is called.
//
// Temporary errors are marked by [blocksource.Temporary] and are of kind [model.BadSource], code unreachable,
// not_synced or block_missing. If all configured peers were dropped because they misbehaved, the error is permanent and
// has code bad_peer.
type Network struct {
	o     Options
	dial  adapter.Dial
	named []string // addresses of the configured peers; none: peers are discovered

	running sync.WaitGroup
	stop    context.CancelFunc

	mu      sync.Mutex
	wake    chan struct{} // closed at the next change
	started time.Time     // time of the call of Start; zero: none
	closed  bool
	failed  error // a panic in a goroutine of the network; nil: none

	held     block.Held
	tree     *tree
	tip      *node     // of the best chain
	own      *node     // the block with the most work that is in the database or was returned; nil: unknown
	less     bool      // a log message has reported that the peers have less work
	moves    int       // number of changes of tip
	prepared bool      // synced was true at least once
	synced   bool      // peers have reported their chains since the tree was built
	met      time.Time // when the first peer connected

	remotes     map[*remote]bool
	pool        []*endpoint
	discovery   discovery
	noPeerSince time.Time     // when the last peer was disconnected
	stall       time.Duration // timeout of a requested block: at least [Options.Stall], longer on a slow connection
}

// New returns a network without connections. It parses the addresses of the options. An error is of kind [model.Usage],
// code bad_source.
func New(o Options) (*Network, error) {
	named, err := o.addresses()
	if err != nil {
		return nil, err
	}
	if len(named) == 0 && len(o.Params.DNSSeeds) == 0 {
		return nil, model.Errorf(model.Usage, "bad_source", "%s has no DNS seeds: expected p2p://host:port", o.Params.Name)
	}
	o = o.withDefaults()
	dial, err := adapter.Dialer(o.Proxy, o.Handshake)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_source", "%w", err)
	}
	return &Network{
		o: o, dial: dial, named: named, wake: make(chan struct{}), remotes: map[*remote]bool{}, stall: o.Stall, stop: func() {},
	}, nil
}

// Start starts to connect to peers. top is the height of the newest block that the caller has, or 0. Headers of the
// database up to about this height are not downloaded again. Later calls have no effect.
func (n *Network) Start(top model.HeightPk) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.started.IsZero() || n.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	begin := func(do func(context.Context)) {
		n.running.Go(func() {
			err := guard.Do(n.o.Log, "the connections to peers", func() { do(ctx) })
			n.locked(func() { n.fail(err) })
		})
	}
	n.started, n.noPeerSince = time.Now(), time.Now()
	n.rebuildTree(top)
	connections := len(n.named)
	for _, a := range n.named {
		n.pool = append(n.pool, &endpoint{address: a})
	}
	if connections == 0 {
		connections = n.o.Keep
		begin(n.discover)
	}
	for range connections {
		begin(n.connect)
	}
	begin(n.watch)
	n.changed()
}

// Close closes all connections and wakes all waiting callers.
func (n *Network) Close() error {
	n.locked(func() {
		n.closed = true
		for r := range n.remotes {
			n.drop(r, disconnected, "the connection was closed here")
		}
		n.changed()
	})
	n.stop()
	n.running.Wait()
	return nil
}

// locked calls do with the mutex held, and releases it after a panic too.
func (n *Network) locked(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

// changed wakes all waiting callers. n.mu must be held, as for all unexported methods below.
func (n *Network) changed() {
	n.wakeAll()
	n.reportPreparation()
}

func (n *Network) wakeAll() {
	close(n.wake)
	n.wake = make(chan struct{})
}

// fail ends the network after a panic, since its state may be half changed. Calls return the error. nil has no effect.
func (n *Network) fail(err error) {
	if err != nil {
		n.failed = err
		n.stop()
		n.wakeAll()
	}
}

// over returns why no call can succeed any more, nil if one can.
func (n *Network) over() error {
	if n.closed {
		return errClosed
	}
	return n.failed
}

// reportPreparation calls [Options.Preparing] if the tip is not known yet. The total is the median of the heights that
// peers claim, since a single peer can claim any height.
func (n *Network) reportPreparation() {
	if n.o.Preparing == nil || n.prepared || n.closed {
		return
	}
	var claims []int32
	for r := range n.remotes {
		if r.ready {
			claims = append(claims, r.claims)
		}
	}
	if len(claims) == 0 {
		n.o.Preparing("connecting to peers", 0, 0)
		return
	}
	slices.Sort(claims)
	total := max(claims[len(claims)/2], n.tip.height)
	n.o.Preparing("loading headers from "+humanize.Plural(len(claims), "peer"), uint64(n.tip.height), uint64(total))
}

// await calls done now and after each change, with n.mu held, until it returns true or an error.
func (n *Network) await(ctx context.Context, done func() (bool, error)) error {
	for {
		var ok bool
		var err error
		var wake chan struct{}
		n.locked(func() {
			if err = n.over(); err == nil && !n.started.IsZero() {
				ok, err = done()
			}
			wake = n.wake
		})
		if ok || err != nil {
			return err
		}
		if err := wait(ctx, wake, time.Hour); err != nil {
			return err
		}
	}
}

// wait waits until the next change, for at most d. It returns the error of ctx.
func wait(ctx context.Context, wake <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Tip returns the tip of the best chain of the connected peers. The first call waits until all reachable configured
// peers or some discovered peers have reported their chains. It waits at most [Options.Stall] for a peer.
func (n *Network) Tip(ctx context.Context) (tip model.Point, err error) {
	err = n.await(ctx, func() (bool, error) {
		if err := n.connectionError(); err != nil {
			return false, err
		}
		if !n.headersReported() {
			return false, nil
		}
		tip = n.tip.point()
		return true, n.behind()
	})
	return tip, err
}

// headersReported reports whether the tip is known. Once it was true, one connected peer that has reported is enough.
func (n *Network) headersReported() bool {
	reported, late := 0, false
	for r := range n.remotes {
		switch {
		case !r.ready:
		case r.reported, r.claims < n.tip.height: // a peer with fewer blocks does not have the tip
			reported++
		default:
			late = true
		}
	}
	if reported == 0 || n.synced {
		return reported > 0
	}
	if len(n.named) > 0 {
		late = late || slices.ContainsFunc(n.pool, func(e *endpoint) bool { return !e.tried })
	} else {
		late = late || reported < min(enough, n.o.Keep) && time.Since(n.met) < n.o.Handshake
	}
	n.synced = !late
	n.prepared = n.prepared || n.synced
	return n.synced
}

// behind returns an error if no connected peer has sent the headers up to its claimed height, or if the best chain of
// the peers has less work than that of the database.
func (n *Network) behind() error {
	claims, answered := int32(0), false
	for r := range n.remotes {
		switch {
		case !r.ready:
		case r.silent, r.behind:
			claims = max(claims, r.claims)
		default:
			answered = true
		}
	}
	if !answered && claims > n.tip.height {
		return blocksource.Temporary(model.Errorf(model.BadSource, "not_synced",
			"no peer sends its headers, although one has %d blocks: %s", claims, n.peerSummary()))
	}
	return n.lessWork()
}

// lessWork returns an error if the connected peers' best chain has less work than the database's.
func (n *Network) lessWork() error {
	best, _ := n.best()
	switch {
	case n.own == nil || best != nil && !n.own.work.More(best.work):
		return nil
	case best == nil || n.tree.fork(best) == best:
		return blocksource.Temporary(model.Errorf(model.BadSource, "not_synced",
			"the peers have fewer blocks than the database, which has block %d: %s", n.own.height, n.peerSummary()))
	}
	return blocksource.Temporary(model.Errorf(model.BadSource, "not_synced",
		"the peers' chain has less work than the database's, which has block %d: %s", n.own.height, n.peerSummary()))
}

// Hashes returns at most k hashes of the best chain, starting at a height. It returns fewer at the end of the chain. If
// the height is below the base of the tree, it rebuilds the tree from an older block.
func (n *Network) Hashes(ctx context.Context, from model.HeightPk, k int) (hashes []model.Hash, err error) {
	err = n.await(ctx, func() (bool, error) {
		if int64(from) < int64(n.tree.base.height) {
			if h := n.o.Header.at(int32(from)); h != nil && k == 1 {
				hashes = []model.Hash{model.Hash(h.BlockHash())}
				return true, nil
			}
			n.rebuildTree(from)
		}
		if !n.synced && !n.headersReported() {
			return false, n.connectionError()
		}
		for h := int64(from); len(hashes) < k; h++ {
			at := n.tree.atHeight(h)
			if at == nil {
				break
			}
			hashes = append(hashes, model.Hash(at.hash))
		}
		return true, nil
	})
	return hashes, err
}

// Changed returns when tip is no longer the tip of the best chain. It returns an error if no peer was connected for
// [Options.Stall] and no peer can be reached.
func (n *Network) Changed(ctx context.Context, tip model.Point) error {
	return n.await(ctx, func() (bool, error) {
		if !n.synced && !n.headersReported() {
			return false, n.noPeersError()
		}
		if n.tip.hash != [32]byte(tip.Hash) {
			return true, nil
		}
		return false, n.noPeersError()
	})
}

// rebuildTree replaces the tree by one whose base is a block at or below a height, and requests headers again.
func (n *Network) rebuildTree(top model.HeightPk) {
	n.tree = newTree(n.o.Rules, n.o.Header, int32(top))
	n.tree.proven = n.o.Format.Work != nil
	n.tip, n.own, n.synced = n.tree.base, nil, false
	if n.o.Header != nil {
		n.own = n.tree.load(n.o.Header)
		n.tip = n.own
		n.tree.setChain(n.tip)
	}
	n.moves++
	for r := range n.remotes {
		r.best, r.reported, r.behind = nil, false, false
		r.asked, r.orphans, r.side = time.Time{}, 0, 0
	}
	n.requestHeaders()
	n.changed()
}

// best returns the block with the most work that a connected peer has, or nil. reported is true if all connected peers
// have reported their chains.
func (n *Network) best() (best *node, reported bool) {
	reported = true
	for r := range n.remotes {
		if !r.ready {
			continue
		}
		reported = reported && r.reported
		if r.best != nil && (best == nil || r.best.better(best)) {
			best = r.best
		}
	}
	return best, reported
}

// choose sets the tip to the block with the most work that a connected peer or the database has. It does not change the
// tip if no connected peer is known to have a block.
func (n *Network) choose() {
	best, reported := n.best()
	if best == nil {
		return
	}
	less := n.own != nil && n.own.work.More(best.work)
	if less && reported && !n.less {
		n.o.Log.Warn("the peers' chain has less work than the database's: waiting for more work",
			"peers", best.height, "database", n.own.height)
	}
	n.less = less && (reported || n.less)
	if n.own != nil && !best.better(n.own) {
		best = n.own
	}
	if best == n.tip {
		return
	}
	n.tip = best
	n.moves++
	n.tree.setChain(best)
	n.changed()
}

// prune removes side branches from the tree if they are too large. It returns true if it did: only the network and its
// remotes then have valid pointers to nodes.
func (n *Network) prune() bool {
	if !n.tree.prune() {
		return false
	}
	n.tip = n.tree.find(&n.tip.hash)
	if n.own != nil {
		n.own = n.tree.find(&n.own.hash)
	}
	for r := range n.remotes {
		if r.best != nil {
			r.best = n.tree.find(&r.best.hash)
		}
		if r.since != nil {
			if r.since = n.tree.find(&r.since.hash); r.since == nil {
				r.since = n.tip
			}
		}
		r.side = 0
	}
	return true
}
