package wallet

import (
	"iter"
	"slices"

	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Script is an output script in a view.
type Script struct {
	v         *View
	key       Key
	birth     *model.BirthPk // nil: no confirmed output has the script, or it is unspendable
	list      *pendingList
	pool      []*pending.Tx // of list
	spendable bool          // false: not known, see check
	color     *color        // nil: outputs with any asset, and without one
}

// Script returns the script with a key. A key that no output has is a script without history.
func (v *View) Script(key Key) (*Script, error) { return v.ScriptOf(key, nil) }

// ScriptOf is [View.Script] of the outputs with an asset, which is nil for all outputs. [Script.Stats] counts all outputs.
func (v *View) ScriptOf(key Key, asset []byte) (*Script, error) {
	birth, err := v.q.Birth(v.index, key[:])
	if err != nil {
		return nil, err
	}
	list, err := v.unconfirmedOf(key)
	if err != nil {
		return nil, err
	}
	s := &Script{v: v, key: key, birth: birth, list: list, pool: list.txs}
	if asset != nil {
		if err := s.only(asset); err != nil {
			return nil, err
		}
	}
	if len(s.pool) > 0 {
		err = s.check()
	}
	return s, err
}

// afterGenesis returns the positions after block 0, whose coinbase cannot be spent.
func (s *Script) afterGenesis() setops.Span {
	return setops.Span{First: model.UtxoPk(s.v.q.FirstPk(1)), Last: setops.Everywhere.Last}
}

// Stats are totals of a script.
type Stats struct {
	Txs           uint64
	Funded, Spent uint64 // numbers of outputs
	FundedSum     uint64 // satoshi
	SpentSum      uint64
}

// Stats returns the totals of the confirmed chain and those of the mempool.
func (s *Script) Stats() (confirmed, mempool Stats, err error) {
	mempool = s.unconfirmedStats()
	if s.birth == nil {
		return confirmed, mempool, nil
	}
	a, err := s.v.q.Account(s.v.index, *s.birth)
	if err == nil && a.Unspent == a.Outputs {
		err = s.check()
	}
	if err != nil || s.birth == nil {
		return confirmed, mempool, err
	}
	confirmed = Stats{
		Txs: uint64(a.Txs), Funded: uint64(a.Outputs), Spent: uint64(a.Outputs - a.Unspent),
		FundedSum: a.Received.Lo, SpentSum: a.Sent.Lo,
	}
	if s.birth.Utxo.Height() == 0 {
		err = s.withoutGenesis(&confirmed)
	}
	return confirmed, mempool, err
}

// withoutGenesis subtracts the outputs of block 0.
func (s *Script) withoutGenesis(t *Stats) error {
	q, genesis := s.v.q, setops.Span{Last: s.v.q.LastPk(0)}
	for m, err := range q.StoredHistory(s.v.index, *s.birth, genesis, false) {
		if err != nil {
			return err
		}
		t.Txs--
		t.FundedSum -= m.Received
	}
	for _, err := range q.StoredUnspent(s.v.index, *s.birth, genesis, false) {
		if err != nil {
			return err
		}
		t.Funded--
	}
	return nil
}

// Entry is a transaction that pays to a script or spends from it.
type Entry struct {
	Tx       model.Hash
	Height   uint32 // 0: unconfirmed
	Position int    // in the block
	Received uint64
	Sent     uint64
	Fee      uint64 // of an unconfirmed one
	// UnconfirmedParent: see [Place].
	UnconfirmedParent bool
	// Repeats: an earlier block has the same transaction (BIP 30).
	Repeats bool
}

// History yields the confirmed transactions in chain order, or in reverse; one that is in several blocks (BIP 30) only at
// its last place, because clients reject a history with an id twice. It begins after the transaction after, which
// is excluded, if that is not nil; an unknown one, or one without the script, yields nothing.
func (s *Script) History(after *model.Hash, newestFirst bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		span := s.afterGenesis()
		if after != nil && s.birth != nil {
			tx, ok, err := s.position(*after)
			if err != nil {
				yield(Entry{}, err)
			}
			if !ok {
				return
			}
			span = span.AfterTx(tx, newestFirst)
		}
		s.history(span, newestFirst)(yield)
	}
}

// position returns the pointer of a transaction of the script's history, which block 0 is not part of.
func (s *Script) position(id model.Hash) (tx model.TxPk, ok bool, err error) {
	found, err := s.v.q.TxPks([]model.Hash{id})
	if err != nil {
		return 0, false, err
	}
	in, err := s.v.q.InHistory(s.v.index, *s.birth, found[0])
	for i := range in {
		if in[i] && found[0][i].Height() > 0 {
			return found[0][i], true, nil
		}
	}
	return 0, false, err
}

// HistoryBetween yields the confirmed transactions of the blocks from <= height < to in chain order.
func (s *Script) HistoryBetween(from, to uint32) iter.Seq2[Entry, error] {
	if from >= to || from > model.MaxHeight {
		return func(func(Entry, error) bool) {}
	}
	last := s.v.q.LastPk(model.HeightPk(min(to-1, model.MaxHeight)))
	return s.history(setops.Span{First: model.UtxoPk(s.v.q.FirstPk(model.HeightPk(max(from, 1)))), Last: last}, false)
}

