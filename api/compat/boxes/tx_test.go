package boxes

import (
	"bytes"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// If no end of the variables fits the database, a transaction has its stored parts, and the bytes after them.
func TestUnreadableTransactionsHaveTheirStoredParts(t *testing.T) {
	key := sigma.PublicKeyTree([sigma.PointSize]byte(bytes.Repeat([]byte{2}, sigma.PointSize)))
	tx := &sigma.Tx{
		Inputs: []sigma.Input{{Box: sigma.ID{1}, Proof: []byte{7}}},
		Outputs: []sigma.Box{
			{Value: 5, Tree: key, Height: 9, Tokens: []sigma.Token{{ID: sigma.ID{3}, Amount: 4}}, Registers: [][]byte{{4, 2}}},
			{Value: 6, Tree: key, Height: 9},
		},
	}
	for i := range 1000 {
		tx.Inputs = append(tx.Inputs, sigma.Input{
			Box: sigma.ID{2, byte(i), byte(i >> 8)}, Extension: []sigma.Variable{{ID: 1, Value: bytes.Repeat([]byte{0xff}, 20)}},
		})
	}
	var e sigma.Encoder
	raw, id := e.AppendTx(nil, tx, true), e.TxID(tx)
	var ids []sigma.ID
	for i := range tx.Outputs {
		ids = append(ids, e.BoxID(&tx.Outputs[i], &id, i))
	}
	address := append([]byte{1}, key[3:]...)
	s := stored{
		addresses: [][]byte{address, address},
		boxID:     func(i int) ([]byte, error) { return ids[i][:], nil },
		inputs: func() (all []sigma.ID, err error) {
			for _, in := range tx.Inputs {
				all = append(all, in.Box)
			}
			return all, nil
		},
		outputs: func() ([]model.Output, error) {
			return []model.Output{{Value: 5, Assets: []model.Asset{{ID: tx.Outputs[0].Tokens[0].ID[:], Amount: 4}}}, {Value: 6}}, nil
		},
	}
	whole, err := parse(model.Hash(id), raw, s)
	if err != nil || e.TxID(whole.Tx) != id || whole.Outputs[0].Height != 9 {
		t.Fatalf("with the ids of inputs: %v", err)
	}
	raw[len(raw)-1]++ // no box has its id
	part, err := parse(model.Hash(id), raw, s)
	if err != nil || len(part.Inputs) != len(tx.Inputs) || len(part.Outputs) != 2 || part.Size != len(raw) {
		t.Fatalf("without ends: %+v, %v", part, err)
	}
	for i, in := range part.Inputs {
		if in.Box != tx.Inputs[i].Box {
			t.Fatalf("input %d spends %x", i, in.Box)
		}
	}
	if unread := part.Inputs[1].Extension; len(unread) != 1 || !bytes.HasSuffix(raw, unread[0].Value) || !bytes.Equal(part.Inputs[0].Proof, []byte{7}) {
		t.Errorf("the variables are %x", unread)
	}
	for i, o := range part.Outputs {
		want := tx.Outputs[i]
		if o.Value != want.Value || !bytes.Equal(o.Tree, want.Tree) || len(o.Tokens) != len(want.Tokens) || part.BoxIDs[i] != ids[i] || o.Registers != nil {
			t.Errorf("output %d is %+v with the id %x", i, o, part.BoxIDs[i])
		}
	}
}
