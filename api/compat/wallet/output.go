package wallet

import (
	"crypto/sha256"
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/schema"
	"birthmark/model"
)

// outputs returns outputs that exist. A script is made of its address if the SHA-256 of the result is the one that the
// database has; the others (public keys, bare multisig, data) are read from their transactions.
func (v *View) outputs(pks []model.UtxoPk) ([]Output, error) {
	outputs := make([]Output, len(pks))
	if len(pks) == 0 {
		return outputs, nil
	}
	rows, err := v.q.UtxoRows(pks)
	if err != nil {
		return nil, err
	}
	var births, addressBirths []model.BirthPk
	var ofBirth, ofAddress, rest []int
	addresses := v.q.Active(addressIndex)
	for i := range rows {
		outputs[i].Value = rows[i].Value
		if rows[i].Value == 0 && v.chain.form.split != nil { // it may have assets
			rest = append(rest, i)
			continue
		}
		for _, o := range rows[i].Occurrences {
			switch o.Index {
			case v.index:
				births, ofBirth = append(births, o.Birth), append(ofBirth, i)
			case addresses:
				addressBirths, ofAddress = append(addressBirths, o.Birth), append(ofAddress, i)
			}
		}
	}
	hashes, err := v.storedValues(v.index, births, ofBirth, len(pks))
	if err != nil {
		return nil, err
	}
	var paid [][]byte
	if addresses != nil {
		if paid, err = v.storedValues(addresses, addressBirths, ofAddress, len(pks)); err != nil {
			return nil, err
		}
	}
	whole := rest
	for i := range outputs {
		if len(whole) > 0 && whole[0] == i {
			whole = whole[1:]
			continue
		}
		if paid != nil {
			outputs[i].Script = v.chain.rebuild(paid[i], hashes[i])
		}
		if outputs[i].Script == nil {
			rest = append(rest, i)
		}
	}
	return outputs, v.readScripts(pks, outputs, rest)
}

// rebuild returns the script of a value of the index address, nil if there is none or if its SHA-256 differs.
func (c *Chain) rebuild(address, hash []byte) []byte {
	if address == nil {
		return nil
	}
	script := c.scripts.ValueScript(address)
	if sum := sha256.Sum256(script); string(sum[:]) != string(hash) {
		return nil
	}
	return script
}

// outputScripts are the outputs of a transaction.
type outputScripts struct {
	id  model.Hash
	out []*wire.TxOut
}

func scriptsOf(id model.Hash, raw []byte) (outputScripts, error) {
	tx, err := parseTx(raw)
	if err != nil {
		return outputScripts{}, fmt.Errorf("transaction %s: %w", displayed(id), err)
	}
	return outputScripts{id, tx.TxOut}, nil
}

func (o outputScripts) at(index int) (Output, error) {
	if index >= len(o.out) {
		return Output{}, fmt.Errorf("transaction %s has %d outputs, and none at %d: run check", displayed(o.id), len(o.out), index)
	}
	return Output{uint64(o.out[index].Value), o.out[index].PkScript}, nil
}

// storedValues returns n values of an index: the value of births[i] at position[i], nil elsewhere.
func (v *View) storedValues(x *schema.Index, births []model.BirthPk, position []int, n int) ([][]byte, error) {
	values := make([][]byte, n)
	if len(births) == 0 {
		return values, nil
	}
	found, err := v.q.StoredValues(x, births)
	for i := range found {
		values[position[i]] = found[i]
	}
	return values, err
}

// readScripts sets the outputs at the positions rest from the transactions that created them.
func (v *View) readScripts(pks []model.UtxoPk, outputs []Output, rest []int) error {
	if len(rest) == 0 {
		return nil
	}
	of := map[model.TxPk][]int{} // positions by transaction
	var txs []model.TxPk
	for _, i := range rest {
		tx := pks[i].Tx()
		if of[tx] == nil {
			txs = append(txs, tx)
		}
		of[tx] = append(of[tx], i)
	}
	ids, err := v.q.TxIDs(txs)
	if err != nil {
		return err
	}
	raws, err := v.q.RawTxs(txs)
	if err != nil {
		return err
	}
	for i, tx := range txs {
		scripts, err := scriptsOf(ids[i], raws[i])
		if err != nil {
			return err
		}
		for _, at := range of[tx] {
			if outputs[at], err = scripts.at(pks[at].Index()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Spender is the input that spends an output.
type Spender struct {
	Tx    model.Hash
	Input int
	Place Place
}

// Spenders returns for each output of a transaction the input that spends it, or nil; NotFound (unknown_tx).
func (v *View) Spenders(id model.Hash) ([]*Spender, error) {
	pk, t, err := v.findOne(id)
	if err != nil {
		return nil, err
	}
	var spenders []*Spender
	if t != nil {
		spenders = make([]*Spender, t.NumOutputs())
	} else {
		spenders, err = v.confirmedSpenders(pk)
	}
	if err != nil || v.pool == nil {
		return spenders, err
	}
	for in := range v.pool.Spenders(id) {
		if n := in.Outpoint.Index; int(n) < len(spenders) && spenders[n] == nil {
			spenders[n] = &Spender{in.Tx.ID, int(in.Index), v.unconfirmedPlace(in.Tx)}
		}
	}
	return spenders, nil
}

// confirmedSpenders returns the inputs of the chain that spend outputs of a confirmed transaction.
func (v *View) confirmedSpenders(tx model.TxPk) ([]*Spender, error) {
	outputs, err := v.q.OutputsOf(tx)
	if err != nil {
		return nil, err
	}
	inputs, err := v.q.SpendersOf(outputs)
	if err != nil {
		return nil, err
	}
	spenders := make([]*Spender, len(outputs))
	var txs []model.TxPk
	var spent []int
	for i, input := range inputs {
		if input != nil {
			txs, spent = append(txs, input.Tx()), append(spent, i)
		}
	}
	ids, err := v.q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	places, err := v.places(txs)
	if err != nil {
		return nil, err
	}
	for n, i := range spent {
		spenders[i] = &Spender{ids[n], inputs[i].Index(), places[n]}
	}
	return spenders, nil
}
