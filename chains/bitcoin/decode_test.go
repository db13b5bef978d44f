package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/blockfile"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// sample returns a block with every element of the block format.
func sample() *wire.MsgBlock {
	c := bitcointest.NewChain()
	paid := c.Mine().Transactions[0]
	plain := bitcointest.Spend(paid, 0, wire.NewTxOut(1000, scriptSeeds()[5]), wire.NewTxOut(0, nil))
	segwit := bitcointest.Spend(plain, 0, wire.NewTxOut(1, bytes.Repeat([]byte{0x6a}, 300)))
	segwit.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: plain.TxHash(), Index: 1}, bytes.Repeat([]byte{1}, 260), nil))
	segwit.TxIn[1].Witness = wire.TxWitness{{1, 2, 3}, nil, bytes.Repeat([]byte{7}, 70_000)}
	return c.Mine(plain, segwit)
}

func newTestDecoder(t testing.TB) *block.Decoder {
	t.Helper()
	d, err := newDecoder(networks[4], allIndexes)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTruncatedBlocksAreRejected(t *testing.T) {
	raw := bitcointest.Bytes(sample())
	d := newTestDecoder(t)
	if _, err := d.Block(raw, 2); err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if n > 2000 && n < len(raw)-200 {
			continue // inside a long witness
		}
		if _, err := d.Block(raw[:n], 2); err == nil || !contains(err.Error(), "offset") {
			t.Fatalf("%d of %d bytes: %v", n, len(raw), err)
		}
	}
	if _, err := d.Block(append(slices.Clone(raw), 0), 2); err == nil || !contains(err.Error(), "1 bytes follow") {
		t.Errorf("an extra byte: %v", err)
	}
}

// TestImpossibleCountsAreRejectedWithoutAllocation checks that a count larger than the rest of the block is an error and
// that no memory is allocated for it.
func TestImpossibleCountsAreRejectedWithoutAllocation(t *testing.T) {
	b := sample()
	raw := bitcointest.Bytes(b)
	d := newTestDecoder(t)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	coinbase := block.HeaderSize + 1
	script := len(b.Transactions[0].TxIn[0].SignatureScript)
	for what, at := range map[string]int{
		"transactions":    block.HeaderSize,
		"inputs":          coinbase + 4 + 2,
		"bytes of script": coinbase + 4 + 2 + 1 + 36,
		"outputs":         coinbase + 4 + 2 + 1 + 36 + 1 + script + 4,
	} {
		for _, count := range [][]byte{huge, {0xfe, 0xff, 0xff, 0xff, 0x7f}, {0xfd, 0xff, 0xff}} {
			bad := slices.Concat(raw[:at], count, raw[at+1:at+200])
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := d.Block(bad, 0)
			runtime.ReadMemStats(&after)
			if err == nil || !contains(err.Error(), what, "bytes are left", fmt.Sprintf("offset %d", at)) {
				t.Errorf("%x %s: %v", count, what, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 100_000 {
				t.Errorf("%x %s: %d bytes were allocated", count, what, n)
			}
		}
		// A compact size that is not in its shortest form.
		long := slices.Concat(raw[:at], []byte{0xfd, raw[at], 0}, raw[at+1:])
		if _, err := d.Block(long, 0); err == nil || !contains(err.Error(), what, "shortest form") {
			t.Errorf("%s in a long form: %v", what, err)
		}
	}
}

func TestErrorsOfInvalidBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *wire.MsgBlock)
		says   string
	}{
		"no transactions": {func(b *wire.MsgBlock) { b.Transactions = nil }, "the block has no transactions"},
		"no coinbase":     {func(b *wire.MsgBlock) { b.Transactions = b.Transactions[1:] }, "transaction 0: offset"},
		"two coinbases":   {func(b *wire.MsgBlock) { b.Transactions[1].TxIn = b.Transactions[0].TxIn }, "transaction 1: offset"},
		"coinbase with more": {func(b *wire.MsgBlock) {
			b.Transactions[0].TxIn = append(b.Transactions[0].TxIn, b.Transactions[1].TxIn...)
		}, "transaction 0: offset"},
		"nothing among inputs": {func(b *wire.MsgBlock) {
			b.Transactions[2].TxIn[1].PreviousOutPoint = b.Transactions[0].TxIn[0].PreviousOutPoint
		}, "transaction 2: offset"},
		"no outputs": {func(b *wire.MsgBlock) { b.Transactions[1].TxOut = nil }, "no outputs"},
		"too much money": {func(b *wire.MsgBlock) { b.Transactions[1].TxOut[1].Value = 21e14 + 1 },
			"output 1 has 2100000000000001 satoshis"},
		"negative money":      {func(b *wire.MsgBlock) { b.Transactions[1].TxOut[1].Value = -1 }, "more than the maximum supply"},
		"another merkle root": {func(b *wire.MsgBlock) { b.Header.MerkleRoot[3] ^= 1 }, "merkle root"},
		"another transaction": {func(b *wire.MsgBlock) { b.Transactions[2].LockTime++ }, "merkle root"},
	} {
		b := sample()
		c.change(b)
		if !strings.Contains(c.says, "merkle") && len(b.Transactions) > 0 {
			bitcointest.Seal(b)
		}
		if _, err := newTestDecoder(t).Block(bitcointest.Bytes(b), 0); err == nil || !contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected %q", name, err, c.says)
		}
	}
	// The marker announces a witness, but all witnesses are empty. No node serializes this.
	b := sample()
	b.Transactions[0].TxIn[0].Witness = nil
	raw := bitcointest.Bytes(b)
	coinbase := b.Transactions[0]
	at := block.HeaderSize + 1
	end := at + coinbase.SerializeSize()
	bad := slices.Concat(raw[:at+4], []byte{0, 1}, raw[at+4:end-4], []byte{0}, raw[end-4:])
	if _, err := newTestDecoder(t).Block(bad, 0); err == nil || !contains(err.Error(), "witness") {
		t.Errorf("an empty witness: %v", err)
	}
}

