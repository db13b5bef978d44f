package ergo

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// pooled returns a node whose unconfirmed transactions are those of a generated block, and the same as the block's
// decoder makes them.
func pooled(t *testing.T, size float64, old bool) (*ergotest.Node, []ergotest.Tx, *model.Block) {
	t.Helper()
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 2, TxsPerBlock: size}), 4)
	n := ergotest.New(ergotest.Options{Network: "testnet", Old: old})
	n.Extend(blocks[:3]...)
	txs := ergotest.Txs(blocks[3])
	n.SetPool(txs...)
	d := decoderAs(t, networks[1], indexAddress, indexBoxID, "ergo_tree_template_hash")
	d.raw = true
	made, err := d.block(blocks[3].JSON)
	if err != nil {
		t.Fatal(err)
	}
	return n, txs, made
}

func openPool(t *testing.T, n *ergotest.Node, c model.Chain, indexes ...string) model.Source {
	t.Helper()
	s, err := c.Open(t.Context(), model.SourceOptions{URI: n.Start(t), Indexes: indexes, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Unconfirmed transactions have the values, the bytes and the fee that they have in a block, by pages or one by one.
func TestUnconfirmedMatchBlock(t *testing.T) {
	for i, size := range []float64{4, 200, 200} {
		n, txs, made := pooled(t, size, i == 2)
		c := newChain(networks[1])
		pool := openPool(t, n, c, indexAddress, indexBoxID, "ergo_tree_template_hash").(model.Mempool)
		ids, sequence, err := pool.MempoolIDs(t.Context())
		if err != nil || sequence != 0 || len(ids) != len(txs) {
			t.Fatalf("%d ids, sequence %d, %v: expected %d", len(ids), sequence, err, len(txs))
		}
		gone := model.Hash{1}
		got, err := pool.MempoolTxs(t.Context(), append(ids, gone))
		if err != nil {
			t.Fatal(err)
		}
		if last := got[len(ids)]; last != nil {
			t.Errorf("a transaction that the node does not have: %v", last)
		}
		for i, id := range ids {
			want, err := json.Marshal(made.Txs[i])
			if err != nil {
				t.Fatal(err)
			}
			if got[i] == nil {
				t.Errorf("transaction %s is missing", id)
				continue
			}
			if text, err := json.Marshal(got[i].Tx); err != nil || string(text) != string(want) || got[i].Size != len(made.Txs[i].Raw) {
				t.Errorf("transaction %s of %d bytes: %.300s, expected %.300s", id, got[i].Size, text, want)
			}
		}
	}
}

// A list that an old node returns in pages has every transaction that the node has for the whole time, also if others
// leave between two pages.
func TestPagesOfAChangingMempool(t *testing.T) {
	n, txs, _ := pooled(t, 400, true)
	pool := openPool(t, n, newChain(networks[1]), indexAddress, indexBoxID).(model.Mempool)
	if len(txs) < 350 {
		t.Fatalf("%d transactions, expected several pages", len(txs))
	}
	left := 0
	n.Break(func(r *http.Request, _ *ergotest.Answer) { // after each page, the first three transactions leave
		if r.URL.Query().Has("offset") && left < 60 {
			left += 3
			n.SetPool(txs[left:]...)
		}
	})
	ids, _, err := pool.MempoolIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs[left:] {
		if !slices.Contains(ids, tx.ID) {
			t.Errorf("transaction %s is missing", tx.ID)
		}
	}
	if left == 0 {
		t.Error("nothing left")
	}
}

// A custom index that needs the block has no value for an unconfirmed transaction; one that does not has its value.
func TestUnconfirmedHaveNoBlock(t *testing.T) {
	n, txs, _ := pooled(t, 4, false)
	c, err := newChain(networks[1]).Define([]model.Definition{
		{Name: "at_height", Value: "string(block.height)"}, {Name: "sized", Value: "string(tx.size)"},
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := openPool(t, n, c, indexBoxID, "at_height", "sized").(model.Mempool)
	got, err := pool.MempoolTxs(t.Context(), []model.Hash{txs[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range got[0].Outputs {
		if len(o.Keys) != 2 || o.Keys[1].Index != 2 || string(o.Keys[1].Value) == "0" {
			t.Errorf("an output has %v, expected its box id and its size", o.Keys)
		}
	}
}

// The node takes bytes, refuses with its own words, and estimates fees.
func TestSubmitting(t *testing.T) {
	n, txs, made := pooled(t, 4, false)
	n.SetPool()
	n.Expect(txs[0])
	s := openPool(t, n, newChain(networks[1]), indexBoxID)
	submitter := s.(model.Submitter)
	if id, err := submitter.Submit(t.Context(), made.Txs[0].Raw, model.SubmitOptions{}); err != nil || id != txs[0].ID {
		t.Errorf("submitted %s: %s, %v", txs[0].ID, id, err)
	}
	_, err := submitter.Submit(t.Context(), made.Txs[1].Raw, model.SubmitOptions{})
	refusal, ok := errors.AsType[*model.NodeError](err)
	if kind, code := model.KindOf(err); !ok || kind != model.Usage || code != "rejected" || refusal.Code != http.StatusBadRequest ||
		!strings.Contains(err.Error(), "every input of the transaction should be in UTXO") {
		t.Errorf("a transaction that the node refuses: %v", err)
	}
	results, err := submitter.TestAccept(t.Context(), [][]byte{made.Txs[0].Raw, made.Txs[1].Raw}, model.SubmitOptions{})
	if err != nil || !strings.Contains(string(results), `"accepted":true`) || !strings.Contains(string(results), `"accepted":false,"reason":"Malformed`) {
		t.Errorf("tests: %s, %v", results, err)
	}
	if _, err := submitter.SubmitPackage(t.Context(), nil, model.SubmitOptions{}); err == nil {
		t.Error("a package was submitted")
	}
	rates, err := s.(model.FeeEstimator).EstimateFees(t.Context(), []int{1, 2, 144}, "")
	if err != nil || len(rates) != 3 || rates[1] <= rates[2] || rates[2] <= rates[144] {
		t.Errorf("estimates %v, %v", rates, err)
	}
}

// The JSON of a signed transaction becomes the bytes of the block, also without the ids that follow from it.
func TestSerializeTx(t *testing.T) {
	_, txs, made := pooled(t, 4, false)
	c := newChain(networks[1])
	for i, tx := range txs {
		var members map[string]any
		d := json.NewDecoder(strings.NewReader(string(tx.JSON)))
		d.UseNumber()
		if err := d.Decode(&members); err != nil {
			t.Fatal(err)
		}
		delete(members, "id")
		for _, o := range members["outputs"].([]any) {
			for _, name := range []string{"boxId", "transactionId", "index"} {
				delete(o.(map[string]any), name)
			}
		}
		bare, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{tx.JSON, bare} {
			if raw, err := c.SerializeTx(text); err != nil || string(raw) != string(made.Txs[i].Raw) {
				t.Errorf("transaction %d: %x, %v", i, raw, err)
			}
		}
	}
	if _, err := c.SerializeTx([]byte(`{"inputs":[]}`)); err == nil {
		t.Error("a transaction without outputs was serialized")
	}
}
