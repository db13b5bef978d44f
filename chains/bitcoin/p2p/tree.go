package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// node is a header in the tree. What is not needed to judge its descendants is not kept.
type node struct {
	hash   chainhash.Hash
	work   block.Work // of the chain from the base up to here
	parent *node
	height int32
	time   uint32
	bits   uint32
	order  uint32 // position among the tree's nodes, which stand in the order they came
}

func (n *node) point() model.Point {
	return model.Point{Height: model.HeightPk(n.height), Hash: model.Hash(n.hash)}
}

// better reports whether the chain up to n is preferred: it took more work, or as much and came first.
func (n *node) better(o *node) bool {
	return n.work.More(o.work) || n.work == o.work && n.order < o.order
}

// chunk is how many nodes are allocated at once.
const chunk = 1 << 10

// tree is the headers of every branch that peers have shown, in about 80 bytes each. They descend from the base: the
// network's first block, or a point that a database knows. Of such a base nothing but the hash is known, so what comes
// within a difficulty period of it cannot be checked; it is taken as proven by hashes as far as it leads to a known
// point, and not at all otherwise.
type tree struct {
	treeRules
	base   *node
	known  []model.Point // above the base, newest first
	below  []model.Point // known points below the base, newest first; the last is the first block
	nodes  [][]node
	count  int
	slots  []uint32 // open addressing by hash: order plus 1, 0 where free
	chain  []*node  // the best chain from the base on
	priced uint32   // the compact target whose work is price: most headers have that of the one before
	price  block.Work
}

var (
	// errLoose says that a header's parent is not in the tree.
	errLoose = errors.New("its parent is unknown")
	// errDeep says that a chain parts from the known points so near the base that it cannot be judged.
	errDeep = errors.New("it parts from the known chain too far down")
)

// newTree is a tree on the newest known point that leaves two difficulty periods to judge forks by, at most the one
// given; on the first block where there is none. known is newest first.
func newTree(p *chaincfg.Params, known []model.Point, most model.HeightPk) *tree {
	t := &tree{treeRules: treeRules{Rules: rules.New(p), clock: time.Now}, slots: make([]uint32, 1<<10)}
	genesis := model.Point{Hash: model.Hash(*p.GenesisHash)}
	at := len(known)
	for i, k := range known {
		if k.Height <= most && int64(known[0].Height)-int64(k.Height) >= 2*int64(t.BlocksPerRetarget()) && k.Height > 0 {
			at = i
			break
		}
	}
	t.known = known[:at]
	base, time, bits := genesis, uint32(p.GenesisBlock.Header.Timestamp.Unix()), p.GenesisBlock.Header.Bits
	if at < len(known) {
		base, time, bits = known[at], 0, 0
		for _, k := range known[at+1:] {
			if k.Height > 0 {
				t.below = append(t.below, k)
			}
		}
		t.below = append(t.below, genesis)
	}
	t.base = t.insert(node{hash: chainhash.Hash(base.Hash), height: int32(base.Height), time: time, bits: bits})
	t.chain = []*node{t.base}
	return t
}

// whole reports whether the tree begins with the first block.
func (t *tree) whole() bool { return t.base.height == 0 }

// judges reports whether the tree knows enough to check a child of parent in full.
func (t *tree) judges(parent *node) bool {
	return t.whole() || parent.height-t.base.height >= t.BlocksPerRetarget()
}

// most is how many headers the tree takes.
func (t *tree) most() int {
	age := t.clock().Sub(t.ChainParams().GenesisBlock.Header.Timestamp)
	return int(age/(secondsPerHeader*time.Second)) + 100_000
}

// grow adds the headers of a database above the base, up to the first that it does not have or that does not follow,
// and returns the last. They were checked when they were written.
func (t *tree) grow(header func(model.HeightPk) ([]byte, error)) *node {
	at := t.base
	for {
		raw, err := header(model.HeightPk(at.height) + 1)
		var h wire.BlockHeader
		if err != nil || len(raw) == 0 || h.Deserialize(bytes.NewReader(raw)) != nil || h.PrevBlock != at.hash {
			return at // what is missing the peers have
		}
		hash := h.BlockHash()
		at = t.add(&h, &hash, at)
	}
}

// add puts a header that was checked into the tree.
func (t *tree) add(h *wire.BlockHeader, hash *chainhash.Hash, parent *node) *node {
	if h.Bits != t.priced {
		t.priced, t.price = h.Bits, block.WorkOf(h.Bits)
	}
	n := t.insert(node{
		hash: *hash, work: parent.work.Add(t.price), parent: parent, height: parent.height + 1,
		time: uint32(h.Timestamp.Unix()), bits: h.Bits,
	})
	if c := t.Checkpoint(n.height); c != nil && *c == n.hash && (t.passed == nil || n.height > t.passed.height) {
		t.passed = n
	}
	return n
}

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

// find is the node of a hash, nil where there is none.
func (t *tree) find(hash *chainhash.Hash) *node {
	if i := t.slots[t.slot(hash)]; i > 0 {
		return t.at(i - 1)
	}
	return nil
}

// slot is where a hash is, or would be. The first bytes of a block hash are its random ones: proof of work makes zeros
// of the last.
func (t *tree) slot(hash *chainhash.Hash) int {
	mask := len(t.slots) - 1
	for s := int(binary.LittleEndian.Uint64(hash[:8])) & mask; ; s = (s + 1) & mask {
		if i := t.slots[s]; i == 0 || t.at(i-1).hash == *hash {
			return s
		}
	}
}

// follow makes the best chain the one that ends in tip. It costs what differs.
func (t *tree) follow(tip *node) {
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

// on is the node of the best chain at a height, nil where there is none.
func (t *tree) on(height int64) *node {
	i := height - int64(t.base.height)
	if i < 0 || i >= int64(len(t.chain)) {
		return nil
	}
	return t.chain[i]
}

// fork is the newest ancestor of n on the best chain: n itself, where it is.
func (t *tree) fork(n *node) *node {
	for n != nil && t.on(int64(n.height)) != n {
		n = n.parent
	}
	return n
}

// locator names a chain from a node down, ever more sparsely, for a peer to find where its own joins. It ends with the
// points below the base, newest first, and the first block.
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

// prune forgets every branch but the best, where the others have become more than it. It reports whether it did: then
// nodes from before are not the tree's any more.
func (t *tree) prune() bool {
	const slack = 100_000
	if t.count <= 2*len(t.chain)+slack {
		return false
	}
	chain, passed := t.chain, t.passed
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
		t.passed = t.find(&passed.hash)
	}
	return true
}
