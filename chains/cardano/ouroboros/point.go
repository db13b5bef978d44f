package ouroboros

import "fmt"

// Point identifies a block by slot and hash. The zero Point is the origin, before the first block.
type Point struct {
	Slot uint64
	Hash [32]byte
}

// IsOrigin reports whether p is before the first block.
func (p Point) IsOrigin() bool { return p == Point{} }

// String formats the point for errors.
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

// Header is the description of a block in its header.
type Header struct {
	Point
	Size int // bytes of the block's body; 0: unknown
}

// Event is a block, or the removal of every block after a point; the zero Kind is neither: the node has no more blocks.
type Event struct {
	Kind  Kind
	Block []byte // an array of the era's tag and the block, as in chunk files
	Point Point  // of the block, if its header arrived first; or of the rollback
	Tip   Tip    // of the node at that time
}

// Kind is the kind of an [Event].
type Kind uint8

// Kinds of events. Waiting: the node has no more blocks for now.
const (
	Waiting Kind = iota
	Forward
	Backward
)
