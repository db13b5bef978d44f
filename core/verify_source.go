package core

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"birthmark/core/schema"
	"birthmark/model"
)

const (
	// askedAhead is how many blocks the source is asked for while one is compared.
	askedAhead = 4
	// aroundRows is how many rows that do not lead to the source's next block are gone around.
	aroundRows = 100
)

// verifySource is a source that can be asked for single blocks: by height, or by the point before.
type verifySource struct {
	model.Source
	byHeight model.BlockReader
	byParent model.ChildReader // asked where byHeight is nil
}

func newVerifySource(src model.Source) (*verifySource, error) {
	s := &verifySource{Source: src}
	s.byHeight, _ = src.(model.BlockReader)
	s.byParent, _ = src.(model.ChildReader)
	if s.byHeight == nil && s.byParent == nil {
		return nil, model.Errorf(model.Usage, "bad_source", "this source cannot be asked for single blocks: verify with another one, such as a node or its block files")
	}
	return s, nil
}

// asked is a block of the source that is under way.
type asked struct {
	height model.HeightPk
	after  model.Point // of the database, where the source is asked by it
	block  *model.Block
	err    error
	done   chan struct{}
}

// ask is the block the source has; nil where it has none that the point before leads to.
func (s *verifySource) ask(ctx context.Context, h model.HeightPk, after model.Point) (*model.Block, error) {
	if s.byHeight != nil {
		return s.byHeight.BlockAt(ctx, h)
	}
	b, err := s.byParent.Child(ctx, after)
	if kind, code := model.KindOf(err); err != nil && kind == model.NotFound && code == "unknown_block" {
		return nil, nil
	}
	if err == nil && b.Height != h {
		return nil, nil // the point is of another height
	}
	return b, err
}

// parent is what the source is asked by for its block at a height: the database's point before it.
func (v *verifier) parent(h model.HeightPk) (model.Point, error) {
	if v.src.byHeight != nil || h == v.first {
		return model.Point{}, nil
	}
	row, err := schema.BlockAt(v.r, h-1)
	return model.Point{Height: h - 1, Hash: row.Hash, Slot: row.Slot}, err
}

// sourceBlocks asks for the source's blocks at some heights, a few ahead, and yields them in order.
func (v *verifier) sourceBlocks(heights []model.HeightPk) iter.Seq[*asked] {
	return func(yield func(*asked) bool) {
		var under sync.WaitGroup
		defer under.Wait()
		ctx, cancel := context.WithCancel(v.ctx)
		defer cancel()
		var queue []*asked
		for len(heights)+len(queue) > 0 {
			for len(heights) > 0 && len(queue) <= askedAhead {
				a := &asked{height: heights[0], done: make(chan struct{})}
				heights, queue = heights[1:], append(queue, a)
				var damaged error
				if a.after, damaged = v.parent(a.height); damaged != nil {
					close(a.done)
					continue
				}
				under.Go(func() {
					defer close(a.done)
					a.block, a.err = v.src.ask(ctx, a.height, a.after)
				})
			}
			a := queue[0]
			queue = queue[1:]
			if <-a.done; !yield(a) {
				return
			}
		}
	}
}

// blockOf is the source's block at a height where both have the same; nil where it cannot be reached, which is noted.
// One that is another now, and not because the database's row is wrong, says that the source went over to another chain
// meanwhile.
func (v *verifier) blockOf(a *asked, sample []model.HeightPk) (*model.Block, error) {
	if a.err != nil {
		return nil, a.err
	}
	if a.block != nil {
		if row, err := schema.BlockAt(v.r, a.height); err == nil && row.Hash == a.block.Hash {
			return a.block, nil
		}
	}
	if same, err := v.shares(v.last); err != nil || !same {
		return nil, sourceMoved(err)
	}
	if a.block != nil {
		return a.block, nil
	}
	return v.around(a.height, sample)
}

func sourceMoved(err error) error {
	if err != nil {
		return err
	}
	return model.Errorf(model.BadSource, "source_moved", "the source went over to another chain while it was compared: verify again")
}

// around is the source's block at a height that the row before it does not lead to. It is reached from the nearest row
// below that leads somewhere; what is wrong with those between is noted, but for those of the sample, whose turn comes.
func (v *verifier) around(h model.HeightPk, sample []model.HeightPk) (*model.Block, error) {
	for at := h; at > v.first && h-at < aroundRows; {
		at--
		after, err := v.parent(at)
		if err != nil {
			continue
		}
		b, err := v.src.ask(v.ctx, at, after)
		for b != nil && err == nil && b.Height < h {
			if _, chosen := slices.BinarySearch(sample, b.Height); !chosen {
				if err := v.header(b); err != nil {
					return nil, err
				}
			}
			if b, err = v.src.ask(v.ctx, b.Height+1, b.Point()); b == nil {
				return nil, sourceMoved(err)
			}
		}
		if b != nil || err != nil {
			return b, err
		}
	}
	if h == v.first {
		return nil, sourceMoved(nil)
	}
	v.differ(DifferenceAnswer{Height: uint32(h), What: fmt.Sprintf("what the %d blocks before lead to", min(aroundRows, h-v.first))},
		fmt.Sprintf("block %d", h), "nothing on the source's chain")
	return nil, v.ctx.Err()
}

// shares reports whether the database's block at a height is on the source's chain.
func (v *verifier) shares(h model.HeightPk) (bool, error) {
	if v.src.byHeight != nil {
		ours, theirs, err := v.hashesAt(h)
		return ours == theirs, err
	}
	p, err := v.parent(h + 1)
	if err != nil {
		return false, v.ctx.Err()
	}
	b, err := v.src.ask(v.ctx, h+1, p)
	if b != nil || err != nil {
		return b != nil, err
	}
	tip, err := v.src.Tip(v.ctx)
	return tip == p, err
}

// hashesAt are the hashes of the database's and of the source's block at a height, that of a row which cannot be read
// being what is wrong with it. Where the source is asked by the point before, that one has to be on its chain.
func (v *verifier) hashesAt(h model.HeightPk) (ours, theirs string, err error) {
	after, err := v.parent(h)
	if err != nil {
		return "", "", err
	}
	b, err := v.src.ask(v.ctx, h, after)
	if b == nil {
		return "", "", sourceMoved(err)
	}
	theirs = v.Chain.FormatHash(b.Hash)
	row, err := schema.BlockAt(v.r, h)
	if err != nil {
		return err.Error(), theirs, v.ctx.Err()
	}
	if ours = v.Chain.FormatHash(row.Hash); ours == theirs && row.Slot != b.Slot && v.src.byHeight == nil {
		return fmt.Sprintf("%s, slot %d", ours, row.Slot), fmt.Sprintf("%s, slot %d", theirs, b.Slot), nil
	}
	return ours, theirs, nil
}
