package ergoexplorer

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

var boxEndpoints = []endpoint{
	{http.MethodGet, "boxes/*", boxByID, false},
	{http.MethodGet, "boxes/byAddress/*", listed((*request).ofAddress, false, newest), false},
	{http.MethodGet, "boxes/byErgoTree/*", listed((*request).ofTree, false, newest), false},
	{http.MethodGet, "boxes/byErgoTreeTemplateHash/*", listed((*request).ofTemplate, false, oldest), false},
	{http.MethodGet, "boxes/unspent/byAddress/*", listed((*request).ofAddress, true, chosen), false},
	{http.MethodGet, "boxes/unspent/byErgoTree/*", listed((*request).ofTree, true, chosen), false},
	{http.MethodGet, "boxes/unspent/byErgoTreeTemplateHash/*", listed((*request).ofTemplate, true, oldest), false},
	{http.MethodGet, "boxes/byTokenId/*", ofToken(false), false},
	{http.MethodGet, "boxes/unspent/byTokenId/*", ofToken(true), false},
	{http.MethodGet, "boxes/unspent/unconfirmed/byAddress/*", unconfirmedBoxes, true},
	{http.MethodGet, "boxes/unspent/all/byAddress/*", allUnspent, true},
	{http.MethodPost, "boxes/search", search(false, false), false},
	{http.MethodPost, "boxes/unspent/search", search(true, false), false},
	{http.MethodPost, "boxes/unspent/search/union", search(true, true), false},
}

func boxByID(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	pk, ok, err := q.v.BoxOf(id)
	if err != nil {
		return err
	}
	if !ok {
		return absent("box %s", args[0])
	}
	return q.addBoxes([]model.UtxoPk{pk}, 0, false)
}

// order is that of a list: by the position of boxes in the chain.
type order uint8

const (
	newest order = iota
	oldest
	chosen // by sortDirection
)

// listed returns an endpoint that lists the boxes of a holder.
func listed(of func(*request, string) (*boxes.Holder, error), unspent bool, by order) func(*request, []string) error {
	return func(q *request, args []string) error {
		p, err := q.page(maxItems)
		if err != nil {
			return err
		}
		h, err := of(q, args[0])
		if err != nil {
			return err
		}
		t, err := q.v.Totals(h, true)
		if err != nil {
			return err
		}
		descending := by == newest || by == chosen && !p.ascending
		var pks []model.UtxoPk
		if h.Birth != nil {
			l := q.v.BoxList(h.Index, *h.Birth, true, descending)
			if unspent {
				l = q.v.UnspentList(h.Index, *h.Birth, true, descending)
				t.Boxes = t.Unspent
			}
			if pks, err = q.v.Window(l, p.offset, p.limit); err != nil {
				return err
			}
		}
		return q.paged(t.Boxes, func() error { return q.addBoxes(pks, 0, unspent) })
	}
}

// ofToken returns an endpoint that lists the boxes with a token.
func ofToken(unspent bool) func(*request, []string) error {
	return func(q *request, args []string) error {
		p, err := q.page(maxTokens)
		if err != nil {
			return err
		}
		id, err := parseID(args[0])
		if err != nil {
			return err
		}
		birth, t, ok, err := q.v.AssetTotals(id)
		if err != nil {
			return err
		}
		var pks []model.UtxoPk
		if ok {
			if pks, err = q.v.Window(q.v.AssetList(birth, unspent, !p.ascending), p.offset, p.limit); err != nil {
				return err
			}
		}
		total := t.Outputs
		if unspent {
			total = t.Unspent
		}
		return q.paged(int(total), func() error { return q.addBoxes(pks, 0, unspent) })
	}
}

