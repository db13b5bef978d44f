package p2p

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

const (
	// window is the maximum number of blocks that one call has requested and not received.
	window = 128
	// failures is the number of consecutive peers that may fail to send the blocks of a call before it returns an
	// error.
	failures = 3
	// maxOthers is the number of consecutive unrequested blocks after which a peer is dropped.
	maxOthers = 3
	// recent is the number of newest blocks that a pruned peer serves (BIP 159).
	recent = 288
)

// progress is the state of a block in a fetch.
type progress uint8

const (
	todo    progress = iota
	asked            // it is requested from the peer of the fetch
	arrived          // it has arrived and is being validated
	held             // it is valid
)

// fetch is an active call of [Network.Raw].
type fetch struct {
	points []model.Point
	hashes []chainhash.Hash
	limit  int64

	state   []progress
	raw     [][]byte
	next    int     // the first block that is not held, or that exceeds the limit
	bytes   int64   // size of the blocks before next
	arrived int     // number of blocks that have arrived
	size    int64   // their size
	pending int     // number of requested blocks
	from    *remote // nil: to be chosen
	failed  int     // consecutive peers that did not send requested blocks
	done    bool
	fault   error // why a large block was not read

	moves int       // value of Network.moves when the points were last compared with the best chain
	until int       // the points before this one are on the best chain
	since time.Time // when it was found that no peer has the next block; zero: a peer has it

	arrivals chan arrival
}

// arrival is a block with the requested header.
type arrival struct {
	i    int
	from *remote
	raw  []byte
}

// want is a block that a fetch has requested from a peer.
type want struct {
	f *fetch
	i int
}

// freed records that the peer will not send the block.
func (w want) freed() {
	if w.f.state[w.i] == asked {
		w.f.state[w.i] = todo
		w.f.pending--
	}
	w.f.from = nil
}

// Raw returns the serialized blocks at points of the best chain, in order and at least the first one. It stops when
// their size reaches limit bytes, and at a point that is not on the best chain. If that is the first point, the error
// is [blocksource.ErrMoved]; [*blocksource.LargeBlock] as in [blocksource.Node]. The merkle roots and witness commitments of
// the blocks are verified. Release must be called with each block.
func (n *Network) Raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error) {
	if len(points) == 0 {
		return nil, nil
	}
	return n.fetch(ctx, newFetch(points, limit))
}

func newFetch(points []model.Point, limit int64) *fetch {
	f := &fetch{
		points: points, limit: limit, moves: -1,
		hashes: make([]chainhash.Hash, len(points)), state: make([]progress, len(points)), raw: make([][]byte, len(points)),
		arrivals: make(chan arrival, len(points)),
	}
	for i, p := range points {
		f.hashes[i] = chainhash.Hash(p.Hash)
	}
	return f
}

