package export

import (
	"fmt"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Columns of blocks, before those of the header.
const (
	blockNumber = iota
	blockHash
	blockParent
	blockTime
	blockSize
	blockTxs
	blockInputs
	blockOutputs
	blockInputValue
	blockOutputValue
	blockFee
	blockReward
	blockWeight
	blockHeader // the first of the header
)

// blockRowsPerBatch is the number of blocks of a page.
const blockRowsPerBatch = 4096

func (c *columns) blockFields() []tablefile.Field {
	fields := []tablefile.Field{
		blockNumber:      {Name: "block_number", Type: tablefile.Int32},
		blockHash:        c.hashField("hash"),
		blockParent:      c.hashField("parent_hash"),
		blockTime:        {Name: "block_timestamp", Type: tablefile.Timestamp},
		blockSize:        {Name: "size", Type: tablefile.Int32},
		blockTxs:         {Name: "transaction_count", Type: tablefile.Int32},
		blockInputs:      {Name: "input_count", Type: tablefile.Int32},
		blockOutputs:     {Name: "output_count", Type: tablefile.Int32},
		blockInputValue:  {Name: "input_value", Type: tablefile.Decimal},
		blockOutputValue: {Name: "output_value", Type: tablefile.Decimal},
		blockFee:         {Name: "fee", Type: tablefile.Decimal, Nullable: true},
		blockReward:      {Name: "reward", Type: tablefile.Decimal, Nullable: true},
		blockWeight:      {Name: "weight", Type: tablefile.Int64, Nullable: true},
	}
	for _, f := range c.header {
		fields = append(fields, f.Field)
	}
	return fields
}

// blockRow is a block whose transactions are being read.
type blockRow struct {
	height model.HeightPk
	row    schema.BlockRow // its header is a copy; nil if it is not needed
}

// blockQueue is the blocks that were read, from that of the last transaction on.
type blockQueue struct {
	rows  chan []blockRow // from the scan
	list  []blockRow
	at    int // position in list of the block of the last transaction
	taken int // blocks of list that chunks have
}

// blockSums are the sums of the first block that is not in the table yet.
type blockSums struct {
	list    []blockRow // the block, and those after it
	sums    schema.BlockSums
	reward  model.Uint128
	rewards bool
	weight  int64
	weighed int // transactions
	rows    int // of the batch
}

// scanBlocks reads the rows of blocks.
func scanBlocks(s *scanning, blocks span, headers bool) chan []blockRow {
	const some = 64
	rows := make(chan []blockRow, ahead)
	s.g.Go(func() error {
		return guard.Call(func() error {
			defer close(rows)
			var list []blockRow
			send := func() error {
				select {
				case rows <- list:
					list = nil
					return nil
				case <-s.ctx.Done():
					return s.ctx.Err()
				}
			}
			for kv, err := range s.r.Scan(schema.FamilyBlock, blocks.from.AppendTo(nil), (blocks.to + 1).AppendTo(nil), false) {
				if err != nil {
					return err
				}
				b := blockRow{}
				if b.height, err = model.ParseHeightPk(kv.Key); err != nil {
					return err
				}
				if b.row, err = schema.ParseBlockRow(kv.Value); err != nil {
					return fmt.Errorf("block %d: %w", b.height, err)
				}
				if b.row.Header = append([]byte(nil), b.row.Header...); !headers {
					b.row.Header = nil
				}
				if list = append(list, b); len(list) == some {
					if err := send(); err != nil {
						return err
					}
				}
			}
			return send()
		})
	})
	return rows
}

// more receives blocks; false at the end of the part.
func (p *part) more() (bool, error) {
	select {
	case list, ok := <-p.queue.rows:
		p.queue.list = append(p.queue.list, list...)
		return ok, nil
	case <-p.ctx.Done():
		return false, p.ctx.Err()
	}
}

// blockAt returns the row of a block. Heights must not descend.
func (p *part) blockAt(h model.HeightPk) (*schema.BlockRow, error) {
	q := &p.queue
	for {
		for ; q.at < len(q.list) && q.list[q.at].height <= h; q.at++ {
			if q.list[q.at].height == h {
				return &q.list[q.at].row, nil
			}
		}
		if more, err := p.more(); err != nil || !more {
			if err == nil {
				err = fmt.Errorf("block %d is missing: run birthmark check", h)
			}
			return nil, err
		}
	}
}

// take moves the blocks up to that of the last transaction to its chunk. That block remains for the next chunk.
func (q *blockQueue) take(c *chunk) {
	end := min(q.at+1, len(q.list))
	c.blocks = append(c.blocks[:0], q.list[q.taken:max(end, q.taken)]...)
	q.taken = max(end, q.taken) - q.at
	q.list = append(q.list[:0], q.list[q.at:]...)
	q.at = 0
}

// fillBlocks adds the transactions of the chunk to the sums of their blocks, and the blocks before the last one to the
// table.
func (p *part) fillBlocks(c *chunk) error {
	q, raw := &p.sums, 0
	q.list = append(q.list, c.blocks...)
	for tx, pk := range c.pks {
		if p.isGenesis(pk) {
			continue
		}
		for q.list[0].height < c.heights[tx] {
			if err := p.addBlock(); err != nil {
				return err
			}
		}
		sums := &c.sums[tx].TxSums
		sums.Stated = c.fees[tx]
		q.sums.AddTx(sums, p.l.Traits.FeeOutputs)
		if p.isCoinbase(c, tx) {
			q.reward, q.rewards = sums.Created, true
		}
		if p.weigher != nil {
			for raw < len(c.raw.pks) && c.raw.pks[raw] < pk {
				raw++
			}
			if raw < len(c.raw.pks) && c.raw.pks[raw] == pk {
				q.weight += c.raw.weights[raw] - 4*c.raw.sizes[raw]
				q.weighed++
			}
		}
	}
	return nil
}

// addBlock adds the first block of the queue to the table.
func (p *part) addBlock() error {
	q, b := &p.sums, p.blocks.batch
	row, sums := &q.list[0].row, &q.sums
	appendInts(b, blockNumber, int64(q.list[0].height))
	p.appendHash(&b.Columns[blockHash], &row.Hash)
	p.appendHash(&b.Columns[blockParent], &row.Parent)
	appendInts(b, blockTime, row.Time)
	appendInts(b, blockSize, int64(row.Size))
	appendInts(b, blockTxs, int64(row.TxCount))
	appendInts(b, blockInputs, int64(sums.Inputs))
	appendInts(b, blockOutputs, int64(sums.Outputs))
	appendAmount(&b.Columns[blockInputValue], sums.Spent, false)
	appendAmount(&b.Columns[blockOutputValue], sums.Created, false)
	appendAmount(&b.Columns[blockFee], sums.Fees, sums.FeesUnknown > 0)
	appendAmount(&b.Columns[blockReward], q.reward, !q.rewards)
	weighed := p.weigher != nil && q.weighed == row.TxCount
	appendMaybe(&b.Columns[blockWeight], 4*int64(row.Size)+q.weight, !weighed)
	if err := appendHeader(b.Columns[blockHeader:], p.header, p.l.Chain, row.Header); err != nil {
		return fmt.Errorf("header of block %d: %w", q.list[0].height, err)
	}
	q.list = q.list[1:]
	q.sums, q.reward, q.rewards, q.weight, q.weighed = schema.BlockSums{}, model.Uint128{}, false, 0, 0
	if q.rows++; q.rows == blockRowsPerBatch {
		return p.sendBlocks()
	}
	return nil
}

func (p *part) sendBlocks() error {
	err := p.blocks.send(p.sums.rows)
	p.blocks.begin()
	p.sums.rows = 0
	return err
}

// lastBlocks passes the blocks after the last transaction to their table.
func (p *part) lastBlocks() error {
	for {
		more, err := p.more()
		if err != nil {
			return err
		}
		if more {
			continue
		}
		if p.blocks != nil {
			c := &chunk{blocks: p.queue.list[p.queue.taken:]}
			c.users.Store(2) // it is not reused
			p.blocks.work <- c
		}
		return nil
	}
}

// endBlocks adds the last blocks to the table.
func (p *part) endBlocks() error {
	for len(p.sums.list) > 0 {
		if err := p.addBlock(); err != nil {
			return err
		}
	}
	return p.sendBlocks()
}

// appendAmount appends an amount that may be null.
func appendAmount(c *tablefile.Column, amount model.Uint128, null bool) {
	c.Nulls = appendNull(c.Nulls, len(c.Amounts), null)
	c.Amounts = append(c.Amounts, amount)
}
