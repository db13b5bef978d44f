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
	w := v.batch
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

// putOwners sets the owners of the outputs of some transactions: the caches store them with the unspent outputs.
func (v *resolver) putOwners(txs []BatchTx) {
	words := v.cache.Words()
	for i := range txs {
		t := &txs[i]
		for oi := range t.Outputs {
			o, at := &t.Outputs[oi], t.outputs+oi
			owners := v.lookups.OutputOwners[at*words : (at+1)*words]
			for word := range owners {
				owners[word] = cache.OwnerNone
			}
			births := v.batch.births[v.batch.outputs[at].births:]
			for ki := range o.Keys {
				if word := v.words[o.Keys[ki].Index]; word >= 0 {
					owners[word] = cache.NewOwner(v.lookups.Outputs[at].Utxo, births[ki])
				}
			}
		}
	}
}

// readOwners finds the owners of spent outputs: in the uncommitted batches, in the cache entries that the inputs
// removed, or in the database.
func (v *resolver) readOwners() error {
	w := v.batch
	w.owners = make(owners, len(w.spends))
	all := make([]schema.Occurrence, 0, len(w.spends))
	var stored []int // spends whose outputs must be read from the database
	asked := 0
	for i, s := range w.spends {
		from, known := len(all), true
		if made := v.pendingWith(s.Utxo); made != nil {
			all = made.appendOwners(all, v.Indexes, s.Utxo)
		} else {
			asked++
			all, known = v.cachedOwners(all, i)
		}
		if !known {
			all = all[:from]
			stored = append(stored, i)
		}
		w.owners[i] = all[from:len(all):len(all)]
	}
	v.cache.Counters.Owners.Add(asked, asked-len(stored))
	stored, err := v.ownersOfMissed(stored)
	if err != nil {
		return err
	}
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
			if err := v.setOwners(part[k], b); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownersOfMissed sets the owners of the spends whose output rows were read, and returns the others.
func (v *resolver) ownersOfMissed(spends []int) (others []int, err error) {
	for _, i := range spends {
		if n, read := slices.BinarySearch(v.missed, int32(i)); !read {
			others = append(others, i)
		} else if err := v.setOwners(i, v.missedRows[n]); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// setOwners sets the owners of a spent output from its row.
func (v *resolver) setOwners(spend int, row []byte) error {
	pk := v.batch.spends[spend].Utxo
	output, err := v.ParseUtxoRow(pk, row)
	if err != nil {
		return fmt.Errorf("output %v: %w", pk, err)
	}
	v.batch.owners[spend] = slices.DeleteFunc(output.Occurrences, func(o schema.Occurrence) bool { return !hasAccounts(o.Index) })
	return nil
}

func hasAccounts(x *schema.Index) bool { return x.Active&schema.AccountFeatures != 0 }

// cachedOwners appends the owners of the output of a spend to all; known is false if the caches did not have all of
// them.
func (v *resolver) cachedOwners(all []schema.Occurrence, spend int) (_ []schema.Occurrence, known bool) {
	words := v.lookups.SpentOwners[spend*v.cache.Words():]
	for i, x := range v.Indexes {
		if !hasAccounts(x) {
			continue
		}
		if v.words[i] < 0 {
			return all, false
		}
		birth, some, known := words[v.words[i]].Birth(v.batch.spends[spend].Utxo)
		if !known {
			return all, false
		}
		if some {
			all = append(all, schema.Occurrence{Index: x, Birth: birth})
		}
	}
	return all, true
}

// appendOwners appends the owners of an output of the batch.
func (b *Batch) appendOwners(all []schema.Occurrence, indexes []*schema.Index, pk model.UtxoPk) []schema.Occurrence {
	t := b.tx(pk.Tx())
	oi := pk.Index() - int(t.FirstOutput)
	births := b.births[b.outputs[t.outputs+oi].births:]
	for ki, k := range t.Outputs[oi].Keys {
		if x := indexes[k.Index]; hasAccounts(x) {
			all = append(all, schema.Occurrence{Index: x, Birth: births[ki]})
		}
	}
	return all
}
