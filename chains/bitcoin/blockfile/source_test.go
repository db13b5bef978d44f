package blockfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/chaintest"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// write writes files into a new folder and returns its path.
func write(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// noValues is an emitter without indexes.
type noValues struct{}

func (noValues) MaxKeys() int                                                      { return 0 }
func (noValues) MaxBytes([]byte) int                                               { return 0 }
func (noValues) Begin(*model.Block, []byte, []byte)                                {}
func (noValues) BeginUnconfirmed([]byte, []byte)                                   {}
func (noValues) Transaction(int, block.Span)                                       {}
func (noValues) Keys(to []model.Key, _ int, _ uint64, _ []byte, _ int) []model.Key { return to }

func regtest() *params.Network { return networkNamed("regtest") }

func networkNamed(name string) *params.Network {
	return params.Networks[slices.IndexFunc(params.Networks, func(n *params.Network) bool { return n.Name == name })]
}

// opened is a source and its files.
type opened struct {
	model.Source
	files *files
}

func open(t testing.TB, network, path string, change ...func(*Options)) (*opened, error) {
	t.Helper()
	o := Options{Network: networkNamed(network), Decoder: func() *block.Decoder { return block.NewDecoder(&block.Bitcoin, noValues{}) }}
	o.Workers = 3
	for _, f := range change {
		f(&o)
	}
	f, err := openFiles(t.Context(), path, o)
	if err != nil {
		return nil, err
	}
	s := &opened{f.source(), f}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, nil
}

func mustOpen(t testing.TB, network, path string, change ...func(*Options)) *opened {
	t.Helper()
	s, err := open(t, network, path, change...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// collect follows a source to its end. It checks that every block is the child of the block before it or of the
// rollback's target.
func collect(t testing.TB, s model.Source, known ...model.Point) (blocks []*model.Block, rollbacks []model.Point, err error) {
	t.Helper()
	at := model.Point{}
	if len(known) > 0 {
		at = known[0]
	}
	for e, err := range s.Follow(t.Context(), known) {
		switch {
		case err != nil:
			return blocks, rollbacks, err
		case e.Rollback != nil:
			at = *e.Rollback
			rollbacks = append(rollbacks, at)
		default:
			want := at.Height + 1
			if at.IsOrigin() {
				want = 0
			}
			if e.Block.Height != want || e.Block.Parent != at.Hash {
				t.Fatalf("block %d (parent %s) follows %d (%s)", e.Block.Height, block.FormatHash(e.Block.Parent), at.Height, block.FormatHash(at.Hash))
			}
			at = e.Block.Point()
			blocks = append(blocks, e.Block)
		}
	}
	return blocks, rollbacks, nil
}

// yields checks that a source yields exactly the blocks in want.
func yields(t testing.TB, s *opened, want []*wire.MsgBlock) {
	t.Helper()
	blocks, rollbacks, err := collect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != len(want) || len(rollbacks) != 0 {
		t.Fatalf("%d blocks and %d rollbacks, expected %d and none", len(blocks), len(rollbacks), len(want))
	}
	for i, b := range blocks {
		if err := sameBlock(b, want[i]); err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
	}
	tip, err := s.Tip(t.Context())
	if last := blocks[len(blocks)-1].Point(); err != nil || tip != last {
		t.Errorf("the tip is %v, %v; the last block is %v", tip, err, last)
	}
}

// fails checks the code of an error and that its message contains names.
func fails(t testing.TB, err error, code string, names ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %s", code)
	}
	kind, got := model.KindOf(err)
	if kind != model.BadSource || got != code || !contains(err.Error(), names...) {
		t.Fatalf("kind %d, code %s: %v; expected code %s and %q", kind, got, err, code, names)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
}

// sameBlock compares a decoded block with the one that was serialized.
func sameBlock(b *model.Block, m *wire.MsgBlock) error {
	if b.Hash != model.Hash(m.BlockHash()) || len(b.Txs) != len(m.Transactions) {
		return fmt.Errorf("%s with %d transactions, expected %s with %d", block.FormatHash(b.Hash), len(b.Txs), m.BlockHash(), len(m.Transactions))
	}
	for i, tx := range m.Transactions {
		if b.Txs[i].Hash != model.Hash(tx.TxHash()) || len(b.Txs[i].Outputs) != len(tx.TxOut) {
			return fmt.Errorf("transaction %d is %s, expected %s", i, block.FormatHash(b.Txs[i].Hash), tx.TxHash())
		}
	}
	return nil
}

func contains(s string, all ...string) bool {
	for _, part := range all {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

func fileNumber(number int) string { return fmt.Sprintf("blk%05d.dat", number) }

// randomChain returns a chain with spends, witnesses and outputs of every kind, and some stale branches.
func randomChain(r *rand.Rand, blocks int) (c *bitcointest.Chain, stale []*wire.MsgBlock) {
	c = bitcointest.NewChain()
	scripts := [][]byte{nil, {0x51}, append([]byte{0, 20}, make([]byte, 20)...), bytes.Repeat([]byte{0x6a}, 300)}
	var spendable []*wire.MsgTx
	for c.Height() < blocks {
		if r.IntN(20) == 0 && c.Height() > 3 {
			back := 1 + r.IntN(3)
			branch := c.Fork(c.Height() - back)
			branch.MineEmpty(1 + r.IntN(back))
			stale = append(stale, branch.Blocks()[c.Height()-back+1:]...)
		}
		var txs []*wire.MsgTx
		for range r.IntN(4) {
			if len(spendable) == 0 {
				break
			}
			i := r.IntN(len(spendable))
			tx := bitcointest.Spend(spendable[i], 0, wire.NewTxOut(int64(r.IntN(1e8)), scripts[r.IntN(len(scripts))]))
			if r.IntN(2) == 0 {
				tx.TxIn[0].Witness = wire.TxWitness{make([]byte, r.IntN(300)), {}}
			}
			spendable[i] = tx
			txs = append(txs, tx)
		}
		b := c.Mine(txs...)
		spendable = append(spendable, b.Transactions[0])
	}
	return c, stale
}

// TestBlockFilesInEveryFormHaveTheSameChain checks that the order of arrival, stale branches, duplicates, several files,
// padding and XOR do not change the chain. Neither do workers, memory or the number of blocks read at once.
func TestBlockFilesInEveryFormHaveTheSameChain(t *testing.T) {
	r := testseed.Rand(t)
	for round := range 12 {
		c, stale := randomChain(r, 20+r.IntN(150))
		want := c.Blocks()
		all := append(c.Blocks(), stale...)
		all = append(all, all[r.IntN(len(all))])
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

		files := map[string][]byte{}
		var key []byte
		if r.IntN(2) == 0 {
			key = make([]byte, xorKeySize)
			for i := range key {
				key[i] = byte(r.IntN(4) * r.IntN(85)) // including zeros
			}
			if r.IntN(2) == 0 {
				key[0] = regtest().Magic[0] // then a record begins with a zero
			}
			files["xor.dat"] = key
		}
		for number := 0; len(all) > 0; number++ {
			n := 1 + r.IntN(len(all))
			content := bitcointest.BlockFile(wire.TestNet, all[:n]...)
			all = all[n:]
			padding := make([]byte, r.IntN(3)*r.IntN(20_000))
			switch r.IntN(3) {
			case 0: // like Core: the reserved space is not XORed
				unmask(content, key, 0)
				content = append(content, padding...)
			case 1: // like tools that XOR whole files
				content = append(content, padding...)
				unmask(content, key, 0)
			default:
				unmask(content, key, 0)
			}
			files[fileNumber(number)] = content
		}
		limits := model.SourceOptions{Workers: 1 + r.IntN(4), Memory: int64(1 + r.IntN(1<<20))}
		s, err := open(t, "regtest", write(t, files), func(o *Options) { o.Workers, o.Memory = limits.Workers, limits.Memory })
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		yields(t, s, want)
	}
}

func TestTheBestChainHasTheMostWorkOrIsFirst(t *testing.T) {
	a := bitcointest.NewChain()
	a.MineEmpty(5)
	b := a.Fork(2)
	b.MineEmpty(3)
	shared, left, right := a.Blocks()[:3], a.Blocks()[3:], b.Blocks()[3:]
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, slices.Concat(shared, left, right)...)})), a.Blocks())
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, slices.Concat(shared, right, left)...)})), b.Blocks())
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, slices.Concat(shared, left)...),
		"blk00001.dat": bitcointest.BlockFile(wire.TestNet, right...)})), a.Blocks())
	// The best chain has the most work, not the most blocks: one block of four times the work wins over three.
	heavy := a.Fork(2)
	last := heavy.Mine()
	last.Header.Bits = 0x201fffff
	bitcointest.Work(last)
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, slices.Concat(shared, left, right, []*wire.MsgBlock{last})...)})), heavy.Blocks())
}

