package core_test

import (
	"errors"
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/core/query/pointers"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// describing is a chain that describes transactions: with an error, or with a number of outputs more than they have.
type describing struct {
	model.Chain
	model.TxHasher
	err  error
	more int
}

func (d *describing) DescribeTx(_ []byte, _, outputs []map[string]any) (*model.TxDescription, error) {
	if d.err != nil {
		return nil, d.err
	}
	a := &model.TxDescription{Outputs: make([]model.OutputDetails, len(outputs)+d.more)}
	for i := range a.Outputs {
		a.Outputs[i].Type = fmt.Sprint(i)
	}
	return a, nil
}

// An output is answered without details if its transaction cannot be described, because bytes that the database does not
// store may be damaged. Bytes that it stores are an error.
func TestOutputsOfTransactionsThatCannotBeDescribed(t *testing.T) {
	v := like(t, "like-bitcoin")
	blocks := v.NewGenerator(testseed.Of(t, 817)).Blocks(6)
	n := &nodeOf{txs: map[model.Hash][]byte{}}
	ref, last := "", 0
	for _, b := range blocks {
		for _, tx := range b.Txs {
			if n.txs[tx.Hash] = tx.Raw; len(tx.Outputs) > 1 {
				last = len(tx.Outputs) - 1
				ref = fmt.Sprintf("%v:%d", tx.Hash, last)
			}
		}
	}
	for _, stored := range []bool{false, true} {
		d := &describing{Chain: v.Chain("one")}
		d.TxHasher = d.Chain.(model.TxHasher)
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: d, Raw: stored})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, db, blocks, 5)
		if !stored {
			db.SetRawAccess(pointers.RawAccess{Node: n, Ask: true})
		}
		a, err := db.Output(t.Context(), ref)
		if err != nil || a.OutputDetails == nil || a.Type != fmt.Sprint(last) {
			t.Fatalf("stored %t: %+v, %v", stored, a, err)
		}
		d.more = 1
		if a, err := db.Output(t.Context(), ref); err != nil || a.OutputDetails != nil {
			t.Errorf("stored %t, another number of outputs: %+v, %v", stored, a, err)
		}
		d.err = errors.New("damaged")
		if a, err := db.Output(t.Context(), ref); stored != errors.Is(err, d.err) || err == nil && a.OutputDetails != nil {
			t.Errorf("stored %t, damaged: %+v, %v", stored, a, err)
		}
	}
}
