package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
)

// mainnetBlocks returns the first n blocks of mainnet.
func mainnetBlocks(t *testing.T, n int) (blocks []*wire.MsgBlock) {
	t.Helper()
	file, err := os.ReadFile(realBlocks(t))
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		b := new(wire.MsgBlock)
		if err := b.Deserialize(bytes.NewReader(file[8:])); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
		file = file[8+binary.LittleEndian.Uint32(file[4:]):]
	}
	return blocks
}

// forge adds n blocks with a custom coinbase and target. They have no proof of work if the target is too small for a
// test.
func forge(blocks []*wire.MsgBlock, n int, bits uint32) []*wire.MsgBlock {
	for range n {
		parent := blocks[len(blocks)-1]
		c := bitcointest.NewChain()
		b := *c.Mine()
		b.Header.PrevBlock, b.Header.Timestamp = parent.BlockHash(), parent.Header.Timestamp.Add(10*time.Minute)
		b.Header.Bits = bits
		b.Transactions[0].TxIn[0].SignatureScript = binary.LittleEndian.AppendUint32([]byte{4}, uint32(len(blocks)))
		if bits == 0x207fffff {
			bitcointest.Seal(&b)
		} else {
			b.Header.MerkleRoot = b.Transactions[0].TxHash()
		}
		blocks = append(blocks, &b)
	}
	return blocks
}

// Forged blocks after valid ones end a sync from every kind of source with exit status 4. The database keeps its
// blocks.
func TestForgedBlocksOfMainnetAreRefused(t *testing.T) {
	slow(t)
	t.Parallel()
	honest := mainnetBlocks(t, 201)
	for name, c := range map[string]struct {
		bits uint32
		says string
	}{
		"an easy target":   {0x207fffff, `easier than the network allows`},
		"a harder target":  {0x1c00ffff, `proof of work|difficulty`},
		"no proof of work": {0x1d00ffff, `proof of work`},
	} {
		blocks := forge(honest, 20, c.bits)
		forged := fmt.Sprintf(`%s.*(%s)`, blocks[201].BlockHash(), c.says)
		file := filepath.Join(t.TempDir(), "blk00000.dat")
		if err := os.WriteFile(file, bitcointest.BlockFile(wire.MainNet, blocks...), 0o600); err != nil {
			t.Fatal(err)
		}
		_, rest := serveBlocks(t, "main", true, blocks...)
		_, rpc := serveBlocks(t, "main", false, blocks...)
		for kind, source := range map[string]string{"REST": rest, "JSON-RPC": rpc, "block files": "file://" + file} {
			t.Run(name+" from "+kind, func(t *testing.T) {
				db, code, message := filepath.Join(t.TempDir(), "db"), "bad_block", "^block 201.*"+forged
				wantFailure(t, exitSource, code, message, "sync", "--chain", "bitcoin", "--source", source, "--db", db)
				var status query.StatusAnswer
				if ask(t, &status, "status", "--db", db); status.Tip != nil && status.Tip.Height > 200 {
					t.Errorf("the tip is %+v", status.Tip)
				}
				syncTo(t, db, "file://"+realBlocks(t), "--to-height", "300")
				consistent(t, db)
			})
		}
	}
}
