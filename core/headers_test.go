package core_test

import (
	"bytes"
	"errors"
	"testing"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// checked is a chain that rejects the block at one height, and checks the headers that CheckHeader can read for each
// block.
type checked struct {
	model.Chain
	t       *testing.T
	blocks  []*model.Block
	refuses model.HeightPk
	asked   int
}

var errRefused = errors.New("not this one")

func (c *checked) CheckHeader(b *model.Block, before func(model.HeightPk) ([]byte, error)) error {
	first := c.blocks[0].Height
	for _, back := range []model.HeightPk{1, 2, 7, 25} {
		if back > b.Height {
			continue
		}
		var want []byte // nil below the first block
		if h := b.Height - back; h >= first {
			want = c.blocks[h-first].Header
		}
		c.asked++
		if got, err := before(b.Height - back); err != nil || !bytes.Equal(got, want) {
			c.t.Errorf("before block %d, at %d: %x, %v, expected %x", b.Height, b.Height-back, got, err, want)
		}
	}
	if b.Height == c.refuses {
		return errRefused
	}
	return nil
}

// The chain checks every block and can read the headers before it, whether or not they are committed. Rejected blocks
// are not written.
func TestHeadersAreCheckedAgainstEarlierOnes(t *testing.T) {
	ctx := t.Context()
	for _, v := range modeltest.Variants() {
		blocks := v.NewGenerator(testseed.Of(t, 4)).Blocks(40)
		for _, batch := range []int{1, 3, 40} {
			c := &checked{Chain: v.Chain("one"), t: t, blocks: blocks, refuses: blocks[38].Height}
			db, err := core.Open(ctx, memory.New(), core.Options{Chain: c, Keep: v.Keep(), Raw: v.Raw})
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, db, blocks[:36], batch)
			if err := db.Append(ctx, blocks[36:]); !errors.Is(err, errRefused) {
				t.Errorf("%s: a refused block: %v", v.Name, err)
			}
			if tip := db.Tip(); tip != blocks[35].Point() || c.asked < 100 {
				t.Errorf("%s: the tip is %d, %d headers were read", v.Name, tip.Height, c.asked)
			}
			for i, b := range blocks {
				want := b.Header
				if i >= 36 {
					want = nil
				}
				if got, err := db.Header(ctx, b.Height); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: header %d is %x, %v", v.Name, b.Height, got, err)
				}
			}
			consistent(t, db)
		}
	}
}
