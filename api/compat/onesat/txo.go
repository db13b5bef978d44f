package onesat

import (
	"encoding/json"
	"strings"

	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/core/query"
	"birthmark/model"
)

// maxOutpoints is the number of outpoints or addresses of a request.
const maxOutpoints = 1000

// textsIn reads a list of texts from the body.
func textsIn(r *request) (texts []string) {
	if json.Unmarshal(r.Content(), &texts) != nil {
		r.Refuse(badRequest("Invalid request body"))
	} else if len(texts) > maxOutpoints {
		r.Refuse(badRequest("Too many items (max %d)", maxOutpoints))
	}
	return texts
}

// outpointArg reads the outpoint in the path.
func outpointArg(r *request) (id model.Hash, index uint32) {
	id, index, ok := parseOutpoint(arg(r, "outpoint"), "_.:")
	if !ok {
		r.Refuse(badRequest("Invalid outpoint format"))
	}
	return id, index
}

func oneOutput(r *request) answer {
	id, index := outpointArg(r)
	m := membersOf(r, true)
	return func(v *view) (any, error) {
		o, err := v.find(id, index, m)
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, missing("TXO not found")
		}
		values, err := v.values([]*stored{o}, m)
		if err != nil {
			return nil, err
		}
		return values[0], nil
	}
}

// spendValue is the transaction that spends an output; null: none.
type spendValue struct {
	SpendTxid *string `json:"spendTxid"`
}

func spendOf(o *stored) spendValue {
	if o == nil || o.spend == nil {
		return spendValue{}
	}
	text := block.FormatHash(*o.spend)
	return spendValue{&text}
}

func oneSpend(r *request) answer {
	id, index := outpointArg(r)
	return func(v *view) (any, error) {
		o, err := v.find(id, index, members{})
		return spendOf(o), err
	}
}

// findAll returns the outputs of a list of outpoints. Invalid and unknown ones are nil.
func (v *view) findAll(texts []string, m members) ([]*stored, error) {
	found := make([]*stored, len(texts))
	for i, text := range texts {
		id, index, ok := parseOutpoint(text, "_:.")
		if !ok {
			continue
		}
		var err error
		if found[i], err = v.find(id, index, m); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func manyOutputs(r *request) answer {
	texts, m := textsIn(r), membersOf(r, true)
	return func(v *view) (any, error) {
		found, err := v.findAll(texts, m)
		if err != nil {
			return nil, err
		}
		return v.values(found, m)
	}
}

func manySpends(r *request) answer {
	texts := textsIn(r)
	return func(v *view) (any, error) {
		found, err := v.findAll(texts, members{})
		if err != nil {
			return nil, err
		}
		spends := make([]spendValue, len(found))
		for i, o := range found {
			spends[i] = spendOf(o)
		}
		return spends, nil
	}
}

// txidArg reads the transaction id in the path.
func txidArg(r *request) model.Hash {
	id, ok := block.ParseHash(arg(r, "txid"))
	if !ok {
		r.Refuse(badRequest("Invalid txid"))
	}
	return id
}

// outputsOf returns the outputs of a transaction, which is empty if it is unknown.
func (v *view) outputsOf(id model.Hash, m members) ([]*stored, error) {
	tx, err := v.Tx(id)
	if is(err, "unknown_tx") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if tx.Place.Confirmed {
		pks, err := v.Query().TxPks([]model.Hash{id})
		if err != nil || len(pks[0]) == 0 {
			return nil, err
		}
		outputs, err := v.Query().OutputsOf(pks[0][0])
		if err != nil {
			return nil, err
		}
		return v.confirmed(outputs, m)
	}
	return v.unconfirmedOutputs(tx)
}

func outputsOfTx(r *request) answer {
	id, m := txidArg(r), membersOf(r, true)
	return func(v *view) (any, error) {
		outputs, err := v.outputsOf(id, m)
		if err != nil {
			return nil, err
		}
		return v.values(outputs, m)
	}
}

// searchOutputs returns the outputs with one of several keys.
func searchOutputs(r *request) answer {
	keys := keysOf(r.Query()["key"])
	if len(keys) == 0 {
		r.Refuse(badRequest("At least one key is required"))
	}
	m, c := membersOf(r, false), searchOf(r, defaultLimit)
	return func(v *view) (any, error) { return v.list(keys, c, m), nil }
}

// keysOf splits keys that the client joined by commas.
func keysOf(params []string) (keys []string) {
	for _, p := range params {
		parts := strings.Split(p, ",")
		for _, part := range parts {
			if !strings.Contains(part, ":") && part != listKey {
				parts = []string{p}
				break
			}
		}
		for _, part := range parts {
			if part != "" {
				keys = append(keys, part)
			}
		}
	}
	return keys
}

// list returns the outputs of a search as JSON.
func (v *view) list(keys []string, c search, m members) any {
	return exchange.List(func(yield func(*outputValue, error) bool) {
		for outputs, err := range v.found(keys, c, m) {
			var values []*outputValue
			if err == nil {
				values, err = v.values(outputs, m)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, value := range values {
				if !yield(value, nil) {
					return
				}
			}
		}
	})
}

// outputsPerRead is the number of outputs that are read together.
const outputsPerRead = query.OccurrenceBatch
