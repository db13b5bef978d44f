package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/immutabledb"
	"birthmark/core/check"
	"birthmark/core/query"
)

// chunks are the blocks of a generated chain, divided like the chunks of a folder.
type chunks [][]immutabledb.Block

// fiveChunks returns five chunks of twelve blocks each, and a folder with the genesis of their network.
func fiveChunks(t *testing.T) (all chunks, network string) {
	t.Helper()
	chain := cardanogen.New(cardanogen.Options{Seed: 7, TxsPerBlock: 2})
	for range 5 {
		var blocks []immutabledb.Block
		for range 12 {
			blocks = append(blocks, chain.Next().Block)
		}
		all = append(all, blocks)
	}
	network = filepath.Join(t.TempDir(), "genesis")
	if err := chain.Genesis().Write(network); err != nil {
		t.Fatal(err)
	}
	return all, network
}

// content returns the bytes of a chunk and of its index.
func content(blocks []immutabledb.Block) (chunk, index []byte) {
	for i := range blocks {
		index = immutabledb.AppendEntry(index, int64(len(chunk)), &blocks[i])
		chunk = append(chunk, blocks[i].Raw...)
	}
	return chunk, index
}

// write writes the chunks and their indexes, and the files in other. It omits files whose content in other is nil.
func (c chunks) write(t *testing.T, other map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for n, blocks := range c {
		chunk, index := content(blocks)
		for name, content := range map[string][]byte{fmt.Sprintf("%05d.chunk", n): chunk, fmt.Sprintf("%05d.secondary", n): index} {
			if changed, ok := other[name]; ok {
				content = changed
			}
			if content != nil {
				write(t, filepath.Join(dir, name), string(content))
			}
		}
	}
	return dir
}

// with returns the chunks with a changed block of chunk 2. The block is omitted if change returns nil.
func (c chunks) with(i int, change func(b immutabledb.Block) *immutabledb.Block) chunks {
	c = slices.Clone(c)
	c[2] = slices.Clone(c[2])
	b := c[2][i]
	b.Raw = bytes.Clone(b.Raw)
	if changed := change(b); changed != nil {
		c[2][i] = *changed
	} else {
		c[2] = slices.Delete(c[2], i, i+1)
	}
	return c
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x10
	return b
}

// The error of a fault in a chunk has the slot and the hash of the block. The database contains the chain before the
// fault, and continues when the chunks are correct again.
func TestASyncStopsBeforeABadChunk(t *testing.T) {
	slow(t)
	t.Parallel()
	good, network := fiveChunks(t)
	chunk, index := content(good[2])
	lastChunk, lastIndex := content(good[4])
	_, otherIndex := content(good[3])
	at := func(n, i int) string { // pattern with the slot and the hash
		return fmt.Sprintf(`slot %d[,)]? .*%s|%[2]s.*slot %[1]d`, good[n][i].Slot, good[n][i].Hash)
	}
	entry := len(index) / 12
	second := len(good[2][0].Raw) // the offset of the second block
	none := map[string][]byte(nil)
	source := good.write(t, none)
	prefixes := map[int]string{} // digests of databases of the first blocks
	sync := func(db, from string, more ...string) []string {
		return append([]string{"sync", "--chain", "cardano", "--network", network, "--source", "file://" + from, "--db", db}, more...)
	}
	prefix := func(blocks int) string {
		if prefixes[blocks] == "" {
			db := filepath.Join(t.TempDir(), "db")
			ask(t, nil, sync(db, source, "--to-height", fmt.Sprint(blocks-1))...)
			consistent(t, db)
			var status query.StatusAnswer
			if ask(t, &status, "status", "--db", db); status.Totals.Blocks != uint64(blocks) {
				t.Errorf("%d blocks, expected %d", status.Totals.Blocks, blocks)
			}
			prefixes[blocks] = digestOf(t, db)
		}
		return prefixes[blocks]
	}
	for name, c := range map[string]struct {
		chunks chunks
		files  map[string][]byte
		code   string
		says   string
		blocks int // in the database
	}{
		"chunk cut in a block":           {good, map[string][]byte{"00002.chunk": chunk[:second+9]}, "bad_index", at(2, 1) + ".*the chunk ends at", 25},
		"chunk cut between blocks":       {good, map[string][]byte{"00002.chunk": chunk[:second]}, "bad_index", at(2, 1), 25},
		"newest chunk cut":               {good, map[string][]byte{"00004.chunk": lastChunk[:len(lastChunk)-1]}, "bad_chunk", at(4, 11), 59},
		"newest chunk cut, and no index": {good, map[string][]byte{"00004.chunk": lastChunk[:len(lastChunk)-1], "00004.secondary": nil}, "bad_chunk", at(4, 11), 59},
		"index of another chunk":         {good, map[string][]byte{"00002.secondary": otherIndex}, "bad_checksum", at(3, 0), 24},
		"index with another hash":        {good, map[string][]byte{"00002.secondary": flip(index, 3*entry+20)}, "bad_index", "the index has block .* the chunk has " + good[2][3].Hash.String() + " at slot ", 27},
		"index of the newest, cut":       {good, map[string][]byte{"00004.secondary": lastIndex[:5*entry+3], "00004.chunk": flip(lastChunk, len(good[4][0].Raw)+200)}, "bad_checksum", at(4, 1), 49},
		"index with another CRC":         {good, map[string][]byte{"00002.secondary": flip(index, 2*entry+12)}, "bad_checksum", at(2, 2), 26},
		"a bit of a block":               {good, map[string][]byte{"00002.chunk": flip(chunk, second+300)}, "bad_checksum", at(2, 1), 25},
		"a body of another block": {good.with(4, func(b immutabledb.Block) *immutabledb.Block {
			body := good[2][5].Raw[int(b.HeaderOffset)+int(good[2][5].HeaderSize):]
			b.Raw = append(b.Raw[:int(b.HeaderOffset)+int(b.HeaderSize)], body...)
			return &b
		}), none, "bad_block", at(2, 4) + ".*the body has the hash", 28},
		"a block left out": {good.with(4, func(immutabledb.Block) *immutabledb.Block { return nil }), none, "bad_chain", at(2, 5) + ".*expected block 27", 28},
		"a block of an era that is not known": {good.with(4, func(b immutabledb.Block) *immutabledb.Block {
			b.Raw[1] = 9
			return &b
		}), none, "unknown_era", at(2, 4) + ".*after Dijkstra.*install a newer release", 28},
		"a chunk is missing": {good, map[string][]byte{"00002.chunk": nil, "00002.secondary": nil}, "missing_chunk", "00001.chunk and 00003.chunk, but no 00002.chunk", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.chunks.write(t, c.files)
			fresh, grown := filepath.Join(t.TempDir(), "fresh"), filepath.Join(t.TempDir(), "grown")
			wantFailure(t, exitSource, c.code, c.says, sync(fresh, dir)...)
			if c.blocks == 0 {
				if _, err := os.Stat(fresh); err == nil {
					t.Error("a database was created")
				}
				ask(t, nil, sync(fresh, source)...)
				return
			}
			ask(t, nil, sync(grown, source, "--to-height", "20")...)
			wantFailure(t, exitSource, c.code, c.says, sync(grown, dir)...)
			for _, db := range []string{fresh, grown} {
				same(t, db, prefix(c.blocks))
				ask(t, nil, sync(db, source)...)
				same(t, db, prefix(60))
			}
		})
	}
}

