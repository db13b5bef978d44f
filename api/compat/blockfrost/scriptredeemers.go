package blockfrost

import (
	"encoding/hex"
	"iter"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// scriptRedeemer is a redeemer in the list of its script.
type scriptRedeemer struct {
	tx    model.TxPk
	place int // among the redeemers of the script in the transaction
	contents.Redeemer
}

// scriptRedeemers answers the redeemers of a script: those of transactions that spend from it, which the history of its
// payment credential has, and those of transactions whose subject it is.
func scriptRedeemers(q *request) error {
	hash, err := hex.DecodeString(q.Args[0])
	if err != nil || len(hash) != address.CredentialSize {
		return exchange.ErrNotFound
	}
	p := q.Page
	subjects, err := q.Optional(exchange.Subjects, 0)
	if err != nil {
		return err
	}
	found, err := exchange.PageOf(q.Request, p, func(after *scriptRedeemer) iter.Seq2[scriptRedeemer, error] {
		return q.redeemersOf(hash, subjects, after, p.Descending)
	})
	if err != nil {
		return err
	}
	if len(found) == 0 && p.Page == 1 {
		if _, _, err := q.script(); err != nil { // also unknown scripts are not found
			return err
		}
	}
	type entry struct {
		TxHash string `json:"tx_hash"`
		contents.ScriptRedeemer
	}
	txs := make([]model.TxPk, len(found))
	for i, r := range found {
		txs[i] = r.tx
	}
	hashes, err := q.Hashes(txs)
	all := make([]entry, len(found))
	for i, r := range found {
		all[i] = entry{hashes[i], r.ScriptRedeemer}
	}
	q.Answer = all
	return err
}

// redeemersOf yields the redeemers of a script after one.
func (q *request) redeemersOf(hash []byte, subjects *schema.Index, after *scriptRedeemer, descending bool) iter.Seq2[scriptRedeemer, error] {
	return func(yield func(scriptRedeemer, error) bool) {
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = model.UtxoPk(after.tx) | model.MaxIndex // the other redeemers of its transaction can follow
		} else if after != nil {
			span.First = model.UtxoPk(after.tx)
		}
		for tx, err := range q.running(hash, subjects, span, descending) {
			var all []contents.Redeemer
			if err == nil {
				all, err = q.redeemersIn(tx, hex.EncodeToString(hash))
			}
			if err != nil {
				yield(scriptRedeemer{}, err)
				return
			}
			for i := range all {
				if descending {
					i = len(all) - 1 - i
				}
				if after != nil && tx == after.tx && (i == after.place || (i < after.place) != descending) {
					continue
				}
				if !yield(scriptRedeemer{tx, i, all[i]}, nil) {
					return
				}
			}
		}
	}
}

// redeemersIn returns the redeemers of a script in a transaction.
func (q *request) redeemersIn(tx model.TxPk, script string) (of []contents.Redeemer, err error) {
	d, err := q.DecodeTx(tx)
	if err != nil || d.Failed {
		return nil, err
	}
	all, err := q.redeemers(d)
	for _, r := range all {
		if r.ScriptHash == script {
			of = append(of, r)
		}
	}
	return of, err
}

// running yields the transactions that can run a script, each once.
func (q *request) running(hash []byte, subjects *schema.Index, span setops.Span, descending bool) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		payment, err := q.Q.Index(utxo.PaymentIndex)
		var spends, names *model.BirthPk
		if err == nil {
			spends, err = q.Q.Birth(payment, address.Credentials(hash)[1])
		}
		if err == nil {
			names, err = q.Q.Birth(subjects, []byte(address.FormatScript(hash)))
		}
		if err != nil {
			yield(0, err)
			return
		}
		var lists []iter.Seq2[model.TxPk, error]
		if spends != nil {
			lists = append(lists, spending(q.Q.StoredHistory(payment, *spends, span, descending)))
		}
		if names != nil {
			lists = append(lists, distinct(q.Q.Occurrences(subjects, *names, span, descending)))
		}
		mergeTxs(lists, descending, yield)
	}
}

// spending yields the transactions of a history that spend.
func spending(rows iter.Seq2[schema.TxAmounts, error]) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		for row, err := range rows {
			if (err != nil || row.Sent != 0) && !yield(row.Tx, err) {
				return
			}
		}
	}
}

// mergeTxs yields the transactions of at most two ordered lists, each once.
func mergeTxs(lists []iter.Seq2[model.TxPk, error], descending bool, yield func(model.TxPk, error) bool) {
	type head struct {
		tx   model.TxPk
		err  error
		ok   bool
		next func() (model.TxPk, error, bool)
	}
	heads := make([]head, len(lists))
	for i, l := range lists {
		next, stop := iter.Pull2(l)
		defer stop()
		heads[i].next = next
		heads[i].tx, heads[i].err, heads[i].ok = next()
	}
	for {
		var first *head
		for i := range heads {
			h := &heads[i]
			if h.ok && (first == nil || h.err != nil || first.err == nil && h.tx != first.tx && (h.tx < first.tx) != descending) {
				first = h
			}
		}
		if first == nil || !yield(first.tx, first.err) || first.err != nil {
			return
		}
		tx := first.tx
		for i := range heads {
			if h := &heads[i]; h.ok && h.err == nil && h.tx == tx {
				h.tx, h.err, h.ok = h.next()
			}
		}
	}
}