// TestAllocationsDoNotGrowWithTransactions allows one allocation for each kind of slice, the block, its header and its
// values.
func TestAllocationsDoNotGrowWithTransactions(t *testing.T) {
	scripts := scriptSeeds()
	counted := func(count int, ds ...model.Definition) float64 {
		c := bitcointest.NewChain()
		from := c.Mine().Transactions[0]
		var txs []*wire.MsgTx
		for i := range count {
			from = bitcointest.Spend(from, 0, wire.NewTxOut(1, scripts[i%len(scripts)]), wire.NewTxOut(1, scripts[(i*7)%len(scripts)]))
			if i%2 == 0 {
				from.TxIn[0].Witness = wire.TxWitness{make([]byte, 72), make([]byte, 33)}
			}
			txs = append(txs, from)
		}
		raw := bitcointest.Bytes(c.Mine(txs...))
		d := newTestDecoder(t)
		if len(ds) > 0 {
			chain := define(t, "regtest", ds...)
			make, err := chain.decoders(append(slices.Clone(allIndexes), ds[0].Name), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			d = make()
		}
		return testing.AllocsPerRun(20, func() {
			if _, err := d.Block(raw, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := counted(10), counted(2000)
	if few != many || many > 8 {
		t.Errorf("%v allocations for a block of 10 transactions, %v for one of 2000", few, many)
	}
	// A custom index also allocates memory for its values, in chunks that grow.
	memo := model.Definition{Name: "memo", When: "output.script_type == 'op_return'", Value: "output.data[0:4]"}
	if own := counted(2000, memo); own > many+8 {
		t.Errorf("%v allocations with a custom index, %v without", own, many)
	}
}

// TestCompactSizesOfEveryLength covers compact sizes of one, three and five bytes for inputs, outputs, scripts and witnesses.
func TestCompactSizesOfEveryLength(t *testing.T) {
	for _, n := range []int{252, 253, 65_536} {
		c := bitcointest.NewChain()
		tx := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, make([]byte, n)))
		tx.TxIn[0].SignatureScript = make([]byte, n)
		tx.TxIn[0].Witness = wire.TxWitness{make([]byte, n)}
		many := bitcointest.Spend(tx, 0)
		for i := range n {
			many.AddTxOut(wire.NewTxOut(int64(i), []byte{block.OpReturn}))
			if i > 0 {
				many.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}, Index: uint32(i)}, nil, nil))
			}
		}
		m := c.Mine(tx, many)
		d := newTestDecoder(t)
		b, err := d.Block(bitcointest.Bytes(m), 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := agreesWithWire(networks[4], b, m); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestHeightsOfDecodedBlocks(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(200)
	old := *c.Blocks()[150]
	old.Header.Version = 1
	bitcointest.Work(&old)
	heights := func(first model.HeightPk, blocks ...*wire.MsgBlock) (hs []model.HeightPk) {
		t.Helper()
		chain, err := New("regtest")
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range chain.Decode(t.Context(), bytes.NewReader(bitcointest.BlockFile(wire.TestNet, blocks...)), nil, first) {
			if err != nil {
				t.Fatal(err)
			}
			hs = append(hs, b.Height)
		}
		return hs
	}
	all := c.Blocks()
	for _, x := range []struct {
		got, want []model.HeightPk
	}{
		{heights(7, all[0], all[1]), []model.HeightPk{0, 1}},
		{heights(7, all[1], all[16], all[17], all[127], all[128], all[200]), []model.HeightPk{1, 16, 17, 127, 128, 200}},
		{heights(7, &old, &old), []model.HeightPk{7, 8}},
		{heights(0, all[149], &old), []model.HeightPk{149, 150}},
	} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("heights %v, expected %v", x.got, x.want)
		}
	}
}

