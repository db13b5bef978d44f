package blockfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// logged captures the log while a test runs.
func logged(t testing.TB) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &out
}

// bigChain returns a chain with blocks of some size, so that they can be cut at many offsets.
func bigChain(blocks int) *bitcointest.Chain {
	c := bitcointest.NewChain()
	for range blocks {
		tx := bitcointest.Spend(c.Tip().Transactions[0], 0)
		for range 40 {
			tx.AddTxOut(wire.NewTxOut(1, bytes.Repeat([]byte{0x51}, 30)))
		}
		c.Mine(tx)
	}
	return c
}

func TestMissingAndEmptySources(t *testing.T) {
	dir := t.TempDir()
	_, err := open(t, "regtest", filepath.Join(dir, "nowhere"))
	fails(t, err, "source_missing", "nowhere")
	_, err = open(t, "regtest", dir)
	fails(t, err, "source_empty", dir, "blk*.dat")
	if err := os.Mkdir(filepath.Join(dir, "blocks"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, "regtest", dir)
	fails(t, err, "source_empty", "subfolder blocks")
	for content, says := range map[string]string{"": "empty", strings.Repeat("\x00", 10_000): "padding"} {
		dir := write(t, map[string][]byte{"blk00000.dat": []byte(content)})
		_, err = open(t, "regtest", dir)
		fails(t, err, "source_empty", dir, says)
		_, err = open(t, "regtest", filepath.Join(dir, "blk00000.dat"))
		fails(t, err, "source_empty", "blk00000.dat", says)
	}
	_, err = open(t, "regtest", write(t, map[string][]byte{"blk00000.dat": nil, "xor.dat": []byte("short")}))
	fails(t, err, "bad_block", "xor.dat has 5 bytes: expected 8")
}

func TestFilesOfAnotherNetworkAreRejected(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5)
	file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	_, err := open(t, "mainnet", write(t, map[string][]byte{"blk00000.dat": file}))
	fails(t, err, "wrong_network", "blk00000.dat", "offset 0", "regtest", "mainnet")
	// Like any other data they are skipped after valid records.
	out := logged(t)
	tail := bitcointest.BlockFile(wire.MainNet, c.Tip())
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": slices.Concat(file, tail)})), c.Blocks())
	if !contains(out.String(), "WARN", "offset 1193", "f9beb4d9 is not the start of a record") {
		t.Errorf("logged %q", out)
	}
	for _, content := range []string{"{\"blocks\": []}", "\x7fELF\x02\x01\x01", "no", strings.Repeat("\x00", 5000) + "garbage, not a block"} {
		_, err = open(t, "regtest", write(t, map[string][]byte{"blk00000.dat": []byte(content)}))
		fails(t, err, "bad_block", "blk00000.dat", "not block data")
	}
	// Records have the network's magic, but the chain is another network's.
	_, err = open(t, "mainnet", write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.MainNet, c.Blocks()[1:]...)}))
	fails(t, err, "bad_block", "easier than the network allows")
	_, err = open(t, "simnet", write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.SimNet, c.Blocks()...)}))
	fails(t, err, "no_genesis", c.Blocks()[0].BlockHash().String(), block.FormatHash(networkNamed("simnet").Genesis))
	// A pruned node has deleted its first files.
	_, err = open(t, "regtest", write(t, map[string][]byte{"blk00007.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()[3:]...)}))
	fails(t, err, "no_genesis", c.Blocks()[3].BlockHash().String(), "pruned")
}

func TestHeadersWithoutProofOfWorkAreRejected(t *testing.T) {
	for _, where := range []int{1, 3, 5} {
		out := logged(t)
		c := bitcointest.NewChain()
		c.MineEmpty(5)
		blocks := c.Blocks()
		b := *blocks[where]
		hash := b.BlockHash()
		for hash[31] < 0x80 { // until the hash is above regtest's target
			b.Header.Nonce++
			hash = b.BlockHash()
		}
		blocks[where] = &b
		s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, blocks...)}))
		_, _, err := collect(t, s)
		fails(t, err, "bad_block", fmt.Sprintf("block %d: ", where), "blk00000.dat", "offset", hash.String(), "proof of work")
		if !contains(out.String(), "WARN", hash.String()) {
			t.Errorf("logged %q", out)
		}
	}
	c := bitcointest.NewChain()
	b := *c.Mine()
	for _, bits := range []uint32{0, 0x20800001, 0x217fffff, 0xff000001} {
		b.Header.Bits = bits
		_, err := open(t, "regtest", write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, &b)}))
		fails(t, err, "bad_block", "target")
	}
}

