package btcdtest_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/model"
)

// records returns the blocks of a block file.
func records(t *testing.T, file []byte) (blocks [][]byte) {
	t.Helper()
	for len(file) > 0 {
		if len(file) < 8 || binary.LittleEndian.Uint32(file) != uint32(chaincfg.RegressionNetParams.Net) {
			t.Fatalf("no record begins with %.8x", file)
		}
		end := 8 + int(binary.LittleEndian.Uint32(file[4:]))
		if end > len(file) {
			t.Fatalf("a record of %d bytes has %d", end, len(file))
		}
		blocks = append(blocks, file[8:end])
		file = file[end:]
	}
	return blocks
}

func TestBlockFiles(t *testing.T) {
	n := btcdtest.Start(t)
	mined := n.Generate(t, 12)
	want := n.Blocks(t)
	for _, h := range n.Fork(t, 4, 6) {
		mined = append(mined, h)
		want = append(want, n.Block(t, h))
	}
	for _, ended := range []bool{false, true} {
		if ended {
			n.Stop(t)
		}
		dir := t.TempDir()
		n.BlockFiles(t, dir)
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(names) != 1 || filepath.Base(names[0]) != "blk00000.dat" {
			t.Fatalf("the files are %q, %v", names, err)
		}
		file, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		got := records(t, file)
		if len(got) != 1+len(mined) {
			t.Fatalf("ended %v: %d blocks in the file, expected %d", ended, len(got), 1+len(mined))
		}
		for i, raw := range got {
			if !bytes.Equal(raw, want[i]) {
				t.Errorf("ended %v: record %d differs from the node's block", ended, i)
			}
			if i > 0 && model.Hash(btcdtest.Decode(t, raw).BlockHash()) != mined[i-1] {
				t.Errorf("ended %v: record %d differs from the block mined at that time", ended, i)
			}
		}
	}
}
