package wallet

import (
	"iter"
	"time"

	"birthmark/core/meter"
	"birthmark/core/pending"
	"birthmark/model"
)

// MempoolInfo are totals of the mempool.
type MempoolInfo struct {
	State string // live, filling, old, partial, none
	Count int
	VSize uint64
	Fees  uint64
}

// MempoolInfo returns the totals of the mempool.
func (v *View) MempoolInfo() MempoolInfo {
	if v.pool == nil {
		return MempoolInfo{State: pending.None.String()}
	}
	i := v.pool.Info()
	return MempoolInfo{i.State.String(), i.Count, i.VSize, i.Fees}
}

// Rate is a number of virtual bytes and their lowest fee rate.
type Rate struct {
	PerVByte float64 // satoshi per virtual byte
	VSize    uint64
}

// MempoolRates yields the unconfirmed transactions as (fee rate, virtual size), highest rate first.
func (v *View) MempoolRates() iter.Seq[Rate] {
	return func(yield func(Rate) bool) {
		if v.pool == nil {
			return
		}
		for t := range v.pool.ByRate(nil) {
			if !yield(Rate{t.Rate(), uint64(t.VSize)}) {
				return
			}
		}
	}
}

// MempoolIDs yields the ids of all unconfirmed transactions in the order of arrival. An error is that of the meter of the
// request.
func (v *View) MempoolIDs() iter.Seq2[model.Hash, error] {
	return func(yield func(model.Hash, error) bool) {
		if v.pool == nil {
			return
		}
		for t := range v.pool.Arrivals(0) {
			if !yield(t.ID, nil) {
				return
			}
		}
		if err := meter.Of(v.q.Ctx).Err(); err != nil {
			yield(model.Hash{}, err)
		}
	}
}

// Recent is an unconfirmed transaction in a list.
type Recent struct {
	ID     model.Hash
	Fee    uint64
	VSize  int
	Inputs uint64 // sum of the values of the outputs it spends: see [Output]
	Seen   time.Time
}

// MempoolRecent returns the last n transactions to arrive, newest first.
func (v *View) MempoolRecent(n int) (recent []Recent) {
	if v.pool == nil || n <= 0 {
		return nil
	}
	for t := range v.pool.Newest() {
		r := Recent{ID: t.ID, Fee: t.Fee, VSize: t.VSize, Seen: t.Seen()}
		inputs := t.Inputs()
		for i := range inputs {
			r.Inputs += valueOf(inputs[i].Spends()).amount
		}
		if recent = append(recent, r); len(recent) == n {
			break
		}
	}
	return recent
}

// unconfirmed returns a transaction of the mempool, nil if it has none with the id.
func (v *View) unconfirmed(id model.Hash) *pending.Tx {
	if v.pool == nil {
		return nil
	}
	return v.pool.Tx(id)
}

// Seen returns when a transaction of the mempool was first seen; the zero time of another one.
func (v *View) Seen(id model.Hash) time.Time {
	if t := v.unconfirmed(id); t != nil {
		return t.Seen()
	}
	return time.Time{}
}

// unconfirmedPlace returns the place of a transaction of the mempool.
func (v *View) unconfirmedPlace(t *pending.Tx) Place {
	return Place{UnconfirmedParent: v.pool.UnconfirmedParent(t)}
}

// unconfirmedTx returns a transaction of the mempool with the outputs that it spends.
func (v *View) unconfirmedTx(t *pending.Tx) (*Tx, error) {
	tx := &Tx{ID: t.ID, Place: v.unconfirmedPlace(t), Seen: t.Seen()}
	var err error
	if tx.Raw, err = v.chain.served.Mempool.Raw(v.q.Ctx, t); err != nil {
		return nil, err
	}
	if tx.Prevouts, err = v.unconfirmedPrevouts(t); err != nil {
		return nil, err
	}
	return tx, v.chain.measure(tx)
}

