package ergogen_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/model"
)

func TestWriteOneBlockPerLine(t *testing.T) {
	dir, o := filepath.Join(t.TempDir(), "new"), ergogen.Options{Seed: 4}
	var told ergogen.Counts
	written, err := ergogen.Write(context.Background(), dir, o, 2000, func(n ergogen.Counts) { told = n })
	if err != nil {
		t.Fatal(err)
	}
	made := written.Made()
	if told != made || made.Txs < 2000 {
		t.Errorf("%+v was written, %+v told: expected 2000 transactions", made, told)
	}
	var expected bytes.Buffer
	c, before := ergogen.New(o), 0
	for range made.Blocks {
		before = c.Made().Txs
		expected.Write(append(c.Next().JSON, '\n'))
	}
	if before >= 2000 || c.Tip() != written.Tip() {
		t.Errorf("the file ends with %+v, %d transactions before it: expected %+v and fewer than 2000", written.Tip(), before, c.Tip())
	}
	if got, err := os.ReadFile(filepath.Join(dir, ergogen.BlocksFile)); err != nil || !bytes.Equal(got, expected.Bytes()) {
		t.Errorf("%d bytes, %v: expected the %d bytes of the chain", len(got), err, expected.Len())
	}
	_, err = ergogen.Write(context.Background(), dir, o, 10, nil)
	if kind, code := model.KindOf(err); kind != model.Refused || code != "not_empty" {
		t.Errorf("a second chain over the first: %v", err)
	}
}

func TestWrittenChainHasABlock(t *testing.T) {
	c, err := ergogen.Write(context.Background(), t.TempDir(), ergogen.Options{}, 0, nil)
	if err != nil || c.Made().Blocks != 1 {
		t.Errorf("%+v, %v", c.Made(), err)
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := ergogen.Write(ctx, t.TempDir(), ergogen.Options{}, 1_000_000, func(ergogen.Counts) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected %v", err, context.Canceled)
	}
}
