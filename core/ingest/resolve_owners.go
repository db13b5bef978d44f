package ingest

import (
	"fmt"
	"slices"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// owners are the values of spent outputs, of indexes with account features: all[from[i]:from[i+1]] are the values of
// spend i.
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

// deltas computes the changes of accounts.
func (v *resolver) deltas() error {
	w := v.w
	v.cache.Divide(v.Indexes) // an index may have been added or dropped since the last batch
	if w.deltas = ledger.NewDeltas(v.Layout, 1); len(w.deltas) == 0 {
		return nil
	}
	for _, y := range w.deltas {
		y.Outputs = make([]ledger.OutputDelta, 0, len(w.outputs)+len(w.spends)) // assumes one value per output
	}
	at := make([]*ledger.Deltas, len(v.Indexes)) // by position
	for i, x := range v.Indexes {
		at[i] = ledger.DeltasOf(w.deltas, x)
	}
	v.putOwners(at)
	if err := v.readOwners(); err != nil {
		return err
	}
	for ti := range w.Txs {
		t := &w.Txs[ti]
		for si := t.spends; si < t.spends+len(t.Inputs); si++ {
			for _, o := range w.owners.of(si) {
				ledger.DeltasOf(w.deltas, o.Index).AddSpend(o.Birth, t.pk, w.spends[si].Utxo, w.spends[si].Value)
			}
		}
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			pk := model.UtxoPk(t.pk) + model.UtxoPk(t.OutputIndex(oi))
			births := w.births[w.outputs[t.outputs+oi].births:]
			for ki := range o.Keys {
				if y := at[o.Keys[ki].Index]; y != nil {
					y.AddOutput(births[ki], pk, o.Value)
				}
			}
		}
	}
	return nil
}

// putOwners adds the owners of the batch's outputs to the caches; at is indexed by the position of the index.
func (v *resolver) putOwners(at []*ledger.Deltas) {
	w := v.w
	has := make([]*model.BirthPk, len(v.Indexes)) // the value of the current output, by position
	for ti := range w.Txs {
		t := &w.Txs[ti]
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			births := w.births[w.outputs[t.outputs+oi].births:]
			clear(has)
			for ki := range o.Keys {
				has[o.Keys[ki].Index] = &births[ki]
			}
			for i, x := range v.Indexes {
				if at[i] != nil && cache.HasOwners(x) {
					v.cache.PutOwner(x, model.UtxoPk(t.pk)+model.UtxoPk(t.OutputIndex(oi)), has[i])
				}
			}
		}
	}
}

// readOwners finds the owners of spent outputs: in the uncommitted batches, in the caches, or in the database.
func (v *resolver) readOwners() error {
	w := v.w
	var keep []*schema.Index
	allOwned := true
	for _, x := range v.Indexes {
		if x.Active&schema.AccountFeatures != 0 {
			keep = append(keep, x)
			allOwned = allOwned && cache.HasOwners(x)
		}
	}
	const pending, cached = -1, -2
	at := make([]int32, len(w.spends)) // index in stored, or one of the above
	known := make([]*model.BirthPk, 0, len(keep)*len(w.spends))
	var stored []model.UtxoPk
	asked := 0
	for i, s := range w.spends {
		before := len(known)
		if v.pendingWith(s.Utxo) != nil {
			at[i] = pending
			for _, x := range keep {
				v.cache.TakeOwner(x, s.Utxo) // free the entry: it is never used again
			}
			continue
		}
		asked++
		all := allOwned
		for _, x := range keep {
			if birth, ok := v.cache.TakeOwner(x, s.Utxo); ok {
				known = append(known, birth)
			} else {
				all = false
			}
		}
		if at[i] = cached; !all {
			known = known[:before]
			at[i] = int32(len(stored))
			stored = append(stored, s.Utxo)
		}
	}
	v.cache.Counters.Owners.Add(asked, asked-len(stored))
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
			made := v.pendingWith(s.Utxo)
			t := made.tx(s.Utxo.Tx())
			oi := s.Utxo.Index() - int(t.FirstOutput)
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
			place, _ := slices.BinarySearch(sorted, s.Utxo)
			o.all = append(o.all, read.of(place)...)
		}
	}
	o.from = append(o.from, int32(len(o.all)))
	w.owners = o
	return nil
}

// readOwners reads the values of committed outputs, of indexes with account features.
func readOwners(c *schema.Layout, r storage.Reader, pks []model.UtxoPk) (o owners, err error) {
	o.from = make([]int32, 1, len(pks)+1)
	for part := range slices.Chunk(pks, ledger.BatchRows) {
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
