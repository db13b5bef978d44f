package esplora

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

const (
	blocksPerPage = 10
	txsPerPage    = 25
)

func hashText(h model.Hash) exchange.Text { return exchange.Text(script.AppendHash(nil, h)) }

func hexText(b []byte) exchange.Text { return exchange.Text(hex.AppendEncode(nil, b)) }

func tipHash(r *request) answer {
	return func(v *view) (any, error) {
		if v.Tip.IsOrigin() {
			return nil, errNoBlock
		}
		r.CacheFor(shortly)
		return hashText(v.Tip.Hash), nil
	}
}

func tipHeight(r *request) answer {
	return func(v *view) (any, error) {
		if v.Tip.IsOrigin() {
			return nil, errNoBlock
		}
		r.CacheFor(shortly)
		return exchange.Text(strconv.FormatUint(uint64(v.Tip.Height), 10)), nil
	}
}

// hashAt returns the hash of the block at a height.
func hashAt(r *request) answer {
	height := numberArg(r, "height")
	return func(v *view) (any, error) {
		at, err := v.BlockPlace(height)
		if err != nil {
			return nil, err
		}
		v.byDepth(height)
		return hashText(at.BlockHash), nil
	}
}

// blocks returns 10 blocks downward from a height, or from the tip if the argument is not a number.
func (p *protocol) blocks(r *request) answer {
	text, _ := r.Arg("start")
	start, given := number(text)
	return func(v *view) (any, error) {
		height := uint32(v.Tip.Height)
		if given {
			height = start
		}
		r.CacheFor(shortly)
		all := make([]any, 0, blocksPerPage)
		for i := range uint32(blocksPerPage) {
			if i > height {
				break
			}
			b, err := v.Block(height - i)
			if err == nil {
				err = v.Weigh(b)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, p.blockOf(b))
		}
		return all, nil
	}
}

// aboutBlock returns an answer about the block of the argument hash. It is cached forever.
func aboutBlock(r *request, about func(*view, *wallet.Block) (any, error)) answer {
	hash := hashArg(r, "hash")
	return func(v *view) (any, error) {
		b, err := v.BlockByHash(hash)
		if err != nil {
			return nil, err
		}
		r.CacheFor(forever)
		return about(v, b)
	}
}

func (p *protocol) oneBlock(r *request) answer {
	return aboutBlock(r, func(v *view, b *wallet.Block) (any, error) {
		if err := v.Weigh(b); err != nil {
			return nil, err
		}
		return p.blockOf(b), nil
	})
}

// blockStatus reports whether a block is in the chain. A hash that left it, or never was in it, is not.
func blockStatus(r *request) answer {
	hash := hashArg(r, "hash")
	return func(v *view) (any, error) {
		b, err := v.BlockByHash(hash)
		if is(err, "unknown_block") {
			r.CacheFor(shortly)
			return &blockStatusValue{}, nil
		}
		if err != nil {
			return nil, err
		}
		height := uint32(b.Height)
		v.byDepth(height)
		status := &blockStatusValue{InBestChain: true, Height: &height}
		if b.Height < v.Tip.Height {
			next, err := v.placeAt(height + 1)
			if err != nil {
				return nil, err
			}
			best := script.Hash(next.BlockHash)
			status.NextBest = &best
		}
		return status, nil
	}
}

func blockTxIDs(r *request) answer {
	return aboutBlock(r, func(v *view, b *wallet.Block) (any, error) {
		ids, err := v.TxIDs(uint32(b.Height))
		return script.Hashes(ids), err
	})
}

func blockTxID(r *request) answer {
	hash, i := hashArg(r, "hash"), numberArg(r, "index")
	return func(v *view) (any, error) {
		b, err := v.BlockByHash(hash)
		if err != nil {
			return nil, err
		}
		ids, err := v.TxIDs(uint32(b.Height))
		if err != nil {
			return nil, err
		}
		if uint64(i) >= uint64(len(ids)) {
			return nil, errorf(http.StatusNotFound, "tx index out of range")
		}
		r.CacheFor(forever)
		return hashText(ids[i]), nil
	}
}

// blockTxs returns 25 transactions of a block. A start that is not a number is 0.
func (p *protocol) blockTxs(r *request) answer {
	text, _ := r.Arg("start")
	start, _ := number(text)
	return aboutBlock(r, func(v *view, b *wallet.Block) (any, error) {
		switch {
		case uint64(start) >= uint64(b.TxCount):
			return nil, errorf(http.StatusBadRequest, "start index out of range")
		case start%txsPerPage != 0:
			return nil, errorf(http.StatusBadRequest, "start index must be a multiple of %d", txsPerPage)
		}
		txs, err := v.BlockTxs(uint32(b.Height), int(start), txsPerPage)
		if err != nil {
			return nil, err
		}
		v.byDepth(uint32(b.Height))
		return p.txsOf(txs), nil
	})
}

func blockHeader(r *request) answer {
	return aboutBlock(r, func(_ *view, b *wallet.Block) (any, error) { return hexText(b.Header), nil })
}

// rawBlock returns a serialized block: header, number of transactions, transactions.
func rawBlock(r *request) answer {
	return aboutBlock(r, func(v *view, b *wallet.Block) (any, error) {
		raw := block.AppendCompactSize(append([]byte(nil), b.Header...), uint64(b.TxCount))
		raw, err := v.AppendRawTxs(raw, uint32(b.Height))
		return exchange.Bytes(raw), err
	})
}
