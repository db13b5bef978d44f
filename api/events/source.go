package events

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

// scriptSize is how many bytes a step tells, about: it ends with what goes beyond.
var scriptSize = 64 << 10

const (
	stepTime   = time.Second
	fewBlocks  = 64 // the first step's
	mostBlocks = 1 << 16
	// Clients no farther than that from the tip are told of its blocks by what one of them has read.
	nearTip     = 16
	keptDigests = 4
)

// source reads what clients are told.
type source struct {
	chain  *served.Chain
	places places

	lanes chan struct{} // held by those who read for themselves: so many at once, others have to be answered too
	turn  chan struct{} // held by those who look for a digest, or make one

	digests   [keptDigests]*digest
	next      int
	connected [detailLevels]atomic.Int64 // clients, by what they want to be told of
}

// step is what a client is told next.
type step struct {
	text []byte
	to   place
	more bool // there is more to tell at once
}

func newSource(c *served.Chain) *source {
	return &source{
		chain: c, places: places{ids: idsOf(c.Model)},
		lanes: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), turn: make(chan struct{}, 1),
	}
}

// begin is what a client is told first.
func (s *source) begin(ctx context.Context, w *wanted) (st step, err error) {
	err = s.chain.View(ctx, func(v *query.View) error {
		tells := newScript()
		at, err := s.beginning(ctx, v, w)
		if err != nil {
			return err
		}
		st.more = at != v.Tip
		if st.to, err = s.places.of(ctx, v, at); err != nil {
			return err
		}
		if !w.tipsOnly() {
			w.named, err = v.FollowTerms(ctx, w.what)
			if _, code := model.KindOf(err); code == "unknown_asset" {
				w.named, err = nil, nil // it may occur later
			}
			if err != nil {
				return err
			}
		}
		if w.after == nil && w.from == fromTip && !at.IsOrigin() {
			page, err := v.Blocks(ctx, query.Range{}, query.Page{Limit: 1, Descending: true})
			if err != nil {
				return err
			}
			err = tells.event(eventTip, st.to.id, page.Blocks[0])
			st.text = tells.text.Bytes()
			return err
		}
		err = tells.rollback(s.chain.Model, st.to)
		st.text = tells.text.Bytes()
		return err
	})
	return st, err
}

// beginning is the block behind which a client begins.
func (s *source) beginning(ctx context.Context, v *query.View, w *wanted) (model.Point, error) {
	switch {
	case w.after != nil:
		return newest(ctx, v, *w.after)
	case w.from == fromTip:
		return v.Tip, nil
	case w.from == fromOrigin || w.height == 0:
		return model.Point{}, nil
	}
	if _, err := v.PointAt(ctx, w.height); err != nil {
		if kind, _ := model.KindOf(err); kind != model.NotFound {
			return model.Point{}, err
		}
		if v.Tip.IsOrigin() || w.height > v.Tip.Height {
			return model.Point{}, model.Errorf(model.Usage, "empty_range", "from height %d: %w", w.height, err)
		}
	}
	p, err := v.PointAt(ctx, w.height-1)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return model.Point{}, nil // the chain begins above it
	}
	return p, err
}

// step is what a client at from is told next, of so many blocks at most. Near the tip what happened is read once for
// all.
func (s *source) step(ctx context.Context, w *wanted, from place, most int) (step, error) {
	tip, _ := s.chain.Moved()
	if from.at == tip && from.within == nil && !tip.IsOrigin() {
		return step{to: from}, nil
	}
	if uint64(tip.Height) <= uint64(from.at.Height)+nearTip {
		d, err := s.digest(ctx, w, from, tip)
		if err != nil {
			return step{}, err
		}
		if d != nil {
			start, _ := d.start(from)
			return d.step(w, from, start), nil
		}
	}
	select {
	case s.lanes <- struct{}{}:
	case <-ctx.Done():
		return step{}, ctx.Err()
	}
	defer func() { <-s.lanes }()
	return s.read(ctx, w, from, most)
}

// digest is one that a client at from can be told by, made where there is none; nil: it has to read for itself.
func (s *source) digest(ctx context.Context, w *wanted, from place, tip model.Point) (*digest, error) {
	if !w.tipsOnly() && w.named == nil {
		return nil, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.turn }()
	for _, d := range s.digests {
		if d == nil || d.to != tip {
			continue
		}
		if d.tells(w, from) {
			return d, nil
		}
		if d.from == from.at && d.detail >= w.detail() { // another one would not be of more use
			return nil, nil
		}
	}
	detail := w.detail()
	for level := range s.connected {
		if s.connected[level].Load() > 0 {
			detail = max(detail, level)
		}
	}
	// The client for whom it is read may leave; the others stay.
	d, err := s.digestOf(context.WithoutCancel(ctx), from, detail)
	if err != nil {
		return nil, err
	}
	for i, old := range s.digests {
		if old != nil && old.to != d.to {
			s.digests[i] = nil
		}
	}
	s.digests[s.next%keptDigests] = d
	s.next++
	if !d.tells(w, from) {
		return nil, nil
	}
	return d, nil
}

// read is step, from a snapshot.
func (s *source) read(ctx context.Context, w *wanted, from place, most int) (st step, err error) {
	what := w.what
	what.MaxBlocks, what.Resume = most, from.within
	err = s.chain.View(ctx, func(v *query.View) (err error) {
		tells, at, cut := newScript(), from.at, false
		st.to = from
		end := time.Now().Add(stepTime)
		for e, err := range v.Follow(ctx, from.known, what) {
			if err == nil {
				at, err = s.tell(ctx, v, tells, &st.to, at, e)
			}
			if err != nil {
				return err
			}
			if cut = tells.text.Len() >= scriptSize || time.Now().After(end); cut {
				break
			}
		}
		if at != st.to.at {
			within := st.to.within
			if st.to, err = s.places.of(ctx, v, at); err != nil {
				return err
			}
			st.to.within = within
			tells.identify(st.to.id)
		}
		st.text, st.more = tells.text.Bytes(), cut || at != v.Tip
		return nil
	})
	return st, err
}

// tell writes an event, moves p and returns the last block that was told.
func (s *source) tell(ctx context.Context, v *query.View, tells *script, p *place, at model.Point, e query.Change) (model.Point, error) {
	switch {
	case e.Output != nil:
		p.within = &e.Position
		return at, tells.event(eventOutput, "", e.Output)
	case e.Spend != nil:
		p.within = &e.Position
		return at, tells.event(eventSpend, "", e.Spend)
	case e.Block != nil:
		p.within = nil
		return *e.Block, tells.event(eventTip, "", e.Summary)
	case *e.Rollback == p.at && p.within == nil: // where it is
		return at, nil
	}
	var err error
	if *p, err = s.places.of(ctx, v, *e.Rollback); err != nil {
		return at, err
	}
	return *e.Rollback, tells.rollback(s.chain.Model, *p)
}

// retryLine tells a client when to connect again.
func retryLine(after time.Duration) string {
	return "retry: " + strconv.FormatInt(after.Milliseconds(), 10) + "\n\n"
}
