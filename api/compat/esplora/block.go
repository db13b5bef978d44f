package esplora

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

const (
	blocksPerPage = 10
	txsPerPage    = 25
)

func tipHash(q *request) error {
	if q.view.Tip.IsOrigin() {
		return errNoBlock
	}
	q.maxAge, q.contentType = shortly, textType
	q.out = script.AppendHash(q.out, q.view.Tip.Hash)
	return nil
}

func tipHeight(q *request) error {
	if q.view.Tip.IsOrigin() {
		return errNoBlock
	}
	q.maxAge, q.contentType = shortly, textType
	q.out = strconv.AppendUint(q.out, uint64(q.view.Tip.Height), 10)
	return nil
}

// hashAt returns the hash of the block at a height.
func hashAt(q *request) error {
	height, err := number(q.args[0])
	if err != nil {
		return err
	}
	header, err := q.view.Header(height)
	if err != nil {
		return err
	}
	q.byDepth(height)
	q.contentType = textType
	q.out = script.AppendHash(q.out, block.Header(header).Hash())
	return nil
}

// blocks returns 10 blocks downward from a height, or from the tip if the argument is not a number.
func blocks(q *request) error {
	height := uint32(q.view.Tip.Height)
	if len(q.args) > 0 {
		if n, err := number(q.args[0]); err == nil {
			height = n
		}
	}
	q.maxAge = shortly
	q.str("[")
	for i := range uint32(blocksPerPage) {
		if i > height {
			break
		}
		b, err := q.view.Block(height - i)
		if err == nil {
			err = q.view.Weigh(b)
		}
		if err != nil {
			return err
		}
		if i > 0 {
			q.str(",")
		}
		q.block(b)
	}
	q.str("]")
	return nil
}

// blockOf returns the block that the first argument names. Answers about it are cached forever.
func (q *request) blockOf() (*wallet.Block, error) {
	hash, err := q.hash(q.args[0])
	if err != nil {
		return nil, err
	}
	q.maxAge = forever
	return q.view.BlockByHash(hash)
}

func oneBlock(q *request) error {
	b, err := q.blockOf()
	if err == nil {
		err = q.view.Weigh(b)
	}
	if err == nil {
		q.block(b)
	}
	return err
}

// blockStatus reports whether a block is in the chain. A hash that left it, or never was in it, is not.
func blockStatus(q *request) error {
	b, err := q.blockOf()
	if is(err, "unknown_block") {
		q.maxAge = shortly
		q.str(`{"in_best_chain":false,"height":null,"next_best":null}`)
		return nil
	}
	if err != nil {
		return err
	}
	q.num(`{"in_best_chain":true,"height":`, uint64(b.Height))
	if b.Height == q.view.Tip.Height {
		q.str(`,"next_best":null}`)
	} else {
		next, err := q.placeAt(uint32(b.Height) + 1)
		if err != nil {
			return err
		}
		q.id(`,"next_best":`, next.BlockHash)
		q.str("}")
	}
	q.byDepth(uint32(b.Height))
	return nil
}

func (q *request) blockIDs() ([]model.Hash, error) {
	b, err := q.blockOf()
	if err != nil {
		return nil, err
	}
	return q.view.TxIDs(uint32(b.Height))
}

func blockTxIDs(q *request) error {
	ids, err := q.blockIDs()
	if err == nil {
		q.ids(ids)
	}
	return err
}

func blockTxID(q *request) error {
	if _, err := q.hash(q.args[0]); err != nil {
		return err
	}
	i, err := number(q.args[1])
	if err != nil {
		return err
	}
	ids, err := q.blockIDs()
	if err != nil {
		return err
	}
	if uint64(i) >= uint64(len(ids)) {
		return errorf(http.StatusNotFound, "tx index out of range")
	}
	q.contentType = textType
	q.out = script.AppendHash(q.out, ids[i])
	return nil
}

// blockTxs returns 25 transactions of a block. A start that is not a number is 0.
func blockTxs(q *request) error {
	b, err := q.blockOf()
	if err != nil {
		return err
	}
	start := uint32(0)
	if len(q.args) > 1 {
		if n, err := number(q.args[1]); err == nil {
			start = n
		}
	}
	switch {
	case uint64(start) >= uint64(b.TxCount):
		return errorf(http.StatusBadRequest, "start index out of range")
	case start%txsPerPage != 0:
		return errorf(http.StatusBadRequest, "start index must be a multiple of %d", txsPerPage)
	}
	txs, err := q.view.BlockTxs(uint32(b.Height), int(start), txsPerPage)
	if err != nil {
		return err
	}
	q.byDepth(uint32(b.Height))
	q.txs(txs)
	return nil
}

func blockHeader(q *request) error {
	b, err := q.blockOf()
	if err == nil {
		q.contentType = textType
		q.out = hex.AppendEncode(q.out, b.Header)
	}
	return err
}

// rawBlock returns a serialized block: header, number of transactions, transactions.
func rawBlock(q *request) error {
	b, err := q.blockOf()
	if err != nil {
		return err
	}
	q.contentType = binaryType
	q.out = append(q.out, b.Header...)
	q.out = block.AppendCompactSize(q.out, uint64(b.TxCount))
	q.out, err = q.view.AppendRawTxs(q.out, uint32(b.Height))
	return err
}
