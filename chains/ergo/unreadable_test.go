package ergo

import (
	"bytes"
	"encoding/hex"
	"testing"

	"birthmark/chains/ergo/sigma"
)

// A transaction with variables that cannot be read is described with the ids of its inputs. Without them the details
// of the inputs before are shown, and with wrong ones no outputs either.
func TestUnreadableTransactionsAreDescribedAsFarAsPossible(t *testing.T) {
	c := newChain(networks[0])
	tx := aTx()
	first := len(tx.Inputs)
	for i := range 300 {
		tx.Inputs = append(tx.Inputs, sigma.Input{
			Box: sigma.ID{9, byte(i), byte(i >> 8)}, Proof: []byte{7},
			Extension: []sigma.Variable{{ID: 1, Value: bytes.Repeat([]byte{0xff}, 20)}},
		})
	}
	var e sigma.Encoder
	raw, id := e.AppendTx(nil, &tx, true), e.TxID(&tx)
	var inputs, outputs []map[string]any
	for _, in := range tx.Inputs {
		inputs = append(inputs, map[string]any{indexBoxID: hex.EncodeToString(in.Box[:])})
	}
	for i, o := range tx.Outputs {
		box := e.BoxID(&o, &id, i)
		outputs = append(outputs, map[string]any{
			indexAddress: formatAddress(c.net, appendAddress(nil, o.Tree, nil)), indexBoxID: hex.EncodeToString(box[:]),
		})
	}
	wrong := bytes.Clone(raw)
	wrong[len(wrong)-1]++
	for _, of := range []struct {
		name          string
		raw           []byte
		inputs        []map[string]any
		proofs, boxes int
	}{
		{"whole", raw, inputs, len(tx.Inputs), len(tx.Outputs)},
		{"without ids of inputs", raw, nil, first + 1, len(tx.Outputs)},
		{"with wrong ids", wrong, inputs, first + 1, 0},
	} {
		d, err := c.DescribeTx(of.raw, of.inputs, outputs)
		if err != nil || len(d.Inputs) != len(tx.Inputs) || len(d.Outputs) != of.boxes {
			t.Errorf("%s: %d inputs, %d outputs: %v", of.name, len(d.Inputs), len(d.Outputs), err)
			continue
		}
		for i, in := range d.Inputs {
			if (in.SpendingProof != nil) != (i < of.proofs) {
				t.Errorf("%s: input %d has the proof %v", of.name, i, in.SpendingProof)
				break
			}
		}
		for i, o := range d.Outputs {
			if o.BoxID != outputs[i][indexBoxID] {
				t.Errorf("%s: output %d has the id %s", of.name, i, o.BoxID)
			}
		}
	}
}
