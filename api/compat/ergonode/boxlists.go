package ergonode

import (
	"birthmark/api/compat/boxes"
	"birthmark/model"
)

func boxByID(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	pk, ok, err := q.v.BoxOf(id)
	if err != nil {
		return err
	}
	if !ok || q.v.Q.IsGenesis(pk.Tx()) {
		return errNotFound
	}
	return q.addBoxes([]model.UtxoPk{pk}, false, false)
}

func boxesOfAddress(q *request, args []string) error { return q.boxesOf(args[0], false) }
func boxesOfTree(q *request, args []string) error    { return q.boxesOf(args[0], true) }

// boxesOf lists all boxes of an address or tree: the window counts from the newest, and begins with its oldest.
func (q *request) boxesOf(text string, tree bool) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	h, err := q.holder(text, tree)
	if err != nil {
		return err
	}
	return q.listBoxes(h, p, true)
}

func boxesOfTemplate(q *request, args []string) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	h, err := q.template(args[0])
	if err != nil {
		return err
	}
	return q.listBoxes(h, p, false)
}

// template returns the boxes of a template by the node's hash of it.
func (q *request) template(text string) (*boxes.Holder, error) {
	hash, err := parseID(text)
	if err != nil {
		return nil, err
	}
	x, birth, err := q.v.NodeTemplate(hash)
	return &boxes.Holder{Index: x, Birth: birth}, err
}

// listBoxes writes a window of the boxes of a holder, which counts from the newest.
func (q *request) listBoxes(h *boxes.Holder, p page, oldestFirst bool) error {
	t, err := q.v.Totals(h, false)
	if err != nil {
		return err
	}
	var pks []model.UtxoPk
	if h.Birth != nil {
		if pks, err = q.v.Window(q.v.BoxList(h.Index, *h.Birth, false, true), p.offset, p.limit); err != nil {
			return err
		}
	}
	if oldestFirst {
		pks = boxes.Reversed(pks)
	}
	q.Add(`{"items":`)
	if err := q.addBoxes(pks, true, false); err != nil {
		return err
	}
	q.addTotal(t.Boxes)
	return nil
}

func unspentOfAddress(q *request, args []string) error { return q.unspentOf(args[0], false) }
func unspentOfTree(q *request, args []string) error    { return q.unspentOf(args[0], true) }

func (q *request) unspentOf(text string, tree bool) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	h, err := q.holder(text, tree)
	if err != nil {
		return err
	}
	return q.listUnspent(h, p)
}

func unspentOfTemplate(q *request, args []string) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	h, err := q.template(args[0])
	if err != nil {
		return err
	}
	if h.Birth != nil { // unconfirmed boxes are found by our hash
		values, err := q.v.Q.StoredValues(h.Index, []model.BirthPk{*h.Birth})
		if err != nil {
			return err
		}
		h.Value = values[0]
	}
	if h.Birth == nil && p.unconfirmed {
		return q.listNewTemplate(args[0], p)
	}
	return q.listUnspent(h, p)
}

// listNewTemplate writes the unconfirmed boxes of a template that no block has yet.
func (q *request) listNewTemplate(text string, p page) error {
	hash, err := parseID(text)
	if err != nil {
		return err
	}
	all, err := q.v.AllPendingBoxes()
	if err != nil {
		return err
	}
	kept := all[:0]
	for _, b := range all {
		if boxes.NodeTemplateOf(b.Box().Tree) == hash {
			kept = append(kept, b)
		}
	}
	return q.writeUnspent(nil, p, kept)
}

// listUnspent writes a window of the unspent boxes of a holder.
func (q *request) listUnspent(h *boxes.Holder, p page) error {
	var l *boxes.List
	if h.Birth != nil {
		l = q.v.UnspentList(h.Index, *h.Birth, false, !p.ascending)
	}
	var added []boxes.Box
	if p.unconfirmed && h.Value != nil {
		var err error
		if added, err = q.v.PendingBoxes(h.Index.Name, h.Value); err != nil {
			return err
		}
	}
	return q.writeUnspent(l, p, added)
}

// writeUnspent writes a window of a list of unspent boxes. Unconfirmed boxes precede the window, or follow it if it is
// ascending. They do not count for the limit.
func (q *request) writeUnspent(l *boxes.List, p page, added []boxes.Box) error {
	var pks []model.UtxoPk
	var err error
	if l != nil {
		if p.unspent {
			l = q.v.WithoutPendingSpends(l)
		}
		if pks, err = q.v.Window(l, p.offset, p.limit); err != nil {
			return err
		}
	}
	if p.unspent {
		kept := added[:0]
		for _, b := range added {
			if b.Spend == nil {
				kept = append(kept, b)
			}
		}
		added = kept
	}
	q.Add("[")
	n := 0
	pending := func() error {
		for i := range added {
			q.Comma(n)
			n++
			added[i].Spend = nil // the node returns no spenders of unconfirmed boxes
			if err := q.addIndexed(&added[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if !p.ascending {
		if err := pending(); err != nil {
			return err
		}
	}
	if n > 0 && len(pks) > 0 {
		q.Add(",")
	}
	if err := q.addBoxItems(pks, true); err != nil {
		return err
	}
	if n = len(pks); p.ascending {
		if err := pending(); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}
