package ergoexplorer

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// oldPrefix is that of the paths of version 0 of the API.
const oldPrefix = "/api/v0/"

// oldEndpoints are those of version 0 that clients still use, because version 1 lacks them.
var oldEndpoints = []endpoint{
	{http.MethodGet, "transactions/unconfirmed", oldPendingTxs, true},
	{http.MethodGet, "transactions/unconfirmed/*", oldPendingTx, true},
	{http.MethodGet, "transactions/unconfirmed/byAddress/*", oldPendingTxsOf, true},
	{http.MethodPost, "transactions/send", submit, false},
	{http.MethodGet, "info", oldInfo, false},
}

// oldPendingTxs lists the unconfirmed transactions, newest or largest first unless the request wants another order.
func oldPendingTxs(q *request, _ []string) error {
	p, err := q.page(math.MaxInt32)
	if err != nil {
		return err
	}
	var all []model.Hash
	sizes := map[model.Hash]int{}
	for t := range q.v.Pending() {
		all, sizes[t.ID] = append(all, t.ID), t.Size
	}
	switch by := q.Query["sortBy"]; by {
	case "", "creationtimestamp":
	case "size":
		slices.SortStableFunc(all, func(a, b model.Hash) int { return cmp.Compare(sizes[a], sizes[b]) })
	default:
		return bad("sortBy is %q: expected creationtimestamp or size", by)
	}
	if !p.ascending {
		slices.Reverse(all)
	}
	return q.addOldPending(all, p)
}

// oldPendingTxsOf lists the unconfirmed transactions of an address, newest first.
func oldPendingTxsOf(q *request, args []string) error {
	p, all, err := q.pendingOf(args[0], math.MaxInt32)
	if err != nil {
		return err
	}
	slices.Reverse(all)
	return q.addOldPending(all, p)
}

// addOldPending writes a page of unconfirmed transactions.
func (q *request) addOldPending(all []model.Hash, p page) error {
	return q.paged(len(all), func() error {
		first := min(p.offset, len(all))
		for n, id := range all[first : first+min(p.limit, len(all)-first)] {
			q.Comma(n)
			if _, err := q.addOldTx(id); err != nil {
				return err
			}
			q.Add("}")
			if err := q.Flush(); err != nil {
				return err
			}
		}
		return nil
	})
}

func oldPendingTx(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	t := q.v.PendingTx(model.Hash(id))
	if t == nil {
		return absent("unconfirmed transaction %s", args[0])
	}
	inputs, err := q.addOldTx(t.ID)
	if err != nil {
		return err
	}
	var coins uint64
	for _, b := range inputs {
		if b != nil {
			coins += b.Box().Value
		}
	}
	q.Add(`,"ioSummary":{"totalCoinsTransferred":`)
	q.Uint(coins)
	q.Add(`,"totalFee":`)
	q.Uint(t.Fee)
	q.Add(`,"feePerByte":`, strconv.FormatFloat(float64(t.Fee)/float64(t.Size), 'g', -1, 64), "}}")
	return nil
}

// addOldTx writes a UTransactionInfo of version 0 without the closing brace, and returns the spent boxes, nil for an
// unknown one.
func (q *request) addOldTx(id model.Hash) ([]*boxes.Box, error) {
	t := q.v.PendingTx(id)
	parsed, err := q.v.Parsed(t)
	if err != nil {
		return nil, err
	}
	inputs, err := q.v.InputsOf(parsed)
	if err != nil {
		return nil, err
	}
	data, err := q.v.Inputs(parsed.DataInputs)
	if err != nil {
		return nil, err
	}
	outputs := make([]boxes.Box, len(parsed.Outputs))
	for i := range outputs {
		outputs[i] = boxes.Box{Tx: parsed, Pos: i, Unconfirmed: true}
	}
	tokens, err := q.tokensIn(outputs)
	if err != nil {
		return nil, err
	}
	q.Add(`{"id":`)
	q.Hex(parsed.ID[:])
	q.Add(`,"inputs":[`)
	for i, b := range inputs {
		q.Comma(i)
		q.addOldInput(parsed, parsed.Inputs[i].Box, b, i, &parsed.Inputs[i])
	}
	q.Add(`],"dataInputs":[`)
	for i, b := range data {
		q.Comma(i)
		q.addOldInput(parsed, parsed.DataInputs[i], b, i, nil)
	}
	q.Add(`],"outputs":[`)
	for i := range outputs {
		q.Comma(i)
		q.addOldOutput(&outputs[i], tokens)
		q.Add("}")
	}
	q.Add(`],"creationTimestamp":`)
	q.Uint(uint64(t.Seen().UnixMilli()))
	q.Add(`,"size":`)
	q.Int(parsed.Size)
	return inputs, nil
}

// addOldInput writes a UInputInfo, or a UDataInputInfo if in is nil. b is nil if the box is not known.
func (q *request) addOldInput(t *boxes.Tx, id sigma.ID, b *boxes.Box, i int, in *sigma.Input) {
	q.Add(`{"id":`)
	q.ID(id)
	q.Add(`,"transactionId":`)
	q.Hex(t.ID[:])
	if in != nil {
		q.Add(`,"spendingProof":{"proofBytes":`)
		q.addProof(in.Proof)
		q.Add(`,"extension":`)
		q.AddExtension(in)
		q.Add("}")
	}
	q.Add(`,"index":`)
	q.Int(i)
	if b == nil {
		q.Add(`,"value":null,"outputTransactionId":null,"outputIndex":null,"address":null}`)
		return
	}
	q.Add(`,"value":`)
	q.Uint(b.Box().Value)
	q.Add(`,"outputTransactionId":`)
	q.Hex(b.Tx.ID[:])
	q.Add(`,"outputIndex":`)
	q.Int(b.Pos)
	q.Add(`,"address":"`, q.v.Address(b.Tx, b.Pos), `"}`)
}
