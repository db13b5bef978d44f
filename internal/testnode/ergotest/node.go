package ergotest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"birthmark/model"
)

// Options configure a node.
type Options struct {
	Network string // as in /info; empty: mainnet
	Genesis []byte // the response of /utxo/genesis; nil: an empty list
	APIKey  string // required in every request; empty: none
	Gzip    bool   // compress responses for clients that accept gzip
	Old     bool   // an old version without POST /blocks/headerIds, the ids of the mempool and the network in /info
}

// Node is an Ergo test node: a [http.Handler]. Its methods may be called while it serves requests.
type Node struct {
	options Options

	mu      sync.Mutex
	best    []Block // headers, from height 1 or the first block given
	stale   map[model.HeightPk][]model.Hash
	known   map[model.Hash]Block
	missing map[model.Hash]bool // blocks of which only the header is known
	pruned  model.HeightPk      // blocks below this height are pruned
	full    *Block              // the last block of the best chain of full blocks; nil: none
	fault   Fault
	pool    pool

	asked  map[string]int
	active int
	most   int
}

// New returns a node without blocks.
func New(o Options) *Node {
	if o.Network == "" {
		o.Network = "mainnet"
	}
	if o.Genesis == nil {
		o.Genesis = []byte("[]")
	}
	return &Node{
		options: o, stale: map[model.HeightPk][]model.Hash{}, known: map[model.Hash]Block{},
		missing: map[model.Hash]bool{}, asked: map[string]int{},
	}
}

// Start serves the node on loopback until the test ends, and returns its URL.
func (n *Node) Start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(n)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// Tip returns the last full block, or the origin.
func (n *Node) Tip() model.Point {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full == nil {
		return model.Point{}
	}
	return n.full.Point()
}

// Extend adds blocks to the end of the chain. Like all methods that move the chain, it panics if they do not fit.
func (n *Node) Extend(blocks ...Block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announce(n.top(), blocks)
	n.deliver()
}

// Switch replaces the blocks above a height by others. The old ones stay known.
func (n *Node) Switch(keep model.HeightPk, blocks ...Block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announce(keep, blocks)
	n.deliver()
}

// SwitchWith is [Node.Switch] together with [Node.SetPool]: transactions that the new blocks have are confirmed.
func (n *Node) SwitchWith(txs []Tx, keep model.HeightPk, blocks ...Block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool.txs = append([]Tx(nil), txs...)
	n.announce(keep, blocks)
	n.deliver()
}

// Announce is Switch for headers alone: the blocks after keep are missing, and the chain of full blocks does not move.
func (n *Node) Announce(keep model.HeightPk, blocks ...Block) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.announce(keep, blocks)
}

// Deliver adds the blocks of all known headers.
func (n *Node) Deliver() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deliver()
}

// Prune deletes the blocks below a height. Their headers stay.
func (n *Node) Prune(below model.HeightPk) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pruned = below
}

// Requests returns the number of requests to a path without its arguments: "/blocks/headerIds", "/blocks/ID".
func (n *Node) Requests(path string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[path]
}

// AtOnce returns the maximum number of concurrent requests.
func (n *Node) AtOnce() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.most
}

// top returns the height of the last header.
func (n *Node) top() model.HeightPk {
	if len(n.best) == 0 {
		return 0
	}
	return n.best[len(n.best)-1].Height
}

func (n *Node) announce(keep model.HeightPk, blocks []Block) {
	for len(n.best) > 0 && n.top() > keep {
		last := n.best[len(n.best)-1]
		n.stale[last.Height] = slices.Insert(n.stale[last.Height], 0, last.ID)
		n.best = n.best[:len(n.best)-1]
	}
	for _, b := range blocks {
		if i := len(n.best) - 1; i >= 0 && (b.Parent != n.best[i].ID || b.Height != n.best[i].Height+1) {
			panic(fmt.Sprintf("block %d %s is put on block %d %s", b.Height, b.ID, n.best[i].Height, n.best[i].ID))
		}
		if _, known := n.known[b.ID]; !known {
			n.known[b.ID] = b
			n.missing[b.ID] = true
		}
		n.stale[b.Height] = slices.DeleteFunc(n.stale[b.Height], func(id model.Hash) bool { return id == b.ID })
		n.best = append(n.best, b)
		n.confirm(b)
	}
}

func (n *Node) deliver() {
	clear(n.missing)
	n.full = nil
	if len(n.best) > 0 {
		last := n.best[len(n.best)-1]
		n.full = &last
	}
}

// at returns the block of the best chain of headers at a height.
func (n *Node) at(h model.HeightPk) (Block, bool) {
	if len(n.best) == 0 || h < n.best[0].Height || h > n.top() {
		return Block{}, false
	}
	return n.best[h-n.best[0].Height], true
}

// block returns a full block of the node.
func (n *Node) block(id model.Hash) (Block, bool) {
	b, ok := n.known[id]
	return b, ok && !n.missing[id] && b.Height >= n.pruned
}

var _ http.Handler = (*Node)(nil)
