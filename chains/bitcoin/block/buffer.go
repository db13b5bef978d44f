package block

import (
	"slices"
	"sync"
	"unsafe"

	"birthmark/internal/offheap"
)

// Large is the size in bytes from which a serialized block is a large one: it is read alone, and its bytes are outside
// Go's heap, whose collector would free them much later.
const Large = 64 << 20

// Buffer collects the bytes of a serialized block. It grows without copying if the block is large.
type Buffer struct {
	Bytes  []byte
	memory *offheap.Memory // nil: Bytes are in Go's heap
}

// Grow makes room for n more bytes.
func (b *Buffer) Grow(n int) {
	if n <= cap(b.Bytes)-len(b.Bytes) {
		return
	}
	need := len(b.Bytes) + n
	switch {
	case b.memory != nil:
		b.Bytes = offheap.Room(b.memory, b.Bytes, n)
	case need > Large:
		b.memory = offheap.New(need)
		b.Bytes = append(unsafe.Slice((*byte)(b.memory.Resize(need)), need)[:0], b.Bytes...)
	default:
		b.Bytes = slices.Grow(b.Bytes, n)
	}
}

// Free frees the bytes of a large block.
func (b *Buffer) Free() {
	if b.memory != nil {
		b.memory.Resize(0)
	}
	b.Bytes, b.memory = nil, nil
}

// Held has the buffers of large blocks that a source has returned as bytes. Its methods may be called concurrently.
type Held struct {
	mu      sync.Mutex
	buffers map[*byte]*Buffer
}

// Bytes returns the bytes of a buffer, which a later call of Release frees.
func (h *Held) Bytes(b *Buffer) []byte {
	if b.memory != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.buffers == nil {
			h.buffers = map[*byte]*Buffer{}
		}
		h.buffers[unsafe.SliceData(b.Bytes)] = b
	}
	return b.Bytes
}

// Release frees the bytes of a block if they are those of a large one.
func (h *Held) Release(raw []byte) {
	if len(raw) <= Large {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.buffers[unsafe.SliceData(raw)]; b != nil {
		delete(h.buffers, unsafe.SliceData(raw))
		b.Free()
	}
}
