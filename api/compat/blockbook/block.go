package blockbook

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Sizes of pages.
const (
	pageSizeREST      = 1000 // transactions of a block or an account by REST; also the maximum
	pageSizeWebSocket = 25   // transactions of an account by WebSocket

	maxBlockPage = 10_000 // transactions of a block by WebSocket
)

// errors of blocks and transactions, in the words of Blockbook.
func unknownBlock() error { return model.Errorf(model.NotFound, "unknown_block", "Block not found") }

func unknownTx(id string) error {
	return model.Errorf(model.NotFound, "unknown_tx", "Transaction '%.80s' not found", id)
}

// findBlock returns the block with a height or a hash.
func findBlock(v *wallet.View, id string) (b *wallet.Block, err error) {
	if height, notNumber := strconv.ParseUint(id, 10, 32); notNumber == nil {
		b, err = v.Block(uint32(height))
	} else if hash, ok := block.ParseHash(id); ok {
		b, err = v.BlockByHash(hash)
	} else {
		return nil, unknownBlock()
	}
	if kind, _ := model.KindOf(err); err != nil && kind == model.NotFound {
		err = unknownBlock()
	}
	return b, err
}

// block returns a page of a block, from 0, with its transactions in form f.
func (s *Server) block(q *question, id string, page, size int, f form) (*blockInfo, error) {
	v := q.View
	b, err := findBlock(v, id)
	if err != nil {
		return nil, err
	}
	height := uint32(b.Height)
	from, to, p := pageOf(b.TxCount, page, size)
	header := b.Header
	a := &blockInfo{
		paging: p, Hash: block.FormatHash(b.Hash), Height: height, Confirmations: confirmations(v, height), Size: b.Size,
		Time: b.Time, Version: int32(binary.LittleEndian.Uint32(header)), MerkleRoot: block.FormatHash(model.Hash(header[36:68])),
		Nonce: strconv.FormatUint(uint64(binary.LittleEndian.Uint32(header[76:])), 10), TxCount: b.TxCount,
	}
	bits := binary.LittleEndian.Uint32(header[72:])
	a.Bits = hex.EncodeToString(binary.BigEndian.AppendUint32(nil, bits))
	a.Difficulty = formatDifficulty(bits)
	if height > 0 {
		a.PreviousBlockHash = block.FormatHash(model.Hash(header[4:36]))
	}
	if height < uint32(v.Tip.Height) {
		next, err := v.Header(height + 1)
		if err != nil {
			return nil, err
		}
		a.NextBlockHash = block.FormatHash(block.DoubleHash(next))
	}
	txs, err := v.BlockTxs(height, from, to-from)
	if err != nil {
		return nil, err
	}
	a.Txs, err = s.format(v, txs, f)
	return a, err
}

// formatDifficulty returns the difficulty of a compact target as Bitcoin Core prints it, with 16 digits.
func formatDifficulty(bits uint32) string {
	d := float64(0xffff) / float64(bits&0xffffff)
	d = math.Ldexp(d, 8*(29-int(bits>>24)))
	return strconv.FormatFloat(d, 'g', 16, 64)
}

// eachBatch calls visit with the transactions of a block, some at a time.
func eachBatch(v *wallet.View, b *wallet.Block, visit func([]*wallet.Tx) error) error {
	const batch = 250
	for from := 0; from < b.TxCount; from += batch {
		txs, err := v.BlockTxs(uint32(b.Height), from, batch)
		if err == nil {
			err = visit(txs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rawBlock returns a serialized block.
func rawBlock(q *question, id string) ([]byte, error) {
	b, err := findBlock(q.View, id)
	if err != nil {
		return nil, err
	}
	raw := block.AppendCompactSize(slices.Clone(b.Header), uint64(b.TxCount))
	err = eachBatch(q.View, b, func(txs []*wallet.Tx) error {
		for _, t := range txs {
			raw = append(raw, t.Raw...)
		}
		return nil
	})
	return raw, err
}

// fees returns the distribution of fee rates in a block.
func fees(q *question, id string) (*feeStats, error) {
	b, err := findBlock(q.View, id)
	if err != nil {
		return nil, err
	}
	a := &feeStats{}
	var rates []int64
	err = eachBatch(q.View, b, func(txs []*wallet.Tx) error {
		for _, t := range txs {
			if len(t.Prevouts) == 0 { // a coinbase
				continue
			}
			a.TotalFees += t.Fee
			rates = append(rates, int64(float64(t.Fee)/float64(t.VSize)*1000))
		}
		return nil
	})
	if err != nil || len(rates) == 0 {
		return a, err
	}
	a.TxCount = len(rates)
	for _, r := range rates {
		a.AverageFeePerKb += r
	}
	a.AverageFeePerKb /= int64(len(rates))
	slices.Sort(rates)
	for k := range a.DecilesFeePerKb {
		rank := int(math.Floor(0.5+float64(k)*float64(len(rates)+1)/10)) - 1
		a.DecilesFeePerKb[k] = rates[min(max(rank, 0), len(rates)-1)]
	}
	return a, nil
}
