package ergoexplorer

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

var addressEndpoints = []endpoint{
	{http.MethodGet, "addresses/*/transactions", addressTxs, false},
	{http.MethodGet, "addresses/*/balance/confirmed", confirmedBalance, false},
	{http.MethodGet, "addresses/*/balance/total", totalBalance, true},
	{http.MethodPost, "addresses/batchInfo", batchInfo, true},
	{http.MethodGet, "mempool/transactions/byAddress/*", pendingTxs, true},
	{http.MethodGet, "mempool/boxes/unspent", pendingBoxes, true},
}

// addressTxs lists the transactions of an address, newest first.
func addressTxs(q *request, args []string) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	concise, err := q.Flag("concise")
	if err != nil {
		return err
	}
	h, err := q.ofAddress(args[0])
	if err != nil {
		return err
	}
	var from, to int
	first, err := q.number("fromHeight", &from)
	if err != nil {
		return err
	}
	last, err := q.number("toHeight", &to)
	if err != nil {
		return err
	}
	t, err := q.v.Totals(h, true)
	if err != nil {
		return err
	}
	var txs []model.TxPk
	if h.Birth != nil {
		l, err := q.v.History(h, true, true)
		if err != nil {
			return err
		}
		if first && last {
			if to < from {
				return bad("toHeight is below fromHeight")
			}
			l = l.Within(model.HeightPk(min(from, model.MaxHeight)), model.HeightPk(min(to, model.MaxHeight)))
			if t.Txs, err = q.count(l); err != nil {
				return err
			}
		}
		pks, err := q.v.Window(l, p.offset, p.limit)
		if err != nil {
			return err
		}
		for _, pk := range pks {
			txs = append(txs, pk.Tx())
		}
	}
	if !concise {
		h = nil
	}
	return q.paged(t.Txs, func() error { return q.addTxs(txs, h) })
}

// maxCounted is the number of items up to which a list is counted whose total is not stored.
const maxCounted = 500_000

// count returns the number of items of a list.
func (q *request) count(l *boxes.List) (int, error) {
	n, ok, err := q.v.Count(l, maxCounted)
	if err == nil && !ok {
		err = bad("the list has more than %d items, the most that are counted: request a shorter range", maxCounted)
	}
	return n, err
}

// holdings returns the contents of the unspent boxes of a holder.
func (q *request) holdings(h *boxes.Holder) (nanoErgs uint64, ids []sigma.ID, amounts []uint64, err error) {
	t, err := q.v.Totals(h, true)
	if err != nil {
		return 0, nil, nil, err
	}
	held, err := q.v.Held(h)
	for i := range held {
		id, _ := boxes.ParseID(held[i].ID)
		ids, amounts = append(ids, id), append(amounts, held[i].Amount)
	}
	return t.Value, ids, amounts, err
}

func confirmedBalance(q *request, args []string) error {
	h, err := q.ofAddress(args[0])
	if err != nil {
		return err
	}
	depth := 0
	if _, err := q.number("minConfirmations", &depth); err != nil {
		return err
	}
	if depth == 0 || h.Birth == nil {
		nanoErgs, ids, amounts, err := q.holdings(h)
		if err != nil {
			return err
		}
		return q.addHoldings(nanoErgs, ids, amounts)
	}
	nanoErgs, ids, amounts, err := q.v.HeldAt(q.Ctx, h, model.HeightPk(max(0, q.v.Height()-depth)))
	if err != nil {
		return err
	}
	return q.addHoldings(nanoErgs, ids, amounts)
}

// sum adds the contents of boxes.
func sum(all []boxes.Box) (nanoErgs uint64, ids []sigma.ID, amounts []uint64) {
	at := map[sigma.ID]int{}
	for i := range all {
		nanoErgs += all[i].Box().Value
		for _, t := range all[i].Box().Tokens {
			n, known := at[t.ID]
			if !known {
				n = len(ids)
				at[t.ID] = n
				ids, amounts = append(ids, t.ID), append(amounts, 0)
			}
			amounts[n] += t.Amount
		}
	}
	return nanoErgs, ids, amounts
}

