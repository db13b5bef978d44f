package p2p

import (
	"errors"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/model"
)

const (
	// mostLoose is the number of consecutive times that a peer's headers may have an unknown parent.
	mostLoose = 10
	// mostSide is the minimum of headers with less work that a peer may send: an honest peer with a long branch that
	// wins in the end needs at most the length of the best chain.
	mostSide = 20_000
)

// ask requests headers from peers without a request: from one at first, so that not all send the whole chain.
func (n *Network) ask() {
	if n.closed {
		return
	}
	var first *remote
	busy, told := false, false
	for r := range n.remotes {
		switch {
		case !r.ready:
		case r.told:
			told = told || !r.silent
		case !r.asked.IsZero():
			busy = true
		case first == nil || r.claims > first.claims:
			first = r
		}
	}
	if first == nil || busy && !told {
		return
	}
	first.getHeaders()
	n.ask()
}

// getHeaders requests the headers after the best chain. It begins one before its tip, so that a peer with the tip
// confirms it.
func (r *remote) getHeaders() {
	from := r.n.tip
	if from.parent != nil {
		from = from.parent
	}
	r.getHeadersFrom(from, r.n.tree.locator(from))
}

func (r *remote) getHeadersFrom(from *node, locator []*chainhash.Hash) {
	r.asked, r.since, r.again = time.Now(), from, false
	m := wire.NewMsgGetHeaders()
	m.ProtocolVersion = r.peer.ProtocolVersion()
	m.BlockLocatorHashes = locator
	r.peer.QueueMessage(m, nil)
}

// hears records that a peer has sent all its headers.
func (r *remote) hears() {
	r.told, r.at.tried, r.at.fails = true, true, 0
	r.n.choose()
	r.n.ask()
	r.n.changed()
}

// has records that a peer has a block and all before it.
func (r *remote) has(at *node) {
	if at != nil && (r.best == nil || at.work.More(r.best.work)) {
		r.best = at
		r.claims = max(r.claims, at.height)
	}
}

func (r *remote) onHeaders(m *wire.MsgHeaders) {
	n := r.n
	if !r.ready {
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
	last, fresh, err := n.tree.extend(&r.pending, m.Headers)
	r.has(last)
	_, bad := errors.AsType[badHeader](err)
	switch {
	case bad:
		r.lied("sent a bad header: %v", err)
	case errors.Is(err, errFuture):
		n.drop(r, lost, "is ahead of time: "+err.Error())
	case errors.Is(err, errLoose):
		r.onLoose(&m.Headers[0].PrevBlock)
	case errors.Is(err, errDeep):
		n.replant(r, n.tree.below[0])
	default:
		r.onChain(last, fresh, asked, len(m.Headers) == wire.MaxBlockHeadersPerMsg)
	}
}

// onNoHeaders: the peer has nothing after the newest entry of the locator that it has. Which entry that is, only its
// claimed height tells.
func (r *remote) onNoHeaders(asked bool) {
	n := r.n
	if !asked {
		r.annoys(1, "headers messages without headers")
		return
	}
	r.behind = r.claims < n.tree.base.height
	if r.since != nil && !r.behind && len(r.pending.headers) == 0 {
		r.has(n.tree.on(int64(min(r.claims, r.since.height, n.tip.height))))
	}
	r.hears()
}

// onLoose handles headers without a parent in the tree: the peer's chain forks below the base, or is shorter, or the
// peer announced a block before its parents.
func (r *remote) onLoose(parent *chainhash.Hash) {
	n := r.n
	for _, k := range n.tree.below {
		if *parent != chainhash.Hash(k.Hash) {
			continue
		}
		if r.behind = r.claims < n.tree.base.height; r.behind {
			r.hears()
			return
		}
		n.replant(r, k)
		return
	}
	if r.loose++; r.loose > mostLoose {
		r.lied("sent headers that follow on none, %d times", r.loose)
		return
	}
	r.getHeaders()
}

// replant starts again from an older point, since a peer's chain cannot be checked otherwise.
func (n *Network) replant(r *remote, at model.Point) {
	n.o.Log.Info("a peer's chain parts from the database's far down: headers are loaded again",
		"peer", r.at.address, "from", at.Height)
	n.plant(at.Height)
}

// onChain handles headers that are in the tree now, or wait to be checked.
func (r *remote) onChain(last *node, fresh int, asked, more bool) {
	n := r.n
	r.loose, r.behind = 0, false
	if !asked && fresh == 0 && len(r.pending.headers) == 0 {
		r.annoys(1, "headers that are known")
		return
	}
	n.choose()
	n.prune()
	if r.side += fresh; last != nil && last.hash == n.tip.hash {
		r.side = 0
	}
	if most := max(mostSide, len(n.tree.chain)+wire.MaxBlockHeadersPerMsg); r.side > most {
		r.lied("sent %d headers of chains with less work", r.side)
		return
	}
	if more && fresh == 0 && last != nil && last.height <= r.since.height {
		r.annoys(costOfHeaders, "headers that are known") // on a branch of another peer, or in a circle
	}
	switch {
	case r.over:
	case more && len(r.pending.headers) > 0:
		tail := r.pending.hashes[len(r.pending.hashes)-1]
		r.getHeadersFrom(r.since, append([]*chainhash.Hash{&tail}, n.tree.locator(n.tree.base)...))
	case more && last != nil && last != r.since:
		r.getHeadersFrom(last, n.tree.locator(last))
	case r.again:
		r.getHeaders()
	default:
		r.hears()
	}
}

// onInv handles announcements by peers that do not announce by headers.
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
		r.has(at)
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
