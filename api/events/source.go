package events

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// batchSize is the size in bytes after which a batch ends.
var batchSize = 64 << 10

const (
	batchTime   = time.Second
	firstBlocks = 64 // in the first batch
	maxBlocks   = 1 << 16
	// nearTip is the distance from the tip, in blocks, up to which subscribers share batches.
	nearTip   = 16
	maxShared = 4
)

// source reads the events of a chain.
type source struct {
	chain     *served.Chain
	positions positions

	readSlots  chan struct{} // limits concurrent reads by single subscribers
	sharedLock chan struct{} // guards shared and next; a channel, so that waiting ends with the context

	shared    [maxShared]*sharedBatch
	next      int
	connected [detailLevels]atomic.Int64 // subscribers by detail
}

// batch is a batch of events for one subscriber.
type batch struct {
	text []byte
	to   position
	more bool // more events are available now
	back bool // a rollback is among them
}

func newSource(c *served.Chain) *source {
	return &source{
		chain: c, positions: positions{ids: idsOf(c.Model)},
		readSlots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), sharedLock: make(chan struct{}, 1),
	}
}

// begin reads the first event of a subscriber.
func (s *source) begin(ctx context.Context, w *request) (st batch, err error) {
	err = s.chain.View(ctx, func(v *query.View) error {
		buf := newBuffer()
		end, err := changes.Confirmed(ctx, v.Queries, w.what.Confirmations)
		if err != nil {
			return err
		}
		at, err := s.beginning(ctx, v, w, end)
		if err != nil {
			return err
		}
		st.more = remain(at, end)
		if st.to, err = s.positions.of(ctx, v, at); err != nil {
			return err
		}
		if !w.tipsOnly() {
			w.named, err = changes.NamedTerms(ctx, v.Queries, w.what)
			if _, code := model.KindOf(err); code == "unknown_asset" {
				w.named, err = nil, nil // the asset can occur later
			}
			if err != nil {
				return err
			}
		}
		if w.after == nil && w.from == fromTip && !at.IsOrigin() {
			page, err := v.Blocks(ctx, query.Range{ToHeight: &at.Height}, query.Page{Limit: 1, Descending: true})
			if err != nil {
				return err
			}
			err = buf.event(eventTip, st.to.id, page.Blocks[0])
			st.text = buf.text.Bytes()
			return err
		}
		err = buf.rollback(s.chain.Model, st.to)
		st.text = buf.text.Bytes()
		return err
	})
	return st, err
}

// remain reports whether there are blocks after at, up to end.
func remain(at, end model.Point) bool {
	return !end.IsOrigin() && (at.IsOrigin() || at.Height < end.Height)
}

// beginning returns the block after which a subscriber starts. end is the last block with enough confirmations.
func (s *source) beginning(ctx context.Context, v *query.View, w *request, end model.Point) (model.Point, error) {
	switch {
	case w.after != nil:
		return newest(ctx, v, *w.after)
	case w.from == fromTip:
		return end, nil
	case w.from == fromOrigin || w.height == 0:
		return model.Point{}, nil
	}
	if w.what.Confirmations > 1 && (end.IsOrigin() || w.height > end.Height) {
		return model.Point{}, model.Errorf(model.Usage, "empty_range", "from height %d: the block has fewer than %d confirmations: "+
			"expected at most %d", w.height, w.what.Confirmations, end.Height)
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
		return model.Point{}, nil // the first block has a higher number
	}
	return p, err
}

// step returns the next batch for a subscriber at from, of at most most blocks. Near the tip subscribers share reads.
func (s *source) step(ctx context.Context, w *request, from position, most int) (batch, error) {
	tip, _ := s.chain.Moved()
	if from.at == tip && from.within == nil && !tip.IsOrigin() {
		return batch{to: from}, nil
	}
	if w.what.Confirmations <= 1 && w.list == nil && uint64(tip.Height) <= uint64(from.at.Height)+nearTip {
		d, err := s.sharedFor(ctx, w, from, tip)
		if err != nil {
			return batch{}, err
		}
		if d != nil {
			start, _ := d.start(from)
			return d.step(w, from, start), nil
		}
	}
	select {
	case s.readSlots <- struct{}{}:
	case <-ctx.Done():
		return batch{}, ctx.Err()
	}
	defer func() { <-s.readSlots }()
	return s.read(ctx, w, from, most)
}

