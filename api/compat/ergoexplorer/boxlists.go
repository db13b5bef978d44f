package ergoexplorer

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

func boxByID(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		pk, ok, err := v.BoxOf(id)
		if err == nil && !ok {
			err = absent("box %x", id)
		}
		if err != nil {
			return nil, err
		}
		all, err := v.AllBoxes([]model.UtxoPk{pk})
		if err != nil {
			return nil, err
		}
		tokens, err := v.tokensIn(all)
		if err != nil {
			return nil, err
		}
		return v.boxOf(&all[0], tokens, confirmedForm)
	}
}

// kind is the boxes of a list: all, or the unspent ones.
type kind bool

const (
	allBoxes     kind = false
	unspentBoxes kind = true
)

// order is the order of a list, by the position of boxes in the chain.
type order uint8

const (
	newest order = iota
	oldest
	chosen // by sortDirection
)

// boxList returns the boxes of a holder that has some, and their number from its totals.
func (v *view) boxList(h *boxes.Holder, of kind, descending bool) *boxes.List {
	if of == unspentBoxes {
		return v.UnspentList(h.Index, *h.Birth, true, descending)
	}
	return v.BoxList(h.Index, *h.Birth, true, descending)
}

// totalOf returns the number of boxes of a holder.
func (v *view) totalOf(h *boxes.Holder, of kind) (int, error) {
	t, err := v.Totals(h, true)
	if of == unspentBoxes {
		return t.Unspent, err
	}
	return t.Boxes, err
}

// listed returns an endpoint that lists the boxes of a holder.
func listed(find func(*request) finder, of kind, by order) func(*request) answer {
	return func(r *request) answer {
		p := pageOf(r, maxItems)
		find := find(r)
		return func(v *view) (any, error) {
			h, err := find(v)
			if err != nil {
				return nil, err
			}
			total, err := v.totalOf(h, of)
			if err != nil {
				return nil, err
			}
			var pks []model.UtxoPk
			if h.Birth != nil {
				l := v.boxList(h, of, by == newest || by == chosen && !p.ascending)
				if pks, err = v.Window(l, p.offset, p.limit); err != nil {
					return nil, err
				}
			}
			return paged(v, v.confirmed(pks, of), total), nil
		}
	}
}

// ofToken returns an endpoint that lists the boxes with a token.
func ofToken(of kind) func(*request) answer {
	return func(r *request) answer {
		p := pageOf(r, maxTokens)
		id := idArg(r, "id")
		return func(v *view) (any, error) {
			birth, t, ok, err := v.AssetTotals(id)
			if err != nil {
				return nil, err
			}
			var pks []model.UtxoPk
			if ok {
				l := v.AssetList(birth, of == unspentBoxes, !p.ascending)
				if pks, err = v.Window(l, p.offset, p.limit); err != nil {
					return nil, err
				}
			}
			total := t.Outputs
			if of == unspentBoxes {
				total = t.Unspent
			}
			return paged(v, v.confirmed(pks, of), int(total)), nil
		}
	}
}

// unconfirmedBoxes lists the unconfirmed boxes of an address, and after them the confirmed unspent ones, without boxes that
// unconfirmed transactions spend (getUnspent&UnconfirmedOutputsMergedByAddress in Boxes.scala of
// ergoplatform/explorer-backend).
func (p *protocol) unconfirmedBoxes(r *request) answer {
	ascending := boxes.Ascending(r, errDirection)
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		unconfirmed, err := v.unconfirmedOf(h)
		if err != nil {
			return nil, err
		}
		all := once(unconfirmed)
		if h.Birth != nil {
			l := v.WithoutPendingSpends(v.boxList(h, unspentBoxes, !ascending))
			all = inOrder(all, v.StreamedBoxes(v.All(l), v.UnspentBoxes))
		}
		return exchange.Stream(v.boxes(all, mergedForm)), nil
	}
}

