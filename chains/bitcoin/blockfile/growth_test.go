package blockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// TestFollowReadsWhatANodeWrites writes to the files while the source follows them: blocks after the last one, into
// reserved space, half of a block and then the rest, other files, and branches of every depth that become the best
// chain.
func TestFollowReadsWhatANodeWrites(t *testing.T) {
	r := testseed.Rand(t)
	logged(t) // cut records are expected
	dir := t.TempDir()
	c := bitcointest.NewChain()
	c.MineEmpty(3)
	key := []byte{1, 2, 3, 0, 5, 0xfa, 7, 8}
	if err := os.WriteFile(filepath.Join(dir, "xor.dat"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	var content []byte // of the node's current file, without the reserved space
	number := 0
	put := func(reserve int) {
		t.Helper()
		masked := slices.Clone(content)
		unmask(masked, key, 0)
		// Overwrite the file with one write: a node appends.
		f, err := os.OpenFile(filepath.Join(dir, fileNumber(number)), os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(append(masked, make([]byte, reserve)...)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	content = bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	put(0)

	s := mustOpen(t, "regtest", dir, func(o *Options) { o.Follow = true })
	s.files.poll = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var ours []model.Point // the chain according to the events
	step, steps := 0, 60
	for e, err := range s.Follow(ctx, nil) {
		switch {
		case err != nil:
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			continue
		case e.Rollback != nil:
			i := slices.Index(ours, *e.Rollback)
			if i < 0 {
				t.Fatalf("rollback to %v, which is not an ancestor", e.Rollback)
			}
			ours = ours[:i+1]
		default:
			if len(ours) > 0 && e.Block.Parent != ours[len(ours)-1].Hash {
				t.Fatalf("block %d is not a child of the previous block", e.Block.Height)
			}
			ours = append(ours, e.Block.Point())
		}
		if last := ours[len(ours)-1]; last.Hash != model.Hash(c.Tip().BlockHash()) || e.Rollback != nil {
			continue
		}
		// The source has reached the node's tip: the node continues.
		if step++; step > steps {
			cancel()
			continue
		}
		before := c.Height()
		switch r.IntN(5) {
		case 0: // another branch, longer than ours
			back := 1 + r.IntN(min(10, before))
			c = c.Fork(before - back)
			c.MineEmpty(back + 1 + r.IntN(3))
			for h := before - back + 1; h <= c.Height(); h++ {
				content = append(content, bitcointest.BlockFile(wire.TestNet, c.Blocks()[h])...)
			}
			put(r.IntN(5000))
		case 1: // a block in two halves
			whole := append(slices.Clone(content), bitcointest.BlockFile(wire.TestNet, c.Mine())...)
			reserve := r.IntN(2) * 5000
			content = whole[:len(content)+r.IntN(len(whole)-len(content))]
			put(reserve)
			time.Sleep(3 * time.Millisecond) // the source may or may not scan now: both are valid
			content = whole
			put(reserve)
		case 2: // a killed node left half a block, and writes it again
			record := bitcointest.BlockFile(wire.TestNet, c.Mine())
			content = append(content, record[:1+r.IntN(len(record)-1)]...)
			put(r.IntN(2) * 5000)
			time.Sleep(time.Duration(r.IntN(2)) * 3 * time.Millisecond)
			content = append(content, record...)
			put(r.IntN(2) * 5000)
		case 3: // the next file
			c.MineEmpty(1)
			number++
			content = bitcointest.BlockFile(wire.TestNet, c.Tip())
			put(r.IntN(5000))
		default: // several blocks, out of order
			n := 1 + r.IntN(5)
			c.MineEmpty(n)
			news := c.Blocks()[before+1:]
			slices.Reverse(news)
			content = append(content, bitcointest.BlockFile(wire.TestNet, news...)...)
			put(0)
		}
	}
	if step <= steps {
		t.Errorf("ended after %d steps of %d", step, steps)
	}
	if len(ours) != c.Height()+1 {
		t.Errorf("%d blocks, the node has %d", len(ours), c.Height()+1)
	}
}

// TestOnlyChangedFilesAreReadAgain checks that a refresh without changes adds nothing, and that it finds a block even
// if neither the size nor the time of its file changed.
func TestOnlyChangedFilesAreReadAgain(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5)
	content := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	dir := write(t, map[string][]byte{"blk00000.dat": append(slices.Clone(content), make([]byte, 1000)...)})
	path := filepath.Join(dir, "blk00000.dat")
	s := mustOpen(t, "regtest", dir)
	nodes := len(s.files.tree.nodes)
	if err := s.files.refresh(t.Context()); err != nil || len(s.files.tree.nodes) != nodes {
		t.Fatalf("%d headers became %d, %v", nodes, len(s.files.tree.nodes), err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	more := append(content, bitcointest.BlockFile(wire.TestNet, c.Mine())...)
	more = append(more, make([]byte, int(info.Size())-len(more))...)
	if err := os.WriteFile(path, more, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := s.files.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tip, _ := s.Tip(t.Context()); tip.Height != 6 {
		t.Errorf("the tip is %d after block 6 was written", tip.Height)
	}
}
