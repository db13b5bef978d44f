package ergo

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// DescribeTx implements [model.TxDescriber]. The outputs need their addresses, which determine the ErgoTrees. The inputs
// and outputs need their box ids if variables or registers cannot be read.
func (c *chain) DescribeTx(raw []byte, inputs, outputs []map[string]any) (*model.TxDescription, error) {
	addresses := make([][]byte, len(outputs))
	for i := range outputs {
		text, _ := outputs[i][indexAddress].(string)
		addresses[i], _ = parseAddress(c.net, text) // nil: its tree is unknown
	}
	tx, err := sigma.ParseTx(raw, sigma.Known{
		TreeSize: func(i int, rest []byte) int { return KnownTreeSize(addresses, i, rest) },
		BoxID:    func(i int) (sigma.ID, bool) { return boxIDOf(outputs, i) },
		InputID:  func(i int) (sigma.ID, bool) { return boxIDOf(inputs, i) },
	})
	if err != nil && !errors.Is(err, sigma.ErrUnreadable) {
		return nil, err
	}
	var e sigma.Encoder
	id := e.TxID(tx)                // only used with outputs
	count, _ := binary.Uvarint(raw) // of inputs, also without their bytes
	d := &model.TxDescription{Inputs: make([]model.InputDetails, count)}
	for _, box := range tx.DataInputs {
		d.DataInputs = append(d.DataInputs, hex.EncodeToString(box[:]))
	}
	for i := range tx.Inputs {
		in := &tx.Inputs[i]
		proof := hex.EncodeToString(in.Proof)
		d.Inputs[i].SpendingProof = &proof
		for _, v := range in.Extension {
			if v.Value == nil {
				continue // its bytes are in the one before it
			}
			if d.Inputs[i].Extension == nil {
				d.Inputs[i].Extension = map[string]model.EncodedValue{}
			}
			d.Inputs[i].Extension[strconv.Itoa(int(v.ID))] = describeValue(v.Value)
		}
	}
	if tx.Outputs != nil {
		d.Outputs = make([]model.OutputDetails, len(tx.Outputs))
	}
	for i := range tx.Outputs {
		box, to := &tx.Outputs[i], &d.Outputs[i]
		boxID := box.ID(&id, i)
		if id, known := boxIDOf(outputs, i); known {
			boxID = id // without all inputs the transaction's id is unknown
		}
		to.BoxID, to.ErgoTree, to.CreationHeight = hex.EncodeToString(boxID[:]), hex.EncodeToString(box.Tree), &box.Height
		for n, value := range box.Additional() {
			if to.Registers == nil {
				to.Registers = map[string]model.EncodedValue{}
			}
			to.Registers[registerNames[n-sigma.FirstRegister]] = describeValue(value)
		}
	}
	return d, nil
}

// boxIDOf returns the id of a box from its values.
func boxIDOf(boxes []map[string]any, i int) (id sigma.ID, known bool) {
	if i >= len(boxes) {
		return id, false
	}
	text, _ := boxes[i][indexBoxID].(string)
	return id, hexTo(id[:], []byte(text))
}

func describeValue(raw []byte) model.EncodedValue {
	value, ok := sigma.Value(raw)
	v := model.EncodedValue{Raw: hex.EncodeToString(raw), Type: sigma.TypeName(raw), Value: hexBytes(value), Undecoded: !ok}
	if v.Undecoded && value == nil {
		v.Value = json.RawMessage("null")
	}
	return v
}

// hexBytes replaces byte strings in a value by their hex digits.
func hexBytes(v any) any {
	switch v := v.(type) {
	case []byte:
		return hex.EncodeToString(v)
	case []any:
		for i := range v {
			v[i] = hexBytes(v[i])
		}
	}
	return v
}
