package ledger

import (
	"bytes"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// RichestSizes are numbers of values in the list of the largest balances of an index.
type RichestSizes struct {
	Least int // a list with fewer values, although the index has more, must be built again
	Kept  int // of a list that is built, or cut
	Most  int // a longer list is cut

	// Reads is the largest number of stored balances of an index that a write in bulk reads to keep the list exact. If it
	// changes more, it adds to them without reading them, and the list ends.
	Reads int
}

// Richest is the sizes of all lists. Tests change it before they open a database.
var Richest = RichestSizes{Least: 1000, Kept: 8000, Most: 16_000, Reads: 8000}

// richest maintains the list of the largest balances of one index during one write.
type richest struct {
	index    *schema.Index
	list     *schema.RichestList // nil: there is no exact list
	building bool                // changed values are recorded for the builder
	reads    int                 // of stored balances in a write in bulk
	changed  bool                // list

	old, new []byte // keys of the current value
}

// richestOf returns the list of the index, as it is before the write. Its state is read now, or with the next rows that
// updates replace.
func (a *Applier) richestOf(x *schema.Index, now bool) (*richest, error) {
	if n := len(a.lists); n > 0 && a.lists[n-1].index == x {
		return a.lists[n-1], nil
	}
	l := &richest{index: x}
	a.lists = append(a.lists, l)
	state := storage.Read{Family: x.Family(schema.IndexRichest), Keys: [][]byte{schema.RichestState, schema.RichestBuilding}}
	load := func(stored [][]byte) (err error) {
		l.building = stored[1] != nil
		if l.list, err = schema.ParseRichestState(stored[0]); err != nil {
			return fmt.Errorf("the list of the largest balances: %w: run check", err)
		}
		if l.list != nil && l.list.Count > uint64(Richest.Most) {
			return a.cutRichest(l)
		}
		return nil
	}
	if !now {
		a.pending = append(a.pending, rowUpdates{x, state, load})
		return l, nil
	}
	rows, err := a.Reader.GetMany(state.Family, state.Keys)
	if err != nil {
		return nil, err
	}
	return l, load(rows)
}

// cutRichest removes all rows of the list but the first Richest.Kept.
func (a *Applier) cutRichest(l *richest) error {
	f := l.index.Family(schema.IndexRichest)
	from, to := schema.RichestRows()
	n := 0
	for kv, err := range a.Reader.Scan(f, from, to, false) {
		if err != nil {
			return err
		}
		if n++; n < Richest.Kept {
			continue
		}
		if n > Richest.Kept {
			a.Batch.Delete(f, kv.Key)
			continue
		}
		l.list.Last = bytes.Clone(kv.Key)
	}
	l.list.Count, l.changed = uint64(min(n, Richest.Kept)), true
	return nil
}

// inBulk reports whether a write in bulk shall change these accounts without reading them. Then the list ends.
func (l *richest) inBulk(a *Applier, changes []accountDelta) bool {
	if l.list != nil || l.building {
		for i := range changes {
			if changes[i].birth.Utxo < a.NewFrom {
				l.reads++
			}
		}
		if l.reads <= Richest.Reads {
			return false
		}
		l.end(a.Batch)
	}
	return true
}

// end ends the list, and the attempt to build one.
func (l *richest) end(b storage.Batch) {
	f := l.index.Family(schema.IndexRichest)
	if l.list != nil {
		b.Put(f, schema.RichestState, schema.AppendRichestState(nil, nil))
	}
	if l.building {
		b.Delete(f, schema.RichestBuilding)
	}
	l.list, l.building, l.changed = nil, false, false
}

// change replaces the account of a value.
func (l *richest) change(b storage.Batch, birth model.BirthPk, before, after *schema.Account) {
	f := l.index.Family(schema.IndexRichest)
	if l.building {
		l.new = schema.AppendRichestChanged(l.new[:0], l.index, birth)
		b.Put(f, l.new, nil)
	}
	if l.list == nil {
		return
	}
	l.old, l.new = l.key(l.old[:0], birth, before), l.key(l.new[:0], birth, after)
	had, has := len(l.old) > 0, len(l.new) > 0
	if had && (!has || !bytes.Equal(l.old, l.new)) {
		b.Delete(f, l.old)
	}
	if has && (!had || before.Unspent != after.Unspent || !bytes.Equal(l.old, l.new)) {
		b.Put(f, l.new, schema.AppendRichestRow(nil, uint64(after.Unspent)))
	}
	if had != has {
		l.changed = true
		if has {
			l.list.Count++
		} else {
			l.list.Count--
		}
	}
}

// key appends the key of a value to b; nothing if it does not belong to the list.
func (l *richest) key(b []byte, birth model.BirthPk, account *schema.Account) []byte {
	if account.Unspent <= 0 {
		return b
	}
	if b = schema.AppendRichestKey(b, l.index, account.Balance(), birth); !l.list.Has(b) {
		return b[:0]
	}
	return b
}

// write writes the state of the list.
func (l *richest) write(b storage.Batch) {
	if l.changed {
		b.Put(l.index.Family(schema.IndexRichest), schema.RichestState, schema.AppendRichestState(nil, l.list))
	}
}
