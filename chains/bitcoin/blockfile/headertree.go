package blockfile

import (
	"encoding/binary"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// tree has the headers of all blocks, added in any order, and the best chain: the one with the most work, the first in
// the files if there are several. A header takes about 90 bytes.
type tree struct {
	genesis model.Hash
	nodes   []node
	slots   []int32 // hash table with open addressing: position in nodes plus 1, or 0
	loose   []int32 // nodes that do not descend from the genesis block
	best    int32   // tip of the best chain, none without the genesis block
	chain   []int32 // the best chain by height
	linked  int     // number of nodes that descend from the genesis block

	more map[int32][]location // further places of blocks that are in the files several times
}

// location is the place of a block in the files.
type location struct {
	offset int64 // in the file
	file   int32 // none if only a child of the block was added
	size   uint32
}

const none = -1

// Heights of nodes that do not have one.
const (
	unknown = -1 // link computes it
	orphan  = -2 // an ancestor is missing
)

type node struct {
	hash   model.Hash
	work   block.Work // of the chain if linked, else of the header
	parent int32
	height int32
	time   uint32
	location
}

// before reports whether n is before o in the files.
func (n *node) before(o *node) bool {
	return n.file < o.file || n.file == o.file && n.offset < o.offset
}

func newTree(genesis model.Hash) *tree {
	return &tree{genesis: genesis, best: none, slots: make([]int32, 1<<10), more: map[int32][]location{}}
}

// add adds a block, or a further place of it. Call [tree.link] afterwards.
func (t *tree) add(file int32, r *record) {
	i, at := t.place(r.hash), location{r.offset, file, r.size}
	if t.nodes[i].file != none {
		if t.nodes[i].location != at && !slices.Contains(t.more[i], at) {
			t.more[i] = append(t.more[i], at)
		}
		return
	}
	parent := int32(none)
	if r.hash != t.genesis {
		parent = t.place(r.parent)
	}
	n := &t.nodes[i]
	n.work, n.parent, n.height, n.time, n.location = r.work, parent, unknown, r.time, at
	t.loose = append(t.loose, i)
}

// link computes the heights of added nodes, and the best chain.
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
		if t.nodes[at].height == unknown { // the genesis block
			t.connect(at, 0, block.Work{})
		}
		for len(path) > 0 {
			above := &t.nodes[at]
			at, path = path[len(path)-1], path[:len(path)-1]
			if above.height == orphan {
				t.nodes[at].height = orphan
				continue
			}
			t.connect(at, above.height+1, above.work)
		}
		if t.nodes[i].height == orphan {
			loose = append(loose, i)
		}
	}
	t.loose = loose
	t.setChain(t.best)
}

// connect sets the height and chain work of a node, and updates the best tip.
func (t *tree) connect(i, height int32, below block.Work) {
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

// gap is a block that is in none of the files although blocks after it are, which continue the best chain.
type gap struct {
	blocks int   // after the gap, in the branch with the most work
	first  int32 // node of the first of them
}

// gap returns the gap of the best chain. Blocks without their ancestors can also be a stale branch that the node did not
// download: they continue the best chain if they have more work than its blocks that are not older.
func (t *tree) gap() (g gap, ok bool) {
	type branch struct {
		work   block.Work // since first
		blocks int
		first  int32
	}
	branches := make(map[int32]branch, len(t.loose))
	var most branch
	var path []int32
	for _, i := range t.loose {
		path = path[:0]
		at := i
		for t.nodes[at].file != none {
			if _, ok := branches[at]; ok {
				break
			}
			path = append(path, at)
			at = t.nodes[at].parent
		}
		b := branches[at]
		for len(path) > 0 {
			at, path = path[len(path)-1], path[:len(path)-1]
			if b.blocks++; b.blocks == 1 {
				b.first = at
			}
			b.work = b.work.Add(t.nodes[at].work)
			branches[at] = b
		}
		if b.work.More(most.work) {
			most = b
		}
	}
	if most.blocks == 0 {
		return gap{}, false
	}
	from := len(t.chain) - 1
	for from > 0 && t.nodes[t.chain[from]].time > t.nodes[most.first].time {
		from--
	}
	before := &t.nodes[t.chain[from]]
	return gap{most.blocks, most.first}, before.work.Add(most.work).More(t.nodes[t.best].work)
}

// setChain makes the chain that ends in tip the best chain. It only updates the nodes that differ.
func (t *tree) setChain(tip int32) {
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

// find returns the node of a block that was added.
func (t *tree) find(hash model.Hash) (int32, bool) {
	i := t.slots[t.slot(hash)] - 1
	return i, i >= 0 && t.nodes[i].file != none
}

// point returns the point of a linked node.
func (t *tree) point(i int32) model.Point {
	return model.Point{Height: model.HeightPk(t.nodes[i].height), Hash: t.nodes[i].hash}
}

// place returns the node of a hash; it adds a node if there is none.
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
	t.nodes = append(t.nodes, node{hash: hash, parent: none, height: orphan, location: location{file: none}})
	t.slots[s] = int32(len(t.nodes))
	return t.slots[s] - 1
}

// slot returns the slot of a hash, or the free slot for it. The first bytes of a block hash are random: proof of work
// makes the last ones zero.
func (t *tree) slot(hash model.Hash) int {
	mask := len(t.slots) - 1
	for s := int(binary.LittleEndian.Uint64(hash[:8])) & mask; ; s = (s + 1) & mask {
		if i := t.slots[s]; i == 0 || t.nodes[i-1].hash == hash {
			return s
		}
	}
}
