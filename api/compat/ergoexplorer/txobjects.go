package ergoexplorer

import (
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

// addTxs writes transactions of the chain, as items of a list. With of, only their inputs and outputs that belong to it
// are written.
func (q *request) addTxs(pks []model.TxPk, of *boxes.Holder) error {
	for i, pk := range pks {
		q.Comma(i)
		if err := q.addTx(pk, of); err != nil {
			return err
		}
		if err := q.Flush(q.v); err != nil {
			return err
		}
	}
	return nil
}

// addTx writes a TransactionInfo.
func (q *request) addTx(pk model.TxPk, of *boxes.Holder) error {
	txs, err := q.v.Txs([]model.TxPk{pk})
	if err != nil {
		return err
	}
	t := txs[0]
	b, err := q.v.Block(pk.Height())
	if err != nil {
		return err
	}
	number, err := q.v.TxNumber(pk)
	if err != nil {
		return err
	}
	q.Add(`{"id":`)
	q.Hex(t.ID[:])
	q.Add(`,"blockId":`)
	q.Hex(b.ID[:])
	q.Add(`,"inclusionHeight":`)
	q.Int(int(b.Height))
	q.Add(`,"timestamp":`)
	q.Uint(b.Header.Timestamp)
	q.Add(`,"index":`)
	q.Int(q.v.Q.TxIndex(pk))
	q.Add(`,"globalIndex":`)
	q.Uint(number)
	q.Add(`,"numConfirmations":`)
	q.Int(q.v.Height() - int(b.Height) + 1)
	spends, err := q.v.Spends(pk)
	if err != nil {
		return err
	}
	inputs, err := q.v.UnspentBoxes(spends)
	if err != nil {
		return err
	}
	outputs, err := q.v.OutputsOf(pk, t)
	if err != nil {
		return err
	}
	data, err := q.v.Inputs(t.DataInputs)
	if err != nil {
		return err
	}
	return q.addEnds(t, inputs, data, outputs, of)
}

// addEnds writes inputs, data inputs and outputs of a transaction, and the end of it.
func (q *request) addEnds(t *boxes.Tx, inputs []boxes.Box, data []*boxes.Box, outputs []boxes.Box, of *boxes.Holder) error {
	all := append(append([]boxes.Box{}, inputs...), outputs...)
	for _, b := range data {
		if b != nil {
			all = append(all, *b)
		}
	}
	tokens, err := q.tokensIn(all)
	if err != nil {
		return err
	}
	own := func(b *boxes.Box) bool { return of == nil || of.Owns(b) }
	q.Add(`,"inputs":[`)
	n := 0
	for i := range inputs {
		if own(&inputs[i]) {
			q.Comma(n)
			n++
			if err := q.addInput(&inputs[i], t, i, tokens); err != nil {
				return err
			}
		}
	}
	q.Add(`],"dataInputs":[`)
	n = 0
	for i, b := range data {
		if b != nil {
			q.Comma(n)
			n++
			if err := q.addInput(b, nil, i, tokens); err != nil {
				return err
			}
		}
	}
	q.Add(`],"outputs":[`)
	n = 0
	for i := range outputs {
		if own(&outputs[i]) {
			q.Comma(n)
			n++
			if err := q.addBox(&outputs[i], tokens); err != nil {
				return err
			}
		}
	}
	q.Add(`],"size":`)
	q.Int(t.Size)
	q.Add("}")
	return nil
}

// addBlockInfo writes a BlockInfo.
func (q *request) addBlockInfo(b *boxes.Block) error {
	reward, err := q.v.Reward(b)
	if err != nil {
		return err
	}
	miner := q.v.Miner(b)
	q.Add(`{"id":`)
	q.Hex(b.ID[:])
	q.Add(`,"height":`)
	q.Int(int(b.Height))
	q.Add(`,"epoch":`)
	q.Int(int(b.Height) / epochBlocks)
	q.Add(`,"version":`)
	q.Int(int(b.Header.Version))
	q.Add(`,"timestamp":`)
	q.Uint(b.Header.Timestamp)
	q.Add(`,"transactionsCount":`)
	q.Int(b.TxCount)
	q.Add(`,"miner":{"address":"`, miner, `","name":"`, miner[max(0, len(miner)-8):], `"},"size":`)
	q.Int(b.Size)
	q.Add(`,"difficulty":`, b.Header.Difficulty().String(), `,"minerReward":`)
	q.Uint(reward)
	q.Add("}")
	return nil
}

// epochBlocks is the number of blocks of an epoch of votes.
const epochBlocks = 1024

// addPlainHeader writes a header as the explorer has it.
func (q *request) addPlainHeader(b *boxes.Block) {
	h := b.Header
	q.Add(`{"id":`)
	q.Hex(b.ID[:])
	q.Add(`,"parentId":`)
	q.ID(h.Parent)
	q.Add(`,"version":`)
	q.Int(int(h.Version))
	q.Add(`,"timestamp":`)
	q.Uint(h.Timestamp)
	q.Add(`,"height":`)
	q.Int(int(b.Height))
	q.Add(`,"nBits":`)
	q.Uint(uint64(h.NBits))
	q.Add(`,"difficulty":`, h.Difficulty().String(), `,"votes":{`)
	for i, vote := range h.Votes {
		q.Comma(i)
		q.Add(`"_`, strconv.Itoa(i+1), `":`, strconv.Itoa(int(vote)))
	}
	q.Add(`},"stateRoot":`)
	q.Hex(h.StateRoot[:])
	q.Add(`,"adProofsRoot":`)
	q.ID(h.ADProofsRoot)
	q.Add(`,"transactionsRoot":`)
	q.ID(h.TransactionsRoot)
	q.Add(`,"extensionHash":`)
	q.ID(h.ExtensionRoot)
	q.Add(`,"powSolutions":`)
	q.AddSolution(h)
	q.Add("}")
}
