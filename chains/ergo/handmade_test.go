package ergo

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// object is a JSON object; encoding/json sorts its members by name.
type object = map[string]any

// handmade returns a full block of transactions with valid ids.
func handmade(t testing.TB, version byte, txs ...sigma.Tx) object {
	t.Helper()
	var e sigma.Encoder
	var ids []sigma.ID
	var witnesses [][31]byte
	list := []any{}
	for i := range txs {
		id := e.TxID(&txs[i])
		ids, witnesses = append(ids, id), append(witnesses, e.WitnessID(&txs[i]))
		list = append(list, txObject(&txs[i], id))
	}
	fields := []sigma.Field{{Key: [2]byte{0, 1}, Value: []byte{7}}}
	h := sigma.Header{
		Version: version, Parent: sigma.ID{1}, ADProofsRoot: sigma.ID{2}, TransactionsRoot: sigma.TransactionsRoot(version, ids, witnesses),
		Timestamp: 1_700_000_000_123, ExtensionRoot: sigma.ExtensionRoot(fields), NBits: 117846489, Height: 77,
		Votes: [3]byte{4, 3, 0}, MinerKey: [33]byte{2, 9}, W: [33]byte{3}, Nonce: [8]byte{7}, D: []byte{1, 0},
	}
	if version > 1 {
		h.Unparsed = []byte{0xab}
	}
	header := object{
		"version": version, "id": hexOf(h.ID()), "parentId": hexOf(h.Parent), "adProofsRoot": hexOf(h.ADProofsRoot),
		"transactionsRoot": hexOf(h.TransactionsRoot), "stateRoot": hex.EncodeToString(h.StateRoot[:]), "timestamp": h.Timestamp,
		"extensionHash": hexOf(h.ExtensionRoot), "nBits": h.NBits, "height": h.Height, "votes": hex.EncodeToString(h.Votes[:]),
		"unparsedBytes": hex.EncodeToString(h.Unparsed), "difficulty": h.Difficulty().String(),
		"powSolutions": object{"pk": hex.EncodeToString(h.MinerKey[:]), "w": hex.EncodeToString(h.W[:]), "n": hex.EncodeToString(h.Nonce[:]), "d": 256},
	}
	return object{
		"header":            header,
		"blockTransactions": object{"headerId": hexOf(h.ID()), "transactions": list, "blockVersion": version, "size": 900},
		"extension":         object{"headerId": hexOf(h.ID()), "digest": hexOf(h.ExtensionRoot), "fields": []any{[]any{"0001", "07"}}},
		"adProofs":          nil,
		"size":              1234,
	}
}

func txObject(t *sigma.Tx, id sigma.ID) object {
	inputs, data, outputs := []any{}, []any{}, []any{}
	for _, in := range t.Inputs {
		variables := object{}
		for _, v := range in.Extension {
			variables[strconv.Itoa(int(v.ID))] = hex.EncodeToString(v.Value)
		}
		inputs = append(inputs, object{"boxId": hexOf(in.Box), "spendingProof": object{"proofBytes": hex.EncodeToString(in.Proof), "extension": variables}})
	}
	for _, box := range t.DataInputs {
		data = append(data, object{"boxId": hexOf(box)})
	}
	for i := range t.Outputs {
		outputs = append(outputs, boxObject(&t.Outputs[i], id, i))
	}
	return object{"id": hexOf(id), "inputs": inputs, "dataInputs": data, "outputs": outputs, "size": 300}
}

func boxObject(b *sigma.Box, tx sigma.ID, index int) object {
	assets, registers := []any{}, object{}
	for _, token := range b.Tokens {
		assets = append(assets, object{"tokenId": hexOf(token.ID), "amount": token.Amount})
	}
	for i, r := range b.Registers {
		registers["R"+strconv.Itoa(4+i)] = hex.EncodeToString(r)
	}
	return object{
		"boxId": hexOf(b.ID(&tx, index)), "value": b.Value, "ergoTree": hex.EncodeToString(b.Tree), "creationHeight": b.Height,
		"assets": assets, "additionalRegisters": registers, "transactionId": hexOf(tx), "index": index,
	}
}

func hexOf(id sigma.ID) string { return hex.EncodeToString(id[:]) }

func jsonOf(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoderOf(t testing.TB, indexes ...string) *decoder {
	t.Helper()
	return decoderAs(t, networks[0], indexes...)
}

func decoderAs(t testing.TB, n *network, indexes ...string) *decoder {
	t.Helper()
	d, err := newDecoder(newChain(n), indexes)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decoded(t testing.TB, block object, indexes ...string) *model.Block {
	t.Helper()
	b, err := decoderOf(t, indexes...).block(jsonOf(t, block))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var aTree = sigma.PublicKeyTree([33]byte(append([]byte{2}, bytes.Repeat([]byte{1}, 32)...)))

// aTx has an example of everything.
func aTx() sigma.Tx {
	return sigma.Tx{
		Inputs: []sigma.Input{
			{Box: sigma.ID{10}, Proof: []byte{1, 2, 3}, Extension: []sigma.Variable{{ID: 1, Value: []byte{4, 2}}, {ID: 7, Value: []byte{0x0e, 1, 65}}}},
			{Box: sigma.ID{11}},
		},
		DataInputs: []sigma.ID{{12}},
		Outputs: []sigma.Box{
			{Value: 5, Tree: aTree, Height: 70, Tokens: []sigma.Token{{ID: sigma.ID{20}, Amount: 3}, {ID: sigma.ID{21}, Amount: 1<<63 - 1}, {ID: sigma.ID{20}, Amount: 4}}},
			{Value: 1<<63 - 1, Tree: []byte{0x10, 1, 1, 1, 0xd1, 0x73, 0}, Height: 1, Registers: [][]byte{{0x0e, 1, 65}, {4, 2}}},
		},
	}
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The names of the indexes.
const (
	indexTreeHash     = "ergo_tree_hash"
	indexTemplateHash = "ergo_tree_template_hash"
	indexRegister     = "register"
)

var valueNames = []string{indexBoxID, indexAddress, indexTreeHash, indexTemplateHash, indexRegister}
