package bitcoin

import (
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/model"
)

// TestLongDataIsShortened checks that OP_RETURN data beyond the longest value is found by the complete data.
func TestLongDataIsShortened(t *testing.T) {
	for _, size := range []int{model.MaxValueSize - 1, model.MaxValueSize, model.MaxValueSize + 1, 100_000} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i % 251)
		}
		var scripts [][]byte
		var err error
		// One push, and many pushes.
		one := append([]byte{txscript.OP_RETURN, txscript.OP_PUSHDATA4, byte(size), byte(size >> 8), byte(size >> 16), 0}, data...)
		many := []byte{txscript.OP_RETURN}
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 70)
			many, rest = append(append(many, byte(n)), rest[:n]...), rest[n:]
		}
		scripts = append(scripts, one, many)
		index := indexes(networks[0])[3]
		want, err := index.Parse(fmt.Sprintf("%x", data))
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > model.MaxValueSize || (size <= model.MaxValueSize) != (len(want) == size) {
			t.Fatalf("%d bytes are stored as %d", size, len(want))
		}
		if again, err := index.Parse(index.Format(want)); err != nil || string(again) != string(want) {
			t.Errorf("%d bytes: the formatted value does not parse to the same value: %v", size, err)
		}
		for _, script := range scripts {
			keys := newEmitter(t, networks[0], []string{indexOpReturn}).builtin(nil, 0, script)
			if len(keys) != 1 || string(keys[0].Value) != string(want) {
				t.Errorf("%d bytes in a script of %d: not found by the complete data", size, len(script))
			}
		}
	}
}
