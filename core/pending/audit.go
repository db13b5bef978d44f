package pending

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Audit compares a block with the first projected block of the mempool just before it.
type Audit struct {
	Block    model.Point
	Expected ProjectedBlock
	Both     AuditSum // transactions of the projected block that the block has
	Missing  AuditSum // transactions of the projected block that the block lacks
	Added    AuditSum // transactions of the mempool that the block has, and the projected block lacks
	Unknown  int      // transactions of the block that the mempool lacked, with the coinbase if there is one

	MissingTxs, AddedTxs []AuditTx // those with the highest fees, at most [AuditTxs] each
}

// AuditSum is the totals of transactions. Fees are in the chain's smallest unit.
type AuditSum struct {
	Count int
	VSize uint64
	Fees  uint64
}

// AuditTx is a transaction that is in one of the two blocks only.
type AuditTx struct {
	ID    model.Hash
	Fee   uint64
	Rate  float64 // of its package in the template; of the transaction if it is after all projected blocks
	Block int     // of the template, from 0; -1: after all projected blocks
}

const (
	// AuditTxs is the maximum number of transactions in each list of an [Audit].
	AuditTxs = 10

	keptAudits = 1008 // a week of Bitcoin
)

// audits are the comparisons of the newest blocks.
type audits struct {
	due   chan *Standing // the last one before a block; full: the block is not compared
	mu    sync.Mutex
	byID  map[model.Hash]*Audit
	order []model.Hash // oldest first
}

// Audit returns the comparison of a block with the projected one. It is nil if the block was not the next one when the
// mempool was complete, for older blocks, and on chains without projected blocks.
func (f *Follower) Audit(block model.Hash) *Audit {
	f.audits.mu.Lock()
	defer f.audits.mu.Unlock()
	return f.audits.byID[block]
}

// audit requests a comparison of the block after a standing.
func (f *Follower) audit(before *Standing) {
	if f.Traits.BlockVSize == 0 || before.state != Live && before.state != Partial {
		return
	}
	select {
	case f.audits.due <- before:
	default:
	}
}

// auditBlocks makes the comparisons that are requested, until ctx ends.
func (f *Follower) auditBlocks(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case before := <-f.audits.due:
			var err error
			if failed := guard.Do(f.Log, "the comparison of a block with the mempool", func() { err = f.compareNext(ctx, before) }); failed == nil &&
				err != nil && ctx.Err() == nil {
				f.Log.Warn("cannot compare a block with the mempool", "error", err)
			}
		}
	}
}

// compareNext compares the block after a standing with the projected one.
func (f *Follower) compareNext(ctx context.Context, before *Standing) error {
	return f.Options.View(ctx, func(v *query.View) error {
		return v.From(ctx, func(q *query.Query) error {
			h := before.Tip.Height + 1
			row, ok, err := schema.FindBlock(q.R, h)
			if err != nil || !ok || row.Parent != before.Tip.Hash { // it was orphaned already
				return err
			}
			var ids []model.Hash
			for t, err := range blockTxs(q, h) {
				if err != nil {
					return err
				}
				ids = append(ids, t.id)
			}
			f.audits.keep(before.audit(before.template(f.Traits.BlockVSize), row.Point(h), ids))
			return nil
		})
	})
}

func (a *audits) keep(made *Audit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[model.Hash]*Audit{}
	}
	id := made.Block.Hash
	if a.byID[id] == nil {
		a.order = append(a.order, id)
	}
	a.byID[id] = made
	if len(a.order) > keptAudits {
		delete(a.byID, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
}

// audit compares a block, whose transactions have ids, with a template of the overlay.
func (o *Overlay) audit(t *Template, block model.Point, ids []model.Hash) *Audit {
	a := &Audit{Block: block}
	if len(t.Blocks) > 0 {
		a.Expected = t.Blocks[0]
	}
	mined := make(map[*Tx]bool, len(ids))
	for _, id := range ids {
		tx := o.Tx(id)
		if tx == nil {
			a.Unknown++
			continue
		}
		mined[tx] = true
		at, rate, ok := t.Place(tx)
		switch {
		case ok && at == 0:
			a.Both.add(tx)
		case ok:
			a.Added.add(tx)
			a.AddedTxs = append(a.AddedTxs, AuditTx{id, tx.Fee, rate, at})
		default:
			a.Added.add(tx)
			a.AddedTxs = append(a.AddedTxs, AuditTx{id, tx.Fee, tx.Rate(), -1})
		}
	}
	for tx, n := range t.known {
		if n.block == 0 && !mined[tx] {
			a.Missing.add(tx)
			a.MissingTxs = append(a.MissingTxs, AuditTx{tx.ID, tx.Fee, n.placedRate, 0})
		}
	}
	a.MissingTxs, a.AddedTxs = first(a.MissingTxs), first(a.AddedTxs)
	return a
}

// first returns the transactions with the highest fees.
func first(all []AuditTx) []AuditTx {
	slices.SortFunc(all, func(a, b AuditTx) int {
		return cmp.Or(cmp.Compare(b.Fee, a.Fee), slices.Compare(a.ID[:], b.ID[:]))
	})
	return slices.Clone(all[:min(len(all), AuditTxs)])
}

func (s *AuditSum) add(t *Tx) {
	s.Count++
	s.VSize += uint64(t.VSize)
	s.Fees += t.Fee
}
