package ergoexplorer_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
)

// The model of objects has the fields that the chain determines; those of tokens and registers are compared apart.

// essence removes fields that the model does not compute: names of tokens and rendered registers.
func essence(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			switch name {
			case "ergoTreeConstants", "ergoTreeScript", "creationTimestamp":
			case "additionalRegisters":
				registers := map[string]any{}
				for r, c := range x.(map[string]any) {
					if m, ok := c.(map[string]any); ok {
						c = m["serializedValue"]
					}
					registers[r] = c
				}
				out[name] = registers
			case "assets":
				list := []any{}
				for _, a := range x.([]any) {
					m := a.(map[string]any)
					list = append(list, map[string]any{"tokenId": m["tokenId"], "amount": m["amount"]})
				}
				out[name] = list
			default:
				out[name] = essence(x)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, essence(x))
		}
		return out
	}
	return v
}

func (w *world) same(t *testing.T, endpoint, body string, want any) {
	t.Helper()
	a := Ask(t, w, path+"/api/v1"+endpoint, body)
	if a.Status != http.StatusOK {
		t.Errorf("%s %s: %d %.300s", endpoint, body, a.Status, a.Body)
		return
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, expected := essence(Parse([]byte(a.Body))), essence(Parse(raw))
	if !reflect.DeepEqual(got, expected) {
		g, _ := json.Marshal(got)
		e, _ := json.Marshal(expected)
		t.Errorf("%s %s:\n got %.700s\nwant %.700s", endpoint, body, g, e)
	}
}

func (w *world) blockID(b *Box) string {
	if b.Genesis() {
		return w.Blocks[0].Parent
	}
	return b.Tx.Block.ID
}

// contents are the fields of a box that each object has.
func (w *world) contents(b *Box) map[string]any {
	out := map[string]any{"address": w.address(b.Tree)}
	for _, name := range []string{"boxId", "value", "ergoTree", "assets", "additionalRegisters"} {
		out[name] = b.JSON[name]
	}
	return out
}

func (w *world) box(b *Box) map[string]any {
	out := w.contents(b)
	out["transactionId"], out["index"], out["creationHeight"] = b.JSON["transactionId"], b.JSON["index"], b.JSON["creationHeight"]
	if b.Genesis() || b.Tx.Block != nil {
		out["blockId"], out["globalIndex"], out["settlementHeight"], out["mainChain"] = w.blockID(b), b.Global, b.Height(), true
		out["spentTransactionId"] = nil
		if b.Spender != nil {
			out["spentTransactionId"] = b.Spender.ID
		}
		return out
	}
	out["spentTransactionId"] = nil
	if b.Pending != nil {
		out["spentTransactionId"] = b.Pending.ID
	}
	return out
}

// merged are boxes in lists of confirmed and unconfirmed ones, whose field of the block has a name.
func (w *world) merged(all []*Box, block string, unconfirmed any) []any {
	out := w.boxes(all)
	for i, b := range all {
		m := out[i].(map[string]any)
		if !b.Genesis() && b.Tx.Block == nil {
			m["blockId"], m["globalIndex"], m["settlementHeight"], m["mainChain"] = nil, nil, nil, unconfirmed
		}
		id := m["blockId"]
		delete(m, "blockId")
		m[block] = id
	}
	return out
}

func (w *world) boxes(all []*Box) []any {
	out := []any{}
	for _, b := range all {
		out = append(out, w.box(b))
	}
	return out
}

func (w *world) input(b *Box, t *Tx, i int) map[string]any {
	out := w.contents(b)
	out["index"], out["outputTransactionId"], out["outputIndex"] = i, b.JSON["transactionId"], b.JSON["index"]
	out["outputBlockId"] = nil
	if b.Genesis() || b.Tx.Block != nil {
		out["outputBlockId"] = w.blockID(b)
	}
	if t != nil {
		proof := t.JSON["inputs"].([]any)[i].(map[string]any)["spendingProof"].(map[string]any)
		out["spendingProof"] = proofOf(proof)
		if t.Block != nil {
			out["outputGlobalIndex"], out["outputCreatedAt"], out["outputSettledAt"] = b.Global, b.JSON["creationHeight"], b.Height()
		}
	}
	return out
}

func (w *world) tx(t *Tx, own func(*Box) bool) map[string]any {
	inputs, data, outputs := []any{}, []any{}, []any{}
	for i, b := range t.Inputs {
		if own == nil || own(b) {
			inputs = append(inputs, w.input(b, t, i))
		}
	}
	for i, v := range t.JSON["dataInputs"].([]any) {
		data = append(data, w.input(w.Box(v.(map[string]any)["boxId"].(string)), nil, i))
	}
	for _, b := range t.Outputs {
		if own == nil || own(b) {
			outputs = append(outputs, w.box(b))
		}
	}
	out := map[string]any{"id": t.ID, "inputs": inputs, "dataInputs": data, "outputs": outputs, "size": t.JSON["size"]}
	if t.Block != nil {
		out["blockId"], out["inclusionHeight"], out["timestamp"] = t.Block.ID, t.Block.Height, t.Block.Timestamp
		out["index"], out["globalIndex"], out["numConfirmations"] = t.Index, t.Global, w.Tip()-t.Block.Height+1
	}
	return out
}

func (w *world) txs(all []*Tx, own func(*Box) bool) []any {
	out := []any{}
	for _, t := range all {
		out = append(out, w.tx(t, own))
	}
	return out
}

func paged(items []any, total int) map[string]any {
	return map[string]any{"items": items, "total": total}
}

// header is a header as lists have it.
func (w *world) header(b *Block) map[string]any {
	out := map[string]any{"votes": b.Header["votes"]}
	for _, name := range []string{
		"id", "parentId", "version", "timestamp", "height", "nBits", "stateRoot", "adProofsRoot", "transactionsRoot", "extensionHash",
	} {
		out[name] = b.Header[name]
	}
	solution := map[string]any{}
	for name, v := range b.Header["powSolutions"].(map[string]any) {
		solution[name] = fmt.Sprint(v)
	}
	out["powSolutions"] = solution
	return out
}

// summary is the block of a summary, without extension and proofs.
func (w *world) summary(b *Block) map[string]any {
	h := w.header(b)
	h["epoch"], h["difficulty"], h["size"] = b.Height/1024, json.Number(b.Header["difficulty"].(string)), b.JSON["size"]
	votes, err := hex.DecodeString(b.Header["votes"].(string))
	if err != nil {
		panic(err)
	}
	h["votes"] = map[string]any{"_1": int8(votes[0]), "_2": int8(votes[1]), "_3": int8(votes[2])}
	txs := []any{}
	for _, t := range b.Txs {
		inputs, data, outputs := []any{}, []any{}, []any{}
		input := func(c *Box, i int) map[string]any {
			return map[string]any{
				"id": c.ID, "value": c.Value, "index": i, "transactionId": t.ID, "outputTransactionId": c.JSON["transactionId"],
				"outputIndex": c.JSON["index"], "address": w.address(c.Tree),
			}
		}
		for i, c := range t.Inputs {
			in := input(c, i)
			in["spendingProof"] = proofOf(c.Proof)
			inputs = append(inputs, in)
		}
		for i, v := range t.JSON["dataInputs"].([]any) {
			data = append(data, input(w.Box(v.(map[string]any)["boxId"].(string)), i))
		}
		for _, c := range t.Outputs {
			out := map[string]any{
				"id": c.ID, "txId": t.ID, "value": c.Value, "address": w.address(c.Tree), "mainChain": true, "spentTransactionId": nil,
			}
			for _, name := range []string{"index", "creationHeight", "ergoTree", "assets", "additionalRegisters"} {
				out[name] = c.JSON[name]
			}
			if c.Spender != nil {
				out["spentTransactionId"] = c.Spender.ID
			}
			outputs = append(outputs, out)
		}
		txs = append(txs, map[string]any{
			"id": t.ID, "headerId": b.ID, "inclusionHeight": b.Height, "timestamp": b.Timestamp, "index": t.Index,
			"confirmationsCount": w.Tip() - b.Height + 1, "inputs": inputs, "dataInputs": data, "outputs": outputs,
		})
	}
	return map[string]any{"header": h, "blockTransactions": txs}
}

// proofOf is the proof of an input: the explorer has null in place of an empty one.
func proofOf(proof map[string]any) any {
	if proof["proofBytes"] == "" {
		return nil
	}
	return proof["proofBytes"]
}
