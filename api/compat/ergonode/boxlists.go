package ergonode

import (
	"iter"
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/model"
)

func listed[T any](v *view, items iter.Seq2[T, error], total int) any {
	return &boxes.Listed[T]{Items: exchange.ItemsOf(v.r, items), Total: total}
}

func boxByID(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		pk, ok, err := v.BoxOf(id)
		if err != nil {
			return nil, err
		}
		if !ok || v.Q.IsGenesis(pk.Tx()) {
			return nil, errNotFound
		}
		return v.box(pk)
	}
}

// windowOf returns an endpoint that lists a range of the boxes or transactions of a tree or template.
func windowOf(of func(*request) finder, what string, list func(*view, *holder, page) (any, error)) func(*request) answer {
	return func(r *request) answer {
		p := pageOf(r, what, fewItems)
		find := of(r)
		return func(v *view) (any, error) {
			h, err := find(v)
			if err != nil {
				return nil, err
			}
			return list(v, h, p)
		}
	}
}

// boxesOf lists all boxes of a tree or template: the window counts from the newest. With oldestFirst it begins with its
// oldest.
func boxesOf(of func(*request) finder, oldestFirst bool) func(*request) answer {
	return windowOf(of, "boxes", func(v *view, h *holder, p page) (any, error) {
		t, err := v.Totals(h.Holder, false)
		if err != nil {
			return nil, err
		}
		var pks []model.UtxoPk
		if h.Birth != nil {
			if pks, err = v.Window(v.BoxList(h.Index, *h.Birth, false, true), p.offset, p.limit); err != nil {
				return nil, err
			}
		}
		if oldestFirst {
			slices.Reverse(pks)
		}
		return listed(v, v.boxes(v.BoxBatches(pks, false)), t.Boxes), nil
	})
}

// unspentOf lists the unspent boxes of a tree or template.
func unspentOf(of func(*request) finder) func(*request) answer {
	return windowOf(of, "boxes", func(v *view, h *holder, p page) (any, error) {
		var l *boxes.List
		if h.Birth != nil {
			l = v.UnspentList(h.Index, *h.Birth, false, !p.ascending)
		}
		return v.unspent(l, p, h.pending)
	})
}

// unspent returns a window of a list of unspent boxes; nil: an empty one. Unconfirmed boxes precede the window, or follow
// it if it is ascending. They do not count for the limit.
func (v *view) unspent(l *boxes.List, p page, pending func() ([]boxes.Box, error)) (any, error) {
	var added []boxes.Box
	var pks []model.UtxoPk
	var err error
	if p.unconfirmed {
		if added, err = pending(); err != nil {
			return nil, err
		}
	}
	if p.unspent {
		added = slices.DeleteFunc(added, func(b boxes.Box) bool { return b.Spend != nil })
	}
	if l != nil {
		if p.unspent {
			l = v.WithoutPendingSpends(l)
		}
		if pks, err = v.Window(l, p.offset, p.limit); err != nil {
			return nil, err
		}
	}
	for i := range added {
		added[i].Spend = nil // the node returns no spenders of unconfirmed boxes
	}
	batches := func(yield func([]boxes.Box, error) bool) {
		if !p.ascending && !yield(added, nil) {
			return
		}
		for batch, err := range v.BoxBatches(pks, true) {
			if !yield(batch, err) {
				return
			}
		}
		if p.ascending {
			yield(added, nil)
		}
	}
	return exchange.Stream(v.boxes(batches)), nil
}
