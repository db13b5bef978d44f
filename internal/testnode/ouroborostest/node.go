package ouroborostest

import (
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// Node is a node that runs for one test. Its methods may be called concurrently, and while clients are served.
type Node struct {
	magic   uint32
	tcp     string // host and port
	socket  string // path
	serving sync.WaitGroup

	mu       sync.Mutex
	blocks   []Block // slices that were read are never written: see change
	at       map[[32]byte]int
	cursors  map[*cursor]bool
	wires    map[*wire]bool
	faults   Faults
	cutAfter int // number of blocks until a connection is cut; 0 or less: never
	asked    map[string]int
	then     func()         // called after the next intersection
	open     []net.Listener // nil: stopped

	pool        []Tx // slices that were read are never written
	poolVersion uint64
	poolMoved   sync.Cond
	refusal     []byte
	results     map[int][]byte // of queries of the ledger state, like queries
	queries     map[int][]byte
}

// Start starts a node with blocks, or without. magic is that of the network's genesis: 2 for preview. The node stops
// when the test ends.
func Start(t testing.TB, magic uint32, blocks []Block) *Node {
	t.Helper()
	dir, err := os.MkdirTemp("", "node") // socket paths must be short; those of t.TempDir are not
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{
		magic: magic, tcp: "127.0.0.1:0", socket: filepath.Join(dir, "node.socket"),
		at: map[[32]byte]int{}, cursors: map[*cursor]bool{}, wires: map[*wire]bool{}, asked: map[string]int{},
		queries: map[int][]byte{},
	}
	n.poolMoved.L = &n.mu
	t.Cleanup(func() {
		n.Stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	n.Extend(blocks...)
	if err := n.Restart(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TCP is the URI of the node-to-node side; it does not change at a restart.
func (n *Node) TCP() string { return "tcp://" + n.tcp }

// Unix is the URI of the node-to-client side; it does not change at a restart.
func (n *Node) Unix() string { return "unix://" + n.socket }

// Tip returns the last block, or the zero Block.
func (n *Node) Tip() Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.blocks) == 0 {
		return Block{}
	}
	return n.blocks[len(n.blocks)-1]
}

// Extend adds blocks to the chain.
func (n *Node) Extend(blocks ...Block) { n.change(-1, blocks) }

// Rollback keeps the first n blocks of the chain only.
func (n *Node) Rollback(to int) { n.change(to, nil) }

// Switch replaces all blocks after the first keep by others, atomically: no client sees an intermediate state.
func (n *Node) Switch(keep int, blocks ...Block) { n.change(keep, blocks) }

// change keeps the first keep blocks, or all if keep is negative.
func (n *Node) change(keep int, blocks []Block) {
	n.mu.Lock()
	if keep < 0 || keep > len(n.blocks) {
		keep = len(n.blocks)
	}
	for _, b := range n.blocks[keep:] {
		delete(n.at, b.Hash)
	}
	// Without capacity to grow, so that readers of the old slice are not affected.
	n.blocks = append(slices.Clip(n.blocks[:keep]), blocks...)
	for i, b := range blocks {
		n.at[b.Hash] = keep + i
	}
	n.confirm(blocks)
	var answers []func() error
	for c := range n.cursors {
		if c.next > keep {
			c.next, c.rollback = keep, true
		}
		if s := c.waiting; s != nil {
			if a := c.answer(s); a != nil {
				c.waiting = nil
				answers = append(answers, a)
			}
		}
	}
	n.mu.Unlock()
	for _, a := range answers {
		_ = a() // the client may have disconnected
	}
}

// AfterIntersection calls f once, after the next client got an intersection with a block and before it gets anything
// else: if f changes the chain, the client has an intersection that no longer exists.
func (n *Node) AfterIntersection(what func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.then = what
}

// Waiting returns the number of clients that have the whole chain and got AwaitReply.
func (n *Node) Waiting() (clients int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.cursors {
		if c.waiting != nil {
			clients++
		}
	}
	return clients
}

// Asked returns the number of requests of each kind: "connection", "find intersect", "request next", "request range",
// "keep alive", "acquire" (of the mempool), "submit", "query" (of the ledger state).
func (n *Node) Asked() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.asked)
}

func (n *Node) count(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[what]++
}

// Disconnect closes every connection. New ones are accepted.
func (n *Node) Disconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.wires {
		w.Conn.Close()
	}
}

// CutAfter closes a connection, once, after n more blocks (at least one) were sent by block-fetch or node-to-client, to
// any client: in the middle of the next message, which is a block or the end of a batch.
func (n *Node) CutAfter(blocks int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutAfter = blocks
}

// lastBeforeCut counts a sent block and reports whether to cut the connection in the next message.
func (n *Node) lastBeforeCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutAfter--
	return n.cutAfter == 0
}

// Stop closes both addresses and every connection.
func (n *Node) Stop() {
	n.mu.Lock()
	for _, l := range n.open {
		l.Close()
	}
	n.open = nil
	for w := range n.wires {
		w.Conn.Close()
	}
	n.mu.Unlock()
	n.serving.Wait()
}

// Restart stops the node if needed and opens its addresses again.
func (n *Node) Restart() error {
	n.Stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	tcp, err := net.Listen("tcp", n.tcp)
	if err != nil {
		return err
	}
	n.tcp = tcp.Addr().String()
	unix, err := net.Listen("unix", n.socket)
	if err != nil {
		return errors.Join(err, tcp.Close())
	}
	n.open = []net.Listener{tcp, unix}
	n.serving.Go(func() { n.accept(tcp, true) })
	n.serving.Go(func() { n.accept(unix, false) })
	return nil
}

// accept serves the clients of one address, node-to-node or node-to-client.
func (n *Node) accept(l net.Listener, toNode bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		w := &wire{Conn: conn, node: n}
		n.mu.Lock()
		if stopped := !slices.Contains(n.open, l); stopped {
			n.mu.Unlock()
			conn.Close()
			return
		}
		n.asked["connection"]++
		n.wires[w] = true
		n.serving.Go(func() {
			n.serve(w, toNode)
			conn.Close()
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.wires, w)
		})
		n.mu.Unlock()
	}
}

// wake lets the clients that wait for a change of the mempool find out that they disconnected.
func (n *Node) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.poolMoved.Broadcast()
}

// tip returns the chain's end. The caller holds the lock.
func (n *Node) tip() chainsync.Tip {
	if len(n.blocks) == 0 {
		return chainsync.Tip{Point: pcommon.NewPointOrigin()}
	}
	last := &n.blocks[len(n.blocks)-1]
	return chainsync.Tip{Point: last.point(), BlockNumber: last.Number}
}

// find returns the position of a point on the chain. The caller holds the lock.
func (n *Node) find(p pcommon.Point) (int, bool) {
	if len(p.Hash) != 32 {
		return 0, false
	}
	i, ok := n.at[[32]byte(p.Hash)]
	return i, ok && n.blocks[i].Slot == p.Slot
}
