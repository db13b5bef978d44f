package ouroboros

import "fmt"

// Point names a block by its slot and its hash. The zero Point is the origin: before the first block.
type Point struct {
	Slot uint64
	Hash [32]byte
}

// IsOrigin reports whether p stands before the first block.
func (p Point) IsOrigin() bool { return p == Point{} }

// String is the point as messages write it.
func (p Point) String() string {
	if p.IsOrigin() {
		return "the origin"
	}
	return fmt.Sprintf("slot %d (%x)", p.Slot, p.Hash)
}

// Tip is the newest block of a node's chain.
type Tip struct {
	Point
	Number uint64 // of the block
}

// Header is what a header tells about its block.
type Header struct {
	Point
	Size int // bytes of the block's body; 0: unknown
}

// Event is what happened next on a node's chain: a block, the removal of every block after a point, or, as the zero Kind
// says, neither for now.
type Event struct {
	Kind  Kind
	Block []byte // an array of the era's tag and the block, as in chunk files
	Point Point  // of the block, as far as its header came first; or where the node went back to
	Tip   Tip    // of the node when it said so
}

// Kind says what an [Event] is.
type Kind uint8

// What there is. The node is Waiting when its chain has nothing more for now.
const (
	Waiting Kind = iota
	Forward
	Backward
)
