package ergoexplorer

import (
	"iter"

	"birthmark/api/compat/boxes"
	"birthmark/api/jsonappend"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/model"
)

// txValue is a TransactionInfo, or a UTransactionInfo.
type txValue struct {
	ID              boxes.ID     `json:"id"`
	*txPlace                     // nil: unconfirmed
	*pendingTxPlace              // nil: confirmed
	Inputs          []inputValue `json:"inputs"`
	DataInputs      []inputValue `json:"dataInputs"`
	Outputs         []boxValue   `json:"outputs"`
	Size            int          `json:"size"`
}

type txPlace struct {
	Block         boxes.ID `json:"blockId"`
	Height        int      `json:"inclusionHeight"`
	Timestamp     uint64   `json:"timestamp"`
	Index         int      `json:"index"`
	Number        uint64   `json:"globalIndex"`
	Confirmations int      `json:"numConfirmations"`
}

type pendingTxPlace struct {
	Seen int64 `json:"creationTimestamp"`
}

// inputValue is an InputInfo, a UInputInfo or a DataInputInfo.
type inputValue struct {
	ID          boxes.ID                 `json:"boxId"`
	Value       uint64                   `json:"value"`
	Index       int                      `json:"index"`
	Proof       optional[jsonappend.Hex] `json:"spendingProof,omitzero"` // absent: of a data input
	Block       *boxes.ID                `json:"outputBlockId"`
	Tx          boxes.ID                 `json:"outputTransactionId"`
	OutputIndex int                      `json:"outputIndex"`
	*createdValue
	contentsValue
}

// createdValue are members of an InputInfo alone.
type createdValue struct {
	Number  uint64 `json:"outputGlobalIndex"`
	Created uint32 `json:"outputCreatedAt"`
	Settled int    `json:"outputSettledAt"`
}

// proofOf returns the bytes of a proof, null if there are none.
func proofOf(in *sigma.Input) optional[jsonappend.Hex] {
	if len(in.Proof) == 0 {
		return optional[jsonappend.Hex]{there: true}
	}
	return optional[jsonappend.Hex]{true, (*jsonappend.Hex)(&in.Proof)}
}

// setInput sets an input of t, or a data input if t is nil. Those of transactions of the chain have all members.
func (v *view) setInput(in *inputValue, b *boxes.Box, t *boxes.Tx, i int, tokens tokenMap, f form) (err error) {
	whole := t != nil && f == confirmedForm
	in.ID, in.Value, in.Index, in.Tx, in.OutputIndex = boxes.ID(b.ID()), b.Box().Value, i, boxes.ID(b.Tx.ID), b.Pos
	v.setContents(&in.contentsValue, b, tokens, whole)
	if t != nil {
		in.Proof = proofOf(&t.Inputs[i])
	}
	if !b.Unconfirmed {
		if in.Block, err = v.headerOf(b); err != nil {
			return err
		}
	}
	if whole {
		in.createdValue = &createdValue{Created: b.Box().Height, Settled: b.Height()}
		in.Number, err = v.BoxNumber(b.Pk)
	}
	return err
}

// txs yields transactions of the chain. With of, they only have the inputs and outputs that belong to it. Each value is
// valid until the next one.
func (v *view) txs(pks []model.TxPk, of *boxes.Holder) iter.Seq2[*txValue, error] {
	return func(yield func(*txValue, error) bool) {
		to := new(txValue)
		for batch, err := range v.FullTxBatches(pks) {
			var tokens tokenMap
			if err == nil {
				tokens, err = v.tokensOf(batch...)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				if err := v.setTx(to, &batch[i], tokens, of); !yield(to, err) || err != nil {
					return
				}
			}
		}
	}
}

// tokensOf returns the tokens in the boxes of transactions.
func (v *view) tokensOf(txs ...boxes.FullTx) (tokenMap, error) {
	var lists [][]boxes.Box
	for i := range txs {
		lists = append(lists, txs[i].Inputs, txs[i].Outputs)
		for _, b := range txs[i].Data {
			if b != nil {
				lists = append(lists, []boxes.Box{*b})
			}
		}
	}
	return v.tokensIn(lists...)
}

// setTx sets a transaction of the chain; to can be another one.
func (v *view) setTx(to *txValue, t *boxes.FullTx, tokens tokenMap, of *boxes.Holder) error {
	to.ID, to.txPlace = boxes.ID(t.ID), &txPlace{
		Block: boxes.ID(t.Block.ID), Height: int(t.Block.Height), Timestamp: t.Block.Header.Timestamp, Index: v.Q.TxIndex(t.Pk),
		Number: t.Number, Confirmations: v.Height() - int(t.Block.Height) + 1,
	}
	return v.setEnds(to, t, tokens, of, confirmedForm)
}

// setEnds sets the inputs, data inputs and outputs of a transaction. As in the original (UInputQuerySet.scala of
// ergoplatform/explorer-backend), it leaves out inputs whose boxes are unknown.
func (v *view) setEnds(to *txValue, t *boxes.FullTx, tokens tokenMap, of *boxes.Holder, f form) error {
	to.Inputs, to.DataInputs = boxes.Emptied(to.Inputs, len(t.Inputs)), boxes.Emptied(to.DataInputs, len(t.Data))
	to.Outputs, to.Size = boxes.Emptied(to.Outputs, len(t.Outputs)), t.Size
	for i := range t.Inputs {
		if t.Inputs[i].Tx == nil || of != nil && !of.Owns(&t.Inputs[i]) {
			continue
		}
		to.Inputs = append(to.Inputs, inputValue{})
		if err := v.setInput(&to.Inputs[len(to.Inputs)-1], &t.Inputs[i], t.Tx, i, tokens, f); err != nil {
			return err
		}
	}
	for i, b := range t.Data {
		if b == nil {
			continue
		}
		to.DataInputs = append(to.DataInputs, inputValue{})
		if err := v.setInput(&to.DataInputs[len(to.DataInputs)-1], b, nil, i, tokens, f); err != nil {
			return err
		}
	}
	for i := range t.Outputs {
		if of != nil && !of.Owns(&t.Outputs[i]) {
			continue
		}
		to.Outputs = append(to.Outputs, boxValue{})
		if err := v.setBox(&to.Outputs[len(to.Outputs)-1], &t.Outputs[i], tokens, f); err != nil {
			return err
		}
	}
	return nil
}

// pendingTxOf returns a UTransactionInfo.
func (v *view) pendingTxOf(t *pending.Tx) (*txValue, error) {
	parsed, err := v.Parsed(t)
	if err != nil {
		return nil, err
	}
	found, err := v.InputsOf(parsed)
	if err != nil {
		return nil, err
	}
	full := boxes.FullTx{Tx: parsed, Inputs: make([]boxes.Box, len(found))}
	for i, b := range found {
		if b != nil {
			full.Inputs[i] = *b
		}
	}
	if full.Data, err = v.Inputs(parsed.DataInputs); err != nil {
		return nil, err
	}
	if full.Outputs, err = v.PendingOutputs(t); err != nil {
		return nil, err
	}
	tokens, err := v.tokensOf(full)
	if err != nil {
		return nil, err
	}
	to := &txValue{ID: boxes.ID(parsed.ID), pendingTxPlace: &pendingTxPlace{t.Seen().UnixMilli()}}
	return to, v.setEnds(to, &full, tokens, nil, pendingForm)
}
