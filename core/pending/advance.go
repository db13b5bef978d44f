package pending

import (
	"iter"
	"slices"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// maxRecent is the number of blocks that are known. If more blocks are new, or more were orphaned, the overlay's
// transactions are looked up in the chain instead of the blocks' transactions in the overlay.
const maxRecent = 100

// Advance moves the pool to the tip of q: the transactions of new blocks leave, and so do transactions that conflict.
// After a reorganization, transactions leave whose inputs no longer exist; those of orphaned blocks come back with the
// next list of the source. If the indexes are others, all transactions leave.
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
		kept, err := inChain(q, p.tip)
		if err != nil {
			return err
		}
		p.orphaned = p.orphaned || !kept
		p.tokens.forget()
		p.tip, p.recent = q.Tip, nil
		return nil
	}
	base, found, err := p.lastCommon(q)
	if err != nil {
		return err
	}
	p.orphaned = p.orphaned || base != p.tip
	var moved []*Input
	if found && q.Tip.Height-base.Height <= maxRecent {
		moved, err = p.readBlocks(q, base)
	} else {
		moved, err = p.lookUp(q)
	}
	if err != nil {
		return err
	}
	p.tip = q.Tip
	if err := p.resolveAgain(q, moved); err != nil {
		return err
	}
	if err := p.deriveAgain(q); err != nil {
		return err
	}
	return p.enter(q, p.aside.takeAll())
}

// inChain reports whether the chain of q has a block.
func inChain(q *query.Query, at model.Point) (bool, error) {
	if at.IsOrigin() {
		return true, nil
	}
	row, ok, err := schema.FindBlock(q.R, at.Height)
	return ok && row.Hash == at.Hash, err
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
		if found, err = inChain(q, point); found || err != nil {
			p.recent = p.recent[:n]
			return point, found, err
		}
	}
	return point, false, nil
}

// readBlocks removes the transactions of the blocks after base, and all that conflict with them. It returns the inputs
// that spend outputs of orphaned blocks.
func (p *Pool) readBlocks(q *query.Query, base model.Point) (moved []*Input, err error) {
	if base != p.tip {
		moved = p.forgetCoins(func(pk model.UtxoPk) bool { return pk.Height() > base.Height })
	}
	for h := base.Height + 1; h <= q.Tip.Height; h++ {
		if err := p.block(q, h); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

// lookUp removes the transactions that the chain has, without reading its blocks. It returns all other inputs that spend
// confirmed outputs.
func (p *Pool) lookUp(q *query.Query) (moved []*Input, err error) {
	p.recent = nil
	p.forgetCoins(func(model.UtxoPk) bool { return true })
	all := p.arrivals.Items()
	ids := make([]model.Hash, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	found, err := q.TxPks(ids)
	if err != nil {
		return nil, err
	}
	var confirmed []*Tx
	for i, pks := range found {
		if len(pks) == 0 {
			continue
		}
		point, err := schema.PointAt(q.R, pks[0].Height())
		if err != nil {
			return nil, err
		}
		p.confirm(all[i], point)
		confirmed = append(confirmed, all[i])
	}
	p.removeConfirmed(confirmed)
	for t := range p.arrivals.Scan {
		for i := range t.inputs {
			if in := &t.inputs[i]; p.Tx(in.Outpoint.Tx) == nil {
				moved = append(moved, in)
			}
		}
	}
	return moved, nil
}

// forgetCoins forgets the pointers that match, and returns the inputs that spend their outputs.
func (p *Pool) forgetCoins(match func(model.UtxoPk) bool) (inputs []*Input) {
	for pk, in := range p.coins {
		if match(pk) {
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

// txsOf returns the range of the pointers of the block at h, without the genesis.
func txsOf(q *query.Query, h model.HeightPk) (from, to model.TxPk, err error) {
	from, to = q.FirstPk(h), q.FirstPk(h+1)
	if h == 0 {
		from, err = q.NewTxPk(0, int(q.Totals.GenesisTxs))
	}
	return from, to, err
}

// blockTxs yields the transactions of the block at h. It ends after the first error.
func blockTxs(q *query.Query, h model.HeightPk) iter.Seq2[blockTx, error] {
	from, to, err := txsOf(q, h)
	if err != nil {
		return func(yield func(blockTx, error) bool) { yield(blockTx{}, err) }
	}
	parse := func(key, value []byte) (t blockTx, err error) {
		if t.pk, err = model.ParseTxPk(key); err == nil {
			t.id, _, err = schema.ParseTxHashRow(value)
		}
		return t, err
	}
	return schema.Rows(q.R, schema.FamilyTxHash, from.AppendTo(nil), to.AppendTo(nil), false, parse)
}

// block removes the transactions of the block at h, and the transactions that conflict with them.
func (p *Pool) block(q *query.Query, h model.HeightPk) error {
	point, err := schema.PointAt(q.R, h)
	if err != nil {
		return err
	}
	from, to, err := txsOf(q, h)
	if err != nil {
		return err
	}
	if err := p.confirmAll(blockTxs(q, h), point); err != nil {
		return err
	}
	spends := schema.Rows(q.R, schema.FamilySpentUtxo, from.AppendTo(nil), to.AppendTo(nil), false, schema.ParseSpendRow)
	var left []*Tx
	defer func() { p.deleteRows(left) }()
	for row, err := range spends {
		if err != nil {
			return err
		}
		if in := p.coins[row.Output]; in != nil {
			left = append(left, p.leave(in.Tx, Fate{Reason: Conflict, Block: point})...)
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
	p.removeConfirmed(confirmed)
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
		p.tokens.move(in)
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
	var left []*Tx
	for i, in := range inputs {
		switch o := found[i]; {
		case p.Tx(in.Tx.ID) != in.Tx: // it left with an ancestor
		case o == nil:
			left = append(left, p.leave(in.Tx, Fate{Reason: Dropped})...)
		case o.Spent:
			left = append(left, p.leave(in.Tx, Fate{Reason: Conflict, Block: q.Tip})...)
		default:
			in.Tx.pks[in.Index], p.coins[o.Pk] = o.Pk, in
			p.tokens.move(in)
		}
	}
	p.deleteRows(left)
	return nil
}