func TestInputsThatAreNotBlocks(t *testing.T) {
	raw := bitcointest.Bytes(sample())
	record := bitcointest.BlockFile(wire.TestNet, sample())
	bad := bytes.Clone(raw)
	bad[len(bad)-1] ^= 1
	json := `{"hash":"00","version":1,"bits":"207fffff","merkleroot":"` + strings.Repeat("0", 64) + `","tx":`
	for _, c := range []struct {
		name  string
		input []byte
		code  string
		says  []string
	}{
		{"nothing", nil, "source_empty", []string{"no block"}},
		{"white space", []byte(" \r\n\n"), "source_empty", []string{"no block"}},
		{"an empty list", []byte("[]"), "source_empty", []string{"no block"}},
		{"a byte", []byte{1}, "bad_block", []string{"offset"}},
		{"text", []byte("hello"), "bad_block", []string{"line 1", "neither hex"}},
		{"odd hex", []byte("abc"), "bad_block", []string{"line 1"}},
		{"zeros", make([]byte, 500), "bad_block", []string{"block 1", "no transactions"}},
		{"a cut block", raw[:len(raw)-1], "bad_block", []string{"block 1", "transaction 2", "offset"}},
		{"a block and a byte", append(bytes.Clone(raw), 7), "bad_block", []string{"1 bytes follow"}},
		{"too much", bytes.Repeat([]byte{0xee}, block.MaxSize+1), "bad_block", []string{"not block data"}},
		{"a line too long", bytes.Repeat([]byte("a"), 3*block.MaxSize), "bad_block", []string{"line"}},
		{"wrong merkle root", bad, "bad_block", []string{"block 1", "merkle root"}},
		{"the second is wrong", fmt.Appendf(nil, "%x\n%x\n", raw, bad), "bad_block", []string{"block 2", "merkle root"}},
		{"another network", bitcointest.BlockFile(wire.MainNet, sample()), "wrong_network", []string{"mainnet", "regtest", "offset 0"}},
		{"a cut record", record[:len(record)-1], "bad_block", []string{"offset 0", "but only"}},
		{"half a head", record[:5], "bad_block", []string{"the file ends there"}},
		{"garbage behind a cut record", append(bytes.Clone(record[:99]), "garbage"...), "bad_block", []string{"offset 0", "but only 98 are left"}},
		{"a long record", binary.LittleEndian.AppendUint32(networks[4].Magic[:], block.MaxSize+1), "bad_block", []string{"record of 4000001"}},
		{"JSON that breaks off", []byte(`{"hash": "00`), "bad_block", []string{"JSON document 1"}},
		{"a JSON number", []byte(`[1]`), "bad_block", []string{"number"}},
		{"an empty object", []byte(`{}`), "bad_block", []string{"no version or bits"}},
		{"JSON of another kind", []byte(`{"hash": 5}`), "bad_block", []string{"getblock"}},
		{"ids alone", []byte(json + `["00"]}`), "bad_block", []string{"verbosity 0, 2 or 3"}},
		{"bad hex in JSON", []byte(json + `[{"hex":"0"}]}`), "bad_block", []string{"transaction 0"}},
		{"no transactions in JSON", []byte(json + `[]}`), "bad_block", []string{"no transactions"}},
		{"no merkle root", []byte(`{"version":1,"bits":"207fffff"}`), "bad_block", []string{"merkleroot"}},
		{"bad bits", []byte(strings.Replace(json, "207fffff", "7f", 1) + `[]}`), "bad_block", []string{"bits", "8 hex digits"}},
		{"another hash", fmt.Appendf(nil, `{"hash":"%064d","version":%d,"bits":"%08x","merkleroot":"%s","time":%d,"nonce":%d,"tx":[{"hex":"%x"}]}`, 1,
			genesis.Header.Version, genesis.Header.Bits, genesis.Header.MerkleRoot, genesis.Header.Timestamp.Unix(), genesis.Header.Nonce,
			bitcointest.Bytes(genesis)[81:]), "bad_block", []string{block.FormatHash(networks[4].Genesis), "the JSON has"}},
	} {
		_, err := tryDecode(t, "regtest", c.input, nil)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		kind, code := model.KindOf(err)
		if kind != model.BadSource || code != c.code || !contains(err.Error(), c.says...) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: kind %d, %s: %v; expected %s, %q", c.name, kind, code, err, c.code, c.says)
		}
	}
}

