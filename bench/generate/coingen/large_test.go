package coingen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/core"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// largeBlock returns a block after the last one whose coinbase has a script of size bytes.
func largeBlock(f *block.Format, blocks [][]byte, size int) []byte {
	last := blocks[len(blocks)-1]
	tx := append([]byte{2, 0, 0, 0, 1}, make([]byte, 32)...)
	tx = append(tx, 0xff, 0xff, 0xff, 0xff, 2, 0x55, byte(len(blocks)), 0xff, 0xff, 0xff, 0xff, 1)
	tx = append(block.AppendCompactSize(append(tx, make([]byte, 8)...), uint64(size)), bytes.Repeat([]byte{0x6a}, size)...)
	tx = append(tx, 0, 0, 0, 0)
	parent := f.HashOf(last)
	raw := bytes.Clone(last[:block.HeaderSize])
	root := block.DoubleHash(tx)
	copy(raw[4:], parent[:])
	copy(raw[36:], root[:])
	binary.LittleEndian.PutUint32(raw[68:], block.Header(raw).Time()+600)
	for nonce := uint32(0); !meets(f, raw); nonce++ {
		binary.LittleEndian.PutUint32(raw[76:], nonce)
	}
	return append(append(raw, 1), tx...)
}

// A block of Bitcoin Cash with more bytes than one of Bitcoin may have is read from a peer.
func TestALargeBlockOfAPeer(t *testing.T) {
	cash, _ := coingen.Find("bitcoin-cash")
	made := coingen.New(cash, coingen.Options{Seed: 6})
	for range 5 {
		made.Next()
	}
	blocks, f := made.Blocks(), cash.Spec.Format
	blocks = append(blocks, largeBlock(f, blocks, 6_000_000))
	db := open(t, cash)
	follow(t, db, (&cointest.Peer{Network: networkOf(cash), Blocks: func() [][]byte { return blocks }}).Start(t), 0)
	if db.Tip().Height != 5 || db.Tip().Hash != f.HashOf(blocks[5]) {
		t.Errorf("the tip is %v", db.Tip())
	}
}

// Blocks of BSV that are read alone, several in a row, come from a node by REST and JSON-RPC, and from a peer. If the memory
// is too small for one, the error names its size, and the blocks before it are written.
func TestBlocksThatAreReadAlone(t *testing.T) {
	testrun.Slow(t)
	sv, _ := coingen.Find("bitcoin-sv")
	made := coingen.New(sv, coingen.Options{Seed: 6})
	for range 20 {
		made.Next()
	}
	f := sv.Spec.Format
	blocks := made.Blocks()
	for i := range 3 {
		blocks = append(blocks, largeBlock(f, blocks, block.Large+1<<20*(i+1)))
		blocks = append(blocks, largeBlock(f, blocks, 1000))
		if i > 0 {
			blocks = blocks[:len(blocks)-1] // the others follow each other
		}
	}
	last := len(blocks) - 1
	serve := func() [][]byte { return blocks }
	sources := map[string]func(t *testing.T) string{
		"REST":     func(t *testing.T) string { return cointest.Node(t, f, true, serve) },
		"JSON-RPC": func(t *testing.T) string { return cointest.Node(t, f, false, serve) },
		"a peer":   func(t *testing.T) string { return (&cointest.Peer{Network: networkOf(sv), Blocks: serve}).Start(t) },
	}
	for name, uri := range sources {
		t.Run(name, func(t *testing.T) {
			db := open(t, sv)
			source := uri(t)
			follow(t, db, source, 0)
			if int(db.Tip().Height) != last || db.Tip().Hash != f.HashOf(blocks[last]) {
				t.Errorf("the tip is %v, expected %d", db.Tip(), last)
			}

			db = open(t, sv)
			most := int64(block.Large + 3<<19) // the second one has more

			room := func(size int64) error {
				if size > most {
					return model.Errorf(model.Machine, "block_too_large", "it needs %d", size)
				}
				return nil
			}
			src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: source, Indexes: db.Indexes(), Raw: true, Wait: testrun.Patience, Room: room})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			err = core.Sync(t.Context(), db, src, core.SyncOptions{})
			coded, ok := errors.AsType[*model.Error](err)
			if !ok || coded.Kind != model.Machine || coded.Code != "block_too_large" {
				t.Fatalf("%v", err)
			}
			at := len(made.Blocks()) + 2
			size := int64(len(blocks[at]))
			for _, want := range []string{fmt.Sprintf("block %d (%s)", at, block.FormatHash(f.HashOf(blocks[at]))), fmt.Sprint(size)} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, expected %s", err, want)
				}
			}
			if int(db.Tip().Height) != at-1 {
				t.Errorf("the tip is %v, expected %d", db.Tip(), at-1)
			}
		})
	}
}
