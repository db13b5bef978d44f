package block

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A buffer keeps its bytes while it grows from Go's heap into other memory. A released block is freed once.
func TestBufferKeepsItsBytes(t *testing.T) {
	var b Buffer
	var held Held
	part := make([]byte, 5<<20)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(part)
	for range 20 {
		b.Grow(len(part))
		b.Bytes = append(b.Bytes, part...)
	}
	if b.memory == nil || len(b.Bytes) != 20*len(part) {
		t.Fatalf("%d bytes", len(b.Bytes))
	}
	for i := range 20 {
		if !bytes.Equal(b.Bytes[i*len(part):(i+1)*len(part)], part) {
			t.Fatalf("part %d differs", i)
		}
	}
	raw := held.Bytes(&b)
	if len(held.buffers) != 1 {
		t.Errorf("%d buffers", len(held.buffers))
	}
	held.Release(raw[:len(raw)-1])
	if len(held.buffers) != 0 || b.Bytes != nil {
		t.Errorf("%d buffers after the release", len(held.buffers))
	}
	small := Buffer{Bytes: part}
	held.Release(held.Bytes(&small))
	if len(held.buffers) != 0 || small.Bytes == nil {
		t.Error("a small block is held")
	}
}