// unconfirmedPrevouts returns the outputs that a transaction of the mempool spends.
func (v *View) unconfirmedPrevouts(t *pending.Tx) ([]Output, error) {
	inputs := t.Inputs()
	outputs := make([]Output, len(inputs))
	parents := map[model.Hash]outputScripts{}
	for i := range inputs {
		o, out := inputs[i].Spends(), inputs[i].Outpoint
		outputs[i].Value = o.Value
		if v.chain.form.split == nil || o.Value > 0 {
			if outputs[i].Script = v.chain.rebuild(o.Key(v.poolAddress), o.Key(v.poolIndex)); outputs[i].Script != nil {
				continue
			}
		}
		parent, known := parents[out.Tx]
		if !known {
			raw, _, err := v.RawTx(out.Tx)
			if err != nil {
				return nil, err
			}
			if parent, err = scriptsOf(out.Tx, raw); err != nil {
				return nil, err
			}
			parents[out.Tx] = parent
		}
		var err error
		if outputs[i], err = parent.at(int(out.Index)); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// unconfirmedIsSpendable is isSpendable for a script that only transactions of the mempool have. It is not known if all
// of them have left the node.
func (s *Script) unconfirmedIsSpendable() (spendable, known bool, err error) {
	for _, t := range s.pool {
		if spendable, err = s.isSpendableIn(t); !pending.HasLeft(err) {
			return spendable, true, err
		}
	}
	return false, false, nil
}

// isSpendableIn is unconfirmedIsSpendable for one of the transactions.
func (s *Script) isSpendableIn(t *pending.Tx) (bool, error) {
	for i := range t.NumOutputs() {
		o := t.Output(i)
		if !o.Has(s.v.poolIndex, s.key[:]) {
			continue
		}
		if o.Key(s.v.poolAddress) != nil {
			return true, nil
		}
		raw, err := s.v.chain.served.Mempool.Raw(s.v.q.Ctx, t)
		if err != nil {
			return false, err
		}
		scripts, err := scriptsOf(t.ID, raw)
		if err != nil {
			return false, err
		}
		output, err := scripts.at(i)
		return !s.v.chain.form.unspendable(output.Script), err
	}
	return true, nil // it spends from the script
}

// unconfirmedStats returns the totals of a script in the mempool.
func (s *Script) unconfirmedStats() (stats Stats) {
	for _, t := range s.pool {
		stats.add(t, s.v.poolIndex, s.key[:])
	}
	return stats
}

// add adds the amounts that a value of an index receives and sends in an unconfirmed transaction.
func (s *Stats) add(t *pending.Tx, index int, value []byte) {
	s.Txs++
	for i := range t.NumOutputs() {
		if o := t.Output(i); o.Has(index, value) {
			s.Funded++
			s.FundedSum += o.Value
		}
	}
	inputs := t.Inputs()
	for i := range inputs {
		if o := inputs[i].Spends(); o.Has(index, value) {
			s.Spent++
			s.SpentSum += o.Value
		}
	}
}

// Mempool returns the unconfirmed transactions in the order of arrival.
func (s *Script) Mempool() []Entry {
	if len(s.pool) == 0 {
		return nil
	}
	entries := make([]Entry, len(s.pool))
	for i, t := range s.pool {
		received, sent := t.Amounts(s.v.poolIndex, s.key[:])
		entries[i] = Entry{
			Tx: t.ID, Received: received, Sent: sent, Fee: t.Fee, UnconfirmedParent: s.v.pool.UnconfirmedParent(t),
		}
	}
	return entries
}

// MempoolInStatusOrder yields the unconfirmed transactions in the order of the status.
func (s *Script) MempoolInStatusOrder() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, t := range s.list.inStatusOrder(s.v.pool) {
			if !yield(Entry{Tx: t.ID, Fee: t.Fee, UnconfirmedParent: s.v.pool.UnconfirmedParent(t)}) {
				return
			}
		}
	}
}

// spentUnconfirmed reports whether a transaction of the mempool spends an output of the script.
func (s *Script) spentUnconfirmed(tx model.Hash, index uint32) bool {
	return len(s.pool) > 0 && s.v.pool.Spender(pending.Outpoint{Tx: tx, Index: index}) != nil
}

// SpentUnconfirmed returns the confirmed outputs that transactions of the mempool spend.
func (s *Script) SpentUnconfirmed() ([]Unspent, error) {
	var all []Unspent
	var txs []model.Hash
	for _, t := range s.pool {
		inputs := t.Inputs()
		for i := range inputs {
			if o, at := inputs[i].Spends(), inputs[i].Outpoint; o.Has(s.v.poolIndex, s.key[:]) {
				all, txs = append(all, Unspent{Tx: at.Tx, Index: at.Index, Value: o.Value}), append(txs, at.Tx)
			}
		}
	}
	pks, err := s.v.find(txs)
	confirmed := all[:0]
	for i, pk := range pks {
		if u := all[i]; pk != notInChain {
			u.Height, u.Coinbase = uint32(pk.Height()), pk.TxIndex() == 0
			confirmed = append(confirmed, u)
		}
	}
	return confirmed, err
}

// unconfirmedUnspent yields the unspent outputs of a script that transactions of the mempool create. It returns false
// if the consumer stops.
func (s *Script) unconfirmedUnspent(yield func(Unspent, error) bool) bool {
	for _, t := range s.pool {
		for i := range t.NumOutputs() {
			o := t.Output(i)
			if !o.Has(s.v.poolIndex, s.key[:]) || s.spentUnconfirmed(t.ID, uint32(i)) {
				continue
			}
			u := Unspent{Tx: t.ID, Index: uint32(i), Value: o.Value}
			if assets := o.Assets(); len(assets) > 0 {
				u.Value, u.Color = assets[0].Amount.Lo, string(assets[0].ID)
			}
			if s.color.has([]byte(u.Color)) && !yield(u, nil) {
				return false
			}
		}
	}
	return true
}
