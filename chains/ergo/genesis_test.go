package ergo

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

func TestGenesisHasTheWholeSupply(t *testing.T) {
	for _, n := range networks {
		d := decoderAs(t, n, valueNames...)
		if n.genesisBoxes() == nil {
			t.Errorf("%s has no genesis", n.name)
		}
		txs, err := d.genesis(n.genesisBoxes())
		if err != nil {
			t.Fatal(err)
		}
		if len(txs) != 1 || txs[0].Hash != (model.Hash{}) || len(txs[0].Inputs) != 0 || len(txs[0].Outputs) != 3 {
			t.Fatalf("%s: %+v", n.name, txs)
		}
		var sum uint64
		for _, o := range txs[0].Outputs {
			sum += o.Value
		}
		if sum != supply {
			t.Errorf("%s: the genesis boxes have %d, expected %d", n.name, sum, uint64(supply))
		}
		// The first block of both networks spends this box.
		if id := model.Hash(txs[0].Outputs[0].Keys[0].Value).String(); id != "b69575e11c5c43400bfead5976ee0d6245a1168396b2e2a4f384691f275d501c" {
			t.Errorf("%s: the first box is %s", n.name, id)
		}
		raw, err := os.ReadFile(testblocks.Path(t, "ergo", "arkadianet-ergo", n.name, "genesis_boxes.json"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.genesis(raw); err != nil || !reflect.DeepEqual(got, txs) {
			t.Errorf("%s: the boxes of a node differ from the built-in ones: %v", n.name, err)
		}
	}
	if (&network{name: "another"}).genesisBoxes() != nil {
		t.Error("an unknown network has a genesis")
	}
}

func TestWrongGenesisIsAnError(t *testing.T) {
	good, err := builtIn.ReadFile("genesis/mainnet.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"value":       {`"value":1000000000`, `"value":1000000001`, "box 1: its boxId is b8ce8cfe"},
		"transaction": {`"transactionId":"00`, `"transactionId":"01`, "box 0 has the transaction id 01"},
		"more":        {"\n]", "\n] 7", "unexpected '7', expected the end of the boxes"},
		"cut":         {"\n]", "", "expected a comma or the end of an array"},
		"index":       {`"index":0`, `"index":1`, "box 0: its boxId is b69575e1"},
	} {
		raw := strings.Replace(string(good), c.from, c.to, 1)
		txs, err := decoderOf(t).genesis([]byte(raw))
		if kind, code := model.KindOf(err); txs != nil || kind != model.BadSource || code != "bad_genesis" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
	}
	for _, raw := range []string{"[]", "null", "{}", ""} {
		if _, err := decoderOf(t).genesis([]byte(raw)); err == nil {
			t.Errorf("%q is accepted as a genesis", raw)
		}
	}
}
