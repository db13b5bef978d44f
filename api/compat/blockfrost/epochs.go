package blockfrost

import (
	"math/big"

	"birthmark/model"
)

// latestEpoch answers the epoch of the tip.
func latestEpoch(v *view) (any, error) {
	if v.Q.Tip.IsOrigin() {
		return nil, errNotFound
	}
	last, err := v.epochAt(v.Q.Tip.Height)
	if err != nil {
		return nil, err
	}
	return v.epoch(last)
}

// oneEpoch answers the epoch of the path.
func oneEpoch(v *view) (any, error) { return v.epoch(v.number("number")) }

func (v *view) epoch(number uint64) (any, error) {
	from, to, err := v.blocksOfEpoch(number)
	if err != nil {
		return nil, err
	}
	return v.epochOfBlocks(number, from, to)
}

// nextEpochs and previousEpochs answer epochs in ascending order. Pages count away from the epoch of the path, also by
// epochs without blocks.
func nextEpochs(v *view) (any, error)     { return v.epochsAround(false) }
func previousEpochs(v *view) (any, error) { return v.epochsAround(true) }

func (v *view) epochsAround(before bool) (any, error) {
	number := v.number("number")
	if _, _, err := v.blocksOfEpoch(number); err != nil {
		return nil, err
	}
	last, err := v.epochAt(v.Q.Tip.Height)
	if err != nil {
		return nil, err
	}
	all := []*epochValue{}
	for n, to := v.page.around(int64(number), 0, int64(last), before); n <= to; n++ {
		from, end, err := v.blocksOfEpoch(uint64(n))
		if err == errNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		e, err := v.epochOfBlocks(uint64(n), from, end)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// blocksOfEpoch returns the first block of an epoch and the first one after it. The epoch must have a block.
func (v *view) blocksOfEpoch(number uint64) (from, to model.HeightPk, err error) {
	first, slots, err := v.epochSlots(number)
	if err != nil {
		return 0, 0, err
	}
	if v.Q.Tip.IsOrigin() {
		return 0, 0, errNotFound
	}
	if from, err = v.FirstFrom(first); err == nil {
		to, err = v.FirstFrom(first + slots)
	}
	if err == nil && from >= to {
		err = errNotFound
	}
	return from, to, err
}

// withEpochs is a chain with epochs.
type withEpochs interface {
	// EpochSlots returns the first slot of an epoch, and the number of its slots; ok is false if they are unknown.
	EpochSlots(epoch uint64) (first, slots uint64, ok bool)
	// SlotTime returns when a slot began, in Unix seconds; ok is false if it is unknown.
	SlotTime(slot uint64) (unix int64, ok bool)
}

var errNoEpochs = notImplemented("the epochs of a network are known only with its genesis files")

// epochSlots returns the first slot of an epoch, and the number of its slots.
func (v *view) epochSlots(epoch uint64) (first, slots uint64, err error) {
	if chain, ok := v.Chain.Model.(withEpochs); ok {
		if first, slots, known := chain.EpochSlots(epoch); known {
			return first, slots, nil
		}
	}
	return 0, 0, errNoEpochs
}

// epochAt returns the epoch of a block.
func (v *view) epochAt(h model.HeightPk) (uint64, error) {
	row, err := v.blockAt(h)
	if err == nil && row.Parsed.Epoch == nil {
		err = errNoEpochs
	}
	if err != nil {
		return 0, err
	}
	return *row.Parsed.Epoch, nil
}

// epochOfBlocks returns the epoch of the blocks with from <= height < to.
func (v *view) epochOfBlocks(number uint64, from, to model.HeightPk) (*epochValue, error) {
	first, slots, err := v.epochSlots(number)
	if err != nil {
		return nil, err
	}
	chain := v.Chain.Model.(withEpochs)
	start, _ := chain.SlotTime(first)
	end, _ := chain.SlotTime(first + slots) // both are known if the slots are
	s, err := v.sumsOfEpoch(number, from, to)
	if err != nil {
		return nil, err
	}
	return &epochValue{
		Epoch: number, StartTime: start, EndTime: end, FirstBlockTime: s.firstTime, LastBlockTime: s.lastTime,
		BlockCount: s.blocks, TxCount: s.txs, Output: s.output.String(), Fees: s.fees.String(),
	}, nil
}

// saveAfter is the number of blocks after which sums are stored, so that a request continues one that ran out of time.
const saveAfter = 1000

// sumsOfEpoch returns the sums of an epoch. It continues with stored sums if the last block that they include is still
// one of the chain.
func (v *view) sumsOfEpoch(number uint64, from, to model.HeightPk) (*epochSums, error) {
	s := &epochSums{output: new(big.Int), fees: new(big.Int)}
	next := from
	if known, ok := v.sums.Get(number); ok && known.to.Height < to {
		row, err := v.Q.BlockRow(known.to.Height)
		if err != nil {
			return nil, err
		}
		if row.Hash == known.to.Hash {
			s, next = known, known.to.Height+1
		}
	}
	if next == to {
		return s, nil
	}
	for ; next < to; next = s.to.Height + 1 {
		more, err := v.addBlocks(s, next, min(next+saveAfter, to))
		if err != nil {
			return nil, err
		}
		s = more
		v.sums.Put(number, s)
	}
	return s, nil
}

// addBlocks returns sums with the blocks from <= height < to.
func (v *view) addBlocks(s *epochSums, from, to model.HeightPk) (*epochSums, error) {
	free := v.Q.Unlimited() // the sums of an ended epoch are stored
	e := *s
	e.output, e.fees = new(big.Int).Set(s.output), new(big.Int).Set(s.fees)
	for h := from; h < to; h++ {
		row, err := v.blockAt(h)
		if err != nil {
			return nil, err
		}
		e.to = row.Point(h)
		if row.Parsed.Boundary {
			continue
		}
		if e.blocks++; e.blocks == 1 {
			e.firstTime = row.Time
		}
		e.lastTime, e.txs = row.Time, e.txs+row.TxCount
		if row.TxCount == 0 {
			continue
		}
		txs, err := free.BlockSums(h, func(int) error { return v.ctx().Err() })
		if err != nil {
			return nil, err
		}
		for i := range txs {
			if e.output.Add(e.output, &txs[i].Out); txs[i].Fee != nil {
				e.fees.Add(e.fees, txs[i].Fee)
			}
		}
	}
	return &e, nil
}

// epochBlocks answers the hashes of the blocks of an epoch.
func epochBlocks(v *view) (any, error) {
	from, to, err := v.blocksOfEpoch(v.number("number"))
	if err != nil {
		return nil, err
	}
	p := v.page
	first, count := int(from), int(to-from)
	skip := (p.number - 1) * p.count
	hashes := []string{}
	for i := skip; i < min(skip+p.count, count); i++ {
		at := first + i
		if p.descending {
			at = first + count - 1 - i
		}
		row, err := v.Q.BlockRow(model.HeightPk(at))
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, row.Hash.String())
	}
	return hashes, nil
}

// epochBlocksOfPool answers the hashes of the blocks of an epoch that a pool made.
func epochBlocksOfPool(v *view) (any, error) {
	from, to, err := v.blocksOfEpoch(v.number("number"))
	if err != nil {
		return nil, err
	}
	return v.pageOfPoolBlocks(v.arg("pool_id"), from, to)
}

// epochSums are the sums of the blocks of an epoch from its first one on. They must not be changed.
type epochSums struct {
	to                  model.Point // the last block that it includes
	firstTime, lastTime int64       // of blocks, in Unix seconds
	blocks, txs         int
	output, fees        *big.Int
}
