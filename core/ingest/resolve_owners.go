package ingest

import (
	"cmp"
	"fmt"
	"slices"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// owners are the values of the spent outputs, of indexes with account features, by spend.
type owners [][]schema.Occurrence

func (o owners) of(spend int) []schema.Occurrence {
	if o == nil {
		return nil
	}
	return o[spend]
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
	w.owners = make(owners, len(w.spends))
	all := make([]schema.Occurrence, 0, len(w.spends))
	var stored []int // spends whose outputs must be read from the database
	asked := 0
	for i, s := range w.spends {
		from, known := len(all), true
		if made := v.pendingWith(s.Utxo); made != nil {
			v.takeOwners(all, s.Utxo) // free the entries: they are never used again
			all = made.appendOwners(all, v.Indexes, s.Utxo)
		} else {
			asked++
			all, known = v.takeOwners(all, s.Utxo)
		}
		if !known {
			all = all[:from]
			stored = append(stored, i)
		}
		w.owners[i] = all[from:len(all):len(all)]
	}
	v.cache.Counters.Owners.Add(asked, asked-len(stored))
	slices.SortFunc(stored, func(a, b int) int { return cmp.Compare(w.spends[a].Utxo, w.spends[b].Utxo) })
	for part := range slices.Chunk(stored, ledger.BatchRows) {
		pks := make([]model.UtxoPk, len(part))
		for k, i := range part {
			pks[k] = w.spends[i].Utxo
		}
		rows, err := v.r.GetMany(schema.FamilyUtxo, schema.Keys(pks))
		if err != nil {
			return err
		}
		for k, b := range rows {
			row, err := v.ParseUtxoRow(pks[k], b)
			if err != nil {
				return fmt.Errorf("output %v: %w", pks[k], err)
			}
			w.owners[part[k]] = slices.DeleteFunc(row.Occurrences, func(o schema.Occurrence) bool { return !hasAccounts(o.Index) })
		}
	}
	return nil
}

func hasAccounts(x *schema.Index) bool { return x.Active&schema.AccountFeatures != 0 }

// takeOwners removes the owners of an output from the caches and appends them to all; known is false if the caches do
// not have all of them.
func (v *resolver) takeOwners(all []schema.Occurrence, pk model.UtxoPk) (_ []schema.Occurrence, known bool) {
	known = true
	for _, x := range v.Indexes {
		if !hasAccounts(x) {
			continue
		}
		birth, ok := v.cache.TakeOwner(x, pk)
		if known = known && ok; birth != nil {
			all = append(all, schema.Occurrence{Index: x, Birth: *birth})
		}
	}
	return all, known
}

// appendOwners appends the owners of an output of the batch.
func (w *Batch) appendOwners(all []schema.Occurrence, indexes []*schema.Index, pk model.UtxoPk) []schema.Occurrence {
	t := w.tx(pk.Tx())
	oi := pk.Index() - int(t.FirstOutput)
	births := w.births[w.outputs[t.outputs+oi].births:]
	for ki, k := range t.Outputs[oi].Keys {
		if x := indexes[k.Index]; hasAccounts(x) {
			all = append(all, schema.Occurrence{Index: x, Birth: births[ki]})
		}
	}
	return all
}
