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

// The methods of the types are numbered without gaps in these ranges (methods.scala of the reference implementation).
func TestMethodsHaveNames(t *testing.T) {
	for kind, numbers := range map[byte][2]byte{
		typeGlobal: {1, 10}, typeBox: {1, 8}, typeColl: {1, 10}, typeOption: {2, 4}, typePoint: {2, 6}, typeSigmaProp: {1, 2},
		typeContext: {1, 12}, typeAvlTree: {1, 16},
	} {
		seen := map[string]bool{}
		for n := numbers[0]; n <= numbers[1]; n++ {
			name := methods[[2]byte{kind, n}]
			if name == "" || seen[name] {
				t.Errorf("method %d of type %d has the name %q", n, kind, name)
			}
			seen[name] = true
		}
	}
}
