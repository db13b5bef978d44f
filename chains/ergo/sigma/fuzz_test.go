package sigma

import (
	"bytes"
	"testing"
)

// FuzzTree: whatever stands there, a tree is taken apart or an error.
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
			t.Errorf("%x is both of a key and of a script", raw)
		}
	})
}

// FuzzConstant: a constant has no more bytes than there are.
func FuzzConstant(f *testing.F) {
	f.Add([]byte{0x0e, 1, 'a'})
	f.Add([]byte{0x0c, 0x62, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := ConstantSize(raw)
		if err != nil {
			return
		}
		if n <= 0 || n > len(raw) {
			t.Fatalf("%d of %d bytes", n, len(raw))
		}
		if again, err := ConstantSize(raw[:n]); err != nil || again != n {
			t.Errorf("%x has %d bytes by itself, %v", raw[:n], again, err)
		}
	})
}

// FuzzHeader: what is read as a header is what it is written as, but for numbers that could be shorter.
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
			t.Errorf("%x is written as %x: %v", raw, back, err)
		}
	})
}