func TestFilesAreOrderedByNumber(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	fork := c.Fork(1)
	fork.MineEmpty(1)
	// Sorted by name, blk100000 would come before blk99999.
	yields(t, mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk100000.dat": bitcointest.BlockFile(wire.TestNet, fork.Blocks()[2]),
		"blk99999.dat":  bitcointest.BlockFile(wire.TestNet, c.Blocks()...),
		"rev99999.dat":  []byte("undo data is not looked at"),
		"blkindex.dat":  []byte("neither is this"),
	})), c.Blocks())
}

func TestASingleFileIsASource(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(3)
	dir := write(t, map[string][]byte{"some blocks.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
	yields(t, mustOpen(t, "regtest", filepath.Join(dir, "some blocks.dat")), c.Blocks())
}

func TestTheSourceEndsAtTo(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(30)
	dir := write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
	for _, to := range []model.HeightPk{0, 1, 17, 30, 31} {
		for _, stay := range []bool{false, true} {
			if stay && to == 31 {
				continue // Follow would wait for it
			}
			s := mustOpen(t, "regtest", dir, func(o *Options) { o.To, o.Follow = &to, stay })
			blocks, _, err := collect(t, s)
			if err != nil || len(blocks) != min(int(to), 30)+1 {
				t.Errorf("to %d: %d blocks, %v", to, len(blocks), err)
			}
			// The known blocks reach beyond To.
			tip, _ := s.Tip(t.Context())
			if blocks, rollbacks, err := collect(t, s, tip); err != nil || len(blocks)+len(rollbacks) != 0 {
				t.Errorf("to %d with everything known: %d blocks, %d rollbacks, %v", to, len(blocks), len(rollbacks), err)
			}
		}
	}
}

func TestFollowResumesAtTheNewestKnownBlock(t *testing.T) {
	ours := bitcointest.NewChain()
	ours.MineEmpty(20)
	theirs := ours.Fork(12)
	theirs.MineEmpty(10)
	point := func(c *bitcointest.Chain, height int) model.Point {
		return model.Point{Height: model.HeightPk(height), Hash: model.Hash(c.Blocks()[height].BlockHash())}
	}
	s := mustOpen(t, "regtest", write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, slices.Concat(ours.Blocks(), theirs.Blocks()[13:])...)}))
	wrongHeight := point(theirs, 15)
	wrongHeight.Height++
	for name, c := range map[string]struct {
		known    []model.Point
		rollback *model.Point
		first    int
	}{
		"nothing known":              {nil, nil, 0},
		"the tip":                    {[]model.Point{point(theirs, 22), point(theirs, 10)}, nil, 23},
		"on the chain":               {[]model.Point{point(theirs, 7)}, nil, 8},
		"on a stale branch":          {[]model.Point{point(ours, 20), point(ours, 13), point(ours, 12), point(ours, 3)}, ptr(point(ours, 12)), 13},
		"known with gaps":            {[]model.Point{point(ours, 20), point(ours, 3)}, ptr(point(ours, 3)), 4},
		"of another chain":           {[]model.Point{{Height: 7, Hash: model.Hash{1}}}, &model.Point{}, 0},
		"right hash at wrong height": {[]model.Point{wrongHeight, point(theirs, 1)}, ptr(point(theirs, 1)), 2},
	} {
		blocks, rollbacks, err := collect(t, s, c.known...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(blocks) != 23-c.first || len(blocks) > 0 && blocks[0].Height != model.HeightPk(c.first) {
			t.Errorf("%s: %d blocks, expected those from %d to 22", name, len(blocks), c.first)
		}
		if c.rollback == nil && len(rollbacks) != 0 || c.rollback != nil && !slices.Equal(rollbacks, []model.Point{*c.rollback}) {
			t.Errorf("%s: rollbacks %v, expected %v", name, rollbacks, c.rollback)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestBlockFilesMeasureTheirChain(t *testing.T) {
	c, stale := randomChain(testseed.Rand(t), 30)
	dir := write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, append(c.Blocks(), stale...)...)})
	chaintest.Measures(t, mustOpen(t, "regtest", dir).Source, true)
	src := mustOpen(t, "regtest", dir)
	all, err := src.Source.(model.Measurer).Measure(t.Context(), model.Point{}, 29)
	part, err2 := src.Source.(model.Measurer).Measure(t.Context(), model.Point{}, 0)
	if err != nil || err2 != nil || part.Total == 0 || part.Total >= all.Total {
		t.Errorf("up to block 0 %+v (%v), up to the tip %+v (%v)", part, err2, all, err)
	}
}

func TestFollowEndsWithItsContextAndItsConsumer(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(2000)
	dir := write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
	s := mustOpen(t, "regtest", dir, func(o *Options) { o.Follow, o.Memory = true, 1000 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	var last error
	for _, err := range s.Follow(ctx, nil) {
		if last = err; err == nil {
			seen++
		}
		if seen == 2001 { // at the tip, where Follow waits
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || seen != 2001 {
		t.Errorf("%v after %d blocks", last, seen)
	}
	for range s.Follow(t.Context(), nil) {
		break
	}
	if _, err := Open(ctx, dir, Options{Network: regtest()}); !errors.Is(err, context.Canceled) {
		t.Errorf("opened with a context that has ended: %v", err)
	}
}
