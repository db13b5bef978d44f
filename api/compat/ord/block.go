package ord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/blockchain"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// blockValue is a block (ord: src/api.rs).
type blockValue struct {
	BestHeight   uint32                     `json:"best_height"`
	Hash         script.Hash                `json:"hash"`
	Height       uint32                     `json:"height"`
	Inscriptions []string                   `json:"inscriptions"` // empty
	Runes        []string                   `json:"runes"`        // that it created
	Target       script.Hash                `json:"target"`
	Transactions exchange.Items[*messageTx] `json:"transactions"`
}

type blocksValue struct {
	Last     uint32        `json:"last"` // height of the first one
	Blocks   []script.Hash `json:"blocks"`
	Featured featured      `json:"featured_blocks"`
}

// featured has an empty list of inscriptions for each block. JSON has them in an object by their hashes, in the order of
// the stored bytes.
type featured []model.Hash

// AppendJSON appends the object.
func (f *featured) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, hash := range *f {
		if i > 0 {
			b = append(b, ',')
		}
		of := script.Hash(hash)
		b = append(of.AppendJSON(b), ":[]"...)
	}
	return append(b, '}')
}

// blockInfoValue is what Bitcoin Core's getblockheader and getblockstats return of a block.
type blockInfoValue struct {
	AverageFee         uint64                   `json:"average_fee"`
	AverageFeeRate     uint64                   `json:"average_fee_rate"`
	Bits               uint32                   `json:"bits"`
	ChainWork          jsonappend.Hex           `json:"chainwork"` // 32 bytes, big-endian
	Confirmations      uint32                   `json:"confirmations"`
	Difficulty         script.Float             `json:"difficulty"`
	Hash               script.Hash              `json:"hash"`
	FeeRatePercentiles [len(percentiles)]uint64 `json:"feerate_percentiles"`
	Height             uint32                   `json:"height"`
	MaxFee             uint64                   `json:"max_fee"`
	MaxFeeRate         uint64                   `json:"max_fee_rate"`
	MaxTxSize          uint32                   `json:"max_tx_size"`
	MedianFee          uint64                   `json:"median_fee"`
	MedianTime         int64                    `json:"median_time"`
	MerkleRoot         script.Hash              `json:"merkle_root"`
	MinFee             uint64                   `json:"min_fee"`
	MinFeeRate         uint64                   `json:"min_fee_rate"`
	NextBlock          *script.Hash             `json:"next_block"`
	Nonce              uint32                   `json:"nonce"`
	PreviousBlock      *script.Hash             `json:"previous_block"`
	Subsidy            uint64                   `json:"subsidy"`
	Target             script.Hash              `json:"target"`
	Timestamp          uint32                   `json:"timestamp"`
	TotalFee           uint64                   `json:"total_fee"`
	TotalSize          int                      `json:"total_size"`
	TotalWeight        int                      `json:"total_weight"`
	TransactionCount   int                      `json:"transaction_count"`
	Version            uint32                   `json:"version"`
}

// findBlock returns the block that the path names by its height or its hash.
func findBlock(r *request) func(*view) (*wallet.Block, error) {
	text, _ := r.Arg("block")
	var find func(*view) (*wallet.Block, error)
	if len(text) == 2*len(model.Hash{}) {
		hash, ok := block.ParseHash(text)
		if !ok {
			r.Refuse(badRequest("invalid block hash %q", text))
		}
		find = func(v *view) (*wallet.Block, error) { return v.BlockByHash(hash) }
	} else {
		height, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			r.Refuse(badRequest("invalid block %q", text))
		}
		find = func(v *view) (*wallet.Block, error) { return v.Block(uint32(height)) }
	}
	return func(v *view) (*wallet.Block, error) {
		b, err := find(v)
		if is(err, "unknown_block") {
			err = missing("block %s", text)
		}
		return b, err
	}
}

var errEnough = errors.New("the reader left")

