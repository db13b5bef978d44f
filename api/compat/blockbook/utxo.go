package blockbook

import (
	"cmp"
	"slices"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/core/pending"
	"birthmark/model"
)

// maturity is the number of confirmations from which the output of a coinbase can be spent. Blockbook marks outputs of
// coinbases up to then.
const maturity = 100

// utxos returns the unspent outputs of an account: first the unconfirmed ones, then the confirmed ones, newest first.
// With confirmedOnly, unconfirmed transactions have no effect: outputs that they spend are unspent.
func (s *Server) utxos(q *question, descriptor string, gap int, confirmedOnly bool) ([]utxo, error) {
	h, err := s.holder(q, descriptor, gap)
	if err != nil {
		return nil, err
	}
	var found []owned
	for i := range h.members {
		m := &h.members[i]
		for u, err := range m.Unspent() {
			if err != nil {
				return nil, err
			}
			if u.Height == 0 && confirmedOnly {
				continue
			}
			if found = append(found, owned{u, m}); len(found) > maxEntries {
				return nil, tooMany("unspent outputs")
			}
		}
		if confirmedOnly {
			spent, err := m.SpentUnconfirmed()
			if err != nil {
				return nil, err
			}
			for _, u := range spent {
				found = append(found, owned{u, m})
			}
		}
	}
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b owned) int { // height 0, unconfirmed, is the highest
		return cmp.Compare(b.Height-1, a.Height-1)
	})
	list := make([]utxo, 0, len(found))
	lockTimes := map[model.Hash]uint32{}
	for _, u := range found {
		a, err := formatUtxo(q.View, h, u, lockTimes)
		if pending.HasLeft(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// owned is an unspent output with its owner.
type owned struct {
	wallet.Unspent
	by *member
}

func formatUtxo(v *wallet.View, h *holder, u owned, lockTimes map[model.Hash]uint32) (utxo, error) {
	a := utxo{TxID: block.FormatHash(u.Tx), Vout: u.Index, Value: u.Value, Height: u.Height}
	if h.isAccount {
		a.Address, a.Path = u.by.address, u.by.path
	}
	if u.Height > 0 {
		a.Confirmations = confirmations(v, u.Height)
		a.Coinbase = u.Coinbase && a.Confirmations < maturity
		return a, nil
	}
	lockTime, known := lockTimes[u.Tx]
	if !known {
		raw, _, err := v.RawTx(u.Tx)
		if err != nil {
			return a, err
		}
		parsed, err := script.ParseTx(raw)
		if err != nil {
			return a, err
		}
		lockTime = parsed.LockTime
		lockTimes[u.Tx] = lockTime
	}
	a.LockTime = lockTime
	return a, nil
}
