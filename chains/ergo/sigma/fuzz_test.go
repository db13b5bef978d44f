package sigma

import (
	"bytes"
	"testing"
)

// FuzzTree: any input is parsed as a tree or returns an error.
func FuzzTree(f *testing.F) {
	for _, tree := range []string{emissionTree, "0008cd" + aKey, "00" + pays, "1001600501010101010001000100d1", "10013c0e0e01610162d1"} {
		f.Add(unhex(f, tree))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, err := ParseTree(raw)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(raw, tree.Template) || len(tree.Template) == 0 {
			t.Errorf("the template of %x is %x", raw, tree.Template)
		}
		if tree.PublicKey() != nil && tree.ScriptHash() != nil {
			t.Errorf("%x is both a key and a script", raw)
		}
	})
}

// FuzzConstant: a constant is never larger than its input.
func FuzzConstant(f *testing.F) {
	f.Add([]byte{0x0e, 1, 'a'})
	f.Add([]byte{0x0c, 0x62, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := ValueSize(raw)
		if len(raw) > 0 && raw[0] > lastConstantCode {
			return
		}
		plain := reader{b: raw, level: 1} // without removing empty items from the type
		whole := plain.readType(0)
		if plain.skipData(&whole); (plain.err == nil) != (err == nil) || err == nil && plain.at != n {
			t.Errorf("%x has %d bytes (%v), parsed by item %d (%v)", raw, n, err, plain.at, plain.err)
		}
		if err != nil {
			return
		}
		if n <= 0 || n > len(raw) {
			t.Fatalf("%d of %d bytes", n, len(raw))
		}
		if again, err := ValueSize(raw[:n]); err != nil || again != n {
			t.Errorf("%x alone has %d bytes, %v", raw[:n], again, err)
		}
	})
}

// FuzzHeader: a parsed header is serialized identically, except for numbers with a shorter encoding.
func FuzzHeader(f *testing.F) {
	h := firstHeader(f)
	f.Add(h.AppendTo(nil))
	h.Version = 2
	f.Add(h.AppendTo(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := ParseHeader(raw)
		if err != nil {
			return
		}
		h.Difficulty()
		back := h.AppendTo(nil)
		again, err := ParseHeader(back)
		if err != nil || len(back) > len(raw) || !bytes.Equal(again.AppendTo(nil), back) {
			t.Errorf("%x is serialized as %x: %v", raw, back, err)
		}
	})
}

// FuzzSignedTxID: any input has an id or returns an error, and proofs do not change the id.
func FuzzSignedTxID(f *testing.F) {
	tx := Tx{
		Inputs:  []Input{{Box: ID{1}, Proof: []byte{1, 2, 3}, Extension: []Variable{{ID: 1, Value: []byte{4, 2}}}}, {Box: ID{2}}},
		Outputs: []Box{{Value: 7, Tree: []byte{0, 8, 0xd3}, Height: 1, Tokens: []Token{{ID: ID{3}, Amount: 9}}}},
	}
	var e Encoder
	f.Add(e.AppendTx(nil, &tx, true))
	f.Add([]byte{})
	want := e.TxID(&tx)
	if id, err := SignedTxID(e.AppendTx(nil, &tx, true)); err != nil || id != want {
		f.Fatalf("%x, %v, expected %x", id, err, want)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, err := SignedTxID(raw)
		if err != nil {
			return
		}
		if again, err := SignedTxID(append(bytes.Clone(raw), 0)); err != nil || again == id {
			t.Errorf("an extra byte after %x is accepted: %v", raw, err)
		}
	})
}
