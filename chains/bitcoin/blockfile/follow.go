package blockfile

import (
	"context"
	"iter"
	"time"

	"birthmark/model"
)

// Follow implements [model.Source].
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		at := s.common(known)
		if len(known) > 0 && s.pointOf(at) != known[0] && !yield(s.rollback(at), nil) {
			return
		}
		for {
			for read, err := range s.read(ctx, s.next(at)) {
				for _, b := range read.blocks {
					if !yield(model.Event{Block: b}, nil) {
						return
					}
				}
				if err == nil {
					err = read.err
				}
				if err != nil {
					yield(model.Event{}, err)
					return
				}
			}
			at = s.tree.chain[max(s.end()-1, s.next(at)-1)]
			if !s.options.Follow || s.options.To != nil && s.next(at) > int(*s.options.To) {
				return
			}
			if err := s.wait(ctx, at); err != nil {
				yield(model.Event{}, err)
				return
			}
			if fork := s.tree.fork(at); fork != at {
				at = fork
				if !yield(s.rollback(at), nil) {
					return
				}
			}
		}
	}
}

// common returns the newest known block on the best chain, none if there is none.
func (s *Source) common(known []model.Point) int32 {
	for _, p := range known {
		if i, ok := s.tree.find(p.Hash); ok && s.tree.onChain(i) && s.tree.point(i) == p {
			return i
		}
	}
	return none
}

func (s *Source) pointOf(i int32) model.Point {
	if i == none {
		return model.Point{}
	}
	return s.tree.point(i)
}

func (s *Source) rollback(to int32) model.Event {
	p := s.pointOf(to)
	return model.Event{Rollback: &p}
}

// next returns the height after a node.
func (s *Source) next(i int32) int {
	if i == none {
		return 0
	}
	return int(s.tree.nodes[i].height) + 1
}

// end returns the height after the last block to read.
func (s *Source) end() int {
	if to := s.options.To; to != nil {
		return min(len(s.tree.chain), int(*to)+1)
	}
	return len(s.tree.chain)
}

// wait scans the files periodically until the best chain does not end in tip.
func (s *Source) wait(ctx context.Context, tip int32) error {
	t := time.NewTicker(s.poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		if err := s.refresh(ctx); err != nil {
			return err
		}
		if s.tree.best != tip {
			return nil
		}
	}
}
