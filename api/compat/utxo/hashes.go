package utxo

import (
	"bytes"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/setops"
	"birthmark/model"
)

// maxLookups bounds the outputs whose transactions are searched for a datum or a script. The first one usually has it.
const maxLookups = 64

// maxDatums is the number of datums that are kept during a long answer.
const maxDatums = 1 << 10

// FindDatum returns the datum with a hash, nil if none is found. It is inline in an output, or a witness of the
// transaction that creates or that spends an output with its hash.
func (q *Reader) FindDatum(hash []byte) (datum []byte, err error) {
	if datum, known := q.datums[string(hash)]; known {
		return datum, nil
	}
	if q.datums == nil || len(q.datums) > maxDatums {
		q.datums = map[string][]byte{}
	}
	defer func() {
		if err == nil {
			q.datums[string(hash)] = datum
		}
	}()
	is := func(b []byte) bool {
		sum := blake2b.Sum256(b)
		return bytes.Equal(sum[:], hash)
	}
	err = q.eachTx(DatumIndex, hash, func(t *Tx) bool {
		for i := range t.Outputs {
			if d := t.Outputs[i].Datum; d != nil && is(d) {
				datum = d
				return true
			}
		}
		for _, d := range t.Witnessed().Datums {
			if is(d) {
				datum = d
				return true
			}
		}
		return false
	})
	return datum, err
}

// FindScript returns the script with a hash, nil if none is found. It is a reference script, or a witness of a
// transaction that spends from the script or mints with it.
func (q *Reader) FindScript(hash []byte) (found *ledger.Script, err error) {
	search := func(t *Tx) bool {
		scripts := t.Witnessed().Scripts
		for i := range t.Outputs {
			if ref := t.Outputs[i].Script; ref != nil {
				if s, err := ledger.ParseScript(&cbor.Walker{}, ref); err == nil {
					scripts = append(scripts[:len(scripts):len(scripts)], s)
				}
			}
		}
		for i := range scripts {
			if bytes.Equal(ScriptHash(&scripts[i]), hash) {
				found = &scripts[i]
			}
		}
		return found != nil
	}
	stored := address.Credentials(hash)[1]
	for _, by := range []struct {
		index string
		value []byte
	}{{ScriptIndex, hash}, {PolicyIndex, hash}, {PaymentIndex, stored}, {StakeIndex, stored}} {
		if found != nil {
			break
		}
		if err := q.eachTx(by.index, by.value, search); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// eachTx calls visit with the transactions that create or spend the first outputs with a value of an index, until it
// returns true.
func (q *Reader) eachTx(index string, value []byte, visit func(*Tx) bool) error {
	x, err := q.Q.Index(index)
	if err != nil {
		return err
	}
	birth, err := q.Q.Birth(x, value)
	if err != nil || birth == nil {
		return err
	}
	var pks []model.UtxoPk
	size := 1 // the first output alone, then the others
	flush := func() (done bool, err error) {
		spenders, err := q.Q.SpendersOf(pks)
		if err != nil {
			return false, err
		}
		for i, pk := range pks {
			txs := make([]model.TxPk, 0, 2)
			if !q.Q.IsGenesis(pk.Tx()) {
				txs = append(txs, pk.Tx())
			}
			if spenders[i] != nil {
				txs = append(txs, spenders[i].Tx())
			}
			for _, tx := range txs {
				t, err := q.Tx(tx)
				if err != nil || visit(t) {
					return true, err
				}
			}
		}
		pks = pks[:0]
		return false, nil
	}
	n := 0
	for pk, err := range q.Q.Occurrences(x, *birth, setops.Everywhere, false) {
		if err != nil {
			return err
		}
		if pks = append(pks, pk); len(pks) == size {
			if done, err := flush(); done || err != nil {
				return err
			}
			size = 16
		}
		if n++; n == maxLookups {
			break
		}
	}
	_, err = flush()
	return err
}
