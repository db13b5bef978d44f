package core

import (
	"encoding/binary"
	"errors"
	"iter"
	"sync/atomic"

	"birthmark/storage"
)

// An answer is made of rows. While none of them changes, and none is added where it looked for some, it is the answer at every
// later tip too. To know that, who keeps an answer marks what it was read from, and every write takes the marks away from what
// it changes, before anybody is told of its tip.
//
// Keys are marked by their first eight bytes. Rows in the order of the chain need no marks: those below the tip stay until a
// rollback, and that is the end of all that was kept.
const (
	markPlaces = 1 << 20 // of eight bytes: a mark takes its place from whichever is there
	mostMarks  = 256     // of an answer
)

// marks are those of a database.
type marks struct {
	places atomic.Pointer[markTable] // nil until the first answer is kept
	number atomic.Uint32             // of the newest mark
	taken  atomic.Uint64             // how often taking marks away began or ended
	ends   atomic.Uint64             // how often all of them came to nothing
	over   atomic.Bool               // nothing may be marked any more
	keys   []uint64                  // of the write under way: see marked
}

// markTable has a mark at the place that the lower half of its key names, and in it the upper half, and behind that its number:
// one that was taken away does not come back.
type markTable [markPlaces]atomic.Uint64

func (t *markTable) of(key uint64) *atomic.Uint64 { return &t[key%markPlaces] }

// markKey is a family's keys that begin like key.
func markKey(f storage.Family, key []byte) uint64 {
	h := firstBytes(key) + uint64(f)*spreadA
	h = (h ^ h>>32) * spreadB
	h = (h ^ h>>29) * spreadA
	return h ^ h>>32
}

