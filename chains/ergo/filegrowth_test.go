package ergo

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/chaintest"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

func follows(o *model.SourceOptions) { o.Follow = true }

// appends appends to a file.
func appends(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// replaces replaces a file atomically.
func replaces(t *testing.T, path string, blocks []ergotest.Block) {
	t.Helper()
	next := filepath.Join(filepath.Dir(path), "next-"+filepath.Base(path))
	if err := ergotest.WriteFile(next, blocks); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func TestFilesMeasureTheirChain(t *testing.T) {
	blocks := made(41, 30)
	path, compressed := fileOf(t, texts(blocks...)...), fileOf(t, gzipped(t, strings.Join(texts(blocks...), "\n")))
	chaintest.Measures(t, openAt(t, "testnet", path), false)
	for what, src := range map[string]model.Source{
		"compressed": openAt(t, "testnet", compressed),
		"a part":     openAt(t, "testnet", path, func(o *model.SourceOptions) { o.To = new(model.HeightPk(5)) }),
	} {
		if e, err := src.(model.Measurer).Measure(t.Context(), model.Point{}, 5); err != nil || e.Total != 0 {
			t.Errorf("%s: %+v (%v), expected an unknown size", what, e, err)
		}
	}
}

func TestAFileThatGrowsIsFollowed(t *testing.T) {
	leaks(t)
	blocks := made(41, 30)
	lines := texts(blocks...)
	path := fileOf(t)
	src := openAt(t, "testnet", path, follows)
	got := chase(t, src)
	appends(t, path, lines[0]+"\n"+lines[1])
	got.reaches(blocks[1].Point())
	appends(t, path, "\n"+lines[2]+"\n"+lines[3][:200])
	got.reaches(blocks[2].Point())
	for range 5 { // the incomplete block is read several times
		time.Sleep(2 * time.Millisecond)
	}
	if tip, err := src.Tip(t.Context()); err != nil || tip != blocks[2].Point() {
		t.Errorf("the tip is %v, %v", tip, err)
	}
	appends(t, path, lines[3][200:]+"\n")
	got.reaches(blocks[3].Point())
	appends(t, path, strings.Join(lines[4:], "\n"))
	got.reaches(blocks[29].Point())
	got.end()
	if got.backs.Load() != 0 {
		t.Errorf("%d rollbacks", got.backs.Load())
	}
}

func TestAReplacedFileIsAReorganization(t *testing.T) {
	leaks(t)
	for _, name := range []string{"blocks.jsonl", "blocks.gz"} {
		c := ergogen.New(ergogen.Options{Seed: 42, TxsPerBlock: 2})
		blocks := ergotest.Made(c, 10)
		fork := append(append([]ergotest.Block{}, blocks...), ergotest.Made(c.Fork(1), 3)...)
		blocks = append(blocks, ergotest.Made(c, 12)...)
		path := filepath.Join(t.TempDir(), name)
		replaces(t, path, blocks)
		src := openAt(t, "testnet", path, follows)
		single := func(want ergotest.Block) {
			t.Helper()
			if b, err := src.(model.BlockReader).BlockAt(t.Context(), want.Height); err != nil || b.Hash != want.ID {
				t.Errorf("%s: block %d read separately is %+v, %v", name, want.Height, b, err)
			}
		}
		got := chase(t, src)
		got.reaches(blocks[21].Point())
		single(blocks[10])
		single(blocks[12])
		replaces(t, path, fork)
		single(fork[12])
		single(fork[10])
		got.reaches(fork[12].Point())
		replaces(t, path, blocks)
		got.reaches(blocks[21].Point())
		got.end()
		if got.backs.Load() != 2 {
			t.Errorf("%s: %d rollbacks", name, got.backs.Load())
		}
	}
}

func TestAFileReplacedByAnotherChainIsAnError(t *testing.T) {
	leaks(t)
	c := ergogen.New(ergogen.Options{Seed: 46, TxsPerBlock: 2})
	blocks := ergotest.Made(c, 5)
	path := filepath.Join(t.TempDir(), "blocks.jsonl")
	replaces(t, path, blocks)
	got := chase(t, openAt(t, "testnet", path, follows))
	got.reaches(blocks[4].Point())
	// A file that is being rewritten becomes shorter, which is not an error.
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		time.Sleep(2 * time.Millisecond)
	}
	appends(t, path, strings.Join(texts(blocks...), "\n"))
	longer := append(blocks, ergotest.Made(c, 2)...)
	replaces(t, path, longer)
	got.reaches(longer[6].Point())
	replaces(t, path, made(47, 9))
	err := <-got.done
	if kind, code := model.KindOf(err); kind != model.Refused || code != "wrong_chain" {
		t.Errorf("%v (%s), %d rollbacks", err, code, got.backs.Load())
	}
}

func TestInvalidAppendedBlocksAreAnError(t *testing.T) {
	leaks(t)
	blocks := made(43, 4)
	path := fileOf(t, texts(blocks[:2]...)...)
	got := chase(t, openAt(t, "testnet", path, follows))
	got.reaches(blocks[1].Point())
	appends(t, path, "\n"+string(blocks[3].JSON))
	err := <-got.done
	failsWith(t, "a gap", nil, err, 0, "bad_chain", "line 3", blocks[3].ID.String())
}

func TestAFollowedFileEndsAtTo(t *testing.T) {
	leaks(t)
	blocks := made(44, 9)
	src := openAt(t, "testnet", fileOf(t, texts(blocks...)...), follows, upTo(7))
	events, err := allOf(t, src)
	if err != nil || len(events) != 7 {
		t.Errorf("%d events, %v", len(events), err)
	}
	for range src.Follow(t.Context(), nil) {
		break // after cancellation no more blocks are read
	}
	if events, err = allOf(t, src, blocks[6].Point()); err != nil || len(events) != 0 {
		t.Errorf("known to the end: %d events, %v", len(events), err)
	}
}

func TestATruncatedGzipFileIsAnError(t *testing.T) {
	leaks(t)
	blocks := made(45, 200)
	path := filepath.Join(t.TempDir(), "blocks.gz")
	if err := ergotest.WriteFile(path, blocks); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	events, err := allOf(t, openAt(t, "testnet", path))
	if n := len(events); n < 50 || n > 190 {
		t.Errorf("%d blocks", n)
	}
	failsWith(t, "cut", events, err, len(events), "bad_block", "in the middle of a block")

	// gzip treats concatenated files as one stream.
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range [][]ergotest.Block{blocks[:100], blocks[100:]} {
		z := gzip.NewWriter(f)
		if _, err := z.Write([]byte(strings.Join(texts(half...), "\n"))); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if events, err := allOf(t, openAt(t, "testnet", path)); err != nil || len(apply(t, nil, events...)) != 200 {
		t.Errorf("two concatenated files: %d events, %v", len(events), err)
	}
}
