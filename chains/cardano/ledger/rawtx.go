package ledger

import (
	"bytes"
	"errors"
	"math"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// RawTx is a transaction read from [model.Tx.Raw]. Values point into the bytes.
type RawTx struct {
	Parts            // of a transaction since Shelley; empty in Byron
	Alonzo  bool     // it states whether its scripts succeeded
	Failed  bool     // its scripts failed
	Outputs []Output // that it created: if its scripts failed, the collateral return

	// Inputs are the outputs that it spends, in the order of the bytes: if its scripts failed, the collateral.
	Inputs []model.Input
}

// ReadRaw reads a transaction in the form of [model.Tx.Raw].
func ReadRaw(raw []byte) (*RawTx, error) {
	tx, err := ReadParts(raw)
	if err != nil || tx.Body == nil { // Byron
		return tx, err
	}
	all := collector{}
	d := Decoder{index: &all}
	d.reset(tx.Body)
	tx.Inputs = d.tx(tx.Failed).Inputs
	tx.Outputs = all.outputs
	return tx, d.w.Err
}

// ReadParts reads the parts of a transaction except inputs and outputs. A Byron transaction has no parts.
func ReadParts(raw []byte) (*RawTx, error) {
	w := cbor.Walker{Data: raw}
	tx := &RawTx{}
	n := w.Array("transaction")
	if n == 2 { // Byron
		return tx, w.Err
	}
	w.Field(&n, "body")
	tx.Body = w.Item("body")
	w.Field(&n, "witnesses")
	tx.Witnesses = w.Item("witnesses")
	w.Field(&n, "auxiliary data")
	if at := w.Offset; at < len(raw) && (raw[at] == simpleFalse || raw[at] == simpleTrue) {
		tx.Alonzo, tx.Failed = true, raw[at] == simpleFalse
		w.Offset++
		w.Field(&n, "auxiliary data")
	}
	if tx.Auxiliary = w.Item("auxiliary data"); bytes.Equal(tx.Auxiliary, []byte{simpleNull}) {
		tx.Auxiliary = nil
	}
	w.End(&n, "transaction")
	if w.Err == nil && w.Offset < len(raw) {
		w.Err = errors.New("bytes follow the transaction")
	}
	if w.Err != nil {
		return nil, w.Err
	}
	return tx, nil
}

// ReadInputs reads the outputs that a transaction since Shelley spends, as [RawTx.Inputs].
func (tx *RawTx) ReadInputs() ([]model.Input, error) {
	key := uint64(bodyInputs)
	if tx.Failed {
		key = bodyCollateral
	}
	part, err := tx.part(key)
	if part == nil || err != nil {
		return nil, err
	}
	d := Decoder{index: noIndexes{}}
	d.reset(part)
	return d.inputSet(), d.w.Err
}

// ReadOutputs reads the outputs that a transaction since Shelley created, as [RawTx.Outputs].
func (tx *RawTx) ReadOutputs() ([]Output, error) { return tx.readOutputs(0, math.MaxInt) }

// ReadOutput reads one of [RawTx.Outputs]. It returns nil if the transaction has no such output.
func (tx *RawTx) ReadOutput(n int) (*Output, error) {
	found, err := tx.readOutputs(n, 1)
	if len(found) == 0 || err != nil {
		return nil, err
	}
	return &found[0], nil
}

// readOutputs reads at most limit outputs from a position on.
func (tx *RawTx) readOutputs(from, limit int) ([]Output, error) {
	key := uint64(bodyOutputs)
	if tx.Failed {
		key = bodyCollateralReturn
	}
	part, err := tx.part(key)
	if part == nil || err != nil {
		return nil, err
	}
	all := collector{}
	d := Decoder{index: &all}
	if d.reset(part); tx.Failed {
		if from == 0 {
			d.output()
		}
		return all.outputs, d.w.Err
	}
	for n := d.w.Array("outputs"); len(all.outputs) < limit && d.w.More(&n); from-- {
		if from > 0 {
			d.w.Skip("output")
			continue
		}
		d.output()
	}
	return all.outputs, d.w.Err
}

// part returns a part of the body; nil if there is none.
func (tx *RawTx) part(key uint64) ([]byte, error) {
	if tx.Body == nil {
		return nil, nil
	}
	w := cbor.Walker{Data: tx.Body}
	for n := w.Map("transaction body"); w.More(&n); {
		at := w.Uint("key of the transaction body")
		if part := w.Item("transaction body"); at == key && w.Err == nil {
			return part, nil
		}
	}
	return nil, w.Err
}

// Tx decodes one transaction that is in no block, in the form of [model.Tx.Raw], which is a copy of raw. Its values do
// not depend on a block.
func (d *Decoder) Tx(raw []byte) (*model.Tx, error) {
	parts, err := ReadParts(raw)
	if err != nil {
		return nil, err
	}
	if parts.Body == nil {
		return nil, errors.New("a transaction of Byron: expected one since Shelley")
	}
	d.reset(parts.Body)
	tx := d.tx(parts.Failed)
	if d.w.Err != nil {
		return nil, d.w.Err
	}
	tx.Hash = blake2b.Sum256(parts.Body)
	d.Txs, d.Failed, d.Parts = append(d.Txs, tx), append(d.Failed, parts.Failed), append(d.Parts, parts.Parts)
	d.Of, d.Header, d.Unconfirmed = nil, HeaderFields{Era: EraShelley}, true
	if parts.Alonzo {
		d.Header.Era = EraAlonzo
	}
	d.index.Block(&d.Transactions)
	d.Unconfirmed = false
	b := new(model.Block)
	d.detach(b)
	b.Txs[0].Raw = bytes.Clone(raw)
	return &b.Txs[0], nil
}

// collector keeps the outputs.
type collector struct {
	noIndexes
	outputs []Output
}

func (c *collector) Output(keys []model.Key, o *Output) ([]model.Key, error) {
	c.outputs = append(c.outputs, *o)
	return keys, nil
}

// ReadOutput reads a serialized output since Shelley. Values point into the bytes.
func ReadOutput(raw []byte) (*Output, error) {
	all := collector{}
	d := Decoder{index: &all}
	d.reset(raw)
	if d.output(); d.w.Err != nil {
		return nil, d.w.Err
	}
	return &all.outputs[0], nil
}
