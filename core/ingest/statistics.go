package ingest

import (
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// blockSums returns the sums of the blocks of a resolved batch; nil if no statistics are kept.
func (b *Batch) blockSums(l *schema.Layout) []schema.BlockSums {
	if !l.HasStatistics() {
		return nil
	}
	all := make([]schema.BlockSums, len(b.Blocks))
	for i, block := range b.Blocks {
		all[i].Point, all[i].Day, all[i].Bytes = block.Point(), schema.DayOf(block.Time), uint64(block.Size)
	}
	if l.Statistics == nil {
		return all
	}
	at, asset := 0, 0
	for i := range b.Txs {
		t := &b.Txs[i]
		for b.Blocks[at] != t.block {
			at++
		}
		sums := schema.TxSums{Stated: t.Fee, Genesis: t.genesis}
		for si := t.spends; si < t.spends+len(t.Inputs); si++ {
			sums.AddInput(b.spends[si].Value)
		}
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			sums.AddOutput(o.Value)
			if b.derives {
				continue
			}
			pk, entry := model.UtxoPk(t.pk)+model.UtxoPk(t.OutputIndex(oi)), uint16(0)
			for j := range o.Assets {
				if o.Assets[j].Amount == 0 {
					continue
				}
				if b.assetBirths[asset] == (model.AssetBirthPk{Utxo: pk, Index: entry}) {
					all[at].Assets++
				}
				asset, entry = asset+1, entry+1
			}
		}
		all[at].AddTx(&sums, l.Traits.FeeOutputs)
		for _, m := range t.mints {
			switch {
			case m.amount.Sign() > 0:
				all[at].Mints++
			case m.amount.Sign() < 0:
				all[at].Burns++
			}
		}
		t.countDerived(&all[at])
	}
	return all
}

// assetSums returns the sums of the derived assets of a resolved batch, by block.
func (b *Batch) assetSums() []schema.BlockSums {
	all := make([]schema.BlockSums, len(b.Blocks))
	for i, block := range b.Blocks {
		all[i].Point, all[i].Day = block.Point(), schema.DayOf(block.Time)
	}
	at := 0
	for i := range b.Txs {
		for b.Blocks[at] != b.Txs[i].block {
			at++
		}
		b.Txs[i].countDerived(&all[at])
	}
	return all
}

// countDerived adds the births, mints and burns of derived assets to the sums of the block.
func (t *BatchTx) countDerived(to *schema.BlockSums) {
	d := t.derived
	if d == nil {
		return
	}
	to.Assets += uint64(len(d.births))
	for j := range d.supplies {
		if d.supplies[j].Mints {
			to.Mints++
		}
		if !d.supplies[j].Burned.IsZero() {
			to.Burns++
		}
	}
}

// statistics removes the statistics of the block, and collects what to subtract from those of its day.
func (u *Undo) statistics(day schema.Day) error {
	key := u.height.AppendTo(nil)
	for _, x := range u.Layout.All {
		which := schema.StatisticsOf(x)
		features := x.Active
		if u.change.Covers(u.height) {
			features |= x.Building
		}
		if !features.Has(schema.FeatureOf(which)) {
			continue
		}
		rows, err := u.r.GetMany(x.Family(which), [][]byte{key})
		if err != nil {
			return err
		}
		if rows[0] == nil {
			continue
		}
		if x.Kind == model.Sums {
			row, err := schema.ParseBlockStatistics(rows[0])
			if err != nil {
				return err
			}
			if err := u.removedSums.AddBlock(day, &row); err != nil {
				return err
			}
		} else {
			row, err := schema.ParseBlockValues(rows[0])
			if err != nil {
				return err
			}
			u.removedSums.AddValues(x, day, row)
		}
		u.removeOf(x, which, key)
	}
	return nil
}

// removeStatistics subtracts the removed blocks from the statistics of their days.
func (u *Undo) removeStatistics() error {
	for _, x := range u.Layout.All {
		t := u.t
		if !x.Active.Has(schema.FeatureOf(schema.StatisticsOf(x))) {
			if u.change == nil || u.change.Index != x {
				continue
			}
			t = &schema.Totals{Rows: u.change.Rows}
		}
		a := ledger.Applier{Reader: u.r, Batch: u.b, Totals: t}
		if err := a.RemoveSums(x, &u.removedSums); err != nil {
			return err
		}
	}
	return nil
}