// HistoryBefore yields the confirmed transactions before a position in a block, newest first.
func (s *Script) HistoryBefore(height uint32, position int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if height == 0 {
			return
		}
		end, err := s.v.q.NewTxPk(model.HeightPk(height), position)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		s.history(setops.Span{First: s.afterGenesis().First, Last: model.UtxoPk(end) - 1}, true)(yield)
	}
}

// Sizes of the batches in which lists are read.
const (
	firstBatch = 32
	lastBatch  = 1024
)

// history yields the transactions in a span.
func (s *Script) history(span setops.Span, descending bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if s.birth == nil || span.Empty() {
			return
		}
		q := s.v.q
		rows := q.StoredHistory(s.v.index, *s.birth, span, descending)
		var pks []model.TxPk
		for batch, err := range query.Batches(q, rows, firstBatch, lastBatch) {
			pks = pks[:0]
			var ids []model.Hash
			var places map[model.TxPk][]model.TxPk
			if err == nil && !slices.ContainsFunc(batch, func(m schema.TxAmounts) bool { return m.Sent > 0 }) {
				err = s.check()
			}
			if err == nil && s.color != nil {
				batch, err = s.withColor(batch)
			}
			for i := range batch {
				pks = append(pks, batch[i].Tx)
			}
			if err == nil && s.birth != nil {
				ids, places, err = s.v.idsAndPlaces(pks)
			}
			if err != nil {
				yield(Entry{}, err)
			}
			if err != nil || s.birth == nil {
				return
			}
			for i, m := range batch {
				all := places[m.Tx]
				if len(all) > 0 && all[0] != m.Tx {
					continue
				}
				if !yield(entry(ids[i], &m, len(all) > 1), nil) {
					return
				}
			}
		}
	}
}

func entry(id model.Hash, m *schema.TxAmounts, repeats bool) Entry {
	return Entry{
		Tx: id, Height: uint32(m.Tx.Height()), Position: m.Tx.TxIndex(), Received: m.Received, Sent: m.Sent, Repeats: repeats,
	}
}

// idsAndPlaces returns the ids of transactions, and for each coinbase all coinbases with its id, the newest first. Other
// transactions are not looked up, because only coinbases are repeated on public chains.
func (v *View) idsAndPlaces(txs []model.TxPk) (ids []model.Hash, places map[model.TxPk][]model.TxPk, err error) {
	if ids, err = v.q.TxIDs(txs); err != nil {
		return nil, nil, err
	}
	var coinbases []model.TxPk
	var theirs []model.Hash
	for i, tx := range txs {
		if tx.TxIndex() == 0 {
			coinbases, theirs = append(coinbases, tx), append(theirs, ids[i])
		}
	}
	if coinbases == nil {
		return ids, nil, nil
	}
	found, err := v.q.TxPks(theirs)
	places = make(map[model.TxPk][]model.TxPk, len(coinbases))
	for i := range found {
		places[coinbases[i]] = found[i]
	}
	return ids, places, err
}

// Unspent is an unspent output of a script.
type Unspent struct {
	Tx       model.Hash
	Index    uint32
	Value    uint64 // of a colored output: the amount of the color
	Height   uint32 // 0: unconfirmed
	Coinbase bool
	Color    string // empty: none
}

// Unspent yields the confirmed outputs that no transaction of the chain or the mempool spends, in chain order, then the
// unspent ones of the mempool. Outputs of a coinbase that a later block repeats are not among them: nothing can spend
// them (BIP 30).
func (s *Script) Unspent() iter.Seq2[Unspent, error] {
	return func(yield func(Unspent, error) bool) {
		if err := s.check(); err != nil {
			yield(Unspent{}, err)
			return
		}
		if s.confirmedUnspent(yield) {
			s.unconfirmedUnspent(yield)
		}
	}
}

// confirmedUnspent yields the unspent outputs that the mempool does not spend either. It returns false
// after an error, and if the consumer stops.
func (s *Script) confirmedUnspent(yield func(Unspent, error) bool) bool {
	if s.birth == nil {
		return true
	}
	q := s.v.q
	outputs := q.StoredUnspent(s.v.index, *s.birth, s.afterGenesis(), false)
	for pks, err := range query.Batches(q, outputs, firstBatch, lastBatch) {
		var ids []model.Hash
		var values []uint64
		var places map[model.TxPk][]model.TxPk
		var colors []coloredValue
		if err == nil && s.v.chain.form.split != nil {
			pks, colors, err = s.colorsOf(pks)
		}
		if err == nil {
			txs := make([]model.TxPk, len(pks))
			for i, pk := range pks {
				txs[i] = pk.Tx()
			}
			ids, places, err = s.v.idsAndPlaces(txs)
		}
		if err == nil {
			values, err = q.Amounts(pks)
		}
		if err != nil {
			yield(Unspent{}, err)
			return false
		}
		for i, pk := range pks {
			if all := places[pk.Tx()]; len(all) > 0 && all[0] != pk.Tx() {
				continue
			}
			u := Unspent{
				Tx: ids[i], Index: uint32(pk.Index()), Value: values[i], Height: uint32(pk.Height()), Coinbase: pk.TxIndex() == 0,
			}
			if colors != nil && colors[i].color != nil {
				u.Value, u.Color = colors[i].amount, string(colors[i].color)
			}
			if !s.spentUnconfirmed(u.Tx, u.Index) && !yield(u, nil) {
				return false
			}
		}
	}
	return true
}
