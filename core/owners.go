package core

import (
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// owners are the values that spent outputs had, of the indexes that keep accounts: those of spend i are
// all[from[i]:from[i+1]].
type owners struct {
	all  []schema.Occurrence
	from []int32
}

func (o *owners) of(spend int) []schema.Occurrence {
	if o.from == nil {
		return nil
	}
	return o.all[o.from[spend]:o.from[spend+1]]
}

// tally notes what the window changes in the accounts of values.
func (v *resolver) tally() error {
	w := v.w
	v.cache.divide(v.Indexes) // an index may have been added or dropped since the last window
	if w.tallies = newTallies(v.Layout, 1); len(w.tallies) == 0 {
		return nil
	}
	for _, y := range w.tallies {
		y.moves = make([]move, 0, len(w.outputs)+len(w.spends)) // of an index that has one value an output
	}
	at := make([]*tally, len(v.Indexes)) // by position
	for i, x := range v.Indexes {
		at[i] = tallyOf(w.tallies, x)
	}
	v.own(at)
	if err := v.readOwners(); err != nil {
		return err
	}
	for ti := range w.txs {
		t := &w.txs[ti]
		for si := t.spends; si < t.spends+len(t.Inputs); si++ {
			for _, o := range w.owners.of(si) {
				tallyOf(w.tallies, o.Index).spend(o.Birth, t.pk, w.spends[si].utxo, w.spends[si].value)
			}
		}
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			pk := model.UtxoPk(t.pk) + model.UtxoPk(t.OutputIndex(oi))
			births := w.births[w.outputs[t.outputs+oi].births:]
			for ki := range o.Keys {
				if y := at[o.Keys[ki].Index]; y != nil {
					y.make(births[ki], pk, o.Value)
				}
			}
		}
	}
	return nil
}

// own has the caches remember whose the window's outputs are; at is the tallies by the position of their indexes.
func (v *resolver) own(at []*tally) {
	w := v.w
	has := make([]*model.BirthPk, len(v.Indexes)) // the value of an output, by position
	for ti := range w.txs {
		t := &w.txs[ti]
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			births := w.births[w.outputs[t.outputs+oi].births:]
			clear(has)
			for ki := range o.Keys {
				has[o.Keys[ki].Index] = &births[ki]
			}
			for i, x := range v.Indexes {
				if at[i] != nil && owned(x) {
					v.cache.own(x, model.UtxoPk(t.pk)+model.UtxoPk(t.OutputIndex(oi)), has[i])
				}
			}
		}
	}
}

// readOwners finds whose the spent outputs were: in the windows that are not written yet, in the caches, or in the database.
func (v *resolver) readOwners() error {
	w := v.w
	var keep []*schema.Index
	allOwned := true
	for _, x := range v.Indexes {
		if x.Active&schema.AccountFeatures != 0 {
			keep = append(keep, x)
			allOwned = allOwned && owned(x)
		}
	}
	const pending, cached = -1, -2
	at := make([]int32, len(w.spends)) // where a spend stands among stored, or one of the above
	known := make([]*model.BirthPk, 0, len(keep)*len(w.spends))
	var stored []model.UtxoPk
	asked := 0
	for i, s := range w.spends {
		before := len(known)
		if v.pendingWith(s.utxo) != nil {
			at[i] = pending
			for _, x := range keep {
				v.cache.disown(x, s.utxo) // nobody asks again
			}
			continue
		}
		asked++
		all := allOwned
		for _, x := range keep {
			if birth, ok := v.cache.disown(x, s.utxo); ok {
				known = append(known, birth)
			} else {
				all = false
			}
		}
		if at[i] = cached; !all {
			known = known[:before]
			at[i] = int32(len(stored))
			stored = append(stored, s.utxo)
		}
	}
	v.cache.hits.owners.add(asked, asked-len(stored))
	sorted := slices.Sorted(slices.Values(stored))
	read, err := readOwners(v.Layout, v.r, sorted)
	if err != nil {
		return err
	}
	o := owners{from: make([]int32, 0, len(w.spends)+1), all: make([]schema.Occurrence, 0, len(w.spends))}
	for i, s := range w.spends {
		o.from = append(o.from, int32(len(o.all)))
		switch at[i] {
		case pending:
			made := v.pendingWith(s.utxo)
			t := made.tx(s.utxo.Tx())
			oi := s.utxo.Index() - int(t.FirstOutput)
			births := made.births[made.outputs[t.outputs+oi].births:]
			for ki := range t.Outputs[oi].Keys {
				if x := v.Indexes[t.Outputs[oi].Keys[ki].Index]; x.Active&schema.AccountFeatures != 0 {
					o.all = append(o.all, schema.Occurrence{Index: x, Birth: births[ki]})
				}
			}
		case cached:
			for k, x := range keep {
				if birth := known[k]; birth != nil {
					o.all = append(o.all, schema.Occurrence{Index: x, Birth: *birth})
				}
			}
			known = known[len(keep):]
		default:
			place, _ := slices.BinarySearch(sorted, s.utxo)
			o.all = append(o.all, read.of(place)...)
		}
	}
	o.from = append(o.from, int32(len(o.all)))
	w.owners = o
	return nil
}

// readOwners reads the values of outputs that stand in the database, of the indexes that keep accounts.
func readOwners(c *schema.Layout, r storage.Reader, pks []model.UtxoPk) (o owners, err error) {
	o.from = make([]int32, 1, len(pks)+1)
	for part := range slices.Chunk(pks, rowsAtOnce) {
		rows, err := r.GetMany(schema.FamilyUtxo, schema.Keys(part))
		if err != nil {
			return o, err
		}
		for i, b := range rows {
			row, err := c.ParseUtxoRow(part[i], b)
			if err != nil {
				return o, fmt.Errorf("output %v: %w", part[i], err)
			}
			for _, occ := range row.Occurrences {
				if occ.Index.Active&schema.AccountFeatures != 0 {
					o.all = append(o.all, occ)
				}
			}
			o.from = append(o.from, int32(len(o.all)))
		}
	}
	return o, nil
}
