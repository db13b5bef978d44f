package ergo

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"birthmark/chains/ergo/jsonstream"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testblocks"
)

// elements returns the elements of a file with a JSON array.
func elements(t *testing.T, path ...string) (all []json.RawMessage) {
	t.Helper()
	raw, err := os.ReadFile(testblocks.Path(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRealHeadersHaveTheirIDs(t *testing.T) {
	for file, headers := range map[string]int{
		"mainnet/scala_chainslice/h_844573_844672.json":         100,
		"mainnet/scala_chainslice/h_844673_844772.json":         100,
		"testnet/headers_json/scala_headers_442325_442334.json": 10,
	} {
		d := decoderOf(t)
		all := elements(t, "ergo", "arkadianet-ergo", file)
		if len(all) != headers {
			t.Errorf("%s: %d headers, expected %d", file, len(all), headers)
		}
		for _, raw := range all {
			d.reset(raw)
			if d.readHeader(); d.s.err != nil {
				t.Fatalf("%s: %v", file, d.s.err)
			}
			h := &d.header
			if id := h.ID(); id != h.id {
				t.Errorf("%s: header %d has the id %x, expected %x", file, h.Height, id, h.id)
			}
			var said struct{ Difficulty string }
			if err := json.Unmarshal(raw, &said); err != nil {
				t.Fatal(err)
			}
			if got := h.Difficulty().String(); got != said.Difficulty {
				t.Errorf("%s: header %d has the difficulty %s, expected %s", file, h.Height, got, said.Difficulty)
			}
		}
	}
}

// Boxes that contain their transaction id and output index.
func TestRealBoxesHaveTheirIDs(t *testing.T) {
	raw, err := os.ReadFile(testblocks.Path(t, "ergo", "arkadianet-ergo", "mainnet", "input_boxes_700000_700010.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := decoderOf(t)
	d.reset(raw)
	boxes, claims := d.readOutputs()
	if d.s.err != nil || len(boxes) != 162 {
		t.Fatalf("%d boxes and %v, expected 162", len(boxes), d.s.err)
	}
	for i := range boxes {
		c := &claims[i]
		if id := boxes[i].ID(&c.tx, c.index); id != c.id {
			t.Errorf("box %x has the id %x", c.id, id)
		}
	}
}

// Transactions with proofs are serialized like a node's messages.
func TestRealTransactionsAreSerialized(t *testing.T) {
	want := map[string]string{}
	for _, raw := range elements(t, "ergo", "arkadianet-ergo", "mainnet", "transactions_1_200.json") {
		var tx struct{ ID, Bytes string }
		if err := json.Unmarshal(raw, &tx); err != nil {
			t.Fatal(err)
		}
		want[tx.ID] = tx.Bytes
	}
	f, err := os.Open(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	d := decoderOf(t)
	compared := 0
	for blocks := jsonstream.New(z, maxBlockJSON); compared < len(want); {
		raw, err := blocks.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.block(raw); err != nil {
			t.Fatal(err)
		}
		for i := range d.txs {
			tx := &d.txs[i]
			if digits, ok := want[hexOf(tx.id)]; ok {
				compared++
				if got := d.e.AppendTx(nil, &tx.Tx, true); hex.EncodeToString(got) != digits {
					t.Errorf("transaction %x is serialized as %x, expected %s", tx.id, got, digits)
				}
			}
		}
	}
	if compared != len(want) {
		t.Errorf("%d of %d transactions were found", compared, len(want))
	}
}

// Trees of testnet with the types and methods of protocol version 6.
func TestRealTreesOfLaterVersions(t *testing.T) {
	for file, begins := range map[string]string{
		"v3_xorof_tree_h247361.hex":             "d80d",
		"v6_unsigned_bigint_script_h210076.hex": "d8",
	} {
		digits, err := os.ReadFile(testblocks.Path(t, "ergo", "arkadianet-ergo", "testnet", file))
		if err != nil {
			t.Fatal(err)
		}
		raw := unhexed(t, strings.TrimSpace(string(digits)))
		tree, err := sigma.ParseTree(raw)
		if err != nil || !bytes.HasPrefix(tree.Template, unhexed(t, begins)) {
			t.Errorf("%s has the template %x, %v", file, tree.Template, err)
		}
		if value := appendAddress(nil, raw, nil); value[0] != typeP2S {
			t.Errorf("%s has the address %x", file, value)
		}
	}
}
