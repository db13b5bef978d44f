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

// Node is a node that runs for one test. Its methods may be called at the same time, and while clients are served.
type Node struct {
	magic   uint32
	tcp     string // host and port
	socket  string // path
	serving sync.WaitGroup

	mu       sync.Mutex
	blocks   []Block // what was once read of it is never written: see change
	at       map[[32]byte]int
	cursors  map[*cursor]bool
	wires    map[*wire]bool
	faults   Faults
	cutAfter int // blocks until a connection is cut; 0 or less: none is
	asked    map[string]int
	then     func()         // what happens after the next intersection
	open     []net.Listener // none: it is stopped
}

// Start starts a node that has blocks, or none. magic is the network's, as its genesis has it: 2 for preview. It ends with
// the test.
func Start(t testing.TB, magic uint32, blocks []Block) *Node {
	t.Helper()
	dir, err := os.MkdirTemp("", "node") // the path of a socket has to be short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{
		magic: magic, tcp: "127.0.0.1:0", socket: filepath.Join(dir, "node.socket"),
		at: map[[32]byte]int{}, cursors: map[*cursor]bool{}, wires: map[*wire]bool{}, asked: map[string]int{},
	}
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

// TCP is the URI of its node-to-node side, the same after a restart.
func (n *Node) TCP() string { return "tcp://" + n.tcp }

// Unix is the URI of its node-to-client side, the same after a restart.
func (n *Node) Unix() string { return "unix://" + n.socket }

// Tip is the last block, the zero one where there is none.
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

// Rollback leaves the first blocks of the chain, and no other.
func (n *Node) Rollback(to int) { n.change(to, nil) }

// Switch goes over to a chain that has the first keep blocks of the present one and then others, at once: no client sees
// anything between.
func (n *Node) Switch(keep int, blocks ...Block) { n.change(keep, blocks) }

// change keeps so many blocks, all where keep is negative.
func (n *Node) change(keep int, blocks []Block) {
	n.mu.Lock()
	if keep < 0 || keep > len(n.blocks) {
		keep = len(n.blocks)
	}
	for _, b := range n.blocks[keep:] {
		delete(n.at, b.Hash)
	}
	// Without room to grow: what is read of the old slice stays as it was.
	n.blocks = append(slices.Clip(n.blocks[:keep]), blocks...)
	for i, b := range blocks {
		n.at[b.Hash] = keep + i
	}
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
		_ = a() // the client may have gone
	}
}

// AfterIntersection calls what, once, when the next client was told that an intersection is a block, before it is told
// anything else: a chain that changes in there leaves the client with an intersection that is gone.
func (n *Node) AfterIntersection(what func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.then = what
}

// Waiting is how many clients have all of the chain and were told to wait.
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

// Asked is how many requests of each kind came: "connection", "find intersect", "request next", "request range",
// "keep alive".
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

// Disconnect cuts every connection now. New ones are accepted.
func (n *Node) Disconnect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.wires {
		w.Conn.Close()
	}
}

// CutAfter cuts a connection, once, after so many more blocks (at least one) were sent by block-fetch or node-to-client,
// to whatever client: in the middle of the message that follows, which is a block's or the end of a batch.
func (n *Node) CutAfter(blocks int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutAfter = blocks
}

// lastBeforeCut counts a block that is sent and reports whether the connection is to be cut in what follows it.
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

// Restart opens the addresses of a node that is stopped, or that is stopped first.
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

// tip is the chain's end. The lock is held.
func (n *Node) tip() chainsync.Tip {
	if len(n.blocks) == 0 {
		return chainsync.Tip{Point: pcommon.NewPointOrigin()}
	}
	last := &n.blocks[len(n.blocks)-1]
	return chainsync.Tip{Point: last.point(), BlockNumber: last.Number}
}

// find is the position of a point on the chain. The lock is held.
func (n *Node) find(p pcommon.Point) (int, bool) {
	if len(p.Hash) != 32 {
		return 0, false
	}
	i, ok := n.at[[32]byte(p.Hash)]
	return i, ok && n.blocks[i].Slot == p.Slot
}
