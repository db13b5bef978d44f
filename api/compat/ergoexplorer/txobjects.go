package ergoexplorer

import (
	"math/big"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// txRows is the number of transactions that are read together.
const txRows = 20

// addTxs writes transactions of the chain, as items of a list. With of, only their inputs and outputs that belong to it
// are written.
func (q *request) addTxs(pks []model.TxPk, of *boxes.Holder) error {
	for i := 0; i < len(pks); i += txRows {
		txs, err := q.v.FullTxs(pks[i:min(i+txRows, len(pks))])
		if err != nil {
			return err
		}
		tokens, err := q.tokensOf(txs...)
		if err != nil {
			return err
		}
		for n := range txs {
			q.Comma(i + n)
			if err := q.addTx(&txs[n], tokens, of); err != nil {
				return err
			}
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// addTx writes a TransactionInfo.
func (q *request) addTx(t *boxes.FullTx, tokens map[sigma.ID]*boxes.Token, of *boxes.Holder) error {
	q.Add(`{"id":`)
	q.Hex(t.ID[:])
	q.Add(`,"blockId":`)
	q.Hex(t.Block.ID[:])
	q.Add(`,"inclusionHeight":`)
	q.Int(int(t.Block.Height))
	q.Add(`,"timestamp":`)
	q.Uint(t.Block.Header.Timestamp)
	q.Add(`,"index":`)
	q.Int(q.v.Q.TxIndex(t.Pk))
	q.Add(`,"globalIndex":`)
	q.Uint(t.Number)
	q.Add(`,"numConfirmations":`)
	q.Int(q.v.Height() - int(t.Block.Height) + 1)
	return q.addEnds(t, tokens, of)
}

// addEnds writes inputs, data inputs and outputs of a transaction, and the end of it.
func (q *request) addEnds(t *boxes.FullTx, tokens map[sigma.ID]*boxes.Token, of *boxes.Holder) error {
	inputs, data, outputs := t.Inputs, t.Data, t.Outputs
	own := func(b *boxes.Box) bool { return of == nil || of.Owns(b) }
	f := confirmedForm
	if t.Block == nil {
		f = pendingForm
	}
	q.Add(`,"inputs":[`)
	n := 0
	for i := range inputs {
		if own(&inputs[i]) {
			q.Comma(n)
			n++
			if err := q.addInput(&inputs[i], t.Tx, i, tokens, f); err != nil {
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
			if err := q.addInput(b, nil, i, tokens, f); err != nil {
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
			if err := q.addBox(&outputs[i], tokens, f); err != nil {
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

// addHeader writes a header as lists of headers have it.
func (q *request) addHeader(b *boxes.Block) {
	q.addHeaderStart(b)
	q.Add(`,"votes":`)
	q.Hex(b.Header.Votes[:])
	q.Add("}")
}

// addHeaderStart writes the fields of a header that each of its forms has, without the closing brace.
func (q *request) addHeaderStart(b *boxes.Block) {
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
	q.Add(`,"stateRoot":`)
	q.Hex(h.StateRoot[:])
	q.Add(`,"adProofsRoot":`)
	q.ID(h.ADProofsRoot)
	q.Add(`,"transactionsRoot":`)
	q.ID(h.TransactionsRoot)
	q.Add(`,"extensionHash":`)
	q.ID(h.ExtensionRoot)
	key := boxes.OneTimeKey(h)
	q.Add(`,"powSolutions":{"pk":`)
	q.Hex(h.MinerKey[:])
	q.Add(`,"w":`)
	q.Hex(key[:])
	q.Add(`,"n":`)
	q.Hex(h.Nonce[:])
	q.Add(`,"d":"`, new(big.Int).SetBytes(h.D).String(), `"}`)
}
