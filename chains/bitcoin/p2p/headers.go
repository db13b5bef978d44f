package p2p

import (
	"errors"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/model"
)

const (
	// maxOrphans is the number of consecutive messages of a peer whose headers may have an unknown parent.
	maxOrphans = 10
	// minSideHeaders is the lower bound of the number of headers of chains with less work that a peer may send. A peer
	// may send as many as the best chain has, since its branch may have more work in the end.
	minSideHeaders = 20_000
)

// requestHeaders requests headers from peers that have no pending request. Until one peer has reported its chain, it
// requests them from one peer only, so that not all peers send the whole chain.
func (n *Network) requestHeaders() {
	if n.closed {
		return
	}
	var first *remote
	busy, reported := false, false
	for r := range n.remotes {
		switch {
		case !r.ready:
		case r.reported:
			reported = reported || !r.silent
		case !r.asked.IsZero():
			busy = true
		case first == nil || r.claims > first.claims:
			first = r
		}
	}
	if first == nil || busy && !reported {
		return
	}
	first.getHeaders()
	n.requestHeaders()
}

// getHeaders requests the headers after the parent of the tip of the best chain. A peer that has the tip then sends it.
func (r *remote) getHeaders() {
	from := r.n.tip
	if from.parent != nil {
		from = from.parent
	}
	r.getHeadersFrom(from)
}

// getHeadersFrom requests the headers after from.
func (r *remote) getHeadersFrom(from *node) {
	r.asked, r.since, r.again = time.Now(), from, false
	m := wire.NewMsgGetHeaders()
	m.ProtocolVersion = r.peer.ProtocolVersion()
	m.BlockLocatorHashes = r.n.tree.locator(from)
	r.peer.QueueMessage(m, nil)
}

// headersDone records that a peer has sent all its headers.
func (r *remote) headersDone() {
	r.reported, r.at.tried, r.at.fails = true, true, 0
	r.n.choose()
	r.n.requestHeaders()
	r.n.changed()
}

// noteBlock records that a peer has a block and all blocks before it.
func (r *remote) noteBlock(at *node) {
	if at != nil && (r.best == nil || at.work.More(r.best.work)) {
		r.best = at
		r.claims = max(r.claims, at.height)
	}
}

// onHeaders handles a message with headers. work is the error of checkWork for the header after them, or nil.
func (r *remote) onHeaders(m *wire.MsgHeaders, work error) {
	n := r.n
	if !r.ready {
		return
	}
	if work != nil && len(m.Headers) == 0 {
		r.ban("sent a bad header: %v", work)
		return
	}
	asked := !r.asked.IsZero()
	if r.since == nil {
		r.since = n.tree.base
	}
	r.asked, r.silent = time.Time{}, false
	if len(m.Headers) == 0 {
		r.onNoHeaders(asked)
		return
	}
	last, fresh, err := n.tree.extend(m.Headers)
	r.noteBlock(last)
	if err == nil && work != nil {
		err = badHeader{work}
	}
	_, bad := errors.AsType[badHeader](err)
	switch {
	case bad:
		r.ban("sent a bad header: %v", err)
	case errors.Is(err, errFuture):
		n.drop(r, disconnected, "is ahead of time: "+err.Error())
	case errors.Is(err, errOrphan):
		r.onOrphans(&m.Headers[0].PrevBlock)
	case errors.Is(err, errForkTooDeep):
		n.rebuildFrom(r, n.tree.below[0])
	default:
		r.onChain(last, fresh, asked, len(m.Headers) == wire.MaxBlockHeadersPerMsg)
	}
}

// onNoHeaders handles a message without headers: the peer has no headers after the newest entry of the locator that it
// knows. Only the claimed height of the peer indicates which entry that is.
func (r *remote) onNoHeaders(asked bool) {
	n := r.n
	if !asked {
		r.penalize(1, "headers messages without headers")
		return
	}
	r.behind = r.claims < n.tree.base.height
	if r.since != nil && !r.behind {
		r.noteBlock(n.tree.atHeight(int64(min(r.claims, r.since.height, n.tip.height))))
	}
	r.headersDone()
}

// onOrphans handles headers whose parent is not in the tree: the chain of the peer forks or ends below the base, or the
// peer announced a block before its ancestors.
func (r *remote) onOrphans(parent *chainhash.Hash) {
	n := r.n
	for _, k := range n.tree.below {
		if *parent != chainhash.Hash(k.Hash) {
			continue
		}
		if r.behind = r.claims < n.tree.base.height; r.behind {
			r.headersDone()
			return
		}
		n.rebuildFrom(r, k)
		return
	}
	if r.orphans++; r.orphans > maxOrphans {
		r.ban("sent headers without a known parent, %d times", r.orphans)
		return
	}
	r.getHeaders()
}

// rebuildFrom rebuilds the tree from an older block, so that the chain of a peer can be validated.
func (n *Network) rebuildFrom(r *remote, at model.Point) {
	n.o.Log.Info("a peer's chain forks deep below the database's tip: headers are loaded again",
		"peer", r.at.address, "from", at.Height)
	n.rebuildTree(at.Height)
}

// onChain handles headers after they were added to the tree.
func (r *remote) onChain(last *node, fresh int, asked, more bool) {
	n := r.n
	r.orphans, r.behind = 0, false
	if !asked && fresh == 0 {
		r.penalize(1, "headers that are known")
		return
	}
	n.choose()
	if r.side += fresh; last.hash == n.tip.hash {
		r.side = 0
	}
	if n.prune() {
		if last = n.tree.find(&last.hash); last == nil {
			last = n.tip // the peer sends its branch again, after the fork
		}
	}
	if most := max(minSideHeaders, len(n.tree.chain)+wire.MaxBlockHeadersPerMsg); r.side > most {
		r.ban("sent %d headers of chains with less work", r.side)
		return
	}
	if more && fresh == 0 && last.height <= r.since.height {
		r.penalize(costOfHeaders, "headers that are known")
	}
	switch {
	case r.over:
	case more && last != r.since:
		r.getHeadersFrom(last)
	case r.again:
		r.getHeaders()
	default:
		r.headersDone()
	}
}

// onInv handles announcements of blocks by inventory instead of by headers.
func (r *remote) onInv(m *wire.MsgInv) {
	n := r.n
	if !r.ready {
		return
	}
	unknown := false
	for _, v := range m.InvList {
		if v.Type != wire.InvTypeBlock && v.Type != wire.InvTypeWitnessBlock {
			continue
		}
		at := n.tree.find(&v.Hash)
		r.noteBlock(at)
		unknown = unknown || at == nil
	}
	n.choose()
	switch {
	case !unknown:
	case r.asked.IsZero(), r.silent:
		r.getHeaders()
	default:
		r.again = true
	}
}
