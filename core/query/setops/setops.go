package setops

import (
	"cmp"
	"errors"
	"iter"

	"birthmark/model"
)

// rank is the position of an output in the given order: the smaller rank comes first.
type rank uint64

func rankOf(pk model.UtxoPk, descending bool) rank {
	if descending {
		return rank(^pk)
	}
	return rank(pk)
}

func (r rank) pk(descending bool) model.UtxoPk {
	if descending {
		return model.UtxoPk(^r)
	}
	return model.UtxoPk(r)
}

// Stream yields outputs in order, without duplicates: a [ScanStream], [Union] or [Intersection].
type Stream interface {
	// seek returns the first output at or after target; ok is false at the end. Targets of a stream must not
	// decrease. On ErrBudget, there is no output from target up to, but excluding, the returned rank.
	seek(target rank) (found rank, ok bool, err error)
	close()
}

// ErrBudget ends a page whose row budget is used up.
var ErrBudget = errors.New("the row budget of a page is used up")

// Budget is the remaining cost of a page, in rows.
type Budget struct{ Left int }

func (b *Budget) spend(rows int) error {
	if b.Left < rows {
		return ErrBudget
	}
	b.Left -= rows
	return nil
}

const (
	seekThreshold = 16 // rows to step over before a new scan is cheaper
	seekCost      = 16 // cost of a new scan, in rows
)

// ScanStream yields the outputs of one scan. It steps to a near target and starts a new scan for a distant one.
type ScanStream struct {
	Scan       Scan
	Span       Span
	Descending bool
	Budget     *Budget
	Cost       int // rows to step over before a new scan is cheaper; 0: 16

	next  func() (model.UtxoPk, error, bool) // nil: not started
	stop  func()
	at    rank
	ended bool
}

func (s *ScanStream) seek(target rank) (rank, bool, error) {
	for steps := 0; s.next != nil && !s.ended; steps++ {
		if s.at >= target {
			return s.at, true, nil
		}
		if steps == cmp.Or(s.Cost, seekThreshold) {
			s.close()
			break
		}
		if err := s.step(); err != nil {
			return target, false, err
		}
	}
	if s.ended {
		return 0, false, nil
	}
	if err := s.Budget.spend(seekCost); err != nil {
		return target, false, err
	}
	part := s.Span
	if s.Descending {
		part.Last = min(part.Last, target.pk(true))
	} else {
		part.First = max(part.First, target.pk(false))
	}
	s.next, s.stop = iter.Pull2(s.Scan(part, s.Descending))
	if err := s.step(); err != nil {
		s.close()
		return target, false, err
	}
	return s.at, !s.ended, nil
}

func (s *ScanStream) step() error {
	if err := s.Budget.spend(1); err != nil {
		return err
	}
	pk, err, ok := s.next()
	s.at, s.ended = rankOf(pk, s.Descending), !ok
	return err
}

func (s *ScanStream) close() {
	if s.next != nil {
		s.stop()
		s.next = nil
	}
}

// outputs yields the outputs of a stream that no other stream seeks in. Unlike seek, it needs no coroutine, which costs
// more than a short list.
func (s *ScanStream) outputs(cut **model.UtxoPk) Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		if err := s.Budget.spend(seekCost + 1); err != nil {
			yield(0, err)
			return
		}
		for pk, err := range s.Scan(s.Span, s.Descending) {
			if !yield(pk, err) || err != nil {
				return
			}
			if s.Budget.spend(1) != nil {
				last := pk // pk itself would be allocated per output
				*cut = &last
				return
			}
		}
	}
}

// Union yields the outputs of any of several streams.
type Union []Stream

func (a Union) seek(target rank) (least rank, found bool, err error) {
	for _, s := range a {
		r, ok, err := s.seek(target)
		if err != nil {
			return target, false, err
		}
		if ok && (!found || r < least) {
			least, found = r, true
		}
	}
	return least, found, nil
}

func (a Union) close() {
	for _, s := range a {
		s.close()
	}
}

// Intersection yields the outputs that are in all of several streams.
type Intersection []Stream

func (a Intersection) seek(target rank) (rank, bool, error) {
	for agree := 0; agree < len(a); {
		for _, s := range a {
			r, ok, err := s.seek(target)
			if err != nil || !ok {
				return r, false, err
			}
			if agree++; r > target {
				target, agree = r, 1
			}
			if agree == len(a) {
				break
			}
		}
	}
	return target, true, nil
}

func (a Intersection) close() { Union(a).close() }

// Merged yields the outputs of a stream until it ends or its row budget is used up. In the latter case it sets *cut
// to the last position that was examined.
func Merged(s Stream, descending bool, cut **model.UtxoPk) Outputs {
	if scan, ok := s.(*ScanStream); ok {
		return scan.outputs(cut)
	}
	return func(yield func(model.UtxoPk, error) bool) {
		defer s.close()
		for target := rank(0); ; {
			r, ok, err := s.seek(target)
			if errors.Is(err, ErrBudget) && r > 0 {
				pk := (r - 1).pk(descending)
				*cut = &pk
				return
			}
			if err != nil {
				yield(0, err)
				return
			}
			if !ok || !yield(r.pk(descending), nil) || r == rank(Everywhere.Last) {
				return
			}
			target = r + 1
		}
	}
}