// totalBalance writes the confirmed balance, and what unconfirmed boxes hold.
func totalBalance(q *request, args []string) error {
	h, err := q.ofAddress(args[0])
	if err != nil {
		return err
	}
	nanoErgs, ids, amounts, err := q.holdings(h)
	if err != nil {
		return err
	}
	q.Add(`{"confirmed":`)
	if err := q.addHoldings(nanoErgs, ids, amounts); err != nil {
		return err
	}
	unconfirmed, err := q.unconfirmedOf(h)
	if err != nil {
		return err
	}
	q.Add(`,"unconfirmed":`)
	nanoErgs, ids, amounts = sum(unconfirmed)
	if err := q.addHoldings(nanoErgs, ids, amounts); err != nil {
		return err
	}
	q.Add("}")
	return nil
}

// unconfirmedOf returns the unconfirmed boxes of a tree that no unconfirmed transaction spends.
func (q *request) unconfirmedOf(h *boxes.Holder) ([]boxes.Box, error) {
	all, err := q.v.PendingBoxes(h.Index.Name, h.Value)
	kept := all[:0]
	for _, b := range all {
		if b.Spend == nil {
			kept = append(kept, b)
		}
	}
	return kept, err
}

const maxBatch = 500 // addresses

func batchInfo(q *request, _ []string) error {
	var texts []string
	if err := q.body(&texts); err != nil {
		return err
	}
	if len(texts) > maxBatch {
		return bad("%d addresses: expected at most %d", len(texts), maxBatch)
	}
	q.Add("{")
	for i, text := range texts {
		h, err := q.ofAddress(text)
		if err != nil {
			return err
		}
		pending := false
		for range q.v.PendingOf(h.Index.Name, h.Value) {
			pending = true
			break
		}
		q.Comma(i)
		q.Text(text)
		q.Add(`:{"address":`)
		q.Text(text)
		q.Add(`,"hasUnconfirmedTxs":`, boolText(pending), `,"used":`, boolText(h.Birth != nil), `,"confirmedBalance":`)
		nanoErgs, ids, amounts, err := q.holdings(h)
		if err != nil {
			return err
		}
		if err := q.addHoldings(nanoErgs, ids, amounts); err != nil {
			return err
		}
		q.Add("}")
	}
	q.Add("}")
	return nil
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// pendingOf returns the unconfirmed transactions of an address in the order of arrival, and the page of the request.
func (q *request) pendingOf(address string, most int) (p page, all []model.Hash, err error) {
	if p, err = q.page(most); err != nil {
		return p, nil, err
	}
	h, err := q.ofAddress(address)
	if err != nil {
		return p, nil, err
	}
	for t := range q.v.PendingOf(h.Index.Name, h.Value) {
		all = append(all, t.ID)
	}
	return p, all, nil
}

// pendingTxs lists the unconfirmed transactions of an address, newest first.
func pendingTxs(q *request, args []string) error {
	p, all, err := q.pendingOf(args[0], maxItems)
	if err != nil {
		return err
	}
	return q.paged(len(all), func() error {
		n := 0
		for i := len(all) - 1 - p.offset; i >= 0 && n < p.limit; i-- {
			q.Comma(n)
			n++
			if err := q.addPending(all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addPending writes a UTransactionInfo.
func (q *request) addPending(id model.Hash) error {
	t := q.v.PendingTx(id)
	parsed, err := q.v.Parsed(t)
	if err != nil {
		return err
	}
	found, err := q.v.InputsOf(parsed)
	if err != nil {
		return err
	}
	inputs := make([]boxes.Box, len(found))
	for i, b := range found {
		if b == nil {
			return absent("the box %x, which an unconfirmed transaction spends", parsed.Inputs[i].Box)
		}
		inputs[i] = *b
	}
	data, err := q.v.Inputs(parsed.DataInputs)
	if err != nil {
		return err
	}
	outputs, err := q.v.PendingOutputs(t)
	if err != nil {
		return err
	}
	q.Add(`{"id":`)
	q.Hex(id[:])
	q.Add(`,"creationTimestamp":`)
	q.Uint(uint64(t.Seen().UnixMilli()))
	full := boxes.FullTx{Tx: parsed, Inputs: inputs, Outputs: outputs, Data: data}
	tokens, err := q.tokensOf(full)
	if err != nil {
		return err
	}
	return q.addEnds(&full, tokens, nil)
}

// pendingBoxes writes the unspent boxes that unconfirmed transactions create.
func pendingBoxes(q *request, _ []string) error {
	all, err := q.v.AllPendingBoxes()
	if err != nil {
		return err
	}
	kept := all[:0]
	for _, b := range all {
		if b.Spend == nil {
			kept = append(kept, b)
		}
	}
	q.Add("[")
	if err := q.addBoxItems(kept, 0, pendingForm); err != nil {
		return err
	}
	q.Add("]")
	return nil
}
