package blockfrost

import (
	"encoding/hex"
	"fmt"
	"iter"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// scriptHash returns the hash of the script of the path. A malformed one is not found.
func (v *view) scriptHash() ([]byte, error) {
	hash, err := hex.DecodeString(v.arg("script_hash"))
	if err != nil || len(hash) != address.CredentialSize {
		return nil, errNotFound
	}
	return hash, nil
}

// script returns the script of the path.
func (v *view) script() (*ledger.Script, error) {
	hash, err := v.scriptHash()
	if err != nil {
		return nil, err
	}
	s, err := v.FindScript(hash)
	if err == nil && s == nil {
		err = errNotFound
	}
	return s, err
}

// typeOf returns the type of a script, such as plutusV2.
func typeOf(s *ledger.Script) string {
	if s.Language == 0 {
		return "timelock"
	}
	return fmt.Sprintf("plutusV%d", s.Language)
}

func oneScript(v *view) (any, error) {
	s, err := v.script()
	if err != nil {
		return nil, err
	}
	a := &scriptValue{ScriptHash: v.arg("script_hash"), Type: typeOf(s)}
	if s.Language > 0 {
		a.Size = new(len(s.Code))
	}
	return a, nil
}

func scriptCBOR(v *view) (any, error) {
	s, err := v.script()
	a := &scriptCBORValue{}
	if err == nil && s.Language > 0 {
		a.CBOR = hexText(s.Code)
	}
	return a, err
}

func scriptJSON(v *view) (any, error) {
	s, err := v.script()
	a := &scriptJSONValue{}
	if err == nil && s.Language == 0 {
		a.JSON = contents.Timelock(s.Code)
	}
	return a, err
}

// scriptUTXOs answers the unspent outputs that have the script as their reference script.
func scriptUTXOs(v *view) (any, error) {
	hash, err := v.scriptHash()
	if err != nil {
		return nil, err
	}
	x, err := v.Q.Index(utxo.ScriptIndex)
	if err != nil {
		return nil, err
	}
	birth, err := v.Q.Birth(x, hash)
	if err != nil {
		return nil, err
	}
	if birth == nil {
		_, err := v.script() // an unknown script is not found
		return []utxoValue{}, err
	}
	return v.answerUTXOs(&holder{index: x, birth: birth}, nil)
}

// datum returns the datum of the path.
func (v *view) datum() ([]byte, error) {
	hash, err := hex.DecodeString(v.arg("datum_hash"))
	if err != nil || len(hash) != blake2b.Size256 {
		return nil, errNotFound
	}
	datum, err := v.FindDatum(hash)
	if err == nil && datum == nil {
		err = errNotFound
	}
	return datum, err
}

func datumJSON(v *view) (any, error) {
	datum, err := v.datum()
	return &datumValue{cardano.PlutusJSON(datum)}, err
}

func datumCBOR(v *view) (any, error) {
	datum, err := v.datum()
	return &cborValue{hex.EncodeToString(datum)}, err
}

// scripts answers the hashes of scripts in the order in which they first occurred.
func scripts(v *view) (any, error) {
	x, err := v.optional(Scripts, 0)
	if err != nil {
		return nil, err
	}
	descending := v.page.descending
	type first struct{ birth, value string }
	found, err := pageOf(v, func(after *first) iter.Seq2[first, error] {
		var position []byte
		if after != nil {
			position = []byte(after.birth)
		}
		from, to := schema.Between(nil, position, descending)
		return schema.Rows(v.Q.R, x.Family(schema.IndexValue), from, to, descending, func(key, value []byte) (first, error) {
			return first{string(key), string(value)}, nil
		})
	})
	if err != nil {
		return nil, err
	}
	all := []scriptHashValue{}
	for _, f := range found {
		all = append(all, scriptHashValue{x.Format([]byte(f.value))})
	}
	return all, nil
}

// scriptRedeemer is a redeemer in the list of its script.
type scriptRedeemer struct {
	tx    model.TxPk
	place int // among the redeemers of the script in the transaction
	contents.Redeemer
}

func (r scriptRedeemer) position() scriptRedeemer { return scriptRedeemer{tx: r.tx, place: r.place} }

// scriptRedeemers returns the redeemers of a script. The transactions that spend from it are in the history of its
// payment credential; the others have the script as a subject.
func scriptRedeemers(v *view) (any, error) {
	hash, err := v.scriptHash()
	if err != nil {
		return nil, err
	}
	subjects, err := v.optional(Subjects, 0)
	if err != nil {
		return nil, err
	}
	found, err := pageOf(v, func(after *scriptRedeemer) iter.Seq2[scriptRedeemer, error] {
		return v.redeemersOf(hash, subjects, after, v.page.descending)
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && v.page.number == 1 {
		if _, err := v.script(); err != nil { // also unknown scripts are not found
			return nil, err
		}
	}
	txs := make([]model.TxPk, len(found))
	for i, r := range found {
		txs[i] = r.tx
	}
	hashes, err := v.hashes(txs)
	if err != nil {
		return nil, err
	}
	all := make([]scriptRedeemerValue, len(found))
	for i, r := range found {
		all[i] = scriptRedeemerValue{hashes[i], r.ScriptRedeemer}
	}
	return all, nil
}

// redeemersOf yields the redeemers of a script after one.
func (v *view) redeemersOf(hash []byte, subjects *schema.Index, after *scriptRedeemer, descending bool) iter.Seq2[scriptRedeemer, error] {
	return func(yield func(scriptRedeemer, error) bool) {
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = after.tx.Last() // the other redeemers of its transaction can follow
		} else if after != nil {
			span.First = model.UtxoPk(after.tx)
		}
		for tx, err := range v.running(hash, subjects, span, descending) {
			var all []contents.Redeemer
			if err == nil {
				all, err = v.redeemersIn(tx, hex.EncodeToString(hash))
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
func (v *view) redeemersIn(tx model.TxPk, script string) (of []contents.Redeemer, err error) {
	d, err := v.decodeTx(tx)
	if err != nil || d.Failed {
		return nil, err
	}
	all, err := v.redeemers(d)
	for _, r := range all {
		if r.ScriptHash == script {
			of = append(of, r)
		}
	}
	return of, err
}

// running yields the transactions that can run a script, each once.
func (v *view) running(hash []byte, subjects *schema.Index, span setops.Span, descending bool) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		payment, err := v.Q.Index(utxo.PaymentIndex)
		var spends, names *model.BirthPk
		if err == nil {
			spends, err = v.Q.Birth(payment, address.Credentials(hash)[1])
		}
		if err == nil {
			names, err = v.Q.Birth(subjects, []byte(address.FormatScript(hash)))
		}
		if err != nil {
			yield(0, err)
			return
		}
		var lists []iter.Seq2[model.TxPk, error]
		if spends != nil {
			lists = append(lists, spending(v.Q.StoredHistory(payment, *spends, span, descending)))
		}
		if names != nil {
			lists = append(lists, distinct(v.Q.Occurrences(subjects, *names, span, descending)))
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