// oneBlock returns a block with its transactions, and the names of the runes that it created.
func oneBlock(r *request) answer {
	find := findBlock(r)
	return func(v *view) (any, error) {
		b, err := find(v)
		if err != nil {
			return nil, err
		}
		a := &blockValue{
			BestHeight: uint32(v.Tip.Height), Hash: script.Hash(b.Hash), Height: uint32(b.Height), Inscriptions: []string{},
			Runes: []string{}, Target: target(block.Header(b.Header).Bits()),
		}
		var births []model.AssetBirthPk
		first := func(h model.HeightPk) []byte { return v.Query().FirstPk(h).AppendTo(nil) }
		err = v.births(first(b.Height), first(b.Height+1), false, func(birth model.AssetBirthPk) bool {
			births = append(births, birth)
			return true
		})
		if err != nil {
			return nil, err
		}
		entries, err := v.parse(births)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			a.Runes = append(a.Runes, e.Name.Spaced(e.Spacers))
		}
		a.Transactions = exchange.ItemsOf(r, func(yield func(*messageTx, error) bool) {
			err := v.Query().EachRaw(b.Height, func(raw []byte) error {
				tx, err := script.ParseTx(raw)
				if err == nil && !yield(messageTxOf(tx), nil) {
					err = errEnough
				}
				return err
			})
			if err != nil && !errors.Is(err, errEnough) {
				yield(nil, err)
			}
		})
		return a, nil
	}
}

// target returns a compact target as ord writes it, like a hash.
func target(bits uint32) (t script.Hash) {
	n := blockchain.CompactToBig(bits)
	if n.Sign() > 0 && n.BitLen() <= 8*len(t) {
		n.FillBytes(t[:])
		slices.Reverse(t[:])
	}
	return t
}

const (
	blocksListed   = 100
	blocksFeatured = 5
)

// listBlocks returns the newest blocks.
func listBlocks(*request) answer {
	return func(v *view) (any, error) {
		a := &blocksValue{Blocks: []script.Hash{}}
		if v.Tip.IsOrigin() {
			return a, nil
		}
		a.Last = uint32(v.Tip.Height)
		count := min(blocksListed, v.Tip.Height+1)
		heights := make([]model.HeightPk, count)
		for i := range heights {
			heights[i] = v.Tip.Height - model.HeightPk(i)
		}
		rows, err := v.Query().BlockRows(heights)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			a.Blocks = append(a.Blocks, script.Hash(rows[i].Hash))
			if i < blocksFeatured {
				a.Featured = append(a.Featured, rows[i].Hash)
			}
		}
		slices.SortFunc(a.Featured, func(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) })
		return a, nil
	}
}

// blockInfo describes a block.
func (p *protocol) blockInfo(r *request) answer {
	find := findBlock(r)
	return func(v *view) (any, error) {
		b, err := find(v)
		if err != nil {
			return nil, err
		}
		fees, known := p.fees.Get(b.Hash)
		if !known {
			if fees, err = v.feesOf(b); err != nil {
				return nil, err
			}
			p.fees.Put(b.Hash, fees)
		}
		h, height := block.Header(b.Header), uint32(b.Height)
		work, err := v.ChainWork(height)
		if err != nil {
			return nil, err
		}
		a := &blockInfoValue{
			Bits: h.Bits(), Confirmations: uint32(v.Tip.Height) - height + 1, Difficulty: difficulty(h.Bits()),
			Hash: script.Hash(b.Hash), Height: height, MedianTime: b.MedianTime, MerkleRoot: script.Hash(h.MerkleRoot()),
			Nonce: h.Nonce(), Subsidy: v.Subsidy(height), Target: target(h.Bits()), Timestamp: h.Time(),
			TransactionCount: b.TxCount, Version: uint32(h.Version()),
			ChainWork: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(make([]byte, 16), work.Hi), work.Lo),
		}
		fees.set(a)
		if height > 0 {
			parent := script.Hash(h.Parent())
			a.PreviousBlock = &parent
		}
		if b.Height < v.Tip.Height {
			row, err := v.Query().BlockRow(b.Height + 1)
			if err != nil {
				return nil, err
			}
			next := script.Hash(row.Hash)
			a.NextBlock = &next
		}
		return a, nil
	}
}

// difficulty returns the difficulty of a compact target. ord reads it from Bitcoin Core, which writes 16 digits.
func difficulty(bits uint32) script.Float {
	text := strconv.FormatFloat(float64(script.Difficulty(bits)), 'g', 16, 64)
	f, _ := strconv.ParseFloat(text, 64)
	return script.Float(f)
}
