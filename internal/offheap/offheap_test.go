package offheap_test

import (
	"runtime"
	"testing"
	"unsafe"

	"birthmark/internal/offheap"
)

// A slice keeps its content whenever it outgrows its capacity, and uses no heap.
func TestRoom(t *testing.T) {
	const n = 3 << 20 // of 8 bytes: beyond the size from which on pages are huge
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := offheap.New(0)
	var s []uint64
	for i := range uint64(n) {
		s = append(offheap.Room(m, s, 1), i*i)
	}
	for i, v := range s {
		if v != uint64(i*i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if s = offheap.Room(m, s, 10*n); len(s) != n || cap(s) < 11*n || s[n-1] != (n-1)*(n-1) {
		t.Errorf("with room for many more: %d of %d, the last %d", len(s), cap(s), s[n-1])
	}
	if runtime.ReadMemStats(&after); runtime.GOOS == "linux" && after.TotalAlloc-before.TotalAlloc > n {
		t.Errorf("%d bytes of the heap for %d elements", after.TotalAlloc-before.TotalAlloc, n)
	}
	runtime.KeepAlive(m)
}

// New bytes are zero and existing ones stay, also beyond the reservation; Resize(0) leaves nothing.
func TestResize(t *testing.T) {
	const page = 4096
	m := offheap.New(2 * page)
	at := func(bytes int) []byte { return unsafe.Slice((*byte)(m.Resize(bytes)), bytes) }
	b := at(page)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	for _, size := range []int{2 * page, 5 * page, 3000 * page, 9000 * page} {
		for i, v := range at(size) {
			if want := byte(i%251 + 1); i < page && v != want || i >= page && v != 0 {
				t.Fatalf("of %d bytes, byte %d is %d", size, i, v)
			}
		}
	}
	// Bytes cut within a page are zero when they come back.
	b = at(9000 * page)
	for i := range b {
		b[i] = 1
	}
	const left = 7*page + 100
	at(left + 10) // in the same page
	at(left)
	for i, v := range at(9000 * page) {
		if want := i < left; (v == 1) != want || !want && v != 0 {
			t.Fatalf("cut to %d bytes and grown again, byte %d is %d", left, i, v)
		}
	}
	m.Resize(0)
	for i, v := range at(page) {
		if v != 0 {
			t.Fatalf("after all was given back byte %d is %d", i, v)
		}
	}
	runtime.KeepAlive(m)
}

// Memory may be released by its last use while the garbage collector finds that nothing refers to it.
func TestReleaseDuringCollection(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			m := offheap.New(4096)
			m.Resize(4096)
			m.Resize(0)
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			runtime.GC()
		}
	}
}
