package wallet

import (
	"context"
	"iter"
	"time"

	"birthmark/core/pending"
	"birthmark/model"
)

// Event is a change of the tip or the mempool.
type Event struct {
	Tip     model.Point
	Header  []byte           // of the tip, 80 bytes; nil before the first block
	NewTip  bool             // the tip differs from that of the previous event
	Touched map[Key]struct{} // the scripts whose history may have changed
	All     bool             // any script may have changed: the first event, a reorganization, more than 100,000 scripts
}

const (
	maxTouched       = 100_000 // scripts of an event
	maxTouchedBlocks = 100     // blocks whose scripts an event has
	mergeTime        = 20 * time.Millisecond
	viewRetry        = time.Second
)

// Changes yields an event after each change of the tip or of the mempool, beginning with the current moment. Changes
// that follow one another quickly are one event. A consumer that is slow gets them merged, without a branch of the chain
// that came and went between two events: after a view of such a branch, [View.Has] reports that it left the chain.
func (c *Chain) Changes(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		last, first := model.Point{}, true
		for change := range c.moments(ctx) {
			e, ok := c.event(ctx, last, first, &change)
			if !ok {
				return
			}
			if e.NewTip || e.All || len(e.Touched) > 0 {
				if !yield(e) {
					return
				}
				first, last = false, e.Tip
			}
		}
	}
}

// event returns the event of the current moment. It retries while the database is being replaced or its indexes change;
// ok is false if the context ends.
func (c *Chain) event(ctx context.Context, last model.Point, first bool, mempool *pending.Change) (e Event, ok bool) {
	for {
		err := c.View(ctx, func(v *View) (err error) {
			e, err = v.changed(last, first, mempool)
			return err
		})
		if err == nil {
			return e, true
		}
		if !wait(ctx, nil, viewRetry) {
			return e, false
		}
	}
}

// moments yields after each change of the tip or of the mempool, beginning with the current moment.
func (c *Chain) moments(ctx context.Context) iter.Seq[pending.Change] {
	return func(yield func(pending.Change) bool) {
		if f := c.served.Mempool; f != nil {
			for u := range f.Changes(ctx) {
				if !yield(u.Change) {
					return
				}
			}
			return
		}
		for {
			_, moved := c.served.Moved()
			if !yield(pending.Change{}) || !wait(ctx, moved, 0) || !wait(ctx, nil, mergeTime) {
				return
			}
		}
	}
}

// wait waits for a channel, or if that is nil for a duration. It returns false if the context ends.
func wait(ctx context.Context, moved <-chan struct{}, d time.Duration) bool {
	var timer <-chan time.Time
	if moved == nil {
		timer = time.After(d)
	}
	select {
	case <-moved:
	case <-timer:
	case <-ctx.Done():
		return false
	}
	return true
}

// changed returns the event from the tip last to that of the view, with a change of the mempool.
func (v *View) changed(last model.Point, first bool, mempool *pending.Change) (e Event, err error) {
	e = Event{Tip: v.Tip, NewTip: first || v.Tip != last}
	if !v.Tip.IsOrigin() {
		if e.Header, err = v.Header(uint32(v.Tip.Height)); err != nil {
			return e, err
		}
	}
	if first { // a view that the consumer used before may have been of another moment
		e.All = true
		return e, nil
	}
	e.Touched = map[Key]struct{}{}
	if e.All, err = v.addBlocks(e.Touched, last); err != nil {
		return e, err
	}
	for t := range mempool.Touched {
		if t.Index == v.poolIndex && v.pool != nil {
			e.Touched[Key([]byte(t.Value))] = struct{}{}
		}
	}
	if e.All = e.All || mempool.All || len(e.Touched) > maxTouched; e.All {
		e.Touched = nil
	}
	return e, nil
}

// addBlocks adds the scripts of the blocks after last. all reports that any script may have changed.
func (v *View) addBlocks(touched map[Key]struct{}, last model.Point) (all bool, err error) {
	if v.Tip == last {
		return false, nil
	}
	kept, err := v.Has(last)
	if !kept || err != nil {
		return true, err
	}
	from := last.Height + 1
	if last.IsOrigin() {
		from = 0
	}
	if v.Tip.Height >= from+maxTouchedBlocks {
		return true, nil
	}
	for h := from; h <= v.Tip.Height; h++ {
		keys, err := v.touched(h)
		if err != nil {
			return true, err
		}
		for _, k := range keys {
			touched[k] = struct{}{}
		}
		if len(touched) > maxTouched {
			return true, nil
		}
	}
	return false, nil
}

// touched returns the scripts of the inputs and outputs of a block.
func (v *View) touched(h model.HeightPk) ([]Key, error) {
	row, err := v.q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	if keys, known := v.chain.touches.Get(row.Hash); known {
		return keys, nil
	}
	seen := map[model.BirthPk]struct{}{}
	var births []model.BirthPk
	err = eachInBlocks(v.q, v.index, h, h+1, func(b model.BirthPk) error {
		if _, known := seen[b]; !known {
			seen[b] = struct{}{}
			births = append(births, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	values, err := v.q.StoredValues(v.index, births)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(values))
	for i := range values {
		copy(keys[i][:], values[i])
	}
	v.chain.touches.Put(row.Hash, keys)
	return keys, nil
}
