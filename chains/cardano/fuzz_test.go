package cardano

import (
	"fmt"
	"testing"

	fxcbor "github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// FuzzBlock: the decoder returns a block or an error, and never panics.
func FuzzBlock(f *testing.F) {
	f.Add(handmade(f, ledger.EraConway, list{txBody(dict{9: dict{fxcbor.ByteString(policyA): dict{fxcbor.ByteString("x"): 1}}})}, list{dict{}}, dict{}, list{0}))
	f.Add(handmade(f, ledger.EraShelley, list{txBody(nil)}, list{dict{}}, dict{}))
	f.Add(handmadeByron(f, txOfByron(list{someAddress, 0}, 7)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := decodedAs(t, "mainnet", valueNames...)
		if b, _, err := d.Block(raw); err == nil {
			checkSane(t, b)
			if _, err := ledger.ParseHeader(d.Network, b.Header); err != nil {
				t.Fatal(err)
			}
		} else if b != nil {
			t.Fatalf("a block and the error %v", err)
		}
	})
}

// FuzzBodies puts transaction bodies into a valid block, because the fuzzer cannot find matching hashes.
func FuzzBodies(f *testing.F) {
	f.Add([]byte(raw(f, list{txBody(dict{9: dict{fxcbor.ByteString(policyA): dict{fxcbor.ByteString("x"): 1}}})})), false)
	f.Add([]byte(raw(f, list{txBody(dict{13: list{list{filled(32, 1), 0}}, 16: list{someAddress, 1}, 17: 1})})), true)
	f.Add([]byte(raw(f, list{txBody(dict{1: list{dict{0: someAddress, 1: list{1, dict{fxcbor.ByteString(policyA): dict{fxcbor.ByteString("x"): 1}}}, 2: list{1, tagged(24, []byte{0})}}}})})), false)
	f.Fuzz(func(t *testing.T, bodies []byte, failed bool) {
		d := decodedAs(t, "mainnet", valueNames...)
		w := cbor.Walker{Data: bodies}
		txs := 0
		for n := w.Array("bodies"); w.More(&n); txs++ {
			w.Skip("body")
		}
		if w.Err != nil || w.Offset != len(bodies) || txs > 1000 {
			return
		}
		sets, failures := make(list, txs), list{}
		for i := range sets {
			sets[i] = dict{}
			if failed {
				failures = append(failures, i)
			}
		}
		block := assembled(t, ledger.EraConway, bodies, raw(t, sets), raw(t, dict{}), raw(t, failures))
		b, _, err := d.Block(block)
		if err != nil {
			return
		}
		checkSane(t, b)
	})
}

// checkSane checks the invariants of the model on a block.
func checkSane(t *testing.T, b *model.Block) {
	t.Helper()
	for _, tx := range b.Txs {
		for _, m := range tx.Mints {
			if m.Amount.Sign() == 0 || len(m.Asset) < address.PolicySize || len(m.Asset) > address.PolicySize+32 {
				t.Fatalf("mint %+v", m)
			}
		}
		for _, o := range tx.Outputs {
			seen := map[string]bool{}
			for _, k := range o.Keys {
				id := fmt.Sprintf("%d %x", k.Index, k.Value)
				if k.Index != int(policyIndex) {
					id = fmt.Sprint(k.Index)
				}
				if seen[id] || len(k.Value) == 0 {
					t.Fatalf("keys %v", o.Keys)
				}
				seen[id] = true
			}
			for _, a := range o.Assets {
				if a.Amount == 0 || seen[string(a.ID)] {
					t.Fatalf("assets %v", o.Assets)
				}
				seen[string(a.ID)] = true
			}
		}
		inputs := map[string]bool{}
		for _, in := range tx.Inputs {
			id := fmt.Sprintf("%s:%d", in.Tx, in.Index)
			if inputs[id] && b.Header[0] != ledger.EraByron {
				t.Fatalf("inputs %v", tx.Inputs)
			}
			inputs[id] = true
		}
	}
}

// FuzzHashTx: only a CBOR array has a hash, the hash of its first item.
func FuzzHashTx(f *testing.F) {
	f.Add([]byte(raw(f, list{txBody(nil), dict{}, true, nil})))
	f.Add([]byte{0x9f, 0x01, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ledger.HashTx(b)
		if err != nil {
			return
		}
		w := cbor.Walker{Data: b}
		n := w.Array("array")
		w.Field(&n, "first item")
		if want := model.Hash(blake2b.Sum256(w.Item("first item"))); got != want {
			t.Errorf("%x hashes to %s, expected %s", b, got, want)
		}
		if b[0]>>5 != cbor.Array {
			t.Errorf("%x is not an array but has a hash", b)
		}
	})
}
