package ergonode

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

var utxoEndpoints = []endpoint{
	{http.MethodGet, "utxo/byId/*", utxo(false, false), confirmed},
	{http.MethodGet, "utxo/byIdBinary/*", utxo(false, true), confirmed},
	{http.MethodGet, "utxo/withPool/byId/*", utxo(true, false), unconfirmed},
	{http.MethodGet, "utxo/withPool/byIdBinary/*", utxo(true, true), unconfirmed},
	{http.MethodPost, "utxo/withPool/byIds", utxos, unconfirmed},
	{http.MethodGet, "utxo/genesis", genesis, confirmed},
}

// unspent returns the unspent boxes with ids, or with pool also the boxes that unconfirmed transactions create; nil
// for any other id.
func (q *request) unspent(ids []sigma.ID, pool bool) ([]*boxes.Box, error) {
	found, err := q.v.Inputs(ids)
	if err != nil {
		return nil, err
	}
	for i, b := range found {
		switch {
		case b == nil:
		case b.Unconfirmed && !pool:
			found[i] = nil
		case !b.Unconfirmed:
			spent, err := q.v.Q.SpendersOf([]model.UtxoPk{b.Pk})
			if err != nil {
				return nil, err
			}
			if spent[0] != nil {
				found[i] = nil
			}
		}
	}
	return found, nil
}

// utxo answers an unspent box: its fields, or its bytes.
func utxo(pool, binary bool) func(*request, []string) error {
	return func(q *request, args []string) error {
		id, err := parseID(args[0])
		if err != nil {
			return err
		}
		found, err := q.unspent([]sigma.ID{id}, pool)
		if err != nil {
			return err
		}
		b := found[0]
		if b == nil {
			return errNotFound
		}
		if !binary {
			q.Add("{")
			q.AddBox(b)
			q.Add("}")
			return nil
		}
		tx := sigma.ID(b.Tx.ID)
		q.Add(`{"boxId":`)
		q.ID(id)
		q.Add(`,"bytes":`)
		q.Hex(b.Box().AppendTo(nil, &tx, b.Pos))
		q.Add("}")
		return nil
	}
}

func utxos(q *request, _ []string) error {
	ids, err := q.ids()
	if err != nil {
		return err
	}
	found, err := q.unspent(ids, true)
	if err != nil {
		return err
	}
	q.Add("[")
	n := 0
	for _, b := range found {
		if b != nil {
			q.Comma(n)
			n++
			q.Add("{")
			q.AddBox(b)
			q.Add("}")
		}
	}
	q.Add("]")
	return nil
}

func genesis(q *request, _ []string) error {
	all, err := q.v.Genesis()
	if err != nil {
		return err
	}
	q.Add("[")
	for i := range all {
		q.Comma(i)
		q.Add("{")
		q.AddBox(&all[i])
		q.Add("}")
	}
	q.Add("]")
	return nil
}
