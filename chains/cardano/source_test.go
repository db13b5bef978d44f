package cardano

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// made is a constructed chain of blocks from block 0, as in a chunk.
func made(t *testing.T, numbers ...uint64) (blocks []*model.Block, raws [][]byte) {
	t.Helper()
	var parent []byte // the first block of a Shelley network has no parent
	for i, n := range numbers {
		body := txBody(dict{0: list{list{filled(32, byte(i)), 0}}})
		raw := placedAt(t, ledger.EraBabbage, n, 20*n, parent, raw(t, list{body}), raw(t, list{dict{}}), raw(t, dict{}), raw(t, list{}))
		b := decoded(t, raw, indexAddress)
		blocks, raws = append(blocks, b), append(raws, raw)
		parent = b.Hash[:]
	}
	return blocks, raws
}

// stored returns a source of one chunk without an index.
func stored(t *testing.T, o model.SourceOptions, raws ...[]byte) model.Source {
	t.Helper()
	return storedOn(t, "preview", o, raws...)
}

func storedOn(t *testing.T, network string, o model.SourceOptions, raws ...[]byte) model.Source {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	o.URI, o.Indexes = chunkOf(t, raws...), []string{indexAddress}
	src, err := c.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// chunkOf writes the blocks to a chunk and returns its URI.
func chunkOf(t testing.TB, raws ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "00000.chunk")
	if err := os.WriteFile(path, bytes.Join(raws, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

func TestSyncFromChunk(t *testing.T) {
	blocks, raws := made(t, 0, 1, 2, 3, 4)
	to := model.HeightPk(3)
	for name, c := range map[string]struct {
		known []model.Point
		to    *model.HeightPk
		back  bool
		from  int
		end   int
	}{
		"from the first block":           {from: 0, end: 5},
		"to a height":                    {to: &to, end: 4},
		"after a block that is known":    {known: []model.Point{blocks[2].Point(), blocks[0].Point()}, from: 3, end: 5},
		"after the newest that is there": {known: []model.Point{{Height: 9, Slot: 180}, blocks[1].Point()}, back: true, from: 2, end: 5},
		"from another chain":             {known: []model.Point{{Height: 9, Slot: 180}}, back: true, from: 0, end: 5},
		"at the end":                     {known: []model.Point{blocks[4].Point()}, from: 5, end: 5},
	} {
		src := stored(t, model.SourceOptions{To: c.to}, raws...)
		if tip, err := src.Tip(t.Context()); err != nil || tip != blocks[4].Point() {
			t.Errorf("%s: the tip is %v, %v", name, tip, err)
		}
		next := c.from
		for e, err := range src.Follow(t.Context(), c.known) {
			switch {
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			case e.Rollback != nil:
				if !c.back || next != c.from {
					t.Errorf("%s: rollback to %v", name, *e.Rollback)
				}
				c.back = false
			case e.Block.Point() != blocks[next].Point():
				t.Fatalf("%s: block %d, expected %d", name, e.Block.Height, next)
			default:
				if genesis := len(e.Block.Genesis); genesis != map[bool]int{true: 8}[next == 0] {
					t.Errorf("%s: block %d has %d genesis transactions", name, next, genesis)
				}
				next++
			}
		}
		if next != c.end || c.back {
			t.Errorf("%s: ended before block %d, expected %d", name, next, c.end)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBrokenChainsInChunksAreReported(t *testing.T) {
	blocks, raws := made(t, 0, 1, 2)
	_, late := made(t, 5, 6)
	broken := append([]byte{}, raws[1]...)
	broken[len(broken)-1] ^= 1
	for name, c := range map[string]struct {
		raws  [][]byte
		code  string
		says  string
		whole int // blocks before the fault
	}{
		"a block is missing":   {[][]byte{raws[0], raws[2]}, "bad_chain", blocks[2].Hash.String(), 1},
		"the beginning is not": {late, "no_genesis", "expected block 0", 0},
		"a body is another":    {[][]byte{raws[0], broken, raws[2]}, "bad_block", "offset", 1},
	} {
		n := 0
		var last error
		for _, err := range stored(t, model.SourceOptions{}, c.raws...).Follow(t.Context(), nil) {
			if last = err; err == nil {
				n++
			}
		}
		if kind, code := model.KindOf(last); kind != model.BadSource || code != c.code || !strings.Contains(last.Error(), c.says) || n != c.whole {
			t.Errorf("%s: %d blocks, then %v (%s), expected %d, %s: %s", name, n, last, code, c.whole, c.code, c.says)
		}
	}
}

// Blocks that do not start the network's chain cause no rollback of known ones.
func TestChunksOfAnotherNetworkCauseNoRollback(t *testing.T) {
	_, raws := made(t, 0, 1, 2)
	known := []model.Point{{Height: 9, Slot: 180, Hash: model.Hash{9}}}
	for name, c := range map[string]struct {
		src  model.Source
		code string
	}{
		"another network":      {storedOn(t, "preprod", model.SourceOptions{}, raws...), "wrong_network"},
		"a later chunk":        {stored(t, model.SourceOptions{}, raws[1:]...), "no_genesis"},
		"a block that is half": {stored(t, model.SourceOptions{}, raws[0][:len(raws[0])/2]), "bad_chunk"},
	} {
		for e, err := range c.src.Follow(t.Context(), known) {
			if kind, code := model.KindOf(err); err == nil || kind != model.BadSource || code != c.code {
				t.Errorf("%s: %+v, %v (%s), expected %s", name, e, err, code, c.code)
			}
		}
	}
}

func TestInvalidURIsAreReported(t *testing.T) {
	for _, c := range []struct{ network, uri, code string }{
		{"preview", "", "bad_source"}, {"preview", "http://x", "bad_source"}, {"preview", "file://", "bad_source"},
		{"preview", "file:///no/such/folder", "source_missing"}, {"mainnet", "file:///no/such/folder", "source_missing"},
	} {
		chain, err := New(c.network)
		if err != nil {
			t.Fatal(err)
		}
		_, err = chain.Open(t.Context(), model.SourceOptions{URI: c.uri})
		if _, got := model.KindOf(err); err == nil || got != c.code {
			t.Errorf("%q: %v, expected %s", c.uri, err, c.code)
		}
	}
}

func TestDecodeFormats(t *testing.T) {
	blocks, raws := made(t, 0, 1, 2)
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(raws[0]) + string(raws[1]) + string(raws[2])
	var hexed strings.Builder
	for i := range len(whole) {
		const digits = "0123456789ABCDEF"
		hexed.WriteByte(digits[whole[i]>>4])
		hexed.WriteByte(digits[whole[i]&15])
		if i%40 == 0 {
			hexed.WriteByte('\n')
		}
	}
	for name, text := range map[string]string{"plain": whole, "hex": hexed.String()} {
		n := 0
		for b, err := range c.Decode(t.Context(), strings.NewReader(text), []string{indexAddress}, 0) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b.Hash != blocks[n].Hash {
				t.Errorf("%s: block %d is %s", name, n, b.Hash)
			}
			n++
		}
		if n != 3 {
			t.Errorf("%s: %d blocks", name, n)
		}
	}
	for text, code := range map[string]string{"": "source_empty", "xyz": "bad_block", whole[:len(whole)-1]: "bad_block"} {
		var last error
		for _, err := range c.Decode(t.Context(), strings.NewReader(text), nil, 0) {
			last = err
		}
		if _, got := model.KindOf(last); last == nil || got != code {
			t.Errorf("%d bytes: %v", len(text), last)
		}
	}
}