// firstBytes orders keys as their first eight bytes do.
func firstBytes(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// Kept is what an answer was read from.
type Kept struct {
	of    *marks
	ends  uint64
	keys  []uint64
	marks []uint64
}

// Good reports whether the answer is that of the database as it was when [DB.Moved] was asked last, or as it has become since.
func (k *Kept) Good() bool {
	if k.of.ends.Load() != k.ends {
		return false
	}
	places := k.of.places.Load()
	for i, key := range k.keys {
		if places.of(key).Load() != k.marks[i] {
			return false
		}
	}
	return true
}

// Noting is the view once more, for a question whose answer may be kept beyond the tip. Keep is called when it is answered; it
// is nil where the answer rests on too much, or on what nobody watches: other processes' writes. The question must ask for
// nothing by the tip, as the tip itself is, the newest block, or a range that ends with it.
func (v *View) Noting() (noting *View, keep func() *Kept) {
	if v.db.marks.over.Load() {
		return v, func() *Kept { return nil }
	}
	q := *v.at
	n := &notes{Reader: q.r, inOrder: q.inOrder(), below: uint64(behind(q.tip))}
	q.r = n
	return &View{Queries{v.db, &q}, v.Tip}, func() *Kept { return v.db.marks.put(n, q.taken) }
}

// put marks what was noted of a snapshot that was taken since marks.taken was as it says.
func (m *marks) put(n *notes, taken uint64) *Kept {
	if n.lost || m.over.Load() {
		return nil
	}
	places := m.places.Load()
	if places == nil {
		m.places.CompareAndSwap(nil, new(markTable))
		places = m.places.Load()
	}
	k := &Kept{m, m.ends.Load(), n.keys, make([]uint64, len(n.keys))}
	for i, key := range k.keys {
		for at := places.of(key); ; {
			there := at.Load()
			if k.marks[i] = there; there != 0 && there>>32 == key>>32 {
				break
			}
			k.marks[i] = key>>32<<32 | uint64(m.number.Add(1))
			if at.CompareAndSwap(there, k.marks[i]) {
				break
			}
		}
	}
	// A write that the snapshot has not may have looked for marks before these were there.
	if m.taken.Load() != taken || m.over.Load() {
		return nil
	}
	return k
}

// takeAll takes all marks away: before anybody is told of a write that did not note what it changes.
func (m *marks) takeAll() {
	m.taken.Add(1)
	m.ends.Add(1)
	m.taken.Add(1)
}

// take takes the marks away from what a write has changed: before anybody is told of it. It takes all marks away if nothing was
// marked when the write began, so that nobody noted what it changed, or if that was too much to note.
func (m *marks) take(w *marked) {
	if w == nil || w.lost {
		m.takeAll()
		return
	}
	m.taken.Add(1)
	defer m.taken.Add(1)
	places := m.places.Load()
	for _, key := range w.keys {
		if at := places.of(key); at.Load()>>32 == key>>32 {
			at.Store(0)
		}
	}
	m.keys = w.keys[:0]
}

// end takes all marks away, for ever.
func (m *marks) end() {
	m.over.Store(true)
	m.takeAll()
}

// Leave is called when another DB writes to the store from now on: answers of this one are not kept any more.
func (db *DB) Leave() { db.marks.end() }

// inOrder are the families that have the order of the chain, by number.
func (db *DB) inOrder() []bool {
	if known := db.ordered.Load(); known != nil && len(*known) == db.families() {
		return *known
	}
	all := make([]bool, db.families())
	for _, d := range db.declarations() {
		all[d.Family] = d.Access == storage.Ordered && determined(d.Family)
	}
	db.ordered.Store(&all)
	return all
}

func ordered(inOrder []bool, f storage.Family) bool { return int(f) < len(inOrder) && inOrder[f] }

// marked is a batch that notes what it changes.
type marked struct {
	storage.Batch
	inOrder []bool
	keys    []uint64
	lost    bool // there were more than markPlaces keys
}

// noting is b, and what it notes; nil where nothing is marked.
func (db *DB) noting(b storage.Batch) (storage.Batch, *marked) {
	if db.marks.places.Load() == nil {
		return b, nil
	}
	m := &marked{Batch: b, inOrder: db.inOrder(), keys: db.marks.keys[:0]}
	return m, m
}

func (b *marked) Put(f storage.Family, key, value []byte) {
	b.note(f, key)
	b.Batch.Put(f, key, value)
}

func (b *marked) Delete(f storage.Family, key []byte) {
	b.note(f, key)
	b.Batch.Delete(f, key)
}

func (b *marked) note(f storage.Family, key []byte) {
	switch {
	case ordered(b.inOrder, f):
	case len(b.keys) == markPlaces:
		b.lost = true
	default:
		b.keys = append(b.keys, markKey(f, key))
	}
}

// notes is a reader that notes what it is asked for. It is for one goroutine.
type notes struct {
	storage.Reader
	inOrder []bool
	below   uint64 // the chain's order ends here
	keys    []uint64
	lost    bool // not all was noted
}

// note that key was looked for in f, and whether it was there.
func (n *notes) note(f storage.Family, key []byte, found bool) {
	switch {
	case ordered(n.inOrder, f):
		n.lost = n.lost || !found // it may come
	case len(n.keys) == mostMarks:
		n.lost = true
	default:
		n.keys = append(n.keys, markKey(f, key))
	}
}

func (n *notes) Get(f storage.Family, key []byte) ([]byte, error) {
	v, err := n.Reader.Get(f, key)
	n.note(f, key, !errors.Is(err, storage.ErrNotFound))
	return v, err
}

func (n *notes) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	vs, err := n.Reader.GetMany(f, keys)
	for i := range vs {
		n.note(f, keys[i], vs[i] != nil)
	}
	return vs, err
}

func (n *notes) Tails(f storage.Family, heads [][]byte) ([][]byte, error) {
	for _, head := range heads {
		n.note(f, head, true)
	}
	return n.Reader.Tails(f, heads)
}

func (n *notes) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	switch {
	case ordered(n.inOrder, f):
		n.lost = n.lost || len(to) < 8 || firstBytes(to) > n.below
	case oneHead(from, to):
		n.note(f, from, true)
	default:
		n.lost = true
	}
	return n.Reader.Scan(f, from, to, reverse)
}

// oneHead reports whether all keys from one to another begin with the same eight bytes.
func oneHead(from, to []byte) bool {
	if len(from) < 8 || to == nil {
		return false
	}
	first, end := firstBytes(from), firstBytes(to)
	return end == first || end == first+1 && len(to) <= 8
}