// A record of a block that is larger than supported is an error, also with the size of 64 bits that the node of BSV writes.
// Other data with such a size are skipped.
func TestBlocksOfMoreThan4GiBAreReported(t *testing.T) {
	network, coin, format := *networkNamed("regtest"), *regtest().Coin, *regtest().Coin.Format
	format.MaxSize = 4_000_000_000
	coin.Format, network.Coin = &format, &coin
	large := func(o *Options) { o.Network = &network }
	c := bitcointest.NewChain()
	c.MineEmpty(5)
	whole := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	last := bitcointest.Bytes(c.Mine())
	record := func(size uint32, rest ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32(bytes.Clone(whole[:4]), size), rest...)
	}
	extended := slices.Concat(record(0xffffffff), binary.LittleEndian.AppendUint64(nil, 5_000_000_000), last)
	for size, file := range map[string][]byte{"5000000000": extended, "4100000000": record(4_100_000_000, last...)} {
		_, err := open(t, "regtest", write(t, map[string][]byte{"blk00000.dat": slices.Concat(whole, file)}), large)
		fails(t, err, "block_too_large", "blk00000.dat", fmt.Sprintf("offset %d", len(whole)), c.Tip().BlockHash().String(), size, "4000000000")
	}
	out := logged(t)
	noWork := bytes.Clone(extended)
	for n := byte(0); ; n++ {
		noWork[16+76] = n
		if hash := block.Header(noWork[16:]).Hash(); hash[31] >= 0x80 {
			break
		}
	}
	s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": slices.Concat(whole, noWork)}), large)
	yields(t, s, c.Blocks()[:6])
	if !contains(out.String(), "WARN", "blk00000.dat") {
		t.Errorf("logged %q", out)
	}
}

func TestBlocksWithWrongMerkleRootAreRejected(t *testing.T) {
	for _, where := range []int{1, 4, 7, 8} {
		c := bigChain(8)
		file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
		offset := len(bitcointest.BlockFile(wire.TestNet, c.Blocks()[:where]...))
		file[offset+RecordHead+block.HeaderSize+200] ^= 1
		s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": file}))
		blocks, _, err := collect(t, s)
		fails(t, err, "bad_block", "block "+string(rune('0'+where)), c.Blocks()[where].BlockHash().String(), "blk00000.dat", "offset")
		if len(blocks) != where {
			t.Errorf("%d blocks before the bad one, expected %d", len(blocks), where)
		}
	}
}

// TestTruncatedFiles cuts files at the boundaries of records and their parts: the end of a file can have any content. If
// a block of the best chain is missing then, the error of the stream names its height.
func TestTruncatedFiles(t *testing.T) {
	c := bigChain(6)
	whole := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	begin := func(n int) int { return len(bitcointest.BlockFile(wire.TestNet, c.Blocks()[:n]...)) }
	tailSize := len(whole) - begin(6)
	for _, left := range []int{1, 3, 4, 7, 8, 50, 87, 88, 89, 100, tailSize - 1} {
		out := logged(t)
		s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": whole[:begin(6)+left]}))
		yields(t, s, c.Blocks()[:6])
		if !contains(out.String(), "WARN", "blk00000.dat", "offset") {
			t.Errorf("%d bytes of the last record: logged %q", left, out)
		}
		// The node continued in another file.
		s = mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": whole[:begin(6)+left], "blk00001.dat": whole[begin(6):]}))
		yields(t, s, c.Blocks())
	}
	// A node that crashed left garbage after the last block.
	out := logged(t)
	s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": slices.Concat(whole, whole[100:300])}))
	yields(t, s, c.Blocks())
	if !contains(out.String(), "WARN", "is not the start of a record") {
		t.Errorf("garbage at the end: logged %q", out)
	}
	missing3 := func(file []byte) {
		t.Helper()
		blocks, _, err := collect(t, mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": file})))
		if _, code := model.KindOf(err); code != "block_missing" { // a wrong length can make another block of it
			fails(t, err, "bad_block", "block 3: ", "blk00000.dat, offset")
		} else {
			fails(t, err, code, "block 3 ", "blk00000.dat, offset")
		}
		if len(blocks) != 3 {
			t.Errorf("%d blocks before the missing block 3", len(blocks))
		}
	}
	// Bytes are missing in the middle.
	for _, missing := range []int{1, 5, 300} {
		for _, where := range []int{begin(3) + 1, begin(3) + 20, begin(3) + 100, begin(4) - 1} {
			missing3(slices.Concat(whole[:where], whole[where+missing:]))
		}
	}
	// An impossible length.
	for _, length := range []uint32{0, 80, block.MaxSize + 1, 0xffffffff} {
		bad := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(bad[begin(3)+4:], length)
		missing3(bad)
	}
	// The space of the last block is reserved, but its bytes are not written yet.
	for _, zeros := range []int{100, tailSize - RecordHead - block.HeaderSize, tailSize - RecordHead} {
		out := logged(t)
		unfinished := bytes.Clone(whole)
		clear(unfinished[len(unfinished)-zeros:])
		s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": append(unfinished, make([]byte, 5000)...)}))
		yields(t, s, c.Blocks()[:6])
		if !contains(out.String(), "WARN", "written") {
			t.Errorf("the last block ends in %d zeros: logged %q", zeros, out)
		}
	}
}

func TestTheErrorOfAGapNamesTheMissingHeight(t *testing.T) {
	out := logged(t)
	c := bitcointest.NewChain()
	c.MineEmpty(20)
	blocks := slices.Delete(c.Blocks(), 9, 10)
	dir := write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, blocks...)})
	found, _, err := collect(t, mustOpen(t, "regtest", dir))
	fails(t, err, "block_missing", "block 9 ", "11 blocks after it", "blk00000.dat")
	if len(found) != 9 {
		t.Errorf("%d blocks before the missing block 9", len(found))
	}
	to := model.HeightPk(8)
	yields(t, mustOpen(t, "regtest", dir, func(o *Options) { o.To = &to }), c.Blocks()[:9])
	if !contains(out.String(), "WARN", "orphans=11") {
		t.Errorf("logged %q", out)
	}
	// A stale branch whose first block the node did not download is no gap.
	stale := c.Fork(15)
	stale.MineEmpty(2)
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, append(c.Blocks(), stale.Tip())...)})), c.Blocks())
}

