package cache

import (
	"fmt"
	"testing"

	"birthmark/model"
)

func TestFingerprintsTellOutputsAndSpacesApart(t *testing.T) {
	f := newFingerprinter()
	seen := map[Fingerprint]string{}
	add := func(key Fingerprint, what string) {
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the same fingerprint", what, other)
		}
		seen[key] = what
	}
	for h := range byte(4) {
		p := f.Outpoints(&model.Hash{h})
		for n := range uint32(1000) {
			add(p.Output(n), fmt.Sprintf("output %d of %d", n, h))
		}
	}
	for space := range 4 {
		add(f.Value(space-1, []byte("value")), fmt.Sprintf("value in space %d", space-1))
	}
}
