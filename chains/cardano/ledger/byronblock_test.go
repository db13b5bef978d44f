package ledger_test

import (
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

func TestByronBlocks(t *testing.T) {
	to := list{tagged(24, []byte{1, 2, 3}), 99}
	for n := range 4 {
		var txs []func(t testing.TB) cbor.RawMessage
		var want strings.Builder
		for i := range n {
			tx := txOfByron(to, uint64(i)+1)
			txs = append(txs, tx)
			want.WriteString("tx " + model.Hash(blake2b.Sum256(tx(t))).String() + " fee none\n  in " + strings.Repeat("aa", 32) + ":3\n" +
				"  out 0 " + string(rune('1'+i)) + " to 82d818430102031863\n")
		}
		b := decoded(t, handmadeByron(t, txs...))
		if got := strings.SplitAfterN(ours(b), "\n", 2)[1]; got != want.String() {
			t.Errorf("\n got %s\nwant %s", got, want.String())
		}
		if b.Slot != 21_605 || b.Height != 21_604 || b.Time != networkNamed(t, "mainnet").Time(21_605) {
			t.Errorf("slot %d, height %d, time %d", b.Slot, b.Height, b.Time)
		}
		h, err := ledger.ParseHeader(networkNamed(t, "mainnet"), b.Header)
		if want := `{"era":"byron","slot":21605,"epoch":1,"block_number":21604,"issuer_vkey":"` + strings.Repeat("04", 64) + `","protocol_version":"1.0"}`; err != nil || text(t, h) != want {
			t.Errorf("header %s, %v, expected %s", text(t, h), err, want)
		}
	}
}

// A boundary block is in the first slot of its epoch and has no transactions.
func TestBoundaryBlocks(t *testing.T) {
	body := raw(t, endless(t, 0x9f, filled(28, 1)))
	sum := blake2b.Sum256(body)
	boundary := func(sum []byte) []byte {
		return raw(t, list{ledger.EraByronBoundary, list{list{764824073, filled(32, 3), sum, list{2, list{43_000}}, list{dict{}}}, body, list{dict{}}}})
	}
	b, is, err := decoderOf(t, "mainnet").Block(boundary(sum[:]))
	if err != nil || !is || b.Slot != 43_200 || b.Height != 43_000 || len(b.Txs) > 0 || b.Parent != model.Hash(filled(32, 3)) {
		t.Errorf("%+v, %v, %v", b, is, err)
	}
	if _, _, err := decoderOf(t, "mainnet").Block(boundary(filled(32, 1))); err == nil || !strings.Contains(err.Error(), "the body has the hash") {
		t.Errorf("another body: %v", err)
	}
}

// The proof in the header covers every bit of a transaction and its witnesses.
func TestChangedByronBlocksAreRejected(t *testing.T) {
	tx := txOfByron(list{tagged(24, []byte{1, 2, 3}), 99}, 7)
	good := handmadeByron(t, tx, tx)
	d := decoderOf(t, "mainnet")
	start := strings.Index(string(good), string(tx(t)))
	for i := range 8 * (2*len(tx(t)) + 3) {
		at, bit := start+i/8, byte(1)<<(i%8)
		good[at] ^= bit
		if _, _, err := d.Block(good); err == nil {
			t.Errorf("a block with bit %02x of byte %d changed is accepted", bit, at)
		}
		good[at] ^= bit
	}
	for n := range good {
		if _, _, err := d.Block(good[:n]); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}
