package ergonode

import (
	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

func boxesOfToken(r *request) answer {
	p := pageOf(r, "boxes", fewItems)
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		birth, t, ok, err := v.AssetTotals(id)
		if err != nil {
			return nil, err
		}
		var pks []model.UtxoPk
		if ok {
			if pks, err = v.Window(v.AssetList(birth, false, true), p.offset, p.limit); err != nil {
				return nil, err
			}
		}
		return listed(v, v.boxes(v.BoxBatches(pks, false)), int(t.Outputs)), nil
	}
}

func unspentOfToken(r *request) answer {
	p := pageOf(r, "boxes", fewItems)
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		birth, _, ok, err := v.AssetTotals(id)
		if err != nil {
			return nil, err
		}
		var l *boxes.List
		if ok {
			l = v.AssetList(birth, true, !p.ascending)
		}
		return v.unspent(l, p, func() ([]boxes.Box, error) { return v.PendingBoxesWith(id) })
	}
}

func tokenByID(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		t, err := v.TokenOf(id)
		if err == nil && t == nil {
			err = errNotFound
		}
		if err != nil {
			return nil, err
		}
		return tokenOf(t), nil
	}
}

// tokensByID returns the tokens with ids, without unknown ones.
func tokensByID(r *request) answer {
	ids := bodyIDs(r)
	return func(v *view) (any, error) {
		tokens, err := v.TokensOf(ids)
		all := []*tokenValue{}
		for _, id := range ids {
			if t := tokens[id]; t != nil {
				all = append(all, tokenOf(t))
			}
		}
		return all, err
	}
}

// balance returns the contents of the unspent boxes of an address, and those of unconfirmed boxes. The node subtracts
// nothing for boxes that unconfirmed transactions spend.
func (p *protocol) balance(r *request) answer {
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		nanoErgs, held, err := v.Holdings(h.Holder, false)
		if err != nil {
			return nil, err
		}
		created, err := h.pending()
		if err != nil {
			return nil, err
		}
		to := new(balancesValue)
		if to.Confirmed, err = v.balanceOf(nanoErgs, held); err != nil {
			return nil, err
		}
		to.Unconfirmed, err = v.balanceOf(boxes.Sum(created))
		return to, err
	}
}

func (v *view) balanceOf(nanoErgs uint64, held []sigma.Token) (*balanceValue, error) {
	tokens, err := v.TokensHeld(held)
	if err != nil {
		return nil, err
	}
	to := &balanceValue{nanoErgs, make([]heldValue, len(held))}
	for i, x := range held {
		to.Tokens[i] = heldValue{ID: boxes.ID(x.ID), Amount: x.Amount}
		if t := tokens[x.ID]; t != nil {
			to.Tokens[i].Decimals, to.Tokens[i].Name = t.Node.Decimals, t.Node.Name
		}
	}
	return to, nil
}
