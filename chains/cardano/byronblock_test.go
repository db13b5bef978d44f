package cardano

import (
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// txOfByron is a transaction with an input and an output.
func txOfByron(to any, amount uint64) func(t testing.TB) cbor.RawMessage {
	return func(t testing.TB) cbor.RawMessage {
		input := list{0, tagged(24, []byte(raw(t, list{filled(32, 0xaa), 3})))}
		return raw(t, list{endless(t, 0x9f, input), endless(t, 0x9f, list{to, amount}), dict{}})
	}
}

// handmadeByron is a block in slot 21,605 around transactions.
func handmadeByron(t testing.TB, txs ...func(t testing.TB) cbor.RawMessage) []byte {
	t.Helper()
	return byronAt(t, 764824073, 21_604, 21_605, filled(32, 3), txs...)
}

// byronAt is a block with a magic, a number, a slot and a parent, with the tree of its first three transactions at most
// written out.
func byronAt(t testing.TB, magic, number, slot uint64, parent []byte, txs ...func(t testing.TB) cbor.RawMessage) []byte {
	t.Helper()
	leaf := func(tx []byte) []byte { h := blake2b.Sum256(append([]byte{0}, tx...)); return h[:] }
	node := func(l, r []byte) []byte {
		h := blake2b.Sum256(append(append([]byte{1}, l...), r...))
		return h[:]
	}
	var payload, witnesses list
	var leaves [][]byte
	for _, made := range txs {
		tx := made(t)
		leaves = append(leaves, leaf(tx))
		payload = append(payload, list{tx, list{}})
		witnesses = append(witnesses, list{})
	}
	empty := blake2b.Sum256(nil)
	root := empty[:]
	switch len(leaves) {
	case 1:
		root = leaves[0]
	case 2:
		root = node(leaves[0], leaves[1])
	case 3:
		root = node(node(leaves[0], leaves[1]), leaves[2])
	}
	witness := blake2b.Sum256(endless(t, 0x9f, witnesses...))
	proof := list{list{len(txs), root, witness[:]}, list{}, filled(32, 1), filled(32, 2)}
	header := list{magic, parent, proof,
		list{list{slot / genesis.ByronEpochSlots, slot % genesis.ByronEpochSlots}, filled(64, 4), list{number}, list{2, filled(64, 5)}},
		list{list{1, 0, 0}, list{"cardano-sl", 1}, dict{}, filled(32, 6)}}
	return raw(t, list{ledger.EraByron, list{header, list{endless(t, 0x9f, payload...), list{}, list{}, list{}}, list{dict{}}}})
}

func TestByronBlocksAreRead(t *testing.T) {
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
		b := decoded(t, handmadeByron(t, txs...), indexAddress)
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

// boundaryAt is the boundary block before an epoch.
func boundaryAt(t testing.TB, number, epoch uint64, parent []byte) []byte {
	t.Helper()
	body := raw(t, endless(t, 0x9f, filled(28, 1)))
	sum := blake2b.Sum256(body)
	return raw(t, list{ledger.EraByronBoundary, list{list{764824073, parent, sum[:], list{epoch, list{number}}, list{dict{}}}, body, list{dict{}}}})
}

// A boundary block stands in the first slot of its epoch and has no transactions.
func TestBoundaryBlocksAreRead(t *testing.T) {
	body := raw(t, endless(t, 0x9f, filled(28, 1)))
	sum := blake2b.Sum256(body)
	boundary := func(sum []byte) []byte {
		return raw(t, list{ledger.EraByronBoundary, list{list{764824073, filled(32, 3), sum, list{2, list{43_000}}, list{dict{}}}, body, list{dict{}}}})
	}
	b, is, err := decodedAs(t, "mainnet").Block(boundary(sum[:]))
	if err != nil || !is || b.Slot != 43_200 || b.Height != 43_000 || len(b.Txs) > 0 || b.Parent != model.Hash(filled(32, 3)) {
		t.Errorf("%+v, %v, %v", b, is, err)
	}
	if _, _, err := decodedAs(t, "mainnet").Block(boundary(filled(32, 1))); err == nil || !strings.Contains(err.Error(), "its body hashes to") {
		t.Errorf("another body: %v", err)
	}
}

// Every bit of a transaction and its witnesses is under the header's proof.
func TestChangedByronBlocksAreRefused(t *testing.T) {
	tx := txOfByron(list{tagged(24, []byte{1, 2, 3}), 99}, 7)
	good := handmadeByron(t, tx, tx)
	d := decodedAs(t, "mainnet", valueNames...)
	start := strings.Index(string(good), string(tx(t)))
	for i := range 8 * (2*len(tx(t)) + 3) {
		at, bit := start+i/8, byte(1)<<(i%8)
		good[at] ^= bit
		if _, _, err := d.Block(good); err == nil {
			t.Errorf("bit %02x of byte %d is changed, which is accepted", bit, at)
		}
		good[at] ^= bit
	}
	for n := range good {
		if _, _, err := d.Block(good[:n]); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}
