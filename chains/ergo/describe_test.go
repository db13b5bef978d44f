package ergo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// nodeBox is a box in a node's JSON.
type nodeBox struct {
	BoxID          string            `json:"boxId"`
	ErgoTree       string            `json:"ergoTree"`
	CreationHeight uint32            `json:"creationHeight"`
	Registers      map[string]string `json:"additionalRegisters"`
}

// nodeInput is an input in a node's JSON.
type nodeInput struct {
	Proof struct {
		Bytes     string            `json:"proofBytes"`
		Extension map[string]string `json:"extension"`
	} `json:"spendingProof"`
}

// nodeDataInput is a data input in a node's JSON.
type nodeDataInput struct {
	BoxID string `json:"boxId"`
}

// nodeTx is a transaction in a node's JSON.
type nodeTx struct {
	Inputs     []nodeInput     `json:"inputs"`
	DataInputs []nodeDataInput `json:"dataInputs"`
	Outputs    []nodeBox       `json:"outputs"`
}

// The details of transactions equal those in the node's JSON.
func TestDetailsMatchTheNodesJSON(t *testing.T) {
	testrun.Slow(t)
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	txs, registers, data, extensions, types := 0, 0, 0, 0, map[string]int{}
	eachRealBlock(t, func(name string, raw []byte) {
		b := whole(t, raw)
		var node struct {
			Of struct {
				Txs []json.RawMessage `json:"transactions"`
			} `json:"blockTransactions"`
		}
		if err := json.Unmarshal(raw, &node); err != nil {
			t.Fatal(err)
		}
		for i := range b.Txs {
			var want nodeTx
			if json.Unmarshal(node.Of.Txs[i], &want) != nil {
				continue // the JSON of explorers has another form of registers
			}
			var outputs []map[string]any
			for _, o := range b.Txs[i].Outputs {
				outputs = append(outputs, map[string]any{indexAddress: formatAddress(c.(*chain).net, o.Keys[0].Value)})
			}
			d, err := c.(model.TxDescriber).DescribeTx(b.Txs[i].Raw, nil, outputs)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, b.Txs[i].Hash, err)
			}
			if d.Outputs == nil {
				t.Fatalf("%s: %s: no outputs", name, b.Txs[i].Hash)
			}
			var got nodeTx
			for _, in := range d.Inputs {
				var input nodeInput
				input.Proof.Bytes, input.Proof.Extension = *in.SpendingProof, raws(in.Extension, types)
				got.Inputs = append(got.Inputs, input)
				extensions += len(in.Extension)
			}
			for _, id := range d.DataInputs {
				got.DataInputs = append(got.DataInputs, nodeDataInput{id})
				data++
			}
			for _, o := range d.Outputs {
				registers += len(o.Registers)
				got.Outputs = append(got.Outputs, nodeBox{o.BoxID, o.ErgoTree, *o.CreationHeight, raws(o.Registers, types)})
			}
			if got, want := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); got != want {
				at := 0
				for got[at] == want[at] {
					at++
				}
				t.Fatalf("%s: %s:\n got …%s\nwant …%s", name, b.Txs[i].Hash, got[max(0, at-50):at+50], want[max(0, at-50):at+50])
			}
			txs++
		}
	})
	t.Log(txs, "transactions;", registers, "registers;", data, "data inputs;", extensions, "variables; types:", types)
	if txs < 2500 || registers < 500 || data < 50 || extensions < 10 || len(types) < 8 {
		t.Error("too few of some kind")
	}
}

// raws returns the bytes of constants and counts their types.
func raws(constants map[string]model.EncodedValue, types map[string]int) map[string]string {
	all := map[string]string{}
	for name, v := range constants {
		all[name] = v.Raw
		types[v.Type]++
	}
	return all
}

// A tree does not contain its length: the address determines it.
func TestDetailsNeedTheAddresses(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	tx := aTx()
	key := bytes.Clone(tx.Outputs[0].Tree)
	for _, tree := range [][]byte{key, append([]byte{0x08, byte(len(key) - 1)}, key[1:]...)} {
		tx.Outputs[0].Tree = tree
		var outputs []map[string]any
		for _, o := range tx.Outputs {
			outputs = append(outputs, map[string]any{indexAddress: formatAddress(c.(*chain).net, appendAddress(nil, o.Tree, nil))})
		}
		var e sigma.Encoder
		raw := e.AppendTx(nil, &tx, true)
		d, err := c.(model.TxDescriber).DescribeTx(raw, nil, outputs)
		if err != nil || len(d.Outputs) != len(tx.Outputs) {
			t.Fatalf("%+v, %v", d, err)
		}
		for i := range outputs {
			if got, want := d.Outputs[i].ErgoTree, hex.EncodeToString(tx.Outputs[i].Tree); got != want {
				t.Errorf("tree %s, expected %s", got, want)
			}
			wrong := slices.Clone(outputs)
			wrong[i] = map[string]any{}
			if d, err := c.(model.TxDescriber).DescribeTx(raw, nil, wrong); err != nil || d.Outputs != nil || len(d.Inputs) != len(tx.Inputs) {
				t.Errorf("without address %d: %+v, %v", i, d, err)
			}
		}
		for n := range raw {
			if d, err := c.(model.TxDescriber).DescribeTx(raw[:n], nil, outputs); err == nil && d.Outputs != nil {
				t.Errorf("%d of %d bytes are accepted as a transaction", n, len(raw))
			}
		}
	}
}

// Values that cannot be read are null beside their bytes.
func TestUnreadableValuesAreMarked(t *testing.T) {
	const key = "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6"
	for digits, want := range map[string]string{
		"0402":           `{"raw":"0402","type":"Int","value":1}`,
		"860202660263":   `{"raw":"860202660263","type":"(Byte, Byte)","value":[102,99]}`,
		"82":             `{"raw":"82","type":"GroupElement","value":"` + hex.EncodeToString(sigma.Generator[:]) + `"}`,
		"830202020502ff": `{"raw":"830202020502ff","type":"Coll[Byte]","value":"05ff"}`,
		"62":             `{"raw":"62","type":"Unit"}`,
		"ff01":           `{"raw":"ff01","value":null,"undecoded":true}`,
		"08d3":           `{"raw":"08d3","type":"SigmaProp","value":null,"undecoded":true}`,
		"8602a30402":     `{"raw":"8602a30402","value":[null,1],"undecoded":true}`,
		"08cd" + key:     `{"raw":"08cd` + key + `","type":"SigmaProp","value":"` + key + `"}`,
		"0602ff7f":       `{"raw":"0602ff7f","type":"BigInt","value":"-129"}`,
	} {
		raw, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(describeValue(raw)); err != nil || string(got) != want {
			t.Errorf("%s is %s, expected %s: %v", digits, got, want, err)
		}
	}
}
