package ergo

import (
	"encoding/hex"
	"strconv"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// DescribeTx implements [model.TxDescriber]. The outputs need their addresses, which determine the ErgoTrees.
func (c *chain) DescribeTx(raw []byte, outputs []map[string]any) (*model.TxDescription, error) {
	tx, err := sigma.ParseTx(raw, func(i int, rest []byte) int {
		if i >= len(outputs) {
			return -1
		}
		text, _ := outputs[i][indexAddress].(string)
		return c.treeSize(text, rest)
	})
	if err != nil {
		return nil, err
	}
	id, err := sigma.SignedTxID(raw)
	if err != nil {
		return nil, err
	}
	d := &model.TxDescription{Inputs: make([]model.InputDetails, len(tx.Inputs))}
	for _, box := range tx.DataInputs {
		d.DataInputs = append(d.DataInputs, hex.EncodeToString(box[:]))
	}
	for i := range tx.Inputs {
		in := &tx.Inputs[i]
		proof := hex.EncodeToString(in.Proof)
		d.Inputs[i].SpendingProof = &proof
		for _, v := range in.Extension {
			if d.Inputs[i].Extension == nil {
				d.Inputs[i].Extension = map[string]model.EncodedValue{}
			}
			d.Inputs[i].Extension[strconv.Itoa(int(v.ID))] = describeConstant(v.Value)
		}
	}
	if tx.Outputs != nil {
		d.Outputs = make([]model.OutputDetails, len(tx.Outputs))
	}
	for i := range tx.Outputs {
		box, to := &tx.Outputs[i], &d.Outputs[i]
		boxID := box.ID(&id, i)
		to.BoxID, to.ErgoTree, to.CreationHeight = hex.EncodeToString(boxID[:]), hex.EncodeToString(box.Tree), &box.Height
		for n, constant := range box.Registers {
			if to.Registers == nil {
				to.Registers = map[string]model.EncodedValue{}
			}
			to.Registers[registerNames[n]] = describeConstant(constant)
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

func describeConstant(raw []byte) model.EncodedValue {
	return model.EncodedValue{Raw: hex.EncodeToString(raw), Type: sigma.TypeName(raw), Value: hexBytes(sigma.Value(raw))}
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
