package immutable

import (
	"context"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Child implements [model.ChildReader], for the blocks that were there when the folder was last checked.
func (s *Source) Child(ctx context.Context, after model.Point) (*model.Block, error) {
	from := Position{}
	if !after.IsOrigin() {
		e, err := s.db.Find(ctx, after.Slot, after.Hash)
		if err != nil {
			return nil, err
		}
		from = e.Next()
	}
	r := s.reader()
	defer r.Close()
	l := ledger.Linker{Decoder: s.decoder, Tip: after}
	for e, err := range s.db.Entries(ctx, from) {
		if err != nil {
			return nil, err
		}
		p, err := r.block(e)
		if err != nil {
			return nil, err
		}
		if b, err := p.link(&l); b != nil || err != nil {
			return b, err
		}
	}
	return nil, model.Errorf(model.NotFound, "unknown_block", "no block comes after %d (%s) in the chunks", after.Height, after.Hash)
}