func TestAFileThatChangesDuringReadingIsAnError(t *testing.T) {
	c := bigChain(4)
	whole := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	dir := write(t, map[string][]byte{"blk00000.dat": whole})
	path := filepath.Join(dir, "blk00000.dat")
	s := mustOpen(t, "regtest", dir)
	for name, content := range map[string][]byte{"shorter": whole[:1000], "other": slices.Concat(whole[:700], make([]byte, len(whole)-700))} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := collect(t, s)
		if name == "shorter" {
			fails(t, err, "bad_block", "blk00000.dat", "EOF")
		} else {
			fails(t, err, "bad_block", "blk00000.dat", "block 1")
		}
	}
	// Another chain, with blocks at the same offsets.
	other := bigChain(1)
	other = other.Fork(0)
	for range 4 {
		other.Mine(c.Blocks()[other.Height()+1].Transactions[1])
	}
	replaced := bitcointest.BlockFile(wire.TestNet, other.Blocks()...)
	if len(replaced) != len(whole) {
		t.Fatalf("%d bytes instead of %d", len(replaced), len(whole))
	}
	if err := os.WriteFile(path, replaced, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := collect(t, s)
	fails(t, err, "bad_block", c.Blocks()[1].BlockHash().String(), other.Blocks()[1].BlockHash().String(), "at this place now")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, _, err = collect(t, s)
	fails(t, err, "source_missing", "blk00000.dat")
}

// TestAScanEndsAtTheInitialFileSize checks that bytes written during a scan belong to the next scan.
func TestAScanEndsAtTheInitialFileSize(t *testing.T) {
	c := bigChain(3)
	whole := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	end := int64(len(bitcointest.BlockFile(wire.TestNet, c.Blocks()[:3]...)))
	r := recordReader{net: regtest(), path: "blk00000.dat", file: bytes.NewReader(whole), size: end}
	found, err := r.scan(0)
	if err != nil || found.cut != nil || len(found.records) != 3 || found.end != end {
		t.Errorf("%d records, end %d, cut %v, %v", len(found.records), found.end, found.cut, err)
	}
}

func TestTheFirstOfTwoRecordsOfABlockCounts(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5)
	s := mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...),
		"blk00001.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)}))
	yields(t, s, c.Blocks())
	if s.files.tree.linked != 6 {
		t.Errorf("6 blocks count as %d", s.files.tree.linked)
	}
	for i, n := range s.files.tree.nodes {
		if n.file != 0 {
			t.Errorf("block %d is read from file %d", i, n.file)
		}
	}
}
