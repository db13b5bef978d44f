package ledger_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// dijkstraBlock returns block 100 of Dijkstra with a body, and the same block without its era tag.
func dijkstraBlock(t testing.TB, body ...any) (tagged, block []byte) {
	t.Helper()
	filled := cardanotest.Filled
	encoded := cardanotest.Raw(t, cardanotest.List(body))
	sum := blake2b.Sum256(encoded)
	proof := cardanotest.List{filled(64, 4), filled(80, 5)}
	header := cardanotest.List{
		cardanotest.List{100, 7000, filled(32, 1), filled(32, 2), filled(32, 3), proof, len(encoded), sum[:],
			cardanotest.List{filled(32, 6), 1, 2, filled(64, 7)}, cardanotest.List{12, 0}, false, nil},
		filled(448, 8),
	}
	block = cardanotest.Raw(t, cardanotest.List{header, encoded})
	return cardanotest.Raw(t, cardanotest.List{ledger.EraDijkstra, encodedItem(block)}), block
}

// encodedItem is an item that is already encoded.
type encodedItem []byte

func (e encodedItem) MarshalCBOR() ([]byte, error) { return e, nil }

// agrees compares a decoded block with gouroboros' result for the same bytes.
func agrees(t *testing.T, b *model.Block, block []byte) {
	t.Helper()
	want, err := gouroboros.NewDijkstraBlockFromCbor(block)
	if err != nil {
		t.Fatal(err)
	}
	if b.Hash != model.Hash(want.Hash()) || uint64(b.Height) != want.BlockNumber() || b.Slot != want.SlotNumber() || len(b.Txs) != len(want.Transactions()) {
		t.Fatalf("block %d at slot %d (%s) with %d transactions, expected %d at %d (%s) with %d", b.Height, b.Slot, b.Hash, len(b.Txs),
			want.BlockNumber(), want.SlotNumber(), want.Hash(), len(want.Transactions()))
	}
	for i, w := range want.Transactions() {
		tx := &b.Txs[i]
		if tx.Hash != model.Hash(w.Hash()) || len(tx.Inputs) != len(w.Consumed()) || len(tx.Outputs) != len(w.Produced()) {
			t.Fatalf("transaction %d: %+v, expected %s", i, tx, w.Hash())
		}
		for j, in := range w.Consumed() {
			if tx.Inputs[j].Tx != model.Hash(in.Id()) || tx.Inputs[j].Index != in.Index() {
				t.Errorf("transaction %d spends %+v, expected %s", i, tx.Inputs[j], in)
			}
		}
		for j, out := range w.Produced() {
			if uint32(tx.OutputIndex(j)) != out.Id.Index() || tx.Outputs[j].Value != out.Output.Amount().Uint64() {
				t.Errorf("output %d of transaction %d: %+v", j, i, tx.Outputs[j])
			}
		}
		if raw, err := ledger.ReadRaw(tx.Raw); err != nil || raw.Failed == w.IsValid() || len(raw.Outputs) != len(tx.Outputs) {
			t.Errorf("transaction %d: %+v, %v", i, raw, err)
		}
	}
}

// Blocks of Dijkstra, the era after Conway, are decoded as gouroboros decodes them. Nested transactions and Leios
// certificates, which confirm transactions outside of the block, are newer than this release.
func TestBlocksOfTheEraAfterConway(t *testing.T) {
	d := decoderOf(t, "preview")
	input := func(with byte) list { return list{list{cardanotest.Filled(32, with), 1}} }
	valid := list{cardanotest.TxBody(nil), dict{}, nil}
	labelled := list{cardanotest.TxBody(dict{0: input(0xbb)}), dict{}, cardanotest.Tagged(259, dict{0: dict{674: "x"}})}
	failing := list{cardanotest.TxBody(dict{0: input(0xcc), 13: input(0xdd), 16: list{cardanotest.Address, 77}, 17: 23}), dict{}, nil}
	for name, body := range map[string]list{
		"empty":  {nil, list{}, nil, nil},
		"valid":  {nil, list{valid, labelled}, nil, []byte{1, 2}},
		"failed": {cardanotest.Tagged(258, list{1}), list{valid, failing, labelled}, nil, nil},
	} {
		tagged, block := dijkstraBlock(t, body...)
		b, boundary, err := d.Block(tagged)
		if err != nil || boundary {
			t.Fatalf("%s: %v", name, err)
		}
		agrees(t, b, block)
		if name != "failed" {
			continue
		}
		if fee := b.Txs[1].Fee; fee != (model.Fee{Stated: true, Amount: 23}) || b.Txs[1].FirstOutput != 1 {
			t.Errorf("a failed transaction: %+v", b.Txs[1])
		}
		for i := range b.Txs {
			if tx, err := d.Clone().Tx(b.Txs[i].Raw); err != nil || tx.Hash != b.Txs[i].Hash || len(tx.Outputs) != len(b.Txs[i].Outputs) {
				t.Errorf("transaction %d outside of its block: %+v, %v", i, tx, err)
			}
		}
	}
	nested := list{cardanotest.TxBody(dict{23: list{list{dict{0: input(1), 1: list{}}, dict{}, nil}}}), dict{}, nil}
	certificate := list{[]byte{1}, cardanotest.Filled(48, 2)}
	for want, body := range map[string]list{
		"transaction 2 failed: there are 1":                  {list{2}, list{valid}, nil, nil},
		"expected certificate of Peras, found the end":       {nil, list{}, nil},
		"block body has more items than expected":            {nil, list{}, nil, nil, 0},
		"transaction has more items than expected":           {nil, list{append(slices.Clip(valid), true)}, nil, nil},
		"expected auxiliary data, found the end of its arra": {nil, list{valid[:2]}, nil, nil},
	} {
		tagged, _ := dijkstraBlock(t, body...)
		if _, _, err := d.Block(tagged); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, model.ErrNewer) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	for want, body := range map[string]list{
		"transaction 1: offset 1080: a transaction with nested transactions": {nil, list{valid, nested}, nil, nil},
		"a block whose transactions a certificate of Leios confirms":         {nil, list{}, certificate, nil},
	} {
		tagged, _ := dijkstraBlock(t, body...)
		_, _, err := d.Block(tagged)
		cardanotest.WantError(t, err, "unknown_era", want+" is newer than this release supports")
	}
	_, err := d.Tx(cardanotest.Raw(t, list{nested[0], dict{}, true, nil}))
	cardanotest.WantError(t, err, "unknown_era", "a transaction with nested transactions is newer than this release supports")
	changed, _ := dijkstraBlock(t, nil, list{valid}, nil, nil)
	if _, _, err := d.Block(bytes.Replace(changed, []byte{0x19, 0x1b, 0x58}, []byte{0x19, 0x1b, 0x59}, 1)); err != nil {
		t.Errorf("another slot changes the hash of the header only: %v", err)
	}
	changed[len(changed)-1] = 0x40
	if _, _, err := d.Block(changed); err == nil || !strings.Contains(err.Error(), "the body has the hash") {
		t.Error(err)
	}
}

// A block of a Dijkstra test network, from gouroboros' module.
func TestBlockOfATestNetworkAfterConway(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/blinklabs-io/gouroboros").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "ledger", "dijkstra", "testdata", "musashi_dijkstra_block.hex"))
	if err != nil {
		t.Fatal(err)
	}
	block, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	d := decoderOf(t, "preview")
	b, _, err := d.Block(cardanotest.Raw(t, cardanotest.List{ledger.EraDijkstra, encodedItem(block)}))
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, b, block)
}
