package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// node is a header in the tree, reduced to the fields that the validation of its descendants needs.
type node struct {
	hash   chainhash.Hash
	work   block.Work // of the chain from the base to this header
	parent *node
	height int32
	time   uint32
	bits   uint32
	order  uint32 // position among the nodes of the tree in the order of arrival
}

func (n *node) point() model.Point {
	return model.Point{Height: model.HeightPk(n.height), Hash: model.Hash(n.hash)}
}

// better reports whether the chain up to n is preferred to that up to o: it has more work, or equal work and arrived
// first.
func (n *node) better(o *node) bool {
	return n.work.More(o.work) || n.work == o.work && n.order < o.order
}

// chunk is the number of nodes per allocation.
const chunk = 1 << 10

// tree contains the headers of all branches of the peers. A header takes about 80 bytes. All headers descend from the
// base, which is the first block of the network or a block of the database. A header that forks less than a difficulty
// period above a base of the database cannot be validated: that needs a tree with an older base.
type tree struct {
	treeRules
	base     *node
	below    []model.Point // blocks of the database below the base, newest first, and finally the first block
	nodes    [][]node
	count    int
	slots    []uint32   // hash table with open addressing: order plus 1; 0: free
	chain    []*node    // the best chain, starting at the base
	lastBits uint32     // the compact target of the last added header
	lastWork block.Work // the work of lastBits
}

var (
	// errOrphan reports that a header's parent is not in the tree.
	errOrphan = errors.New("its parent is unknown")
	// errForkTooDeep reports that a chain forks so near the base that it cannot be validated.
	errForkTooDeep = errors.New("it forks too far below the tip")
)

// Headers returns the serialized header of the database at a height, or nil if there is none.
type Headers func(model.HeightPk) ([]byte, error)

// at returns the header at a height, or nil if it cannot be read. Then it is downloaded from peers.
func (f Headers) at(height int32) *wire.BlockHeader {
	if f == nil {
		return nil
	}
	raw, err := f(model.HeightPk(height))
	var h wire.BlockHeader
	if err != nil || len(raw) == 0 || h.Deserialize(bytes.NewReader(raw)) != nil {
		return nil
	}
	return &h
}

// newTree returns a tree whose base is the block of the database two difficulty periods below the height top, so that
// forks up to one period below top can be validated. If the database does not have this block, the base is the first
// block of the network.
func newTree(r *rules.Rules, db Headers, top int32) *tree {
	t := &tree{treeRules: treeRules{Rules: r, clock: time.Now}, slots: make([]uint32, 1<<10)}
	p := r.ChainParams()
	period := t.BlocksPerRetarget()
	height := top - 2*period
	base := db.at(max(height, 0))
	if height <= 0 || base == nil {
		height, base = 0, &p.GenesisBlock.Header
	}
	for step := period; height-step > 0; step *= 2 {
		if h := db.at(height - step); h != nil {
			t.below = append(t.below, model.Point{Height: model.HeightPk(height - step), Hash: model.Hash(h.BlockHash())})
		}
	}
	if height > 0 {
		t.below = append(t.below, model.Point{Hash: model.Hash(*p.GenesisHash)})
	}
	t.base = t.insert(node{hash: base.BlockHash(), height: height, time: uint32(base.Timestamp.Unix()), bits: base.Bits})
	t.chain = []*node{t.base}
	return t
}

// maxHeaders returns the maximum number of headers of the tree.
func (t *tree) maxHeaders() int {
	age := t.clock().Sub(t.ChainParams().GenesisBlock.Header.Timestamp)
	return int(age/(secondsPerHeader*time.Second)) + 100_000
}

// load adds the headers of the database above the base, up to the first that is missing or not linked to its parent. It
// returns the last one. The headers are not validated, since they were validated before the database was written.
func (t *tree) load(db Headers) *node {
	at := t.base
	for {
		h := db.at(at.height + 1)
		if h == nil || h.PrevBlock != at.hash {
			return at
		}
		hash := h.BlockHash()
		at = t.add(h, &hash, at)
	}
}