// Data that a killed node leaves in its files are skipped, as in a sync. A block without a valid copy is an error after
// the other blocks.
func TestDamagedBlockFilesAreDecoded(t *testing.T) {
	chain := bitcointest.NewChain()
	for range 3 {
		chain.Mine(bitcointest.Spend(chain.Tip().Transactions[0], 0, wire.NewTxOut(1, make([]byte, 300))))
	}
	record := func(height int) []byte { return bitcointest.BlockFile(wire.TestNet, chain.Blocks()[height]) }
	half, zeros, wrong := record(1)[:200], record(1), record(1)
	clear(zeros[200:])
	wrong[len(wrong)-1] ^= 1
	for _, c := range []struct {
		name   string
		before []byte // the record of block 1
		after  []byte // the record of block 3
	}{
		{"nothing", nil, nil},
		{"the head of a record", half[:blockfile.RecordHead], half[:blockfile.RecordHead]},
		{"a part of a head", half[:5], half[:5]},
		{"half a block", half, half},
		{"half a block, with the zeros that a node reserves", zeros, append(bytes.Clone(zeros), make([]byte, 16<<20)...)},
		{"100 other bytes", bytes.Repeat([]byte("junk"), 25), bytes.Repeat([]byte("junk"), 25)},
		{"a block with a wrong byte", wrong, nil},
		{"another block with a wrong byte", nil, append(bytes.Clone(record(0)[:block.HeaderSize+blockfile.RecordHead]), wrong...)},
	} {
		input := slices.Concat(record(0), c.before, record(1), record(2), record(3), c.after)
		blocks, err := tryDecode(t, "regtest", input, nil)
		if err != nil || len(blocks) != 4 {
			t.Errorf("%s: %d blocks of 4, %v", c.name, len(blocks), err)
		}
		blocks, err = tryDecode(t, "regtest", slices.Concat(record(0), wrong, record(2), c.after), nil)
		if err == nil || !contains(err.Error(), "merkle root", fmt.Sprint("offset ", len(record(0)))) {
			t.Errorf("%s without a valid copy: %d blocks, %v", c.name, len(blocks), err)
		}
	}
}

var genesis = bitcointest.NewChain().Tip()

func TestDecodeReportsErrorsAndStopsOnRequest(t *testing.T) {
	c, err := New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is on fire")
	raw := bitcointest.Bytes(sample())
	for _, input := range [][]byte{raw, fmt.Appendf(nil, "%x", raw), bitcointest.BlockFile(wire.TestNet, sample()), []byte(`[1,`)} {
		for at := range 3 {
			r := io.MultiReader(bytes.NewReader(input[:len(input)*at/3]), iotest.ErrReader(broken))
			var last error
			for _, err := range c.Decode(t.Context(), r, nil, 0) {
				last = err
			}
			if kind, _ := model.KindOf(last); kind != model.BadSource {
				t.Errorf("%.10x… read to %d thirds: kind %d: %v", input, at, kind, last)
			}
		}
	}
	three := bitcointest.BlockFile(wire.TestNet, genesis, genesis, genesis)
	n := 0
	for range c.Decode(t.Context(), bytes.NewReader(three), nil, 0) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d blocks of 2", n)
	}
	for _, err := range c.Decode(t.Context(), bytes.NewReader(raw), []string{"adress"}, 0) {
		if err == nil || !contains(err.Error(), "adress") {
			t.Errorf("an unknown index: %v", err)
		}
	}
}

// TestRepeatedTransactions covers CVE-2012-2459: repeating a block's last transactions does not change its merkle root.
func TestRepeatedTransactions(t *testing.T) {
	c := bitcointest.NewChain()
	for txs := 2; txs <= 12; txs++ {
		var list []*wire.MsgTx
		from := c.Tip().Transactions[0]
		for range txs - 1 {
			from = bitcointest.Spend(from, 0, wire.NewTxOut(1, nil))
			list = append(list, from)
		}
		b := c.Mine(list...)
		root := b.Header.MerkleRoot
		for repeat := 1; repeat < txs; repeat++ {
			mutated := *b
			mutated.Transactions = append(slices.Clone(b.Transactions), b.Transactions[txs-repeat:]...)
			bitcointest.Seal(&mutated)
			if mutated.Header.MerkleRoot != root {
				continue
			}
			if _, err := tryDecode(t, "regtest", bitcointest.Bytes(&mutated), nil); err == nil || !contains(err.Error(), "repeat") {
				t.Errorf("%d transactions, the last %d twice: %v", txs, repeat, err)
			}
		}
		if _, err := tryDecode(t, "regtest", bitcointest.Bytes(b), nil); err != nil {
			t.Error(err)
		}
	}
}
