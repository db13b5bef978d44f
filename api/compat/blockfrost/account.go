package blockfrost

import (
	"iter"
	"slices"

	"birthmark/api/compat/blockfrost/exchange"
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

// accountTransactions answers one entry per transaction and address of an account. Addresses of a transaction are ordered
// by their text.
func accountTransactions(q *request) error {
	h, err := q.account()
	if err != nil || q.holdsNothing(h) {
		return err
	}
	p := q.Page
	s, err := q.Span()
	if err != nil {
		return err
	}
	if s, err = q.withoutGenesis(s); err != nil {
		return err
	}
	entries, err := exchange.PageOf(q.Request, p, func(after *accountTx) iter.Seq2[accountTx, error] {
		return q.accountTxs(h, s, after, p.Descending)
	})
	if err != nil {
		return err
	}
	txs := make([]model.TxPk, len(entries))
	for i, e := range entries {
		txs[i] = e.tx
	}
	all, err := q.listed(txs)
	for i := range all {
		all[i].Address = entries[i].address
	}
	q.Answer = all
	return err
}

// accountTxs yields the entries after one.
func (q *request) accountTxs(h *holder, s setops.Span, after *accountTx, descending bool) iter.Seq2[accountTx, error] {
	return func(yield func(accountTx, error) bool) {
		if after != nil { // the other addresses of its transaction can follow
			if descending {
				s.Last = min(s.Last, model.UtxoPk(after.tx))
			} else {
				s.First = max(s.First, model.UtxoPk(after.tx))
			}
		}
		for row, err := range q.Q.StoredHistory(h.index, *h.birth, s, descending) {
			var addresses []string
			if err == nil {
				addresses, err = q.addressesIn(h, row.Tx)
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
func (q *request) addressesIn(h *holder, tx model.TxPk) ([]string, error) {
	spent, err := q.Q.SpendsOf(tx)
	if err != nil {
		return nil, err
	}
	created, err := q.Q.OutputsOf(tx)
	if err != nil {
		return nil, err
	}
	owners, err := q.Owners(slices.Concat(spent, created))
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
func accountAddresses(q *request) error {
	h, err := q.account()
	if err != nil || q.holdsNothing(h) {
		return err
	}
	p := q.Page
	x, err := q.Q.Index(utxo.AddressIndex)
	if err != nil {
		return err
	}
	pks, err := exchange.PageOf(q.Request, p, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return q.births(x.Name, q.Q.Occurrences(h.index, *h.birth, following(after, p.Descending), p.Descending))
	})
	if err != nil {
		return err
	}
	owners, err := q.Owners(pks)
	if err != nil {
		return err
	}
	type entry struct {
		Address string `json:"address"`
	}
	all := make([]entry, len(owners))
	for i, o := range owners {
		all[i] = entry{o.Text}
	}
	q.Answer = all
	return nil
}

// births yields those of outputs in which their value of an index first occurs.
func (q *request) births(index string, outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range exchange.Batches(q.Request, outputs) {
			if err != nil {
				yield(0, err)
				return
			}
			rows, err := q.Q.UtxoRows(batch)
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
func accountAssets(q *request) error {
	h, err := q.account()
	if err != nil || q.holdsNothing(h) {
		return err
	}
	p := q.Page
	held, err := q.held(h)
	if err != nil {
		return err
	}
	quantities := map[string]string{}
	for _, a := range held {
		quantities[a.Unit] = a.Quantity
	}
	all := make([]amount, 0, len(held))
	for batch, err := range exchange.Batches(q.Request, q.Q.StoredUnspent(h.index, *h.birth, setops.Everywhere, false)) {
		if err != nil {
			return err
		}
		if len(all) == len(held) {
			break
		}
		found, err := q.Assets(batch)
		if err != nil {
			return err
		}
		for _, a := range slices.Concat(found...) {
			if n, isNew := quantities[a.ID]; isNew {
				all = append(all, amount{a.ID, n})
				delete(quantities, a.ID)
			}
		}
	}
	q.Answer = exchange.SlicePage(all, p)
	return nil
}

func accountTotal(q *request) error {
	h, err := q.account()
	if err != nil {
		return err
	}
	t, err := q.total(h)
	t.StakeAddress = h.text
	q.Answer = t
	return err
}
