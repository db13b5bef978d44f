package verify

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

const (
	// prefetch is the number of blocks that are requested ahead.
	prefetch = 4
	// maxDetour bounds the blocks below a damaged row from which walkAround starts.
	maxDetour = 100
)

// source is a source of single blocks, by height or by parent.
type source struct {
	model.Source
	byHeight model.BlockReader
	byParent model.ChildReader // used if byHeight is nil
}

func newSource(src model.Source) (*source, error) {
	s := &source{Source: src}
	s.byHeight, _ = src.(model.BlockReader)
	s.byParent, _ = src.(model.ChildReader)
	if s.byHeight == nil && s.byParent == nil {
		return nil, model.Errorf(model.Usage, "bad_source",
			"this source does not provide single blocks: verify with another one, "+
				"such as a node or its block files")
	}
	return s, nil
}

// fetch is a request for a block of the source.
type fetch struct {
	height model.HeightPk
	block  *model.Block // nil if the source has none on top of the database's block below
	err    error
	done   chan struct{}
}

// fetch returns the source's block; nil if a source by parent has none on top of after at this height.
func (s *source) fetch(ctx context.Context, h model.HeightPk, after model.Point) (*model.Block, error) {
	if s.byHeight != nil {
		return s.byHeight.BlockAt(ctx, h)
	}
	b, err := s.byParent.Child(ctx, after)
	if kind, code := model.KindOf(err); err != nil && kind == model.NotFound && code == "unknown_block" {
		return nil, nil
	}
	if err == nil && b.Height != h {
		return nil, nil // after has another height
	}
	return b, err
}

// parent returns the database's block below a height, for a source by parent.
func (v *verifier) parent(h model.HeightPk) (model.Point, error) {
	if v.src.byHeight != nil || h == v.first {
		return model.Point{}, nil
	}
	return schema.PointAt(v.r, h-1)
}

// sourceBlocks fetches the source's blocks at some heights, prefetch of them ahead, and yields them in order.
func (v *verifier) sourceBlocks(heights []model.HeightPk) iter.Seq[*fetch] {
	return func(yield func(*fetch) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(v.ctx)
		defer cancel()
		var queue []*fetch
		for len(heights)+len(queue) > 0 {
			if len(heights) > 0 && len(queue) <= prefetch {
				f := &fetch{height: heights[0], done: make(chan struct{})}
				heights, queue = heights[1:], append(queue, f)
				running.Go(func() {
					defer close(f.done)
					f.err = guard.Call(func() (err error) {
						if after, damaged := v.parent(f.height); damaged == nil {
							f.block, err = v.src.fetch(ctx, f.height, after)
						}
						return err
					})
				})
				continue
			}
			f := queue[0]
			queue = queue[1:]
			if <-f.done; !yield(f) {
				return
			}
		}
	}
}

// blockOf returns the source's block at a height at which both have the same one; nil, after reporting it, if there
// is no way to it. It returns source_moved if the source switched to another chain.
func (v *verifier) blockOf(f *fetch, sample []model.HeightPk) (*model.Block, error) {
	if f.err != nil {
		return nil, f.err
	}
	if f.block != nil {
		if row, err := schema.BlockAt(v.r, f.height); err == nil && row.Hash == f.block.Hash {
			return f.block, nil
		}
	}
	if same, err := v.sharesBlock(v.last); err != nil || !same {
		return nil, sourceMoved(err)
	}
	if f.block != nil {
		return f.block, nil
	}
	return v.walkAround(f.height, sample)
}

func sourceMoved(err error) error {
	if err != nil {
		return err
	}
	return model.Errorf(model.BadSource, "source_moved",
		"the source switched to another chain during the comparison: run verify again")
}

// walkAround returns the source's block at a height whose parent's row is damaged. It starts from the nearest row below
// that the source knows and follows the source's chain. It reports damaged rows on the way, except those of the
// sample.
func (v *verifier) walkAround(h model.HeightPk, sample []model.HeightPk) (*model.Block, error) {
	for at := h; at > v.first && h-at < maxDetour; {
		at--
		after, err := v.parent(at)
		if err != nil {
			continue
		}
		b, err := v.src.fetch(v.ctx, at, after)
		for b != nil && err == nil && b.Height < h {
			if _, chosen := slices.BinarySearch(sample, b.Height); !chosen {
				if err := v.header(b); err != nil {
					return nil, err
				}
			}
			if b, err = v.src.fetch(v.ctx, b.Height+1, b.Point()); b == nil {
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
	what := fmt.Sprintf("block on top of one of the %d blocks below", min(maxDetour, h-v.first))
	at := Difference{Height: uint32(h), What: what}
	v.report(at, fmt.Sprintf("block %d", h), "none of them is on the source's chain")
	return nil, v.ctx.Err()
}

// sharesBlock reports whether the database's block at a height is on the source's chain.
func (v *verifier) sharesBlock(h model.HeightPk) (bool, error) {
	if v.src.byHeight != nil {
		ours, theirs, err := v.hashesAt(h)
		return ours == theirs, err
	}
	p, err := v.parent(h + 1)
	if err != nil {
		return false, v.ctx.Err()
	}
	b, err := v.src.fetch(v.ctx, h+1, p)
	if b != nil || err != nil {
		return b != nil, err
	}
	tip, err := v.src.Tip(v.ctx)
	return tip == p, err
}

// hashesAt returns the hashes of the database's and of the source's block at a height, or the error of a row instead
// of its hash. The parent must be on the source's chain if the source is one by parent.
func (v *verifier) hashesAt(h model.HeightPk) (ours, theirs string, err error) {
	after, err := v.parent(h)
	if err != nil {
		return "", "", err
	}
	b, err := v.src.fetch(v.ctx, h, after)
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
