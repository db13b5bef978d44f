package blockfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// damages are the data without a block that Bitcoin Core skips in block files (LoadExternalBlockFile), for a record that
// follows later.
var damages = []struct {
	name string
	make func(r *rand.Rand, record []byte) []byte
}{
	{"the head of a record", func(_ *rand.Rand, record []byte) []byte { return record[:RecordHead] }},
	{"the start of a record", func(r *rand.Rand, record []byte) []byte {
		return record[:1+r.IntN(len(bytes.TrimRight(record, "\x00"))-1)] // without the end, which padding could replace
	}},
	{"the start of a record and zeros", func(r *rand.Rand, record []byte) []byte {
		half := slices.Clone(record)
		clear(half[RecordHead+block.HeaderSize+r.IntN(50):])
		return half
	}},
	{"100 other bytes", func(r *rand.Rand, _ []byte) []byte {
		junk := make([]byte, 100)
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		return junk
	}},
	{"magics", func(r *rand.Rand, record []byte) []byte {
		return slices.Concat(record[:4], record[:4], record[:r.IntN(20)], record[:4])
	}},
	{"a record of another network", func(_ *rand.Rand, record []byte) []byte {
		other := slices.Clone(record)
		binary.LittleEndian.PutUint32(other, uint32(wire.MainNet))
		return other
	}},
	{"a record that is too long", func(_ *rand.Rand, record []byte) []byte {
		return binary.LittleEndian.AppendUint32(slices.Clone(record[:4]), block.MaxSize+1)
	}},
	{"a block with a wrong byte", func(r *rand.Rand, record []byte) []byte {
		bad := slices.Clone(record)
		bad[RecordHead+block.HeaderSize+1+r.IntN(4)] ^= 1 // in the version of the first transaction
		return bad
	}},
	{"a block twice", func(_ *rand.Rand, record []byte) []byte { return record }},
	{"zeros", func(r *rand.Rand, _ []byte) []byte { return make([]byte, r.IntN(10_000)) }},
}

