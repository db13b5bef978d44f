package events

import (
	"context"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// Levels of detail of a batch or a request; each includes the lower ones.
const (
	blocksOnly = iota
	andOutputs
	andSpends
	detailLevels
)

// sharedBatch has the events between two positions, read once for all subscribers. It is immutable. Subscribers select
// events by the texts of values, which takes no lookup per subscriber and also matches a value that is new.
type sharedBatch struct {
	detail  int
	from    model.Point
	to      model.Point // tip of the snapshot
	indexes []string    // of the database
	tooMuch bool        // exceeded sharedSize: has no events

	items  []item
	blocks []int            // positions of block events in items
	by     map[string][]int // positions in items by term: INDEX=VALUE or INDEX
}

// item is an encoded event without id.
type item struct {
	text   []byte
	block  *position        // position after a block or rollback event; nil: another event
	spend  bool             // spend event
	back   bool             // rollback event
	within changes.Position // position of an output or spend event in its block
}

// sharedSize is the maximum size of a shared batch in bytes. Above it, which is rare, subscribers read for themselves.
var sharedSize = 8 << 20

// detail returns the level of detail of a request.
func (w *request) detail() int {
	switch {
	case w.list != nil:
		return blocksOnly // reads for itself
	case w.what.Spends:
		return andSpends
	case w.tipsOnly():
		return blocksOnly
	}
	return andOutputs
}

// readShared reads the events from a position to the tip.
func (s *source) readShared(ctx context.Context, from position, detail int) (*sharedBatch, error) {
	d := &sharedBatch{detail: detail, from: from.at, by: map[string][]int{}}
	what := changes.Filter{EveryBlock: true, All: detail >= andOutputs, Spends: detail >= andSpends}
	err := s.chain.View(ctx, func(v *query.View) error {
		d.to = v.Tip
		states, err := v.IndexStates(ctx)
		if err != nil {
			return err
		}
		for _, x := range states {
			d.indexes = append(d.indexes, x.Name)
		}
		buf, at, size := newBuffer(), from, 0
		for e, err := range changes.Follow(ctx, v.Queries, from.known, what) {
			if err == nil {
				err = s.add(ctx, v, d, buf, &at, e)
			}
			if err != nil {
				return err
			}
			if size += buf.text.Len(); size > sharedSize {
				d.tooMuch, d.items, d.blocks, d.by = true, nil, nil, nil
				break
			}
			buf.text.Reset()
		}
		return nil
	})
	return d, err
}

// add adds an event to a batch. p is the position of the event before, and buf is empty.
func (s *source) add(ctx context.Context, v *query.View, d *sharedBatch, buf *buffer, p *position, e changes.Change) error {
	at, err := s.advance(ctx, v, buf, p, p.at, e)
	if err != nil || buf.text.Len() == 0 {
		return err
	}
	i := item{text: slices.Clone(buf.text.Bytes()), within: e.Position, spend: e.Spend != nil, back: e.Rollback != nil}
	n := len(d.items)
	switch {
	case e.Spend != nil:
		d.index(n, e.Spent)
	case e.Output != nil:
		d.index(n, e.Output)
	default:
		if *p, err = s.positions.of(ctx, v, at); err != nil {
			return err
		}
		after := *p
		i.block = &after
		d.blocks = append(d.blocks, n)
	}
	d.items = append(d.items, i)
	return nil
}

// index records the terms of an output.
func (d *sharedBatch) index(n int, o *query.OutputAnswer) {
	note := func(term string) {
		if at := d.by[term]; len(at) == 0 || at[len(at)-1] != n {
			d.by[term] = append(at, n)
		}
	}
	for name, values := range o.Keys {
		note(name)
		switch values := values.(type) {
		case string:
			note(name + "=" + values)
		case []string:
			for _, value := range values {
				note(name + "=" + value)
			}
		}
	}
	for _, a := range o.Assets {
		note(query.AssetTerm)
		note(query.AssetTerm + "=" + a.Asset)
	}
}

// start returns the index in items of the next event after a position.
func (d *sharedBatch) start(from position) (n int, ok bool) {
	n = 0
	if from.at != d.from {
		n = slices.IndexFunc(d.items, func(i item) bool { return i.block != nil && i.block.at == from.at }) + 1
		if n == 0 {
			return 0, false
		}
	}
	if from.within == nil {
		return n, true
	}
	for ; n < len(d.items) && d.items[n].block == nil; n++ {
		if d.items[n].within == *from.within {
			return n + 1, true
		}
	}
	return 0, false
}

// covers reports whether the batch has the events of a request after a position.
func (d *sharedBatch) covers(w *request, from position) bool {
	if d.tooMuch || d.detail < w.detail() {
		return false
	}
	if _, ok := d.start(from); !ok {
		return false
	}
	for _, t := range w.named {
		if t.Index != query.AssetTerm && !slices.Contains(d.indexes, t.Index) {
			return false // dropped: a read returns the error
		}
	}
	return true
}

func (d *sharedBatch) step(w *request, from position, start int) batch {
	buf, last, cut := newBuffer(), from.at, false
	st := batch{to: from}
	id := "" // of the last block
	for _, n := range d.selected(w, start, from.within != nil) {
		i := &d.items[n]
		buf.add(i)
		st.back = st.back || i.back
		if i.block != nil {
			st.to = *i.block
			last = st.to.at
			if id = st.to.id; i.back {
				id = "" // a rollback event has its id already
			}
		} else {
			st.to.within = &i.within
		}
		if cut = buf.text.Len() >= batchSize; cut {
			break
		}
	}
	if id != "" {
		buf.identify(id)
	}
	st.text, st.more = buf.text.Bytes(), cut || last != d.to
	return st
}

// selected returns the indexes in items of the events of a request, from start on. within: an event of the first block
// was sent before.
func (d *sharedBatch) selected(w *request, start int, within bool) []int {
	var all []int
	first, _ := slices.BinarySearch(d.blocks, start)
	blocks := d.blocks[first:]
	for _, t := range w.named {
		term := t.Index
		if t.Value != "" {
			term += "=" + t.Value
		}
		at := d.by[term]
		first, _ := slices.BinarySearch(at, start)
		for _, n := range at[first:] {
			if d.items[n].spend && !w.what.Spends {
				continue
			}
			all = append(all, n)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if w.what.EveryBlock {
		all = append(all, blocks...)
		slices.Sort(all)
		return all
	}
	sent := slices.Clone(all)
	for i, b := range blocks { // blocks with events, rollbacks, and the last block
		behind := start
		if i > 0 {
			behind = blocks[i-1]
		}
		n, _ := slices.BinarySearch(all, behind)
		if i == 0 && within || i == len(blocks)-1 || d.items[b].back || n < len(all) && all[n] < b {
			sent = append(sent, b)
		}
	}
	slices.Sort(sent)
	return sent
}
