package epochs

import (
	"math/big"
	"strconv"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/blockfrost/sums"
	"birthmark/model"
)

// epochJSON is an epoch. Times are in Unix seconds.
type epochJSON struct {
	Epoch          uint64  `json:"epoch"`
	StartTime      int64   `json:"start_time"`
	EndTime        int64   `json:"end_time"`
	FirstBlockTime int64   `json:"first_block_time"`
	LastBlockTime  int64   `json:"last_block_time"`
	BlockCount     int     `json:"block_count"`
	TxCount        int     `json:"tx_count"`
	Output         string  `json:"output"`
	Fees           string  `json:"fees"`
	ActiveStake    *string `json:"active_stake"` // always null: it is in no block
}

// Latest answers the epoch of the tip.
func Latest(q *exchange.Request) error {
	if q.Q.Tip.IsOrigin() {
		return exchange.ErrNotFound
	}
	last, err := last(q)
	if err != nil {
		return err
	}
	q.Args = []string{strconv.FormatUint(last, 10)}
	return One(q)
}

// last returns the epoch of the tip.
func last(q *exchange.Request) (uint64, error) {
	first, err := model.NewTxPk(q.Q.Tip.Height, 0)
	if err != nil {
		return 0, err
	}
	return q.EpochOf(first)
}

// One answers the epoch of the path.
func One(q *exchange.Request) error {
	from, to, err := q.EpochOfPath()
	if err != nil {
		return err
	}
	number, err := exchange.ReadNumber(q.Args[0])
	if err != nil {
		return err
	}
	q.Answer, err = epoch(q, number, from, to)
	return err
}

// Next and Previous answer epochs in ascending order. Pages count away from the epoch of the path, also by epochs
// without blocks.
func Next(q *exchange.Request) error     { return neighbours(q, false) }
func Previous(q *exchange.Request) error { return neighbours(q, true) }

func neighbours(q *exchange.Request, before bool) error {
	if _, _, err := q.EpochOfPath(); err != nil {
		return err
	}
	number, err := exchange.ReadNumber(q.Args[0])
	if err != nil {
		return err
	}
	p := q.Page
	last, err := last(q)
	if err != nil {
		return err
	}
	skip, count := uint64((p.Page-1)*p.Count), uint64(p.Count)
	from := number + 1 + skip
	if before {
		if skip >= number {
			q.Answer = []*epochJSON{}
			return nil
		}
		end := number - skip
		count = min(count, end)
		from = end - count
	}
	all := []*epochJSON{}
	for n := from; n < from+count && n <= last; n++ {
		first, slots, err := q.EpochSlots(n)
		if err != nil {
			return err
		}
		lowest, err := q.FirstFrom(first)
		if err != nil {
			return err
		}
		end, err := q.FirstFrom(first + slots)
		if err != nil {
			return err
		}
		if lowest >= end {
			continue
		}
		e, err := epoch(q, n, lowest, end)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	q.Answer = all
	return nil
}

// epoch returns the epoch of the blocks with from <= height < to.
func epoch(q *exchange.Request, number uint64, from, to model.HeightPk) (*epochJSON, error) {
	first, slots, err := q.EpochSlots(number)
	if err != nil {
		return nil, err
	}
	chain := q.Chain.Model.(exchange.Epochs)
	start, _ := chain.SlotTime(first)
	end, _ := chain.SlotTime(first + slots) // both are known if the slots are
	s, err := sumsOf(q, number, from, to)
	if err != nil {
		return nil, err
	}
	return &epochJSON{
		Epoch: number, StartTime: start, EndTime: end, FirstBlockTime: s.FirstTime, LastBlockTime: s.LastTime,
		BlockCount: s.Blocks, TxCount: s.Txs, Output: s.Output.String(), Fees: s.Fees.String(),
	}, nil
}

// saveAfter is the number of blocks after which sums are stored, so that a request continues one that ran out of time.
const saveAfter = 1000

// sumsOf returns the sums of an epoch. It continues with stored sums if the last block that they include is still one of
// the chain.
func sumsOf(q *exchange.Request, number uint64, from, to model.HeightPk) (*sums.Epoch, error) {
	s := &sums.Epoch{Output: new(big.Int), Fees: new(big.Int)}
	next := from
	if known := q.Sums.Find(number); known != nil && known.To.Height < to {
		row, err := q.Q.BlockRow(known.To.Height)
		if err != nil {
			return nil, err
		}
		if row.Hash == known.To.Hash {
			s, next = known, known.To.Height+1
		}
	}
	if next == to {
		return s, nil
	}
	if err := q.Expensive(); err != nil {
		return nil, err
	}
	for ; next < to; next = s.To.Height + 1 {
		more, err := extended(q, s, next, min(next+saveAfter, to))
		if err != nil {
			return nil, err
		}
		s = more
		q.Sums.Store(number, s)
	}
	return s, nil
}

// extended returns sums with the blocks from <= height < to.
func extended(q *exchange.Request, s *sums.Epoch, from, to model.HeightPk) (*sums.Epoch, error) {
	free := q.Q.Unlimited() // the sums of an ended epoch are stored
	e := *s
	e.Output, e.Fees = new(big.Int).Set(s.Output), new(big.Int).Set(s.Fees)
	for h := from; h < to; h++ {
		row, err := q.Block(h)
		if err != nil {
			return nil, err
		}
		e.To = row.Point(h)
		if row.Parsed.Boundary {
			continue
		}
		if e.Blocks++; e.Blocks == 1 {
			e.FirstTime = row.Time
		}
		e.LastTime, e.Txs = row.Time, e.Txs+row.TxCount
		if row.TxCount == 0 {
			continue
		}
		txs, err := free.BlockSums(h, func(int) error { return q.Ctx.Err() })
		if err != nil {
			return nil, err
		}
		for i := range txs {
			if e.Output.Add(e.Output, &txs[i].Out); txs[i].Fee != nil {
				e.Fees.Add(e.Fees, txs[i].Fee)
			}
		}
	}
	return &e, nil
}
