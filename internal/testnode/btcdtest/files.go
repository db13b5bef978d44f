package btcdtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"

	"birthmark/model"
)

// btcd stores blocks in files of records: magic and length as Core writes them, the block, and a big-endian CRC-32C.
// Blocks are in the order of arrival, including stale branches.

const (
	recordHead = 8
	recordSum  = 4
	headerSize = 80
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BlockFiles writes the node's blocks into dir as Bitcoin Core stores them: one blkNNNNN.dat per file of btcd, blocks
// in the order of arrival, including stale branches. The node may be running.
func (n *Node) BlockFiles(t testing.TB, dir string) {
	t.Helper()
	files, err := n.ownFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range files {
		var out []byte
		err := eachRecord(path, func(record []byte) { out = append(out, record...) })
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("blk%05d.dat", i)), out, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// ownFiles returns btcd's files in the order of writing.
func (n *Node) ownFiles() ([]string, error) {
	pattern := filepath.Join(n.DataDir, chaincfg.RegressionNetParams.Name, "blocks_ffldb", "*.fdb")
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = &fs.PathError{Op: "read", Path: pattern, Err: fs.ErrNotExist}
	}
	return files, err
}

// eachRecord yields the records of a file without their checksums. It ends at an incomplete record, which btcd may be
// writing or may have left when it was killed.
func eachRecord(path string, yield func(record []byte)) error {
	rest, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for len(rest) >= recordHead {
		if magic := binary.LittleEndian.Uint32(rest); magic != uint32(chaincfg.RegressionNetParams.Net) {
			return fmt.Errorf("%s: %08x is not the start of a record of regtest", path, magic)
		}
		end := recordHead + int(binary.LittleEndian.Uint32(rest[4:]))
		if len(rest) < end+recordSum || crc32.Checksum(rest[:end], castagnoli) != binary.BigEndian.Uint32(rest[end:]) {
			return nil
		}
		yield(rest[:end])
		rest = rest[end+recordSum:]
	}
	return nil
}

// chainOnDisk returns the blocks from the one after genesis to tip.
func (n *Node) chainOnDisk(tip model.Hash) ([][]byte, error) {
	files, err := n.ownFiles()
	blocks := map[model.Hash][]byte{}
	for _, path := range files {
		err = errors.Join(err, eachRecord(path, func(record []byte) {
			raw := record[recordHead:]
			blocks[model.Hash(chainhash.DoubleHashH(raw[:headerSize]))] = raw
		}))
	}
	var chain [][]byte
	for err == nil && tip != model.Hash(*chaincfg.RegressionNetParams.GenesisHash) {
		raw, ok := blocks[tip]
		if !ok {
			return nil, fmt.Errorf("%s has no block %s", filepath.Dir(files[0]), show(tip))
		}
		chain = append(chain, raw)
		tip = model.Hash(raw[4:36])
	}
	slices.Reverse(chain)
	return chain, err
}
