package notify

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/model"
)

// unconfirmedBlocks is a source whose mempool has transactions of blocks that are not appended yet.
type unconfirmedBlocks struct {
	db     *core.DB
	blocks []*model.Block // not appended
	txs    map[model.Hash]*model.Unconfirmed
	ids    atomic.Pointer[[]model.Hash] // of the mempool
}

// maxAncestors is the number of unconfirmed ancestors of a transaction, itself included, that nodes accept.
const maxAncestors = 25

func newUnconfirmedBlocks(ctx context.Context, recording *bench.Recording, db *core.DB, most int) (u *unconfirmedBlocks, err error) {
	src, err := recording.Replay(0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	u = &unconfirmedBlocks{db: db, txs: map[model.Hash]*model.Unconfirmed{}}
	ancestors := map[model.Hash][]model.Hash{} // of the transactions of the blocks; nil: it is left out
	var ids []model.Hash
	for e, err := range src.Follow(ctx, []model.Point{db.Tip()}) {
		if err != nil {
			return nil, err
		}
		u.blocks = append(u.blocks, e.Block)
		for i := range e.Block.Txs {
			t := &e.Block.Txs[i]
			if ancestors[t.Hash] = ancestorsIn(t, ancestors); ancestors[t.Hash] == nil || len(ids) == most {
				ancestors[t.Hash] = nil
				continue
			}
			ids = append(ids, t.Hash)
			size := len(t.Raw)
			u.txs[t.Hash] = &model.Unconfirmed{Tx: *t, Size: size, VSize: size, Weight: 4 * size}
		}
	}
	if len(ids) < most {
		return nil, model.Errorf(model.Usage, "bad_value", "%d transactions of the last blocks can be unconfirmed, expected %d: "+
			"generate more transactions", len(ids), most)
	}
	u.ids.Store(&ids)
	return u, nil
}

// ancestorsIn returns a transaction and its ancestors among others; nil if it is a coinbase, has too many ancestors, or
// one that is left out.
func ancestorsIn(t *model.Tx, others map[model.Hash][]model.Hash) []model.Hash {
	if len(t.Inputs) == 0 {
		return nil
	}
	all := []model.Hash{t.Hash}
	for i := range t.Inputs {
		of, later := others[t.Inputs[i].Tx]
		if later && of == nil {
			return nil
		}
		for _, id := range of {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
		if len(all) > maxAncestors {
			return nil
		}
	}
	return all
}

// take removes the next block, whose transactions leave the mempool.
func (u *unconfirmedBlocks) take() *model.Block {
	b := u.blocks[0]
	u.blocks = u.blocks[1:]
	mined := map[model.Hash]bool{}
	for i := range b.Txs {
		mined[b.Txs[i].Hash] = true
	}
	ids := slices.DeleteFunc(slices.Clone(*u.ids.Load()), func(id model.Hash) bool { return mined[id] })
	u.ids.Store(&ids)
	return b
}

// MempoolIDs implements [model.Mempool].
func (u *unconfirmedBlocks) MempoolIDs(context.Context) ([]model.Hash, uint64, error) {
	return *u.ids.Load(), 0, nil
}

// MempoolTxs implements [model.Mempool].
func (u *unconfirmedBlocks) MempoolTxs(_ context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	txs := make([]*model.Unconfirmed, len(ids))
	for i, id := range ids {
		txs[i] = u.txs[id]
	}
	return txs, nil
}

// MempoolEvents implements [model.Mempool]: there are none.
func (u *unconfirmedBlocks) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

// Tip implements [model.Source]: the node and the database have the same blocks.
func (u *unconfirmedBlocks) Tip(context.Context) (model.Point, error) { return u.db.Tip(), nil }

// Follow implements [model.Source]: blocks are appended directly.
func (u *unconfirmedBlocks) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(func(model.Event, error) bool) {}
}

// Close implements [model.Source].
func (u *unconfirmedBlocks) Close() error { return nil }
