package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
)

// detailsPatience bounds the time that an answer waits for the bytes of its transactions.
const detailsPatience = 5 * time.Second

// setDetails sets the details that only serialized transactions contain, if they are known. raws are the transactions
// in pks, nil if the database does not store them. Transactions whose bytes a file or a node does not provide in time
// are answered without.
func (q *Query) setDetails(answers []TxAnswer, pks []model.TxPk, raws [][]byte) (err error) {
	if !q.HasRaw() {
		return nil
	}
	of, txs := q.ofBlocks(pks)
	if !q.Layout.Raw {
		if raws, err = q.detailRaws(txs); err != nil {
			return err
		}
	}
	for n, i := range of {
		if raws[n] == nil {
			continue
		}
		if err := q.describeTx(&answers[i], raws[n]); err != nil && q.Layout.Raw {
			return fmt.Errorf("transaction %s: %w", answers[i].Hash, err)
		}
	}
	return nil
}

// ofBlocks returns the transactions that are not genesis transactions, and their positions in pks.
func (q *Query) ofBlocks(pks []model.TxPk) (of []int, txs []model.TxPk) {
	for i, pk := range pks {
		if !q.IsGenesis(pk) {
			of, txs = append(of, i), append(txs, pk)
		}
	}
	return of, txs
}

// detailRaws returns the bytes of transactions; nil for one that is not available.
func (q *Query) detailRaws(txs []model.TxPk) ([][]byte, error) {
	if q.Layout.Raw {
		return q.RawTxs(txs)
	}
	patient := *q
	var stop context.CancelFunc
	patient.Ctx, stop = context.WithTimeout(q.Ctx, detailsPatience)
	defer stop()
	raws, err := patient.RawTxs(txs)
	if err == nil || q.Ctx.Err() != nil {
		return raws, err
	}
	raws = make([][]byte, len(txs))
	for i := range txs {
		if patient.Ctx.Err() != nil {
			break
		}
		if one, err := patient.RawTxs(txs[i : i+1]); err == nil {
			raws[i] = one[0]
		}
	}
	return raws, q.Ctx.Err()
}

// describeTx adds the details of a serialized transaction. The witness of bytes that the database does not store is not
// covered by the transaction's hash, and may be damaged.
func (q *Query) describeTx(a *TxAnswer, raw []byte) error {
	a.Size = len(raw)
	describer, ok := q.Chain.(model.TxDescriber)
	if !ok {
		return nil
	}
	spent := make([]OutputAnswer, len(a.Inputs))
	for i := range a.Inputs {
		spent[i] = a.Inputs[i].Output
	}
	d, err := describer.DescribeTx(raw, keysOf(spent), keysOf(a.Outputs))
	if err != nil {
		return err
	}
	if d.Inputs != nil && len(d.Inputs) != len(a.Inputs) || d.Outputs != nil && len(d.Outputs) != len(a.Outputs) {
		return fmt.Errorf("its bytes have %d inputs and %d outputs, expected %d and %d: run check",
			len(d.Inputs), len(d.Outputs), len(a.Inputs), len(a.Outputs))
	}
	a.TxDetails = d.TxDetails
	if a.Fee != "" && d.VSize > 0 {
		fee, err := strconv.ParseUint(a.Fee, 10, 64)
		if err != nil {
			return fmt.Errorf("fee %q: %w", a.Fee, err)
		}
		rate := math.Round(float64(fee)/float64(d.VSize)*1000) / 1000
		a.FeeRate = &rate
	}
	for i := range d.Inputs {
		a.Inputs[i].InputDetails = &d.Inputs[i]
	}
	for i := range d.Outputs {
		a.Outputs[i].OutputDetails = &d.Outputs[i]
	}
	return nil
}

// keysOf returns the values of outputs by index.
func keysOf(outputs []OutputAnswer) (keys []map[string]any) {
	for i := range outputs {
		keys = append(keys, outputs[i].Keys)
	}
	return keys
}

// typedBytes is the number of bytes of transactions after which [Queries.OutputTypes] reads no more.
const typedBytes = 1 << 20

// OutputTypes returns the type of each output as its details have it ([model.OutputDetails]). It is empty if it is unknown:
// the transaction is neither stored nor in the files of a node, or the transactions are too large together.
func (qs Queries) OutputTypes(ctx context.Context, outputs []OutputAnswer) ([]string, error) {
	return read(ctx, qs, func(q *Query) ([]string, error) {
		types := make([]string, len(outputs))
		describer, ok := q.Chain.(model.TxDescriber)
		if !ok || !q.Layout.Raw && !q.Layout.RawFiles { // each would be a request to a node
			return types, nil
		}
		hashes := make([]model.Hash, len(outputs))
		for i := range outputs {
			var err error
			if hashes[i], err = q.Chain.ParseHash(outputs[i].Tx); err != nil {
				return nil, err
			}
		}
		txs, err := schema.TxPks(q.R, hashes)
		if err != nil {
			return nil, err
		}
		known, size := map[string]*model.TxDescription{}, 0
		for i := range outputs {
			d, seen := known[outputs[i].Tx]
			if !seen && size < typedBytes && len(txs[i]) > 0 && !q.IsGenesis(txs[i][0]) {
				raws, err := q.detailRaws(txs[i][:1])
				if err != nil {
					return nil, err
				}
				size += len(raws[0])
				if raws[0] != nil {
					d, _ = describer.DescribeTx(raws[0], nil, nil) // unknown if a file of the node is damaged
				}
				known[outputs[i].Tx] = d
			}
			if d != nil && outputs[i].Index < len(d.Outputs) {
				types[i] = d.Outputs[outputs[i].Index].Type
			}
		}
		return types, nil
	})
}

// setOutputDetails sets what only the serialized transaction of an output contains, if it is known.
func (q *Query) setOutputDetails(a *OutputAnswer, pk model.UtxoPk) error {
	describer, ok := q.Chain.(model.TxDescriber)
	if !ok || !q.HasRaw() || q.IsGenesis(pk.Tx()) {
		return nil
	}
	raws, err := q.detailRaws([]model.TxPk{pk.Tx()})
	if err != nil || raws[0] == nil {
		return err
	}
	pks, rows, err := q.OutputRows(pk.Tx(), nil, nil)
	if err != nil {
		return err
	}
	if err := q.Pass(len(pks)); err != nil {
		return err
	}
	l := q.NewLoad()
	siblings, err := q.outputAnswers(l, q.loadOutputs(l, pks, rows, len(pks), false), nil)
	if err != nil {
		return err
	}
	d, err := describer.DescribeTx(raws[0], nil, keysOf(siblings))
	switch i := slices.Index(pks, pk); {
	case err != nil && q.Layout.Raw:
		return fmt.Errorf("transaction %s: %w", a.Tx, err)
	case err == nil && len(d.Outputs) == len(pks):
		a.OutputDetails = &d.Outputs[i]
	}
	return nil
}
