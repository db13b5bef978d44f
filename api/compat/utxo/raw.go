package utxo

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Tx is a parsed raw transaction.
type Tx struct {
	*ledger.RawTx
	witnesses *ledger.Witnesses // nil: not parsed
	sorted    bool              // its inputs are sorted
}

// ReadTxs reads transactions for [Reader.Tx], and forgets those before.
func (q *Reader) ReadTxs(txs []model.TxPk) error {
	slices.Sort(txs)
	txs = slices.Compact(txs)
	raws, err := q.Q.RawTxs(txs)
	if err != nil {
		return err
	}
	q.parsed = make(map[model.TxPk]*Tx, len(txs))
	for i, tx := range txs {
		t, err := ledger.ReadRaw(raws[i])
		if err != nil {
			return fmt.Errorf("raw transaction %v: %w", tx, err)
		}
		q.parsed[tx] = &Tx{RawTx: t}
	}
	return nil
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
	t, err := ledger.ReadRaw(raws[0])
	if err != nil {
		return nil, fmt.Errorf("raw transaction %v: %w", tx, err)
	}
	return &Tx{RawTx: t}, nil
}

// output returns an output that the transaction created.
func (t *Tx) output(index int) (*ledger.Output, error) {
	if t.Failed {
		index = 0 // the collateral return is its only one
	}
	if index >= len(t.Outputs) {
		return nil, fmt.Errorf("its raw transaction has no output %d: run check", index)
	}
	return &t.Outputs[index], nil
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
func (t *Tx) SortedInputs() []model.Input {
	if !t.sorted {
		slices.SortFunc(t.Inputs, compareInputs)
		t.sorted = true
	}
	return t.Inputs
}

// InputIndex returns the position of an input in the order of the ledger.
func (t *Tx) InputIndex(in model.Input) int {
	i, _ := slices.BinarySearchFunc(t.SortedInputs(), in, compareInputs)
	return i
}

// compareInputs orders inputs as the ledger does.
func compareInputs(a, b model.Input) int {
	if c := bytes.Compare(a.Tx[:], b.Tx[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
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
	return o, o.setData(l)
}
