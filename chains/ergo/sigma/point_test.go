package sigma

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
)

func TestGeneratorIsThatOfTheCurve(t *testing.T) {
	_, one := btcec.PrivKeyFromBytes([]byte{1})
	if want := one.SerializeCompressed(); !bytes.Equal(Generator[:], want) || !IsPoint(Generator[:]) {
		t.Errorf("the generator is %x, expected %x", Generator, want)
	}
}

// The methods of Global are numbered from 1 to 10 (SGlobalMethods of the reference implementation).
func TestMethodsOfGlobalHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for n := byte(1); n <= 10; n++ {
		name := methods[[2]byte{typeGlobal, n}]
		if name == "" || seen[name] {
			t.Errorf("method %d has the name %q", n, name)
		}
		seen[name] = true
	}
}