// sharedFor returns a shared batch that covers a subscriber at from, and reads one if needed; nil: the subscriber has to
// read its own.
func (s *source) sharedFor(ctx context.Context, w *request, from position, tip model.Point) (*sharedBatch, error) {
	if !w.tipsOnly() && w.named == nil {
		return nil, nil
	}
	select {
	case s.sharedLock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.sharedLock }()
	for _, d := range s.shared {
		if d == nil || d.to != tip {
			continue
		}
		if d.covers(w, from) {
			return d, nil
		}
		if d.from == from.at && d.detail >= w.detail() { // another one would have the same events
			return nil, nil
		}
	}
	detail := w.detail()
	for level := range s.connected {
		if s.connected[level].Load() > 0 {
			detail = max(detail, level)
		}
	}
	// Other subscribers need the batch even if this one disconnects.
	d, err := s.readShared(context.WithoutCancel(ctx), from, detail)
	if err != nil {
		return nil, err
	}
	for i, old := range s.shared {
		if old != nil && old.to != d.to {
			s.shared[i] = nil
		}
	}
	s.shared[s.next%maxShared] = d
	s.next++
	if !d.covers(w, from) {
		return nil, nil
	}
	return d, nil
}

// read reads a batch for one subscriber from a snapshot.
func (s *source) read(ctx context.Context, w *request, from position, most int) (st batch, err error) {
	what := w.what
	what.MaxBlocks, what.Resume = most, from.within
	err = s.chain.View(ctx, func(v *query.View) (err error) {
		if w.list != nil {
			if err := w.list.Extend(ctx, v.Queries); err != nil {
				return err
			}
		}
		buf, at, cut := newBuffer(), from.at, false
		st.to = from
		end := time.Now().Add(batchTime)
		for e, err := range changes.Follow(ctx, v.Queries, from.known, what) {
			if err == nil {
				before := buf.text.Len()
				at, err = s.advance(ctx, v, buf, &st.to, at, e)
				st.back = st.back || e.Rollback != nil && buf.text.Len() > before
			}
			if err != nil {
				return err
			}
			if cut = buf.text.Len() >= batchSize || time.Now().After(end); cut {
				break
			}
		}
		if at != st.to.at {
			within := st.to.within
			if st.to, err = s.positions.of(ctx, v, at); err != nil {
				return err
			}
			st.to.within = within
			buf.identify(st.to.id)
		}
		last, err := changes.Confirmed(ctx, v.Queries, what.Confirmations)
		st.text, st.more = buf.text.Bytes(), cut || remain(at, last)
		return err
	})
	return st, err
}

// advance encodes an event, moves p, and returns the last complete block.
func (s *source) advance(ctx context.Context, v *query.View, buf *buffer, p *position, at model.Point, e changes.Change) (model.Point, error) {
	switch {
	case e.Rollback == nil && e.Block == nil:
		p.within = &e.Position
		return at, buf.change(e)
	case e.Block != nil:
		p.within = nil
		return *e.Block, buf.change(e)
	case *e.Rollback == p.at && p.within == nil: // already there
		return at, nil
	}
	var err error
	if *p, err = s.positions.of(ctx, v, *e.Rollback); err != nil {
		return at, err
	}
	return *e.Rollback, buf.rollback(s.chain.Model, *p)
}

// retryLine sets the delay of reconnects of a client.
func retryLine(after time.Duration) string {
	return "retry: " + strconv.FormatInt(after.Milliseconds(), 10) + "\n\n"
}
