package events

import (
	"context"
	"slices"

	"birthmark/core/query"
	"birthmark/model"
)

// What a digest has, and what a client wants to be told of: each includes those before.
const (
	blocksOnly = iota
	andOutputs
	andSpends
	detailLevels
)

// digest is what happened between two places of the chain, read once for all clients that want to know some of it. It
// is not changed once it is made.
type digest struct {
	detail  int
	from    model.Point
	to      model.Point // the tip it was read at
	indexes []string    // that outputs have
	tooMuch bool        // to be held: nothing of it is

	items  []item
	blocks []int            // where in items those of blocks are
	by     map[string][]int // where those are that a term means, by the term as it is followed: INDEX=VALUE or INDEX
}

// item is one event, as it is written, but for an id.
type item struct {
	text   []byte
	block  *place         // the place behind it, for the event of a block and for a rollback; nil: of an output or a spend
	spend  bool           // of a spend
	back   bool           // of a rollback
	within query.Position // the place behind it, for the event of an output or a spend
}

// digestSize is how many bytes of events a digest may hold. Larger ones are rare, and read by each client for itself.
var digestSize = 8 << 20

// detail is what a client wants to be told of.
func (w *wanted) detail() int {
	switch {
	case w.what.Spends:
		return andSpends
	case w.tipsOnly():
		return blocksOnly
	}
	return andOutputs
}

// digestOf reads what happened behind a place.
func (s *source) digestOf(ctx context.Context, from place, detail int) (*digest, error) {
	d := &digest{detail: detail, from: from.at, by: map[string][]int{}}
	what := query.ChangeFilter{EveryBlock: true, All: detail >= andOutputs, Spends: detail >= andSpends}
	err := s.chain.View(ctx, func(v *query.View) error {
		d.to = v.Tip
		states, err := v.IndexStates(ctx)
		if err != nil {
			return err
		}
		for _, x := range states {
			d.indexes = append(d.indexes, x.Name)
		}
		tells, at, size := newScript(), from, 0
		for e, err := range v.Follow(ctx, from.known, what) {
			if err == nil {
				err = s.add(ctx, v, d, tells, &at, e)
			}
			if err != nil {
				return err
			}
			if size += tells.text.Len(); size > digestSize {
				d.tooMuch, d.items, d.blocks, d.by = true, nil, nil, nil
				break
			}
			tells.text.Reset()
		}
		return nil
	})
	return d, err
}

// add adds an event to a digest. At is the place behind the last block.
func (s *source) add(ctx context.Context, v *query.View, d *digest, tells *script, at *place, e query.Change) error {
	i := item{within: e.Position}
	var keys *query.OutputAnswer
	var err error
	switch {
	case e.Output != nil:
		keys, err = e.Output, tells.event(eventOutput, "", e.Output)
	case e.Spend != nil:
		i.spend = true
		keys, err = e.Spent, tells.event(eventSpend, "", e.Spend)
	case e.Block != nil:
		if *at, err = s.places.of(ctx, v, *e.Block); err == nil {
			err = tells.event(eventTip, "", e.Summary)
		}
	case *e.Rollback == at.at:
		return nil // where it is
	default:
		i.back = true
		if *at, err = s.places.of(ctx, v, *e.Rollback); err == nil {
			err = tells.rollback(s.chain.Model, *at)
		}
	}
	if err != nil {
		return err
	}
	n := len(d.items)
	if keys == nil {
		p := *at
		i.block = &p
		d.blocks = append(d.blocks, n)
	} else {
		d.index(n, keys)
	}
	i.text = slices.Clone(tells.text.Bytes())
	d.items = append(d.items, i)
	return nil
}

// index notes what terms mean an output.
func (d *digest) index(n int, o *query.OutputAnswer) {
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

// start is where in items a client goes on that is at a place.
func (d *digest) start(from place) (n int, ok bool) {
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

// tells reports whether a client at a place can be told by the digest.
func (d *digest) tells(w *wanted, from place) bool {
	if d.tooMuch || d.detail < w.detail() {
		return false
	}
	if _, ok := d.start(from); !ok {
		return false
	}
	for _, t := range w.named {
		if t.Index != query.AssetTerm && !slices.Contains(d.indexes, t.Index) {
			return false // it was dropped, which reading says
		}
	}
	return true
}

// step is what a client is told next by the digest, from a place in items on.
func (d *digest) step(w *wanted, from place, start int) step {
	tells, last, cut := newScript(), from.at, false
	st := step{to: from}
	id := "" // of the last block that is told
	for _, n := range d.meant(w, start, from.within != nil) {
		i := &d.items[n]
		tells.add(i)
		if i.block != nil {
			st.to = *i.block
			last = st.to.at
			if id = st.to.id; i.back {
				id = "" // it has its own
			}
		} else {
			st.to.within = &i.within
		}
		if cut = tells.text.Len() >= scriptSize; cut {
			break
		}
	}
	if id != "" {
		tells.identify(id)
	}
	st.text, st.more = tells.text.Bytes(), cut || last != d.to
	return st
}

// meant are the items that a client is told of, from start on. Within: it was told something of the first block.
func (d *digest) meant(w *wanted, start int, within bool) []int {
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
	told := slices.Clone(all)
	for i, b := range blocks { // those that something was told of, rollbacks, and the last
		behind := start
		if i > 0 {
			behind = blocks[i-1]
		}
		n, _ := slices.BinarySearch(all, behind)
		if i == 0 && within || i == len(blocks)-1 || d.items[b].back || n < len(all) && all[n] < b {
			told = append(told, b)
		}
	}
	slices.Sort(told)
	return told
}
