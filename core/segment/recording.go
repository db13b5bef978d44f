package segment

import (
	"bytes"
	"cmp"
	"slices"

	"birthmark/storage"
)

// recording is a batch that also collects the changes.
type recording struct {
	storage.Batch
	data     []byte
	families map[storage.Family][]change
	most     int  // bytes of keys and values
	tooLarge bool // there are more: data is incomplete
}

// change is a change whose key and value follow each other in data.
type change struct {
	at         int
	key, value int // sizes; value is -1 for a deletion
}

func (b *recording) Put(f storage.Family, key, value []byte) {
	b.Batch.Put(f, key, value)
	b.add(f, key, value, len(value))
}

func (b *recording) Delete(f storage.Family, key []byte) {
	b.Batch.Delete(f, key)
	b.add(f, key, nil, -1)
}

func (b *recording) add(f storage.Family, key, value []byte, size int) {
	if b.tooLarge = b.tooLarge || len(b.data)+len(key)+len(value) > b.most; b.tooLarge {
		b.data = nil
		return
	}
	b.families[f] = append(b.families[f], change{len(b.data), len(key), size})
	b.data = append(append(b.data, key...), value...)
}

func (b *recording) empty() bool { return len(b.data) == 0 && !b.tooLarge }

func (b *recording) keyOf(c change) []byte { return b.data[c.at : c.at+c.key : c.at+c.key] }

// rows returns the changes of a family in the order of their keys; the last change to a key wins.
func (b *recording) rows(f storage.Family) []Row {
	changes := b.families[f]
	byKey := func(x, y change) int { return bytes.Compare(b.keyOf(x), b.keyOf(y)) }
	if !slices.IsSortedFunc(changes, byKey) {
		slices.SortFunc(changes, func(x, y change) int { return cmp.Or(byKey(x, y), cmp.Compare(x.at, y.at)) })
	}
	rows := make([]Row, 0, len(changes))
	for i, c := range changes {
		if i+1 < len(changes) && byKey(c, changes[i+1]) == 0 {
			continue
		}
		row := Row{Key: b.keyOf(c), Deleted: c.value < 0}
		if !row.Deleted {
			row.Value = b.data[c.at+c.key : c.at+c.key+c.value]
		}
		rows = append(rows, row)
	}
	return rows
}

// reuse prepares the recording of the next update. It keeps memory, unless that is more than usual.
func (b *recording) reuse(to storage.Batch, most int) *recording {
	const usual = 64 << 20
	if b.families == nil || cap(b.data) > usual {
		*b = recording{families: map[storage.Family][]change{}}
	}
	for f, changes := range b.families {
		b.families[f] = changes[:0]
	}
	b.Batch, b.data, b.most, b.tooLarge = to, b.data[:0], most, false
	return b
}
