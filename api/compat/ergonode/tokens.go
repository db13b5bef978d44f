package ergonode

import (
	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

func boxesOfToken(q *request, args []string) error {
	p, err := q.page("boxes")
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
		if pks, err = q.v.Window(q.v.AssetList(birth, false, true), p.offset, p.limit); err != nil {
			return err
		}
	}
	q.Add(`{"items":`)
	if err := q.addBoxes(pks, true, false); err != nil {
		return err
	}
	q.addTotal(int(t.Outputs))
	return nil
}

func unspentOfToken(q *request, args []string) error {
	p, err := q.page("boxes")
	if err != nil {
		return err
	}
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	birth, _, ok, err := q.v.AssetTotals(id)
	if err != nil {
		return err
	}
	var l *boxes.List
	if ok {
		l = q.v.AssetList(birth, true, !p.ascending)
	}
	var added []boxes.Box
	if p.unconfirmed {
		if added, err = q.v.PendingBoxesWith(id); err != nil {
			return err
		}
	}
	return q.writeUnspent(l, p, added)
}

func tokenByID(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	t, err := q.v.TokenOf(id)
	if err != nil {
		return err
	}
	if t == nil {
		return errNotFound
	}
	q.addToken(t)
	return nil
}

func tokensByID(q *request, _ []string) error {
	ids, err := q.ids()
	if err != nil {
		return err
	}
	tokens, err := q.v.TokensOf(ids)
	if err != nil {
		return err
	}
	q.Add("[")
	n := 0
	for _, id := range ids {
		if t := tokens[id]; t != nil {
			q.Comma(n)
			n++
			q.addToken(t)
		}
	}
	q.Add("]")
	return nil
}

func (q *request) addToken(t *boxes.Token) {
	q.Add(`{"id":`)
	q.ID(t.ID)
	q.Add(`,"boxId":`)
	q.ID(t.Box)
	q.Add(`,"emissionAmount":`)
	q.Uint(t.Amount)
	q.Add(`,"name":`)
	q.Text(t.Node.Name)
	q.Add(`,"description":`)
	q.Text(t.Node.Description)
	q.Add(`,"decimals":`)
	q.Int(t.Node.Decimals)
	q.Add("}")
}

// holding is an amount of a token.
type holding struct {
	id     sigma.ID
	amount uint64
}

// balance writes the contents of the unspent boxes of an address, and those of unconfirmed boxes. The node subtracts
// nothing for boxes that unconfirmed transactions spend.
func balance(q *request, args []string) error {
	h, err := q.holder(args[0], false)
	if err != nil {
		return err
	}
	t, err := q.v.Totals(h, false)
	if err != nil {
		return err
	}
	held, err := q.v.Held(h)
	if err != nil {
		return err
	}
	var confirmedHoldings []holding
	for i := range held {
		id, _ := boxes.ParseID(held[i].ID)
		confirmedHoldings = append(confirmedHoldings, holding{id, held[i].Amount})
	}
	created, err := q.v.PendingBoxes(h.Index.Name, h.Value)
	if err != nil {
		return err
	}
	var value uint64
	var unconfirmedHoldings []holding
	at := map[sigma.ID]int{}
	for i := range created {
		value += created[i].Box().Value
		for _, token := range created[i].Box().Tokens {
			n, known := at[token.ID]
			if !known {
				n = len(unconfirmedHoldings)
				at[token.ID] = n
				unconfirmedHoldings = append(unconfirmedHoldings, holding{id: token.ID})
			}
			unconfirmedHoldings[n].amount += token.Amount
		}
	}
	q.Add(`{"confirmed":`)
	if err := q.addHoldings(t.Value, confirmedHoldings); err != nil {
		return err
	}
	q.Add(`,"unconfirmed":`)
	if err := q.addHoldings(value, unconfirmedHoldings); err != nil {
		return err
	}
	q.Add("}")
	return nil
}

func (q *request) addHoldings(nanoErgs uint64, held []holding) error {
	ids := make([]sigma.ID, len(held))
	for i := range held {
		ids[i] = held[i].id
	}
	tokens, err := q.v.TokensOf(ids)
	if err != nil {
		return err
	}
	q.Add(`{"nanoErgs":`)
	q.Uint(nanoErgs)
	q.Add(`,"tokens":[`)
	for i, x := range held {
		q.Comma(i)
		var t boxes.Token
		if known := tokens[x.id]; known != nil {
			t = *known
		}
		q.Add(`{"tokenId":`)
		q.ID(x.id)
		q.Add(`,"amount":`)
		q.Uint(x.amount)
		q.Add(`,"decimals":`)
		q.Int(t.Node.Decimals)
		q.Add(`,"name":`)
		q.Text(t.Node.Name)
		q.Add("}")
	}
	q.Add("]}")
	return nil
}
