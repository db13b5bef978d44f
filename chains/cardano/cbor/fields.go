package cbor

import "math/big"

const null = Simple<<5 | 22

// Fields reads an array of a fixed form, item by item: each method reads the next one, which must be there.
type Fields struct {
	w    *Walker
	left int
	what string // name of the array in errors
}

// Fields reads the head of an array.
func (w *Walker) Fields(what string) Fields { return Fields{w, w.Array(what), what} }

func (f *Fields) next(what string) *Walker {
	f.w.Field(&f.left, what)
	return f.w
}

// Fields reads the head of an array in the array.
func (f *Fields) Fields(what string) Fields { return f.next(what).Fields(what) }

// Uint is [Walker.Uint].
func (f *Fields) Uint(what string) uint64 { return f.next(what).Uint(what) }

// Integer is [Walker.Integer].
func (f *Fields) Integer(what string) *big.Int { return f.next(what).Integer(what) }

// Bytes is [Walker.Bytes].
func (f *Fields) Bytes(what string) []byte { return f.next(what).Bytes(what) }

// BytesOf is [Walker.BytesOf].
func (f *Fields) BytesOf(size int, what string) []byte { return f.next(what).BytesOf(size, what) }

// Hash is [Walker.Hash].
func (f *Fields) Hash(what string) [32]byte { return f.next(what).Hash(what) }

// Encoded is [Walker.Encoded].
func (f *Fields) Encoded(what string) []byte { return f.next(what).Encoded(what) }

// Item is [Walker.Item].
func (f *Fields) Item(what string) []byte { return f.next(what).Item(what) }

// HashOrNull is [Walker.Hash], zero for null.
func (f *Fields) HashOrNull(what string) (h [32]byte) {
	w := f.next(what)
	if w.Offset < len(w.Data) && w.Data[w.Offset] == null {
		w.Offset++
		return h
	}
	return w.Hash(what)
}

// Skip passes the next item.
func (f *Fields) Skip(what string) { f.next(what).Skip(what) }

// IsEmpty reports whether the array has no more items.
func (f *Fields) IsEmpty() bool {
	w := f.w
	return f.left == 0 || f.left == Indefinite && w.Offset < len(w.Data) && w.Data[w.Offset] == Break
}

// Major returns the type of the next item; -1 at the end of the data.
func (f *Fields) Major() int { return f.w.Major() }

// SkipRest passes all other items.
func (f *Fields) SkipRest() {
	for f.w.More(&f.left) {
		f.w.Skip(f.what)
	}
}

// Fail is [Walker.Fail].
func (f *Fields) Fail(format string, args ...any) { f.w.Fail(format, args...) }

// Err returns the first error of the walker.
func (f *Fields) Err() error { return f.w.Err }

// End leaves the array, which must have no more items.
func (f *Fields) End() { f.w.End(&f.left, f.what) }
