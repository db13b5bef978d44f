package utxo

import (
	"encoding/hex"
	"fmt"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query/pointers"
	"birthmark/model"
)

// Tx is a partly parsed raw transaction.
type Tx struct {
	*ledger.RawTx
	inputs    []model.Input     // sorted; nil: not parsed
	witnesses *ledger.Witnesses // nil: not parsed
}

// ReadTxs reads transactions for [Reader.Tx], and forgets those before.
func (q *Reader) ReadTxs(txs []model.TxPk) error {
	l := q.Q.NewLoad()
	setTxs := q.loadTxs(l, txs)
	if err := l.Read(); err != nil {
		return err
	}
	return setTxs()
}

// loadTxs adds transactions to a load. The result sets them for [Reader.Tx] after it was read.
func (q *Reader) loadTxs(l *pointers.Load, txs []model.TxPk) func() error {
	slices.Sort(txs)
	txs = slices.Compact(txs)
	raws := l.RawTxs(txs)
	return func() error {
		q.parsed = make(map[model.TxPk]*Tx, len(txs))
		for i, tx := range txs {
			t, err := readTx(tx, raws[i])
			if err != nil {
				return err
			}
			q.parsed[tx] = t
		}
		return nil
	}
}

func readTx(tx model.TxPk, raw []byte) (*Tx, error) {
	t, err := ledger.ReadParts(raw)
	if err != nil {
		return nil, fmt.Errorf("raw transaction %v: %w", tx, err)
	}
	return &Tx{RawTx: t}, nil
}

// Tx returns a raw transaction. It leaves the transactions that [Reader.ReadTxs] read unchanged.
func (q *Reader) Tx(tx model.TxPk) (*Tx, error) {
	if t := q.parsed[tx]; t != nil {
		return t, nil
	}
	raws, err := q.Q.RawTxs([]model.TxPk{tx})
	if err != nil {
		return nil, err
	}
	return readTx(tx, raws[0])
}

// output returns an output that the transaction created.
func (t *Tx) output(index int) (*ledger.Output, error) {
	if t.Failed {
		index = 0 // the collateral return is its only one
	}
	o, err := t.ReadOutput(index)
	if err == nil && o == nil {
		err = fmt.Errorf("its raw transaction has no output %d: run check", index)
	}
	return o, err
}

// Witnessed returns the datums, scripts and redeemers of the transaction.
func (t *Tx) Witnessed() *ledger.Witnesses {
	if t.witnesses == nil {
		w := ledger.ReadWitnesses(t.Witnesses)
		t.witnesses = &w
	}
	return t.witnesses
}

// SortedInputs returns the inputs that the transaction spends, in the order of the ledger.
func (t *Tx) SortedInputs() ([]model.Input, error) {
	if t.inputs == nil {
		inputs, err := t.ReadInputs()
		if err != nil {
			return nil, err
		}
		ledger.SortInputs(inputs)
		t.inputs = inputs
	}
	return t.inputs, nil
}

// InputIndex returns the position of an input in the order of the ledger.
func (t *Tx) InputIndex(in model.Input) (int, error) {
	inputs, err := t.SortedInputs()
	i, _ := slices.BinarySearchFunc(inputs, in, ledger.CompareInputs)
	return i, err
}

// ScriptHash returns the hash of a script: Blake2b-224 of the language and the script.
func ScriptHash(s *ledger.Script) []byte {
	return address.Hash224(append([]byte{s.Language}, s.Code...))
}

// ReadOutput reads a serialized output that the chain may not have, such as a collateral return that was not created.
func ReadOutput(raw []byte) (*Output, error) {
	l, err := ledger.ReadOutput(raw)
	if err != nil {
		return nil, err
	}
	return OutputOf(l)
}

// OutputOf returns an output that the chain may not have.
func OutputOf(l *ledger.Output) (*Output, error) {
	o := &Output{Value: l.Value, Owner: ownerOf(l.Address)}
	for _, a := range l.Assets {
		o.Assets = append(o.Assets, Asset{address.FormatAsset(a.ID), a.Amount})
	}
	if o.DatumHash = hex.EncodeToString(l.DatumHash); l.Datum != nil {
		hash := blake2b.Sum256(l.Datum)
		o.DatumHash, o.Datum, o.Inline = hex.EncodeToString(hash[:]), l.Datum, true
	}
	if l.Script == nil {
		return o, nil
	}
	script, err := ledger.ParseScript(&cbor.Walker{}, l.Script)
	if err == nil {
		o.ScriptHash, o.Script = hex.EncodeToString(ScriptHash(&script)), &script
	}
	return o, err
}
