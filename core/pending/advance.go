package pending

import (
	"iter"
	"slices"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

const (
	maxBlocks = 12  // more blocks at once empty the overlay: the database is catching up
	maxRecent = 100 // blocks that are known: a deeper reorganization empties the overlay
)

// Advance moves the pool to the tip of q: the transactions of new blocks leave, and so do transactions that conflict.
// After a reorganization, transactions leave whose inputs no longer exist; those of orphaned blocks come back with the
// next list of the source. If too many blocks are new, or the indexes are others, all transactions leave.
func (p *Pool) Advance(q *query.Query) error {
	if p.indexes == nil || !slices.Equal(q.Names(), p.indexes) {
		p.Reset(q.Names())
		p.tip = q.Tip
		return nil
	}
	if q.Tip == p.tip {
		return nil
	}
	p.unskip(invalid)
	if p.Count() == 0 && len(p.aside.txs) == 0 {
		p.tip, p.recent = q.Tip, nil
		return nil
	}
	base, found, err := p.lastCommon(q)
	if err != nil {
		return err
	}
	if !found || q.Tip.Height-base.Height > maxBlocks {
		p.Reset(p.indexes)
		p.tip = q.Tip
		return nil
	}
	lost := base != p.tip
	var orphaned []*Input
	if lost {
		orphaned, p.orphaned = p.orphan(base.Height), true
	}
	for h := base.Height + 1; h <= q.Tip.Height; h++ {
		if err := p.block(q, h); err != nil {
			return err
		}
	}
	p.tip = q.Tip
	if err := p.resolveAgain(q, orphaned); err != nil {
		return err
	}
	return p.enter(q, p.aside.takeAll())
}

// readRecent reads the points of the newest blocks, if they are not known.
func (p *Pool) readRecent(q *query.Query) error {
	if len(p.recent) > 0 || q.Tip.IsOrigin() {
		return nil
	}
	for h := q.Tip.Height; len(p.recent) < maxRecent; h-- {
		row, ok, err := schema.FindBlock(q.R, h)
		if err != nil {
			return err
		}
		if ok {
			p.recent = append(p.recent, row.Point(h))
		}
		if !ok || h == 0 {
			break
		}
	}
	slices.Reverse(p.recent)
	return nil
}

// lastCommon removes the points from recent that are no longer in the chain, and returns the newest that is.
func (p *Pool) lastCommon(q *query.Query) (point model.Point, found bool, err error) {
	for n := len(p.recent); n > 0; n-- {
		point = p.recent[n-1]
		row, ok, err := schema.FindBlock(q.R, point.Height)
		if err != nil {
			return point, false, err
		}
		if ok && row.Hash == point.Hash {
			p.recent = p.recent[:n]
			return point, true, nil
		}
	}
	return point, false, nil
}

// orphan forgets the pointers of outputs above a height, and returns the inputs that spend them.
func (p *Pool) orphan(above model.HeightPk) (inputs []*Input) {
	for pk, in := range p.coins {
		if pk.Height() > above {
			delete(p.coins, pk)
			in.Tx.pks[in.Index] = unconfirmed
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// blockTx is a transaction of a block.
type blockTx struct {
	pk model.TxPk
	id model.Hash
}

// block removes the transactions of the block at h, and the transactions that conflict with them.
func (p *Pool) block(q *query.Query, h model.HeightPk) error {
	point, err := schema.PointAt(q.R, h)
	if err != nil {
		return err
	}
	from, to := h.First(), (h + 1).First()
	if h == 0 {
		if from, err = model.NewTxPk(0, int(q.Totals.GenesisTxs)); err != nil {
			return err
		}
	}
	parse := func(key, value []byte) (t blockTx, err error) {
		if t.pk, err = model.ParseTxPk(key); err == nil {
			t.id, _, err = schema.ParseTxHashRow(value)
		}
		return t, err
	}
	txs := schema.Rows(q.R, schema.FamilyTxHash, from.AppendTo(nil), to.AppendTo(nil), false, parse)
	if err := p.confirmAll(txs, point); err != nil {
		return err
	}
	spends := schema.Rows(q.R, schema.FamilySpentUtxo, from.AppendTo(nil), to.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range spends {
		if err != nil {
			return err
		}
		if in := p.coins[row.Output]; in != nil {
			p.remove(in.Tx, Fate{Reason: Conflict, Block: point})
		}
	}
	if p.recent = append(p.recent, point); len(p.recent) > 2*maxRecent {
		p.recent = slices.Clone(p.recent[maxRecent:])
	}
	return nil
}

// confirmAll removes the transactions that a block has.
func (p *Pool) confirmAll(txs iter.Seq2[blockTx, error], block model.Point) error {
	var confirmed []*Tx
	var failed error
	for t, err := range txs {
		if failed = err; err != nil {
			break
		}
		if tx := p.Tx(t.id); tx != nil {
			p.confirm(tx, block)
			confirmed = append(confirmed, tx)
		}
		if failed = p.relocate(t); failed != nil {
			break
		}
		p.aside.drop(t.id)
	}
	p.deleteRows(confirmed)
	return failed
}

// relocate sets the pointers of the inputs that spend outputs of a transaction of a block. The transaction was
// unconfirmed, or it repeats an earlier one (BIP 30).
func (p *Pool) relocate(t blockTx) error {
	for in := range p.Spenders(t.id) {
		if p.Tx(in.Tx.ID) != in.Tx {
			continue // it precedes its parent in the block
		}
		pks := in.Tx.pks
		if p.coins[pks[in.Index]] == in {
			delete(p.coins, pks[in.Index])
		}
		pk, err := t.pk.Utxo(int(in.Outpoint.Index))
		if err != nil {
			return err
		}
		pks[in.Index], p.coins[pk] = pk, in
	}
	return nil
}

// resolveAgain finds the outputs of orphaned blocks in the new chain. Transactions whose inputs are not in the chain,
// or spent, leave.
func (p *Pool) resolveAgain(q *query.Query, inputs []*Input) error {
	inputs = slices.DeleteFunc(inputs, func(in *Input) bool {
		return in.Tx.pks[in.Index] != unconfirmed || p.Tx(in.Tx.ID) != in.Tx
	})
	refs := make([]model.Input, len(inputs))
	for i, in := range inputs {
		refs[i] = model.Input{Tx: in.Outpoint.Tx, Index: in.Outpoint.Index}
	}
	found, err := q.Prevouts(refs)
	if err != nil {
		return err
	}
	for i, in := range inputs {
		switch o := found[i]; {
		case p.Tx(in.Tx.ID) != in.Tx: // it left with an ancestor
		case o == nil:
			p.remove(in.Tx, Fate{Reason: Dropped})
		case o.Spent:
			p.remove(in.Tx, Fate{Reason: Conflict, Block: q.Tip})
		default:
			in.Tx.pks[in.Index], p.coins[o.Pk] = o.Pk, in
		}
	}
	return nil
}