// TestDamagedFilesHaveTheSameChain puts what a killed node leaves before random blocks and at the ends of files: the
// chain is that of clean files. Without the whole copy of one block of the chain, the error names its height.
func TestDamagedFilesHaveTheSameChain(t *testing.T) {
	logged(t) // the damages are
	r := testseed.Rand(t)
	form := func(round int) {
		c, stale := randomChain(r, 20+r.IntN(60))
		all := append(c.Blocks(), stale...)
		if r.IntN(2) == 0 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		lost := model.Hash{}
		height := 1 + r.IntN(c.Height()-1)
		if round%4 == 3 {
			lost = model.Hash(c.Blocks()[height].BlockHash())
		}
		var only []int // the forms of damage of this round
		for range 1 + r.IntN(3) {
			only = append(only, r.IntN(len(damages)))
		}
		files, content := map[string][]byte{}, []byte(nil)
		damage := func(record []byte, whole bool) {
			d := damages[only[r.IntN(len(only))]]
			if whole || d.name != "a block twice" {
				content = append(content, d.make(r, record)...)
			}
		}
		end := func() {
			if r.IntN(3) == 0 {
				content = append(content, make([]byte, r.IntN(20_000))...)
			}
			files[fileNumber(len(files))] = content
			content = nil
		}
		for _, b := range all {
			record, whole := bitcointest.BlockFile(wire.TestNet, b), model.Hash(b.BlockHash()) != lost
			for r.IntN(3) == 0 {
				damage(record, whole)
				if len(content) > 0 && r.IntN(6) == 0 {
					end()
				}
			}
			if whole {
				content = append(content, record...)
			}
		}
		end()
		// The first file begins with a record, so that it is known as a block file.
		files[fileNumber(0)] = append(bitcointest.BlockFile(wire.TestNet, c.Blocks()[0]), files[fileNumber(0)]...)
		var stream []byte
		for i := range len(files) {
			stream = append(stream, files[fileNumber(i)]...)
		}
		streamHas(t, stream, all, lost)
		if r.IntN(2) == 0 {
			key := make([]byte, xorKeySize)
			binary.LittleEndian.PutUint64(key, r.Uint64())
			for name, b := range files {
				unmask(b, key, 0)
				files[name] = b
			}
			files["xor.dat"] = key
		}
		names := ""
		for _, i := range only {
			names += damages[i].name + ", "
		}
		s, err := open(t, "regtest", write(t, files))
		if err != nil {
			t.Fatalf("round %d, %s: %v", round, names, err)
		}
		if lost == (model.Hash{}) {
			yields(t, s, c.Blocks())
			return
		}
		blocks, _, err := collect(t, s)
		if err == nil {
			t.Fatalf("round %d, %s: no error without block %d", round, names, height)
		}
		// A stale branch can be the best chain then.
		named := strings.HasPrefix(err.Error(), fmt.Sprintf("block %d ", height)) || strings.HasPrefix(err.Error(), fmt.Sprintf("block %d: ", height))
		if len(blocks) < height || !named {
			t.Fatalf("round %d, %s: %d blocks, then %v; block %d is missing", round, names, len(blocks), err, height)
		}
	}
	for round := range 150 {
		form(round)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// streamHas checks that [Each] finds every block but one, no other, and that only an invalid copy of that one is an error.
func streamHas(t *testing.T, stream []byte, all []*wire.MsgBlock, lost model.Hash) {
	t.Helper()
	net, found := networkNamed("regtest"), map[model.Hash]bool{}
	decode := func(raw []byte) error {
		_, err := block.NewDecoder(&block.Bitcoin, noValues{}).Block(raw, 0)
		return err
	}
	err := Each(net, bytes.NewReader(stream), decode, func(raw []byte) (fault, err error) {
		if fault = decode(raw); fault == nil {
			found[net.Coin.Format.HashOf(raw)] = true
		}
		return fault, nil
	})
	if err != nil && lost == (model.Hash{}) {
		t.Fatalf("a stream of whole blocks: %v", err)
	}
	want := 0
	for _, b := range all {
		if hash := model.Hash(b.BlockHash()); hash != lost {
			want++
			if !found[hash] {
				t.Fatalf("the block %s is not in the stream", block.FormatHash(hash))
			}
		}
	}
	if len(found) != want || found[lost] {
		t.Fatalf("%d blocks in the stream, expected %d", len(found), want)
	}
}

// A last block that ends in zeros and does not decode is one that a node is still writing only if it reserved more.
func TestOnlyReservedZerosAreAnUnfinishedBlock(t *testing.T) {
	out := logged(t)
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	tx := bitcointest.Spend(c.Tip().Transactions[0], 0, wire.NewTxOut(1, make([]byte, 80)))
	c.Mine(tx)
	content := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	content[len(bitcointest.BlockFile(wire.TestNet, c.Blocks()[:3]...))+RecordHead+block.HeaderSize+2] ^= 1
	blocks, _, err := collect(t, mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": content})))
	fails(t, err, "bad_block", "block 3 ", "merkle root")
	if len(blocks) != 3 {
		t.Errorf("%d blocks before the bad one", len(blocks))
	}
	reserved := append(content, make([]byte, 100)...)
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": reserved})), c.Blocks()[:3])
	if !contains(out.String(), "not completely written") {
		t.Errorf("logged %q", out)
	}
	// Zeros before another record are not reserved space.
	followed := append(reserved, bitcointest.BlockFile(wire.TestNet, c.Blocks()[1])...)
	blocks, _, err = collect(t, mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": followed})))
	fails(t, err, "bad_block", "merkle root")
	if len(blocks) != 3 {
		t.Errorf("%d blocks before the bad one", len(blocks))
	}
}

// A block can contain the bytes of a record. If a scan sees only the first half of the block, the next one finds it.
func TestARecordInAHalfWrittenBlockDoesNotHideTheBlock(t *testing.T) {
	logged(t)
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	inside := bitcointest.BlockFile(wire.TestNet, c.Blocks()[1])
	tx := bitcointest.Spend(c.Tip().Transactions[0], 0, wire.NewTxOut(1, append(slices.Clone(inside), make([]byte, 200)...)))
	c.Mine(tx)
	content := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	half := content[:bytes.LastIndex(content, inside)+len(inside)+50]
	dir := write(t, map[string][]byte{"blk00000.dat": half})
	s := mustOpen(t, "regtest", dir)
	yields(t, s, c.Blocks()[:3])
	if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.files.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	yields(t, s, c.Blocks())
}