// allUnspent lists the unspent boxes of an address, confirmed or not, without boxes that unconfirmed transactions spend.
// Unconfirmed boxes are the newest.
func (p *protocol) allUnspent(r *request) answer {
	at := pageOf(r, maxItems)
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		unconfirmed, err := v.unconfirmedOf(h)
		if err != nil {
			return nil, err
		}
		confirmed, err := v.totalOf(h, unspentBoxes)
		if err != nil {
			return nil, err
		}
		spent, err := v.PendingSpentOf(h)
		if err != nil {
			return nil, err
		}
		confirmed -= spent
		offset, limit := at.offset, at.limit
		var before, after []boxes.Box
		if at.ascending {
			offset = min(offset, confirmed)
			limit = min(limit, confirmed-offset)
			after = window(unconfirmed, max(0, at.offset-confirmed), at.limit-limit)
		} else {
			slices.Reverse(unconfirmed)
			before = window(unconfirmed, offset, limit)
			offset, limit = max(0, offset-len(unconfirmed)), limit-len(before)
		}
		var pks []model.UtxoPk
		if h.Birth != nil {
			l := v.WithoutPendingSpends(v.boxList(h, unspentBoxes, !at.ascending))
			if pks, err = v.Window(l, offset, limit); err != nil {
				return nil, err
			}
		}
		all := inOrder(once(before), v.BoxBatches(pks, true), once(after))
		return paged(v, v.boxes(all, anyForm), confirmed+len(unconfirmed)), nil
	}
}

// boxQuery is the body of a search.
type boxQuery struct {
	ErgoTreeTemplateHash string            `json:"ergoTreeTemplateHash"`
	Registers            map[string]string `json:"registers"`
	Constants            map[string]string `json:"constants"`
	Assets               []string          `json:"assets"`
}

// filter is a parsed [boxQuery].
type filter struct {
	registers boxes.Registers
	constants map[int][]byte
	assets    []sigma.ID
	any       bool // of the assets; else all
}

// filterOf parses the body of a search.
func filterOf(r *request, b *boxQuery) (f filter) {
	f.constants = map[int][]byte{}
	var err error
	if f.registers, err = boxes.ParseRegisters(b.Registers); err != nil {
		r.Refuse(err)
	}
	for name, text := range b.Constants {
		raw, err := hex.DecodeString(text)
		n, errN := strconv.Atoi(name)
		if err != nil || errN != nil || n < 0 || strconv.Itoa(n) != name {
			r.Refuse(bad("constant %q: expected its number and its bytes in hex", name))
		}
		f.constants[n] = raw
	}
	for _, text := range b.Assets {
		f.assets = append(f.assets, parseID(r, text))
	}
	return f
}

// matches reports whether a box has everything that the filter names.
func (f *filter) matches(b *boxes.Box) bool {
	box := b.Box()
	if !f.registers.In(box) {
		return false
	}
	if len(f.constants) > 0 {
		constants, err := sigma.TreeConstants(box.Tree)
		if err != nil {
			return false
		}
		for n, raw := range f.constants {
			if n >= len(constants) || !bytes.Equal(constants[n], raw) {
				return false
			}
		}
	}
	for _, id := range f.assets {
		has := false
		for _, t := range box.Tokens {
			has = has || t.ID == id
		}
		if has == f.any {
			return f.any
		}
	}
	return !f.any
}

// maxSearched is the number of boxes of a template up to which a search compares them.
const maxSearched = 100_000

// search returns an endpoint that lists the boxes of a template that match, oldest first. They are compared one by one.
func search(of kind, anyAsset bool) func(*request) answer {
	return func(r *request) answer {
		p := pageOf(r, maxItems)
		var body boxQuery
		content(r, &body)
		f := filterOf(r, &body)
		f.any = anyAsset
		hash := parseID(r, body.ErgoTreeTemplateHash)
		return func(v *view) (any, error) {
			h, err := v.Template(hash)
			if err != nil {
				return nil, err
			}
			candidates, err := v.totalOf(h, of)
			if err != nil {
				return nil, err
			}
			if candidates > maxSearched {
				return nil, bad("the template has %d boxes: a search compares at most %d", candidates, maxSearched)
			}
			var found []model.UtxoPk
			if h.Birth != nil {
				if found, err = v.matching(v.boxList(h, of, false), &f, candidates); err != nil {
					return nil, err
				}
			}
			return paged(v, v.confirmed(window(found, p.offset, p.limit), of), len(found)), nil
		}
	}
}

// matching returns the boxes of a list that a filter accepts.
func (v *view) matching(l *boxes.List, f *filter, n int) (found []model.UtxoPk, err error) {
	pks, err := v.Window(l, 0, n)
	if err != nil {
		return nil, err
	}
	for batch, err := range v.BoxBatches(pks, true) {
		if err == nil {
			err = v.Q.Ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if f.matches(&batch[i]) {
				found = append(found, batch[i].Pk)
			}
		}
	}
	return found, nil
}
