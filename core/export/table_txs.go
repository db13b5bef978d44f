package export

import (
	"fmt"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
)

// Columns of transactions.
const (
	txID = iota
	txBlock
	txTime
	txIndex
	txHash
	txFee
	txCoinbase
	txGenesis
	txInputs
	txOutputs
	txInputValue
	txOutputValue
	txMints
	txSize   // with raw transactions, or with their places in the files of a node
	txWeight // with raw transactions that have a weight
	txVirtual
)

func (c *columns) txFields() []tablefile.Field {
	fields := []tablefile.Field{
		txID:          {Name: "tx_id", Type: tablefile.Uint64},
		txBlock:       {Name: "block_number", Type: tablefile.Int32},
		txTime:        {Name: "block_timestamp", Type: tablefile.Timestamp, Nullable: true},
		txIndex:       {Name: "index", Type: tablefile.Int32},
		txHash:        c.hashField("hash"),
		txFee:         {Name: "fee", Type: tablefile.Int64, Nullable: true},
		txCoinbase:    {Name: "is_coinbase", Type: tablefile.Bool},
		txGenesis:     {Name: "is_genesis", Type: tablefile.Bool},
		txInputs:      {Name: "input_count", Type: tablefile.Int32},
		txOutputs:     {Name: "output_count", Type: tablefile.Int32},
		txInputValue:  {Name: "input_value", Type: tablefile.Int64},
		txOutputValue: {Name: "output_value", Type: tablefile.Int64},
		txMints:       {Name: "mint_count", Type: tablefile.Int32},
	}
	if c.sizes {
		fields = append(fields, tablefile.Field{Name: "size", Type: tablefile.Int32, Nullable: true})
	}
	if c.weigher != nil {
		fields = append(fields, tablefile.Field{Name: "weight", Type: tablefile.Int64, Nullable: true},
			tablefile.Field{Name: "virtual_size", Type: tablefile.Int32, Nullable: true})
	}
	return fields
}

// placeTxs sets the heights and the times of the transactions of the chunk.
func (p *part) placeTxs(c *chunk) error {
	c.heights, c.times = c.heights[:0], c.times[:0]
	for _, pk := range c.pks {
		h := model.TxPk(pk).Height()
		c.heights = append(c.heights, h)
		if p.isGenesis(pk) {
			c.times = append(c.times, noTime)
			continue
		}
		row, err := p.blockAt(h)
		if err != nil {
			return err
		}
		c.times = append(c.times, row.Time)
	}
	p.queue.take(c)
	return nil
}

// position returns the position of a transaction in its block.
func (p *part) position(pk uint64) int {
	tx := model.TxPk(pk)
	if tx.Height() == 0 && !p.isGenesis(pk) {
		return tx.TxIndex() - int(p.genesis)
	}
	return tx.TxIndex()
}

func (p *part) isCoinbase(c *chunk, tx int) bool {
	pk := c.pks[tx]
	return p.l.Traits.Coinbase && c.sums[tx].Inputs == 0 && p.position(pk) == 0 && !p.isGenesis(pk)
}

// fee returns the fee of a transaction, as the answer to a query has it; false if there is none or it is unknown.
func (p *part) fee(c *chunk, tx int) (model.Uint128, bool) {
	s := &c.sums[tx]
	if f := c.fees[tx]; f.Stated {
		return model.Uint128Of(f.Amount), true
	}
	if s.Inputs == 0 || p.l.Traits.FeeOutputs {
		return model.Uint128{}, false
	}
	return s.Spent.Sub(s.Created)
}

func (p *part) fillTxs(c *chunk) error {
	b := p.txs.begin()
	raw := 0
	for tx, pk := range c.pks {
		s := &c.sums[tx]
		appendInts(b, txID, int64(pk))
		appendInts(b, txBlock, int64(c.heights[tx]))
		appendTime(b, txTime, c.times[tx])
		appendInts(b, txIndex, int64(p.position(pk)))
		p.appendHash(&b.Columns[txHash], c.hash(tx))
		fee, ok := p.fee(c, tx)
		amount, err := number("the fee", pk, fee)
		if err != nil && ok {
			return err
		}
		appendMaybe(&b.Columns[txFee], amount, !ok)
		appendBool(b, txCoinbase, p.isCoinbase(c, tx))
		appendBool(b, txGenesis, p.isGenesis(pk))
		appendInts(b, txInputs, int64(s.Inputs))
		appendInts(b, txOutputs, int64(s.Outputs))
		for column, sum := range [...]model.Uint128{s.Spent, s.Created} {
			if amount, err = number("the sum", pk, sum); err != nil {
				return err
			}
			appendInts(b, txInputValue+column, amount)
		}
		appendInts(b, txMints, int64(s.mints))
		if p.raw {
			for raw < len(c.raw.pks) && c.raw.pks[raw] < pk {
				raw++
			}
			known := raw < len(c.raw.pks) && c.raw.pks[raw] == pk
			size, weight, virtual := int64(0), int64(0), int64(0)
			if known {
				size = c.raw.sizes[raw]
			}
			appendMaybe(&b.Columns[txSize], size, !known)
			if p.weigher != nil {
				if known {
					weight, virtual = c.raw.weights[raw], c.raw.virtual[raw]
				}
				appendMaybe(&b.Columns[txWeight], weight, !known)
				appendMaybe(&b.Columns[txVirtual], virtual, !known)
			}
		} else if p.sizes {
			size, known, err := p.sizeInFile(pk)
			if err != nil {
				return err
			}
			appendMaybe(&b.Columns[txSize], size, !known)
		}
	}
	return p.txs.send(len(c.pks))
}

// blockSizes are the sizes of the transactions of a block whose place in a file is known.
type blockSizes struct {
	read   bool
	height model.HeightPk
	sizes  []int
}

// sizeInFile returns the size of a transaction whose place in a file is known.
func (p *part) sizeInFile(pk uint64) (size int64, known bool, err error) {
	if p.isGenesis(pk) {
		return 0, false, nil
	}
	h, s := model.TxPk(pk).Height(), &p.inFile
	if !s.read || s.height != h {
		*s = blockSizes{read: true, height: h}
		row, err := p.r.Get(schema.FamilySizes, h.AppendTo(nil))
		if err != nil || row == nil {
			return 0, false, err
		}
		if s.sizes, err = schema.ParseSizesRow(row); err != nil {
			return 0, false, fmt.Errorf("sizes of block %d: %w", h, err)
		}
	}
	if at := p.position(pk); at < len(s.sizes) {
		return int64(s.sizes[at]), true, nil
	}
	return 0, false, nil
}

// hash returns the hash of a transaction.
func (c *chunk) hash(tx int) *model.Hash {
	const size = len(model.Hash{})
	return (*model.Hash)(c.hashes[tx*size : (tx+1)*size])
}

func appendBool(b *tablefile.Batch, column int, v bool) {
	n := int64(0)
	if v {
		n = 1
	}
	appendInts(b, column, n)
}
