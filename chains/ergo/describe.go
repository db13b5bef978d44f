package ergo

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// DescribeTx implements [model.TxDescriber]. The outputs need their addresses, which determine the ErgoTrees.
func (c *chain) DescribeTx(raw []byte, outputs []map[string]any) (*model.TxDescription, error) {
	key := func(output int, index string) string {
		if output >= len(outputs) {
			return ""
		}
		text, _ := outputs[output][index].(string)
		return text
	}
	tx, err := sigma.ParseTx(raw, sigma.Known{
		TreeSize: func(i int, rest []byte) int { return c.treeSize(key(i, indexAddress), rest) },
		BoxID: func(i int) (id sigma.ID, ok bool) {
			return id, hexTo(id[:], []byte(key(i, indexBoxID)))
		},
	})
	if errors.Is(err, sigma.ErrUnreadable) {
		return &model.TxDescription{}, nil // the rest of the answer does not need the bytes
	}
	if err != nil {
		return nil, err
	}
	var e sigma.Encoder
	id := e.TxID(tx) // only used with outputs
	d := &model.TxDescription{Inputs: make([]model.InputDetails, len(tx.Inputs))}
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

// treeSize returns the size of the ErgoTree with an address that begins b, or -1 if it is not that tree.
func (c *chain) treeSize(text string, b []byte) int {
	address, err := parseAddress(c.net, text)
	if err != nil {
		return -1
	}
	return TreeSize(address, b)
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
