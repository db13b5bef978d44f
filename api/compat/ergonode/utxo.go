package ergonode

import (
	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// among returns the unspent boxes with ids; nil for any other id. A view with the mempool also has the boxes that
// unconfirmed transactions create.
func (v *view) among(ids []sigma.ID) ([]*boxes.Box, error) {
	found, err := v.Inputs(ids)
	if err != nil {
		return nil, err
	}
	for i, b := range found {
		if b == nil || b.Unconfirmed {
			continue
		}
		spent, err := v.Q.SpendersOf([]model.UtxoPk{b.Pk})
		if err != nil {
			return nil, err
		}
		if spent[0] != nil {
			found[i] = nil
		}
	}
	return found, nil
}

func asJSON(b *boxes.Box) any {
	v := b.JSON()
	return &v
}

func asBytes(b *boxes.Box) any {
	tx := sigma.ID(b.Tx.ID)
	return &rawBoxValue{boxes.ID(b.ID()), b.Box().AppendTo(nil, &tx, b.Pos)}
}

// utxo returns an unspent box in a form.
func utxo(as func(*boxes.Box) any) func(*request) answer {
	return func(r *request) answer {
		id := idArg(r, "id")
		return func(v *view) (any, error) {
			found, err := v.among([]sigma.ID{id})
			if err != nil {
				return nil, err
			}
			if found[0] == nil {
				return nil, errNotFound
			}
			return as(found[0]), nil
		}
	}
}

func utxos(r *request) answer {
	ids := bodyIDs(r)
	return func(v *view) (any, error) {
		found, err := v.among(ids)
		var all []boxes.Box
		for _, b := range found {
			if b != nil {
				all = append(all, *b)
			}
		}
		return plain(all), err
	}
}

func genesis(*request) answer {
	return func(v *view) (any, error) {
		all, err := v.Genesis()
		return plain(all), err
	}
}

// plain returns boxes without place and spender.
func plain(all []boxes.Box) any {
	return exchange.Stream(func(yield func(boxes.BoxJSON, error) bool) {
		for i := range all {
			if !yield(all[i].JSON(), nil) {
				return
			}
		}
	})
}