// unconfirmedBoxes lists the unconfirmed boxes of an address, and after them the confirmed unspent ones, without boxes that
// unconfirmed transactions spend (getUnspent&UnconfirmedOutputsMergedByAddress in Boxes.scala of
// ergoplatform/explorer-backend).
func unconfirmedBoxes(q *request, args []string) error {
	ascending, ok := q.Ascending()
	if !ok {
		return bad("sortDirection: expected asc or desc")
	}
	h, err := q.ofAddress(args[0])
	if err != nil {
		return err
	}
	unconfirmed, err := q.unconfirmedOf(h)
	if err != nil {
		return err
	}
	q.Add("[")
	if err := q.addBoxItems(unconfirmed, 0, mergedForm); err != nil {
		return err
	}
	if h.Birth != nil {
		if err := q.addUnspent(h, !ascending, len(unconfirmed)); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

// addUnspent writes the unspent boxes of a holder in the form of merged lists, as items of a list of which n were written,
// without boxes that unconfirmed transactions spend.
func (q *request) addUnspent(h *boxes.Holder, descending bool, n int) error {
	batch := make([]model.UtxoPk, 0, rows)
	flush := func() error {
		all, err := q.v.UnspentBoxes(batch)
		if err != nil {
			return err
		}
		if err := q.addBoxItems(all, n, mergedForm); err != nil {
			return err
		}
		n, batch = n+len(batch), batch[:0]
		return q.Flush()
	}
	l := q.v.WithoutPendingSpends(q.v.UnspentList(h.Index, *h.Birth, true, descending))
	err := q.v.Each(l, func(pk model.UtxoPk) (bool, error) {
		if batch = append(batch, pk); len(batch) < rows {
			return true, nil
		}
		return true, flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// allUnspent lists the unspent boxes of an address, confirmed or not, without boxes that unconfirmed transactions spend.
// Unconfirmed boxes are the newest.
func allUnspent(q *request, args []string) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	h, err := q.ofAddress(args[0])
	if err != nil {
		return err
	}
	unconfirmed, err := q.unconfirmedOf(h)
	if err != nil {
		return err
	}
	t, err := q.v.Totals(h, true)
	if err != nil {
		return err
	}
	spent, err := q.v.PendingSpentOf(h)
	if err != nil {
		return err
	}
	total := t.Unspent - spent
	offset, limit := p.offset, p.limit
	var before, after []boxes.Box
	if p.ascending {
		offset = min(offset, total)
		n := min(limit, total-offset)
		from := max(0, p.offset-total)
		after = window(unconfirmed, from, limit-n)
		limit = n
	} else {
		newestFirst := make([]boxes.Box, 0, len(unconfirmed))
		for i := len(unconfirmed) - 1; i >= 0; i-- {
			newestFirst = append(newestFirst, unconfirmed[i])
		}
		before = window(newestFirst, offset, limit)
		offset, limit = max(0, offset-len(unconfirmed)), limit-len(before)
	}
	var pks []model.UtxoPk
	if h.Birth != nil {
		l := q.v.WithoutPendingSpends(q.v.UnspentList(h.Index, *h.Birth, true, !p.ascending))
		if pks, err = q.v.Window(l, offset, limit); err != nil {
			return err
		}
	}
	return q.paged(total+len(unconfirmed), func() error {
		if err := q.addBoxItems(before, 0, anyForm); err != nil {
			return err
		}
		confirmed, err := q.v.UnspentBoxes(pks)
		if err != nil {
			return err
		}
		if err := q.addBoxItems(confirmed, len(before), anyForm); err != nil {
			return err
		}
		return q.addBoxItems(after, len(pks), anyForm)
	})
}

// window returns the boxes from an offset on, at most limit.
func window(all []boxes.Box, offset, limit int) []boxes.Box {
	all = all[min(offset, len(all)):]
	return all[:min(max(0, limit), len(all))]
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

func (b *boxQuery) filter() (f filter, err error) {
	f.constants = map[int][]byte{}
	if f.registers, err = boxes.ParseRegisters(b.Registers); err != nil {
		return f, err
	}
	for name, text := range b.Constants {
		raw, err := hex.DecodeString(text)
		n, errN := strconv.Atoi(name)
		if err != nil || errN != nil || n < 0 || strconv.Itoa(n) != name {
			return f, bad("constant %q: expected its number and its bytes in hex", name)
		}
		f.constants[n] = raw
	}
	for _, text := range b.Assets {
		id, err := parseID(text)
		if err != nil {
			return f, err
		}
		f.assets = append(f.assets, id)
	}
	return f, nil
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
func search(unspent, any bool) func(*request, []string) error {
	return func(q *request, _ []string) error {
		p, err := q.page(maxItems)
		if err != nil {
			return err
		}
		var body boxQuery
		if err := q.body(&body); err != nil {
			return err
		}
		f, err := body.filter()
		if err != nil {
			return err
		}
		f.any = any
		h, err := q.ofTemplate(body.ErgoTreeTemplateHash)
		if err != nil {
			return err
		}
		t, err := q.v.Totals(h, true)
		if err != nil {
			return err
		}
		candidates := t.Boxes
		if unspent {
			candidates = t.Unspent
		}
		if candidates > maxSearched {
			return bad("the template has %d boxes: a search compares at most %d", candidates, maxSearched)
		}
		var found []model.UtxoPk
		if h.Birth != nil {
			l := q.v.BoxList(h.Index, *h.Birth, true, false)
			if unspent {
				l = q.v.UnspentList(h.Index, *h.Birth, true, false)
			}
			if found, err = q.matching(l, &f, candidates); err != nil {
				return err
			}
		}
		page := found[min(p.offset, len(found)):]
		page = page[:min(p.limit, len(page))]
		return q.paged(len(found), func() error { return q.addBoxes(page, 0, unspent) })
	}
}

// matching returns the boxes of a list that a filter accepts.
func (q *request) matching(l *boxes.List, f *filter, n int) (found []model.UtxoPk, err error) {
	pks, err := q.v.Window(l, 0, n)
	for i := 0; i < len(pks) && err == nil; i += rows {
		var all []boxes.Box
		if all, err = q.v.UnspentBoxes(pks[i:min(i+rows, len(pks))]); err != nil {
			return nil, err
		}
		for n := range all {
			if f.matches(&all[n]) {
				found = append(found, all[n].Pk)
			}
		}
		err = q.Ctx.Err()
	}
	return found, err
}
