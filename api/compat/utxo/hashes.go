package utxo

import (
	"bytes"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/setops"
	"birthmark/model"
)

// maxDatums is the number of datums that are kept during a long answer.
const maxDatums = 1 << 10

// FindDatum returns the datum with a hash, nil if none is found. It is inline in an output, or a witness of the
// transaction that creates or that spends an output with its hash, or, with the index FailedDatums, of a transaction
// whose scripts failed.
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
	search := func(t *Tx, outputs []ledger.Output) bool {
		for i := range outputs {
			if d := outputs[i].Datum; d != nil && is(d) {
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
	}
	err = q.eachTx(place{index: DatumIndex, value: hash, created: true, spent: true}, search)
	if err == nil && datum == nil && q.has(FailedDatums) {
		err = q.eachTx(place{index: FailedDatums.Name, value: hash, created: true}, search)
	}
	return datum, err
}

// has reports whether the database has an index with a definition.
func (q *Reader) has(index model.Definition) bool {
	x, err := q.Q.Index(index.Name)
	if err != nil {
		return false
	}
	d, _ := x.Definition()
	return d == index
}

// place is where transactions are searched for a script: the ones that create, or the ones that spend, outputs with a
// value of an index.
type place struct {
	index          string
	value          []byte
	created, spent bool

	definite bool // the first of these transactions contains the script, or none
}

// FindScript returns the script with a hash, nil if none is found. It is a reference script, or a witness of a
// transaction that spends from the script, mints with it, or, with the index of subjects, names it in certificates,
// withdrawals, votes or proposals, or, with the index FailedScripts, of a transaction whose scripts failed. The index
// Scripts has all but the last.
//
// The first output with a reference script contains it. Otherwise the first transaction that creates an output with an
// asset of its policy minted with it, and the first that spends from it, must contain it as a witness. An account of a
// script can occur in many outputs before a transaction contains its script.
func (q *Reader) FindScript(hash []byte) (found *ledger.Script, err error) {
	search := func(t *Tx, outputs []ledger.Output) bool {
		scripts := t.Witnessed().Scripts
		for i := range outputs {
			if ref := outputs[i].Script; ref != nil {
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
	for _, p := range slices.Concat(q.listed(hash), []place{
		{index: ScriptIndex, value: hash, created: true, definite: true},
		{index: PolicyIndex, value: hash, created: true, definite: true},
		{index: PaymentIndex, value: stored, spent: true, definite: true},
	}, q.namesOf(hash, stored), []place{{index: StakeIndex, value: stored, created: true, spent: true}}, q.failed(hash)) {
		if err := q.eachTx(p, search); err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// listed returns the first transaction with a script; nothing without the index Scripts.
func (q *Reader) listed(hash []byte) []place {
	if !q.has(Scripts) {
		return nil
	}
	return []place{{index: Scripts.Name, value: hash, created: true, definite: true}}
}

// failed returns where transactions whose scripts failed have a script; nowhere without the index FailedScripts.
func (q *Reader) failed(hash []byte) []place {
	if !q.has(FailedScripts) {
		return nil
	}
	return []place{{index: FailedScripts.Name, value: hash, created: true}}
}

// namesOf returns where transactions name a script; nowhere without the index of subjects.
func (q *Reader) namesOf(hash, stored []byte) (places []place) {
	if !q.has(Subjects) {
		return nil
	}
	network := q.Q.Chain.Network()
	names := []string{
		address.FormatScript(hash),
		address.FormatStakeCredential(address.Network{Name: network, Testnet: network != address.Mainnet.Name}, stored),
	}
	for _, kind := range []string{address.DRep, address.CommitteeCold, address.CommitteeHot} {
		names = append(names, address.FormatGovernance(kind, stored))
	}
	for _, name := range names {
		places = append(places, place{index: Subjects.Name, value: []byte(name), created: true})
	}
	// The guardrail script of a proposal has a redeemer, which names it, unless it is a native script.
	return append(places, place{index: Subjects.Name, value: []byte(proposal), created: true})
}

// Outputs of a search are read in batches that grow from the first output alone to lastBatch.
const (
	secondBatch = 16
	lastBatch   = 512
)

// eachTx calls visit with the transactions of a place and their outputs until it returns true.
func (q *Reader) eachTx(p place, visit func(*Tx, []ledger.Output) bool) error {
	x, err := q.Q.Index(p.index)
	if err != nil {
		return err
	}
	birth, err := q.Q.Birth(x, p.value)
	if err != nil || birth == nil {
		return err
	}
	var pks []model.UtxoPk
	var last model.TxPk
	flush := func() (done bool, err error) {
		if err := q.Q.Ctx.Err(); err != nil {
			return true, err
		}
		spenders := make([]*model.InputPk, len(pks))
		if p.spent {
			if spenders, err = q.Q.SpendersOf(pks); err != nil {
				return true, err
			}
		}
		for i, pk := range pks {
			txs := make([]model.TxPk, 0, 2)
			if p.created && pk.Tx() != last && !q.Q.IsGenesis(pk.Tx()) {
				last = pk.Tx()
				txs = append(txs, last)
			}
			if spenders[i] != nil {
				txs = append(txs, spenders[i].Tx())
			}
			for _, tx := range txs {
				t, err := q.Tx(tx)
				if err != nil {
					return true, err
				}
				outputs, err := t.ReadOutputs()
				if err != nil || visit(t, outputs) || p.definite {
					return true, err
				}
			}
		}
		pks = pks[:0]
		return false, nil
	}
	size := 1
	for pk, err := range q.Q.Occurrences(x, *birth, setops.Everywhere, false) {
		if err != nil {
			return err
		}
		if pks = append(pks, pk); len(pks) < size {
			continue
		}
		if done, err := flush(); done || err != nil {
			return err
		}
		size = max(secondBatch, min(2*size, lastBatch))
	}
	_, err = flush()
	return err
}