// add adds a valid header to the tree.
func (t *tree) add(h *wire.BlockHeader, hash *chainhash.Hash, parent *node) *node {
	if h.Bits != t.lastBits {
		t.lastBits, t.lastWork = h.Bits, block.WorkOf(h.Bits)
	}
	n := t.insert(node{
		hash: *hash, work: parent.work.Add(t.lastWork), parent: parent, height: parent.height + 1,
		time: uint32(h.Timestamp.Unix()), bits: h.Bits,
	})
	if c := t.Checkpoint(n.height); c != nil && *c == n.hash && (t.lastCheckpoint == nil || n.height > t.lastCheckpoint.height) {
		t.lastCheckpoint = n
	}
	return n
}

// insert adds a node to the nodes and to the hash table.
func (t *tree) insert(n node) *node {
	if 4*(t.count+1) > 3*len(t.slots) {
		t.slots = make([]uint32, 2*len(t.slots))
		for i := range t.count {
			t.slots[t.slot(&t.at(uint32(i)).hash)] = uint32(i) + 1
		}
	}
	if t.count%chunk == 0 {
		t.nodes = append(t.nodes, make([]node, chunk))
	}
	n.order = uint32(t.count)
	t.count++
	at := t.at(n.order)
	*at = n
	t.slots[t.slot(&n.hash)] = n.order + 1
	return at
}

func (t *tree) at(order uint32) *node { return &t.nodes[order/chunk][order%chunk] }

// find returns the node with a hash, or nil.
func (t *tree) find(hash *chainhash.Hash) *node {
	if i := t.slots[t.slot(hash)]; i > 0 {
		return t.at(i - 1)
	}
	return nil
}

// slot returns the slot of a hash in the table, or the free slot for it. It uses the first bytes of the hash, which are
// random. The last ones are zero because of the proof of work.
func (t *tree) slot(hash *chainhash.Hash) int {
	mask := len(t.slots) - 1
	for s := int(binary.LittleEndian.Uint64(hash[:8])) & mask; ; s = (s + 1) & mask {
		if i := t.slots[s]; i == 0 || t.at(i-1).hash == *hash {
			return s
		}
	}
}

// setChain sets the best chain to the one that ends in tip. It only visits the nodes that differ.
func (t *tree) setChain(tip *node) {
	length := int(tip.height-t.base.height) + 1
	old := len(t.chain)
	for len(t.chain) < length {
		t.chain = append(t.chain, nil)
	}
	t.chain = t.chain[:length]
	for n := tip; n != nil; n = n.parent {
		i := int(n.height - t.base.height)
		if i < old && t.chain[i] == n {
			break
		}
		t.chain[i] = n
	}
}

// atHeight returns the node of the best chain at a height, or nil if there is none.
func (t *tree) atHeight(height int64) *node {
	i := height - int64(t.base.height)
	if i < 0 || i >= int64(len(t.chain)) {
		return nil
	}
	return t.chain[i]
}

// fork returns the newest ancestor of n on the best chain, or n itself.
func (t *tree) fork(n *node) *node {
	for n != nil && t.atHeight(int64(n.height)) != n {
		n = n.parent
	}
	return n
}

// locator returns hashes of the ancestors of a node at increasing distances. A peer uses them to find the newest block
// that its chain shares. Hashes of blocks below the base, newest first, and of the first block follow.
func (t *tree) locator(from *node) []*chainhash.Hash {
	var all []*chainhash.Hash
	step := 1
	for n := from; n != nil; {
		all = append(all, &n.hash)
		if n == t.base {
			break
		}
		if len(all) > 10 {
			step *= 2
		}
		for range step {
			if n == t.base {
				break
			}
			n = n.parent
		}
	}
	for i := range t.below {
		if hash := chainhash.Hash(t.below[i].Hash); len(all) < wire.MaxBlockLocatorsPerMsg-1 || i == len(t.below)-1 {
			all = append(all, &hash)
		}
	}
	return all
}

// prune removes all branches except the best chain if together they are larger than it. It reports whether it removed
// them. Then nodes that were returned before are not part of the tree anymore.
func (t *tree) prune() bool {
	const slack = 100_000
	if t.count <= 2*len(t.chain)+slack {
		return false
	}
	chain, passed := t.chain, t.lastCheckpoint
	t.nodes, t.count, t.slots, t.chain = nil, 0, make([]uint32, 1<<10), make([]*node, len(chain))
	for i, n := range chain {
		kept := *n
		if i > 0 {
			kept.parent = t.chain[i-1]
		}
		t.chain[i] = t.insert(kept)
	}
	t.base = t.chain[0]
	if passed != nil {
		t.lastCheckpoint = t.find(&passed.hash)
	}
	return true
}
