package bitcoin

import (
	"encoding/binary"

	"birthmark/chains/bitcoin/proof"
	"birthmark/model"
)

// tree is the headers of all blocks that were found, in whatever order, and the best chain through them: that with the
// most work, the one found first among equals. A header takes about 90 bytes.
type tree struct {
	genesis model.Hash
	nodes   []node
	slots   []int32 // open addressing by hash: position in nodes plus 1, 0 where free
	loose   []int32 // not known to descend from genesis
	best    int32   // tip of the best chain, none before genesis was found
	chain   []int32 // the best chain by height
	linked  int     // nodes that descend from genesis
}

const none = -1

// The height of a node that has none.
const (
	unknown = -1 // to be found out
	orphan  = -2 // an ancestor is missing
)

type node struct {
	hash   model.Hash
	work   proof.Work // of the chain up to here once linked, of the header alone before
	offset int64      // where in its file
	parent int32
	file   int32 // which file, none where the block is only known as a parent
	height int32
	size   uint32
}

// before reports whether a node was found before another one.
func (n *node) before(o *node) bool {
	return n.file < o.file || n.file == o.file && n.offset < o.offset
}

func newTree(genesis model.Hash) *tree {
	return &tree{genesis: genesis, best: none, slots: make([]int32, 1<<10)}
}

// add puts a block into the tree. Of two records of the same block the first counts. [tree.link] must follow.
func (t *tree) add(file int32, r *record) {
	i := t.place(r.hash)
	if t.nodes[i].file != none {
		return
	}
	parent := int32(none)
	if r.hash != t.genesis {
		parent = t.place(r.parent)
	}
	n := &t.nodes[i]
	n.work, n.offset, n.parent, n.file, n.height, n.size = r.work, r.offset, parent, file, unknown, r.size
	t.loose = append(t.loose, i)
}

// link finds the heights of what was added, and the best chain.
func (t *tree) link() {
	for _, i := range t.loose {
		t.nodes[i].height = unknown
	}
	loose := t.loose[:0]
	var path []int32
	for _, i := range t.loose {
		path = path[:0]
		at := i
		for ; t.nodes[at].height == unknown && t.nodes[at].parent != none; at = t.nodes[at].parent {
			path = append(path, at)
		}
		if t.nodes[at].height == unknown { // genesis itself
			t.settle(at, 0, proof.Work{})
		}
		for len(path) > 0 {
			above := &t.nodes[at]
			at, path = path[len(path)-1], path[:len(path)-1]
			if above.height == orphan {
				t.nodes[at].height = orphan
				continue
			}
			t.settle(at, above.height+1, above.work)
		}
		if t.nodes[i].height == orphan {
			loose = append(loose, i)
		}
	}
	t.loose = loose
	t.follow(t.best)
}

// settle gives a node its height and its chain's work, and makes it the best tip if it is.
func (t *tree) settle(i, height int32, below proof.Work) {
	n := &t.nodes[i]
	n.height, n.work = height, n.work.Add(below)
	t.linked++
	if t.best == none {
		t.best = i
		return
	}
	b := &t.nodes[t.best]
	if n.work.More(b.work) || n.work == b.work && n.before(b) {
		t.best = i
	}
}

// follow makes chain the one that ends in tip. It costs what differs.
func (t *tree) follow(tip int32) {
	if tip == none {
		return
	}
	length := int(t.nodes[tip].height) + 1
	if length > cap(t.chain) {
		t.chain = append(make([]int32, 0, length+length/4), t.chain...)
	}
	known := len(t.chain)
	t.chain = t.chain[:length]
	for i := tip; i != none; i = t.nodes[i].parent {
		h := int(t.nodes[i].height)
		if h < known && t.chain[h] == i {
			break
		}
		t.chain[h] = i
	}
}

// find is the node of a block that is there.
func (t *tree) find(hash model.Hash) (int32, bool) {
	i := t.slots[t.slot(hash)] - 1
	return i, i >= 0 && t.nodes[i].file != none
}

// onChain reports whether a node is part of the best chain.
func (t *tree) onChain(i int32) bool {
	h := t.nodes[i].height
	return h >= 0 && int(h) < len(t.chain) && t.chain[h] == i
}

// fork is the newest ancestor of a linked node that is on the best chain: itself, where it is.
func (t *tree) fork(i int32) int32 {
	for i != none && !t.onChain(i) {
		i = t.nodes[i].parent
	}
	return i
}

// point of a node that is linked.
func (t *tree) point(i int32) model.Point {
	return model.Point{Height: model.HeightPk(t.nodes[i].height), Hash: t.nodes[i].hash}
}

// place is the node of a hash, made if there is none yet.
func (t *tree) place(hash model.Hash) int32 {
	s := t.slot(hash)
	if t.slots[s] != 0 {
		return t.slots[s] - 1
	}
	if 4*(len(t.nodes)+1) > 3*len(t.slots) {
		t.slots = make([]int32, 2*len(t.slots))
		for i := range t.nodes {
			t.slots[t.slot(t.nodes[i].hash)] = int32(i) + 1
		}
		s = t.slot(hash)
	}
	t.nodes = append(t.nodes, node{hash: hash, parent: none, file: none, height: orphan})
	t.slots[s] = int32(len(t.nodes))
	return t.slots[s] - 1
}

// slot is where a hash is, or would be. The first bytes of a block hash are its random ones: proof of work makes zeros
// of the last.
func (t *tree) slot(hash model.Hash) int {
	mask := len(t.slots) - 1
	for s := int(binary.LittleEndian.Uint64(hash[:8])) & mask; ; s = (s + 1) & mask {
		if i := t.slots[s]; i == 0 || t.nodes[i-1].hash == hash {
			return s
		}
	}
}
