package wallet

import (
	"iter"

	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Query returns the query of the view, for protocols that read derived assets.
func (v *View) Query() *query.Query { return v.q }

// Found is an output with its state.
type Found struct {
	Output
	Pk        model.UtxoPk // of a confirmed output
	Confirmed bool
	Spent     bool // by the chain
	Pending   bool // spent by an unconfirmed transaction

	Assets []pending.Asset // of an unconfirmed output
}

// FindOutput returns an output of a transaction. Its errors are of kind [model.NotFound]: unknown_tx, unknown_output.
func (v *View) FindOutput(id model.Hash, index uint32) (*Found, error) {
	unknown := model.Errorf(model.NotFound, "unknown_output", "no output %s:%d", displayed(id), index)
	tx, unconfirmed, err := v.findOne(id)
	if err != nil {
		return nil, err
	}
	found := &Found{Confirmed: unconfirmed == nil, Pending: v.SpentUnconfirmed(id, index)}
	if unconfirmed != nil {
		t, err := v.unconfirmedTx(unconfirmed)
		if err != nil {
			return nil, err
		}
		if int64(index) >= int64(len(t.Msg.TxOut)) {
			return nil, unknown
		}
		out := t.Msg.TxOut[index]
		found.Output = Output{uint64(out.Value), out.PkScript}
		if o, ok := unconfirmed.OutputAt(index); ok {
			found.Assets = o.Assets()
		}
		return found, nil
	}
	pk, err := tx.Utxo(int(index))
	if err != nil {
		return nil, unknown // its index is larger than that of any output
	}
	pks := []model.UtxoPk{pk}
	rows, err := v.q.R.GetMany(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	if rows[0] == nil {
		return nil, unknown
	}
	found.Pk = pk
	outputs, err := v.outputs(pks)
	if err != nil {
		return nil, err
	}
	spenders, err := v.q.SpendersOf(pks)
	if err != nil {
		return nil, err
	}
	found.Output, found.Spent = outputs[0], spenders[0] != nil
	return found, nil
}

// SpentUnconfirmed reports whether an unconfirmed transaction spends an output.
func (v *View) SpentUnconfirmed(tx model.Hash, index uint32) bool {
	if v.pool != nil {
		for in := range v.pool.Spenders(tx) {
			if in.Outpoint.Index == index {
				return true
			}
		}
	}
	return false
}

// UnconfirmedWith yields the unconfirmed transactions that have a value of an index, in the order of arrival.
func (v *View) UnconfirmedWith(index string, value []byte) iter.Seq[model.Hash] {
	return func(yield func(model.Hash) bool) {
		if v.pool == nil || v.pool.Index(index) < 0 {
			return
		}
		for t := range v.pool.Value(v.pool.Index(index), value) {
			if !yield(t.ID) {
				return
			}
		}
	}
}

// UnconfirmedStats returns the totals of a value of an index in the mempool.
func (v *View) UnconfirmedStats(index string, value []byte) (stats Stats) {
	if v.pool == nil {
		return stats
	}
	x := v.pool.Index(index)
	if x < 0 {
		return stats
	}
	for t := range v.pool.Value(x, value) {
		stats.add(t, x, value)
	}
	return stats
}

// UnconfirmedWithAsset yields the unconfirmed transactions that have an asset, in the order of arrival.
func (v *View) UnconfirmedWithAsset(id []byte) iter.Seq[model.Hash] {
	return func(yield func(model.Hash) bool) {
		for t := range v.pendingOf(id) {
			if !yield(t.ID) {
				return
			}
		}
	}
}

// UnconfirmedAssets returns the assets of an output of an unconfirmed transaction; nil if there is no such output.
func (v *View) UnconfirmedAssets(tx model.Hash, index int) []pending.Asset {
	if t := v.unconfirmed(tx); t != nil {
		if o, ok := t.OutputAt(uint32(index)); ok {
			return o.Assets()
		}
	}
	return nil
}

// ConfirmedUnspent yields the confirmed unspent outputs of the script, also if an unconfirmed transaction spends them, in
// chain order and in batches.
func (s *Script) ConfirmedUnspent() iter.Seq2[[]model.UtxoPk, error] {
	if s.birth == nil {
		return func(func([]model.UtxoPk, error) bool) {}
	}
	q := s.v.q
	return query.Batches(q, q.StoredUnspent(s.v.index, *s.birth, s.afterGenesis(), false), firstBatch, lastBatch)
}

// UnconfirmedAsset returns what [model.TokenRules] stated about an asset that an unconfirmed transaction creates; ok is false
// if it creates none with the id.
func (v *View) UnconfirmedAsset(tx model.Hash, id []byte) (info []byte, ok bool) {
	if v.pool == nil {
		return nil, false
	}
	t := v.pool.Tx(tx)
	if t == nil {
		return nil, false
	}
	for _, c := range t.Created {
		if string(c.ID) == string(id) {
			return c.Info, true
		}
	}
	return nil, false
}
