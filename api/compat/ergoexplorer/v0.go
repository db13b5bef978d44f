package ergoexplorer

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/api/jsonappend"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/model"
)

// oldPendingTxs lists the unconfirmed transactions, newest or largest first unless the request wants another order.
func oldPendingTxs(r *request) answer {
	p := pageOf(r, math.MaxInt32)
	by := r.Param("sortBy")
	if by != "" && by != "creationtimestamp" && by != "size" {
		r.Refuse(bad("sortBy is %q: expected creationtimestamp or size", by))
	}
	return func(v *view) (any, error) {
		all := slices.Collect(v.Pending())
		if by == "size" {
			slices.SortStableFunc(all, func(a, b *pending.Tx) int { return cmp.Compare(a.Size, b.Size) })
		}
		if !p.ascending {
			slices.Reverse(all)
		}
		return v.oldPending(all, p), nil
	}
}

// oldPendingTxsOf lists the unconfirmed transactions of an address, newest first.
func (p *protocol) oldPendingTxsOf(r *request) answer {
	at := pageOf(r, math.MaxInt32)
	find := p.ofAddress(r)
	return func(v *view) (any, error) {
		all, err := v.pendingOf(find)
		return v.oldPending(all, at), err
	}
}

// oldPending returns a page of unconfirmed transactions.
func (v *view) oldPending(all []*pending.Tx, p page) any {
	return paged(v, valuesOf(window(all, p.offset, p.limit), func(t *pending.Tx) (*oldTxValue, error) {
		to, _, err := v.oldTxOf(t)
		return to, err
	}), len(all))
}

func oldPendingTx(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		t := v.PendingTx(model.Hash(id))
		if t == nil {
			return nil, absent("unconfirmed transaction %x", id)
		}
		to, inputs, err := v.oldTxOf(t)
		if err != nil {
			return nil, err
		}
		to.Summary = &oldSummaryValue{Fee: t.Fee, FeePerByte: perByte(float64(t.Fee) / float64(t.Size))}
		for _, b := range inputs {
			if b != nil {
				to.Summary.Coins += b.Box().Value
			}
		}
		return to, nil
	}
}

// oldTxValue is a UTransactionInfo of version 0, or a UTransactionSummary.
type oldTxValue struct {
	ID         boxes.ID         `json:"id"`
	Inputs     []oldInputValue  `json:"inputs"`
	DataInputs []oldInputValue  `json:"dataInputs"`
	Outputs    []outputValue    `json:"outputs"`
	Seen       int64            `json:"creationTimestamp"`
	Size       int              `json:"size"`
	Summary    *oldSummaryValue `json:"ioSummary,omitempty"`
}

type oldSummaryValue struct {
	Coins      uint64  `json:"totalCoinsTransferred"`
	Fee        uint64  `json:"totalFee"`
	FeePerByte perByte `json:"feePerByte"`
}

// perByte has an exponent below 0.0001 and from 10²¹ on.
type perByte float64

// AppendJSON implements [jsonappend.Value].
func (f perByte) AppendJSON(b []byte) []byte { return strconv.AppendFloat(b, float64(f), 'g', -1, 64) }

// oldInputValue is a UInputInfo, or a UDataInputInfo. It has null for an unknown box.
type oldInputValue struct {
	ID          boxes.ID       `json:"id"`
	Tx          boxes.ID       `json:"transactionId"`
	Proof       *oldProofValue `json:"spendingProof,omitempty"` // absent: of a data input
	Index       int            `json:"index"`
	Value       *uint64        `json:"value"`
	OutputTx    *boxes.ID      `json:"outputTransactionId"`
	OutputIndex *int           `json:"outputIndex"`
	Address     *string        `json:"address"`
}

type oldProofValue struct {
	Bytes     optional[jsonappend.Hex] `json:"proofBytes"`
	Extension boxes.Named              `json:"extension"`
}

// oldTxOf returns an unconfirmed transaction and the boxes that it spends, nil for an unknown one.
func (v *view) oldTxOf(t *pending.Tx) (*oldTxValue, []*boxes.Box, error) {
	parsed, err := v.Parsed(t)
	if err != nil {
		return nil, nil, err
	}
	inputs, err := v.InputsOf(parsed)
	if err != nil {
		return nil, nil, err
	}
	data, err := v.Inputs(parsed.DataInputs)
	if err != nil {
		return nil, nil, err
	}
	outputs := make([]boxes.Box, len(parsed.Outputs))
	for i := range outputs {
		outputs[i] = boxes.Box{Tx: parsed, Pos: i, Unconfirmed: true}
	}
	tokens, err := v.tokensIn(outputs)
	if err != nil {
		return nil, nil, err
	}
	to := &oldTxValue{
		ID: boxes.ID(parsed.ID), Inputs: make([]oldInputValue, len(inputs)), DataInputs: make([]oldInputValue, len(data)),
		Outputs: make([]outputValue, len(outputs)), Seen: t.Seen().UnixMilli(), Size: parsed.Size,
	}
	for i, b := range inputs {
		in := &parsed.Inputs[i]
		to.Inputs[i] = v.oldInputOf(parsed, in.Box, b, i)
		to.Inputs[i].Proof = &oldProofValue{proofOf(in), boxes.ProofOf(in).Extension}
	}
	for i, b := range data {
		to.DataInputs[i] = v.oldInputOf(parsed, parsed.DataInputs[i], b, i)
	}
	for i := range outputs {
		to.Outputs[i] = v.outputOf(&outputs[i], tokens)
	}
	return to, inputs, nil
}

// oldInputOf returns an input of a transaction without its proof. b is nil if the box is not known.
func (v *view) oldInputOf(t *boxes.Tx, id sigma.ID, b *boxes.Box, i int) oldInputValue {
	in := oldInputValue{ID: boxes.ID(id), Tx: boxes.ID(t.ID), Index: i}
	if b != nil {
		address := v.Address(b.Tx, b.Pos)
		in.Value, in.OutputTx, in.OutputIndex, in.Address = &b.Box().Value, (*boxes.ID)(&b.Tx.ID), &b.Pos, &address
	}
	return in
}