// Blocks and genesis files of another network create no database and do not change one.
func TestCardanoOfAnotherNetworkIsRefused(t *testing.T) {
	slow(t)
	t.Parallel()
	good, network := fiveChunks(t)
	source := "file://" + good.write(t, nil)
	first := fmt.Sprintf(`block 0 at slot %d \(%s\) does not belong to `, good[0][0].Slot, good[0][0].Hash)
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--network", network, "--source", source, "--db", db)
	whole := digestOf(t, db)
	made := func() string { return filepath.Join(t.TempDir(), "made") }
	for _, name := range []string{"mainnet", "preprod"} {
		wantFailure(t, exitSource, "wrong_network", first+name+`: it is the first and follows on no genesis: expected `,
			"sync", "--chain", "cardano", "--network", name, "--source", source, "--db", made())
		wantFailure(t, exitRefused, "wrong_network", `contains cardano magic-\d+, not cardano `+name, "sync", "--chain", "cardano", "--network", name, "--source", source, "--db", db)
	}
	// The first block of preview also has no parent. The first transaction spends an output of the genesis, which
	// differs.
	other := made()
	wantFailure(t, exitSource, "unknown_output", `^block \d+ [0-9a-f]{64}: transaction [0-9a-f]{64}: input 0 spends unknown [0-9a-f]{64}:\d+$`, "sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", other)

	var a check.Result
	if ask(t, &a, "check", "--db", other); !a.OK || a.Blocks > 4 {
		t.Errorf("%+v", a)
	}

	changed := t.TempDir()
	for _, file := range []string{"byron-genesis.json", "shelley-genesis.json"} {
		raw, err := os.ReadFile(filepath.Join(network, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(changed, file), strings.ReplaceAll(string(raw), fmt.Sprint(cardanogen.DefaultMagic), "2"))
	}
	wantFailure(t, exitSource, "genesis_mismatch", `byron-genesis.json has the hash [0-9a-f]{64}: expected 83de1d73[0-9a-f]{56}, as its magic is that of preview$`,
		"sync", "--chain", "cardano", "--network", changed, "--source", source, "--db", made())
	write(t, filepath.Join(network, "config.json"), `{"ShelleyGenesisHash": "`+strings.Repeat("ab", 32)+`"}`)
	wantFailure(t, exitSource, "genesis_mismatch", `shelley-genesis.json has the hash [0-9a-f]{64}: expected abab[ab]{60}, as in the node's configuration$`,
		"sync", "--chain", "cardano", "--network", network, "--source", source, "--db", made())
	same(t, db, whole)
}
