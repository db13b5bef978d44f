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
	batch := v.batch
	if batch.deltas = ledger.NewDeltas(v.Layout, 1); len(batch.deltas) == 0 {
		return nil
	}
	for _, d := range batch.deltas {
		d.Outputs = make([]ledger.OutputDelta, 0, len(batch.outputs)+len(batch.spends)) // assumes one value per output
	}
	at := make([]*ledger.Deltas, len(v.Indexes)) // by position
	for i, x := range v.Indexes {
		at[i] = ledger.DeltasOf(batch.deltas, x)
	}
	if err := v.readOwners(); err != nil {
		return err
	}
	for ti := range batch.Txs {
		t := &batch.Txs[ti]
		for si := t.spends; si < t.spends+len(t.Inputs); si++ {
			for _, o := range batch.owners.of(si) {
				ledger.DeltasOf(batch.deltas, o.Index).AddSpend(o.Birth, t.pk, batch.spends[si].Utxo, batch.spends[si].Value)
			}
		}
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			pk := model.UtxoPk(t.pk) + model.UtxoPk(t.OutputIndex(oi))
			births := batch.births[batch.outputs[t.outputs+oi].births:]
			for ki := range o.Keys {
				if d := at[o.Keys[ki].Index]; d != nil {
					d.AddOutput(births[ki], pk, o.Value)
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
	batch := v.batch
	batch.owners = make(owners, len(batch.spends))
	all := make([]schema.Occurrence, 0, len(batch.spends))
	var stored []int // spends whose outputs must be read from the database
	lookups := 0
	for i, s := range batch.spends {
		from, known := len(all), true
		if made := v.pendingWith(s.Utxo); made != nil {
			all = made.appendOwners(all, v.Indexes, s.Utxo)
		} else {
			lookups++
			all, known = v.cachedOwners(all, i)
		}
		if !known {
			all = all[:from]
			stored = append(stored, i)
		}
		batch.owners[i] = all[from:len(all):len(all)]
	}
	v.cache.Counters.Owners.Add(lookups, lookups-len(stored))
	stored, err := v.ownersOfMissed(stored)
	if err != nil {
		return err
	}
	slices.SortFunc(stored, func(a, b int) int { return cmp.Compare(batch.spends[a].Utxo, batch.spends[b].Utxo) })
	for part := range slices.Chunk(stored, ledger.BatchRows) {
		pks := make([]model.UtxoPk, len(part))
		for k, i := range part {
			pks[k] = batch.spends[i].Utxo
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

func hasAccounts(x *schema.Index) bool { return x.Active&schema.SpendFeatures != 0 }

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
