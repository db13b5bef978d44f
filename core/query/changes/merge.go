package changes

import (
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// createdOutput is an output to send, and its pointer.
type createdOutput struct {
	pk     model.UtxoPk
	output *query.OutputAnswer
}

// spentOutput is a spend of a matching output.
type spentOutput struct {
	pk     model.InputPk // of the spending input
	spend  *SpendAnswer
	output *query.OutputAnswer // nil: not requested
}

// merge sends outputs and spends block by block. The outputs of a block come first, because the block may spend them.
func (f *changeReader) merge(outputs func() (createdOutput, error, bool), spends func() (spentOutput, error, bool)) error {
	o, err, more := outputs()
	if err != nil {
		return err
	}
	s, err, further := spends()
	if err != nil {
		return err
	}
	for more || further || f.in != nil {
		h := s.pk.Height()
		switch {
		case f.in != nil: // send its block event even if no changes are left
			h, f.in = *f.in, nil
		case !further || more && o.pk.Height() < h:
			h = o.pk.Height()
		}
		// Genesis is sent with the first block.
		h = max(h, f.begin)
		if err := f.until(int64(h) - 1); err != nil {
			return err
		}
		if f.block, err = schema.BlockAt(f.R, h); err != nil {
			return err
		}
		in := Position{block: f.block.Point(h)}
		for more && o.pk.Height() <= h {
			in.output = o.pk + 1
			if err := f.emit(Change{Output: o.output, Position: in}); err != nil {
				return err
			}
			if o, err, more = outputs(); err != nil {
				return err
			}
		}
		in.output = f.LastPk(h) + 1
		for further && s.pk.Height() <= h {
			in.input = model.UtxoPk(s.pk) + 1
			if err := f.emit(Change{Spend: s.spend, Spent: s.output, Position: in}); err != nil {
				return err
			}
			if s, err, further = spends(); err != nil {
				return err
			}
		}
		if err := f.emitBlock(h); err != nil {
			return err
		}
	}
	return nil
}

// until sends the blocks up to h, which have no matching changes: all of them, or one per BlockEvery blocks and the
// last.
func (f *changeReader) until(h int64) error {
	step := int64(BlockEvery)
	if f.what.EveryBlock {
		step = 1
	}
	for f.sent < h {
		next := f.sent + step
		if next > h {
			if h != int64(f.last) {
				break
			}
			next = h
		}
		if err := f.Ctx.Err(); err != nil {
			return err
		}
		var err error
		if f.block, err = schema.BlockAt(f.R, model.HeightPk(next)); err != nil {
			return err
		}
		if err := f.emitBlock(model.HeightPk(next)); err != nil {
			return err
		}
	}
	return f.Ctx.Err()
}

// emitBlock sends the event of the block at h, which is in f.block.
func (f *changeReader) emitBlock(h model.HeightPk) error {
	f.sent = int64(h)
	b := &f.block
	return f.emit(Change{
		Block: &model.Point{Height: h, Hash: b.Hash, Slot: b.Slot},
		Summary: query.BlockSummaryAnswer{
			Height: uint32(h), Hash: f.Chain.FormatHash(b.Hash), Time: b.Time, Size: b.Size, TxCount: b.TxCount,
		},
	})
}
