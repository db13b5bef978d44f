package blockfrost

import (
	"iter"
	"slices"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/core/query/setops"
	"birthmark/model"
)

// accountTx is an address of an account in a transaction.
type accountTx struct {
	tx      model.TxPk
	address string
}

// accountTransactions answers one entry per transaction and address of an account. Addresses of a transaction are
// ordered by their text.
func accountTransactions(v *view) (any, error) {
	h, err := v.account()
	if err != nil || h.birth == nil {
		return []any{}, err
	}
	s, err := v.span()
	if err != nil {
		return nil, err
	}
	if s, err = v.withoutGenesis(s); err != nil {
		return nil, err
	}
	entries, err := pageOf(v, func(after *accountTx) iter.Seq2[accountTx, error] {
		return v.accountTxs(h, s, after, v.page.descending)
	})
	if err != nil {
		return nil, err
	}
	txs := make([]model.TxPk, len(entries))
	for i, e := range entries {
		txs[i] = e.tx
	}
	all, err := v.historyOf(txs)
	for i := range all {
		all[i].Address = entries[i].address
	}
	return all, err
}

// accountTxs yields the entries after one.
func (v *view) accountTxs(h *holder, s setops.Span, after *accountTx, descending bool) iter.Seq2[accountTx, error] {
	return func(yield func(accountTx, error) bool) {
		if after != nil { // the other addresses of its transaction can follow
			if descending {
				s.Last = min(s.Last, model.UtxoPk(after.tx))
			} else {
				s.First = max(s.First, model.UtxoPk(after.tx))
			}
		}
		for row, err := range v.Q.StoredHistory(h.index, *h.birth, s, descending) {
			var addresses []string
			if err == nil {
				addresses, err = v.addressesIn(h, row.Tx)
			}
			if err != nil {
				yield(accountTx{}, err)
				return
			}
			if descending {
				slices.Reverse(addresses)
			}
			for _, a := range addresses {
				if after != nil && after.tx == row.Tx && (a == after.address || (a < after.address) != descending) {
					continue
				}
				if !yield(accountTx{row.Tx, a}, nil) {
					return
				}
			}
		}
	}
}

// addressesIn returns the addresses of an account that a transaction pays to or spends from, ordered by their text.
func (v *view) addressesIn(h *holder, tx model.TxPk) ([]string, error) {
	spent, err := v.Q.SpendsOf(tx)
	if err != nil {
		return nil, err
	}
	created, err := v.Q.OutputsOf(tx)
	if err != nil {
		return nil, err
	}
	owners, err := v.Owners(slices.Concat(spent, created))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, o := range owners {
		if belongs(h, o) && !slices.Contains(all, o.Text) {
			all = append(all, o.Text)
		}
	}
	slices.Sort(all)
	return all, nil
}

// belongs reports whether an address is one of an account.
func belongs(h *holder, o utxo.Owner) bool {
	cred, ok := address.StakeCredential(o.Raw)
	return ok && string(cred) == string(h.raw)
}

// accountAddresses answers the addresses of an account in the order of their first outputs.
func accountAddresses(v *view) (any, error) {
	h, err := v.account()
	if err != nil || h.birth == nil {
		return []any{}, err
	}
	x, err := v.Q.Index(utxo.AddressIndex)
	if err != nil {
		return nil, err
	}
	pks, err := pageOf(v, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return v.births(x.Name, v.Q.Occurrences(h.index, *h.birth, v.page.after(setops.Everywhere, after), v.page.descending))
	})
	if err != nil {
		return nil, err
	}
	owners, err := v.Owners(pks)
	if err != nil {
		return nil, err
	}
	all := make([]ownAddressValue, len(owners))
	for i, o := range owners {
		all[i] = ownAddressValue{o.Text}
	}
	return all, nil
}

// births yields those of outputs in which their value of an index first occurs.
func (v *view) births(index string, outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range batches(v, outputs) {
			if err != nil {
				yield(0, err)
				return
			}
			rows, err := v.Q.UtxoRows(batch)
			if err != nil {
				yield(0, err)
				return
			}
			for i, pk := range batch {
				for _, o := range rows[i].Occurrences {
					if o.Index.Name == index && o.BornAt(pk) && !yield(pk, nil) {
						return
					}
				}
			}
		}
	}
}

// accountAssets answers the assets of an account in the order of their first output that is unspent.
func accountAssets(v *view) (any, error) {
	h, err := v.account()
	if err != nil || h.birth == nil {
		return []any{}, err
	}
	held, err := v.held(h)
	if err != nil {
		return nil, err
	}
	quantities := map[string]string{}
	for _, a := range held {
		quantities[a.Unit] = a.Quantity
	}
	all := make([]amount, 0, len(held))
	for batch, err := range batches(v, v.Q.StoredUnspent(h.index, *h.birth, setops.Everywhere, false)) {
		if err != nil {
			return nil, err
		}
		if len(all) == len(held) {
			break
		}
		found, err := v.Assets(batch)
		if err != nil {
			return nil, err
		}
		for _, a := range slices.Concat(found...) {
			if n, isNew := quantities[a.ID]; isNew {
				all = append(all, amount{a.ID, n})
				delete(quantities, a.ID)
			}
		}
	}
	return slicePage(all, v.page), nil
}

func accountTotal(v *view) (any, error) {
	h, err := v.account()
	if err != nil {
		return nil, err
	}
	return v.total(h, &totalValue{StakeAddress: h.text})
}
