package ergoexplorer

import (
	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/core/pending"
	"birthmark/model"
)

// addressTxs lists the transactions of an address, newest first. With concise, they have its inputs and outputs only.
func (p *protocol) addressTxs(r *request) answer {
	at := pageOf(r, maxItems)
	concise := boxes.Flag(r, "concise")
	find := p.ofAddress(r)
	from, first := number(r, "fromHeight")
	to, last := number(r, "toHeight")
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		t, err := v.Totals(h, true)
		if err != nil {
			return nil, err
		}
		var txs []model.TxPk
		if h.Birth != nil {
			l, err := v.History(h, true, true)
			if err != nil {
				return nil, err
			}
			if first && last {
				if to < from {
					return nil, bad("toHeight is below fromHeight")
				}
				l = v.Within(l, model.HeightPk(min(from, model.MaxHeight)), model.HeightPk(min(to, model.MaxHeight)))
				if t.Txs, err = v.count(l); err != nil {
					return nil, err
				}
			}
			if txs, err = v.TxWindow(l, at.offset, at.limit); err != nil {
				return nil, err
			}
		}
		if !concise {
			h = nil
		}
		return paged(v, v.txs(txs, h), t.Txs), nil
	}
}

// maxCounted is the number of items up to which a list is counted whose total is not stored.
const maxCounted = 500_000

// count returns the number of items of a list.
func (v *view) count(l *boxes.List) (int, error) {
	n, ok, err := v.Count(l, maxCounted)
	if err == nil && !ok {
		err = bad("the list has more than %d items, the most that are counted: request a shorter range", maxCounted)
	}
	return n, err
}

func (p *protocol) confirmedBalance(r *request) answer {
	find := p.ofAddress(r)
	depth, _ := number(r, "minConfirmations")
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		if depth == 0 || h.Birth == nil {
			return v.balance(h)
		}
		nanoErgs, held, err := v.HeldAt(r.Context(), h, model.HeightPk(max(0, v.Height()-depth)))
		if err != nil {
			return nil, err
		}
		return v.balanceOf(nanoErgs, held)
	}
}

// balance returns the contents of the unspent boxes of a holder.
func (v *view) balance(h *boxes.Holder) (*balanceValue, error) {
	nanoErgs, held, err := v.Holdings(h, true)
	if err != nil {
		return nil, err
	}
	return v.balanceOf(nanoErgs, held)
}

// totalBalance returns the confirmed balance, and what unconfirmed boxes hold.
func (p *protocol) totalBalance(r *request) answer {
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		to := new(totalValue)
		if to.Confirmed, err = v.balance(h); err != nil {
			return nil, err
		}
		unconfirmed, err := v.unconfirmedOf(h)
		if err != nil {
			return nil, err
		}
		to.Unconfirmed, err = v.balanceOf(boxes.Sum(unconfirmed))
		return to, err
	}
}

// unconfirmedOf returns the unconfirmed boxes of a tree that no unconfirmed transaction spends.
func (v *view) unconfirmedOf(h *boxes.Holder) ([]boxes.Box, error) {
	all, err := v.PendingBoxes(h.Index.Name, h.Value)
	return unspentOf(all), err
}

const maxBatch = 500 // addresses

func (p *protocol) batchInfo(r *request) answer {
	var texts []string
	content(r, &texts)
	if len(texts) > maxBatch {
		r.Refuse(bad("%d addresses: expected at most %d", len(texts), maxBatch))
		texts = nil
	}
	find := make([]finder, len(texts))
	for i, text := range texts {
		find[i] = p.holderOf(r, text)
	}
	return func(v *view) (any, error) {
		all := make(jsonappend.Object[*addressValue], len(texts))
		for i, text := range texts {
			h, err := find[i](v)
			if err != nil {
				return nil, err
			}
			a := &addressValue{Address: text, Used: h.Birth != nil}
			for range v.PendingOf(h.Index.Name, h.Value) {
				a.Pending = true
				break
			}
			if a.Confirmed, err = v.balance(h); err != nil {
				return nil, err
			}
			all[i].Name, all[i].Value = text, a
		}
		return &all, nil
	}
}

// pendingOf returns the unconfirmed transactions of a holder, newest first.
func (v *view) pendingOf(find finder) ([]*pending.Tx, error) {
	h, err := find(v)
	if err != nil {
		return nil, err
	}
	return newestFirst(v.PendingOf(h.Index.Name, h.Value)), nil
}

// pendingTxs lists the unconfirmed transactions of an address, newest first.
func (p *protocol) pendingTxs(r *request) answer {
	at := pageOf(r, maxItems)
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		all, err := v.pendingOf(find)
		return paged(v, valuesOf(window(all, at.offset, at.limit), v.pendingTxOf), len(all)), err
	}
}

// pendingBoxes returns the unspent boxes that unconfirmed transactions create.
func pendingBoxes(*request) answer {
	return func(v *view) (any, error) {
		all, err := v.AllPendingBoxes()
		return exchange.Values(v.boxes(once(unspentOf(all)), pendingForm)), err
	}
}
