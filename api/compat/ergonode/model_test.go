package ergonode_test

import (
	"encoding/hex"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/chains/ergo"
)

// expected has the answers of the node's extra index by the naive model.
type expected struct {
	*Naive
	format func(stored []byte) string
}

func (e *expected) address(tree string) string {
	raw, err := hex.DecodeString(tree)
	if err != nil {
		panic(err)
	}
	return e.format(ergo.StoredAddress(raw))
}

// plain is a box as it is in transactions.
func plain(b *Box) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"boxId", "value", "ergoTree", "assets", "creationHeight", "additionalRegisters", "transactionId", "index"} {
		out[name] = b.JSON[name]
	}
	return out
}

// pending is an unconfirmed transaction with the boxes that it spends (createTransactionWithResolvedInputs in
// TransactionsApiRoute.scala of ergoplatform/ergo since 6.0.1).
func pending(tx *Tx) map[string]any {
	inputs := []any{}
	for i, in := range tx.Inputs {
		input := plain(in)
		for name, value := range tx.JSON["inputs"].([]any)[i].(map[string]any) {
			input[name] = value
		}
		inputs = append(inputs, input)
	}
	out := map[string]any{"inputs": inputs}
	for _, name := range []string{"id", "dataInputs", "outputs", "size"} {
		out[name] = tx.JSON[name]
	}
	return out
}

func (e *expected) box(b *Box) map[string]any {
	out := plain(b)
	out["address"] = e.address(b.Tree)
	out["globalIndex"], out["inclusionHeight"] = b.Global, b.Height()
	out["spentTransactionId"], out["spendingProof"] = nil, nil
	if b.Tx.Block == nil {
		out["globalIndex"] = 0
	} else if b.Spender != nil {
		out["spentTransactionId"], out["spendingProof"] = b.Spender.ID, b.Proof
	}
	return out
}

func (e *expected) boxes(all []*Box) []any {
	out := []any{}
	for _, b := range all {
		out = append(out, e.box(b))
	}
	return out
}

func (e *expected) tx(t *Tx) map[string]any {
	inputs := []any{}
	for _, b := range t.Inputs {
		if !b.Genesis() {
			inputs = append(inputs, e.box(b))
		}
	}
	return map[string]any{
		"id": t.ID, "blockId": t.Block.ID, "inclusionHeight": t.Block.Height, "timestamp": t.Block.Timestamp, "index": t.Index,
		"globalIndex": t.Global, "numConfirmations": e.Tip() - t.Block.Height, "inputs": inputs, "dataInputs": t.JSON["dataInputs"],
		"outputs": e.boxes(t.Outputs), "size": t.JSON["size"],
	}
}

func (e *expected) txs(all []*Tx) []any {
	out := []any{}
	for _, t := range all {
		out = append(out, e.tx(t))
	}
	return out
}

func paged(items []any, total int) map[string]any {
	return map[string]any{"items": items, "total": total}
}

// real leaves out the genesis, which the extra index does not have.
func real(f func(*Box) bool) func(*Box) bool {
	return func(b *Box) bool { return !b.Genesis() && f(b) }
}

// all is a list that counts from the newest.
func (e *expected) all(f func(*Box) bool, offset, limit int, oldestFirst bool) map[string]any {
	found := e.Where(real(f))
	page := Page(Reverse(found), offset, limit)
	if oldestFirst {
		page = Reverse(page)
	}
	return paged(e.boxes(page), len(found))
}

// unspent is a list of unspent boxes.
func (e *expected) unspent(f func(*Box) bool, offset, limit int, ascending, pending, excluded bool) []any {
	found := e.Where(real(func(b *Box) bool { return f(b) && b.Spender == nil && (!excluded || b.Pending == nil) }))
	if !ascending {
		found = Reverse(found)
	}
	page := Page(found, offset, limit)
	var fresh []*Box
	for _, b := range e.Fresh {
		if pending && f(b) && (!excluded || b.Pending == nil) {
			fresh = append(fresh, b)
		}
	}
	if ascending {
		return e.boxes(append(page[:len(page):len(page)], fresh...))
	}
	return e.boxes(append(fresh, page...))
}

func (e *expected) historyOf(f func(*Box) bool, offset, limit int) map[string]any {
	found := e.TxsWhere(real(f))
	return paged(e.txs(Page(Reverse(found), offset, limit)), len(found))
}

// token returns the box and the amount of a token.
func (e *expected) token(id string) (first *Box, amount uint64) {
	for _, b := range e.Boxes {
		if !b.Has(id) || first != nil && b.Tx != first.Tx {
			continue
		}
		if first == nil {
			first = b
		}
		for _, t := range b.Tokens {
			if t.ID == id {
				amount += t.Amount
			}
		}
	}
	return first, amount
}

// held sums boxes, with the tokens in any order.
func held(all []*Box) (value uint64, tokens map[string]uint64) {
	tokens = map[string]uint64{}
	for _, b := range all {
		value += b.Value
		for _, t := range b.Tokens {
			tokens[t.ID] += t.Amount
		}
	}
	return value, tokens
}