func (n *Network) fetch(ctx context.Context, f *fetch) ([][]byte, error) {
	defer n.locked(func() { n.end(f) })
	for {
		var done bool
		var err error
		var wake chan struct{}
		n.locked(func() {
			if done, err = n.advance(f); done {
				n.assignBlocks(f)
			}
			wake = n.wake
		})
		if err != nil {
			return nil, err
		}
		if done {
			raws := slices.Clone(f.raw[:f.next])
			clear(f.raw[:f.next]) // the caller releases them
			return raws, nil
		}
		select {
		case a := <-f.arrivals:
			height := f.points[a.i].Height
			err := n.o.Format.CheckBody(a.raw, height >= n.o.Segwit, height >= n.o.Extended)
			n.locked(func() {
				f.validated(a, err)
				if err != nil {
					n.held.Release(a.raw)
					a.from.ban("sent a bad block %d (%s): %v", f.points[a.i].Height, f.hashes[a.i], err)
				}
			})
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// end frees the blocks that a fetch does not return.
func (n *Network) end(f *fetch) {
	f.done = true
	for _, raw := range f.raw {
		n.held.Release(raw)
	}
	for len(f.arrivals) > 0 {
		n.held.Release((<-f.arrivals).raw)
	}
}

// Release frees a block that Raw returned.
func (n *Network) Release(raw []byte) { n.held.Release(raw) }

// permit returns an error if a large block must be fetched alone, or does not fit into the memory.
func (f *fetch) permit(i int, size int64, room func(bytes int64) error) error {
	if f.limit > 0 && size > f.limit {
		return &blocksource.LargeBlock{Size: size}
	}
	if room == nil {
		return nil
	}
	if err := room(size); err != nil {
		return adapter.BadBlock(fmt.Errorf("%d bytes: %w", size, err), "block %d (%s)", f.points[i].Height, f.hashes[i])
	}
	return nil
}

// assignBlocks records the blocks that a fetch returns. Afterwards chains with less work than theirs are not followed.
func (n *Network) assignBlocks(f *fetch) {
	if at := n.tree.find(&f.hashes[f.next-1]); at != nil && (n.own == nil || at.work.More(n.own.work)) {
		n.own = at
	}
}

// validated records the result of the validation of a block.
func (f *fetch) validated(a arrival, err error) {
	if err != nil {
		f.state[a.i] = todo
		f.size -= int64(len(a.raw))
		f.arrived--
		return
	}
	f.state[a.i], f.raw[a.i] = held, a.raw
	for f.next < len(f.points) && f.state[f.next] == held && (f.next == 0 || f.bytes < f.limit) {
		f.bytes += int64(len(f.raw[f.next]))
		f.next++
	}
}

// advance sends the next requests of a fetch. It reports whether the fetch is complete.
func (n *Network) advance(f *fetch) (done bool, err error) {
	if err := n.over(); err != nil {
		return false, err
	}
	switch {
	case f.fault != nil && f.next == 0:
		return false, f.fault
	case f.fault != nil:
		return true, nil
	case n.started.IsZero():
		return false, nil
	case int64(f.points[0].Height) < int64(n.tree.base.height):
		n.rebuildTree(f.points[0].Height)
		return false, nil
	case !n.synced && !n.headersReported():
		return false, n.noPeersError()
	}
	if f.moves != n.moves {
		f.moves, f.until = n.moves, 0
		for ; f.until < len(f.points); f.until++ {
			if at := n.tree.atHeight(int64(f.points[f.until].Height)); at == nil || at.hash != f.hashes[f.until] {
				break
			}
		}
	}
	switch {
	case f.next > 0 && (f.next >= f.until || f.bytes >= f.limit):
		return true, nil
	case f.until == 0:
		return false, fmt.Errorf("block %d (%s): %w", f.points[0].Height, f.hashes[0], blocksource.ErrMoved)
	}
	return false, n.request(f)
}

// request requests the next blocks of a fetch from a peer: as many as are expected to fit into its limit.
func (n *Network) request(f *fetch) error {
	first := f.next
	for first < f.until && f.state[first] != todo {
		first++
	}
	if first == f.until || first > f.next && f.size >= f.limit {
		return nil
	}
	if f.from == nil || f.from.over || !f.from.canServe(f, first) {
		if f.pending > 0 {
			return nil // a fetch uses one peer at a time, so that blocks arrive in the order of requests
		}
		if f.failed < failures {
			f.from = n.assign(f, first)
		}
		if f.from == nil {
			return n.unassigned(f, first)
		}
	}
	f.since = time.Time{}
	most := f.room()
	if f.pending > most/2 {
		return nil
	}
	m := wire.NewMsgGetData()
	for i := first; i < f.until && f.pending < most; i++ {
		if f.state[i] != todo || !f.from.canServe(f, i) {
			continue
		}
		f.state[i] = asked
		f.pending++
		f.from.request(f, i, m)
	}
	if len(m.InvList) > 0 {
		f.from.peer.QueueMessage(m, nil)
	}
	return nil
}

// room returns the number of blocks that may be requested at the same time, by the average size of earlier blocks.
func (f *fetch) room() int {
	average := f.limit/int64(2*len(f.points)) + 1
	if f.arrived > 0 {
		average = max(average, f.size/int64(f.arrived))
	}
	return int(min(max((f.limit-f.size)/average, 1), window))
}

// request records that a block is requested. It adds the block to the message unless an earlier request is pending.
func (r *remote) request(f *fetch, i int, m *wire.MsgGetData) {
	if len(r.wanted) == 0 {
		r.moved = time.Now()
	}
	if len(r.wanted[f.hashes[i]]) == 0 {
		_ = m.AddInvVect(wire.NewInvVect(r.n.o.BlockType, &f.hashes[i])) // a window is far below the maximum
	}
	r.wanted[f.hashes[i]] = append(r.wanted[f.hashes[i]], want{f, i})
}

// canServe reports whether the peer is expected to have a block of a fetch.
func (r *remote) canServe(f *fetch, i int) bool {
	if !r.ready || r.over || r.best == nil || r.lacks[f.hashes[i]] {
		return false
	}
	height, top := int64(f.points[i].Height), int64(r.n.tree.fork(r.best).height)
	return height <= top && (r.full || height > int64(r.best.height)-recent)
}

// assign returns the peer with the fewest pending blocks among the peers that have a block, or nil if no peer has it.
func (n *Network) assign(f *fetch, i int) *remote {
	var best *remote
	for r := range n.remotes {
		if r.canServe(f, i) && (best == nil || len(r.wanted) < len(best.wanted)) {
			best = r
		}
	}
	return best
}

// unassigned handles a block that no peer has. It returns an error after [Options.Stall].
func (n *Network) unassigned(f *fetch, i int) error {
	if f.failed >= failures {
		return n.missing(f, i)
	}
	if n.ready() == 0 {
		f.since = time.Time{}
		return n.noPeersError()
	}
	if f.since.IsZero() {
		f.since = time.Now()
	}
	if time.Since(f.since) < n.o.Stall {
		return nil
	}
	return n.missing(f, i)
}

// missing returns the error of a block that no peer sends.
func (n *Network) missing(f *fetch, i int) error {
	return blocksource.Temporary(model.Errorf(model.BadSource, "block_missing",
		"no connected peer sends block %d (%s): %s", f.points[i].Height, f.hashes[i], n.peerSummary()))
}

func (r *remote) onBlock(raw []byte) {
	n := r.n
	hash := chainhash.Hash(n.o.Format.HashOf(raw))
	wants, ok := r.wanted[hash]
	if !ok {
		n.held.Release(raw)
		if len(r.wanted) > 0 {
			r.others++
		}
		if r.others >= maxOthers {
			r.ban("sent other blocks than requested, %d times", r.others)
			return
		}
		r.penalize(costOfBlock, "unrequested blocks")
		return
	}
	r.others = 0
	delete(r.wanted, hash)
	r.moved, r.at.fails, r.at.stalls = time.Now(), 0, 0
	n.stall = max(n.o.Stall, n.stall-n.stall/64)
	for i, w := range wants {
		if i > 0 && len(raw) > block.Large { // one fetch releases it, and the others fetch it again
			w.freed()
			continue
		}
		w.deliver(arrival{w.i, r, raw})
	}
}

// deliver passes a block to its fetch. If the fetch has already limit bytes, it only accepts the next block, and other
// blocks are requested again later. Thus a fetch needs at most twice the limit and the size of one block.
func (w want) deliver(a arrival) {
	f, held := w.f, &a.from.n.held
	if f.done {
		held.Release(a.raw)
		return
	}
	f.pending--
	if f.size >= f.limit && w.i != f.next {
		f.state[w.i] = todo
		held.Release(a.raw)
		return
	}
	f.state[w.i] = arrived
	f.size += int64(len(a.raw))
	f.arrived++
	f.failed = 0
	f.arrivals <- a // does not block: the capacity is the number of blocks
}

func (r *remote) onNotFound(m *wire.MsgNotFound) {
	n := r.n
	for _, v := range m.InvList {
		for _, w := range r.wanted[v.Hash] {
			r.lacks[v.Hash] = true
			w.freed()
		}
		delete(r.wanted, v.Hash)
	}
	n.changed()
}
