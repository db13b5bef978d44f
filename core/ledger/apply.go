package ledger

import (
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Applier adds deltas to the stored rows.
type Applier struct {
	Reader storage.Reader
	Batch  storage.Batch
	Totals *schema.Totals
	// Values and assets born at NewFrom or later have no rows yet, so none are looked up.
	NewFrom model.UtxoPk
	Derived bool // assets are derived: they exist before and after an output has them

	// For statistics of added blocks, otherwise empty.
	Layout *schema.Layout
	Blocks []schema.BlockSums // in order, with Active up to Parent, the block before them
	Parent model.Hash
	Active *Active

	key, row  []byte // of the current row
	spentHere []bool // of the current value, by delta: an output that the same blocks spend

	index   *schema.Index // of the current deltas; nil: asset deltas
	pending []rowUpdates
	rows    int // that the pending updates replace
	lists   []*richest
	dayRows map[*schema.Index]*storage.Read // see readDays
}

// rowUpdates is changes of rows of one family that wait for the stored rows.
type rowUpdates struct {
	index  *schema.Index
	stored storage.Read
	apply  func(stored [][]byte) error
}

// BatchRows is the number of rows that an Applier reads at once.
const BatchRows = 16 << 10

// Apply adds the changes of assets, and the sorted deltas of each index.
func (a *Applier) Apply(assets *AssetDeltas, indexes []*Deltas) error {
	if err := a.assets(assets); err != nil {
		return err
	}
	if err := a.readDays(indexes); err != nil {
		return err
	}
	for _, d := range indexes {
		if err := a.addIndex(d); err != nil {
			return err
		}
	}
	return a.finish()
}

// ApplyDeltas adds the sorted deltas of an index.
func (a *Applier) ApplyDeltas(d *Deltas) error {
	if err := a.addIndex(d); err != nil {
		return err
	}
	return a.finish()
}

func (a *Applier) finish() error {
	if err := a.applyPending(); err != nil {
		return err
	}
	for _, l := range a.lists {
		l.write(a.Batch)
	}
	return nil
}

// keyRoom is the size in bytes of most keys of updated rows, or more; longer keys are copied. The memory of keysPerRoom
// keys is allocated at once.
const (
	keyRoom     = 20
	keysPerRoom = 1024
)

// update replaces the row of each change, when enough rows are pending to be read together. next appends the new row to
// b, or nothing to delete the row; row is the stored one, or nil. key appends the key of a change to b, and
// reports whether the row cannot exist yet. The caller must not reuse changes.
func update[C any](a *Applier, f storage.Family, changes []C, key func(b []byte, c *C) (with []byte, isNew bool),
	next func(c *C, b, row []byte) ([]byte, error)) error {
	for part := range slices.Chunk(changes, BatchRows) {
		keys, isNew := make([][]byte, len(part)), make([]bool, len(part))
		stored := storage.Read{Family: f}
		var room []byte
		for i := range part {
			if cap(room)-len(room) < keyRoom {
				room = make([]byte, 0, min(len(part)-i, keysPerRoom)*keyRoom)
			}
			at := len(room)
			room, isNew[i] = key(room, &part[i])
			if keys[i] = room[at:len(room):len(room)]; !isNew[i] {
				stored.Keys = append(stored.Keys, keys[i])
			}
		}
		apply := func(stored [][]byte) (err error) {
			for i := range part {
				var row []byte
				if !isNew[i] {
					row, stored = stored[0], stored[1:]
				}
				if a.row, err = next(&part[i], a.row[:0], row); err != nil {
					return err
				}
				if row == nil {
					a.Totals.Rows[f]++
				}
				if len(a.row) > 0 {
					a.Batch.Put(f, keys[i], a.row)
				} else {
					a.Batch.Delete(f, keys[i])
					a.Totals.Rows[f]--
				}
			}
			return nil
		}
		a.pending = append(a.pending, rowUpdates{a.index, stored, apply})
		if a.rows += len(part); a.rows >= BatchRows {
			if err := a.applyPending(); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyPending reads the rows of all pending updates together, and replaces them in order.
func (a *Applier) applyPending() error {
	reads := make([]*storage.Read, len(a.pending))
	for i := range a.pending {
		reads[i] = &a.pending[i].stored
	}
	if err := storage.ReadTogether(a.Reader, reads...); err != nil {
		return err
	}
	for _, u := range a.pending {
		if err := u.apply(u.stored.Values); err != nil {
			if u.index != nil {
				err = fmt.Errorf("index %s: %w", u.index.Name, err)
			}
			return err
		}
	}
	a.pending, a.rows = nil, 0
	return nil
}

// parse decodes a stored sum; the zero value if there is none.
func parse[T any](row []byte, decode func([]byte) (T, error)) (sum T, err error) {
	if row != nil {
		sum, err = decode(row)
	}
	return sum, err
}

// invalid returns the error of a sum that cannot be parsed, or that becomes negative if err is nil.
func invalid(err error, sum string, args ...any) error {
	sum = fmt.Sprintf(sum, args...)
	if err == nil {
		return fmt.Errorf("%s would become negative: run check", sum)
	}
	return fmt.Errorf("%s: %w", sum, err)
}
