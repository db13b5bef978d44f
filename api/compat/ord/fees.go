package ord

import (
	"cmp"
	"iter"
	"slices"

	"birthmark/api/compat/wallet"
)

// percentiles are those of [blockFees], as weights of 1 in 20.
var percentiles = [5]uint64{2, 5, 10, 15, 18}

// blockFees are the fees of the transactions of a block except the coinbase, with the rules of Bitcoin Core's
// getblockstats (src/rpc/blockchain.cpp). Fee rates are satoshi per virtual byte, rounded down.
type blockFees struct {
	average, averageRate    uint64
	least, most, median     uint64
	leastRate, mostRate     uint64
	rates                   [len(percentiles)]uint64 // by weight
	total                   uint64
	size, weight, largestTx int // in bytes, weight units, bytes
}

// rated is the fee rate and the weight of a transaction.
type rated struct{ rate, weight uint64 }

// feesOf reads the transactions of a block.
func (v *view) feesOf(b *wallet.Block) (*blockFees, error) {
	var f blockFees
	var fees []uint64
	var rates []rated
	for t, err := range v.txsOf(b) {
		switch {
		case err != nil:
			return nil, err
		case t.Place.Position == 0:
			continue
		}
		r := rated{4 * t.Fee / uint64(t.Weight), uint64(t.Weight)}
		fees, rates = append(fees, t.Fee), append(rates, r)
		f.total += t.Fee
		f.size += len(t.Raw)
		f.weight += t.Weight
		f.largestTx = max(f.largestTx, len(t.Raw))
	}
	if len(fees) == 0 {
		return &f, nil
	}
	slices.Sort(fees)
	slices.SortFunc(rates, func(a, b rated) int { return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.weight, b.weight)) })
	n := uint64(len(fees))
	f.average, f.averageRate = f.total/n, 4*f.total/uint64(f.weight)
	f.least, f.most, f.median = fees[0], fees[n-1], fees[n/2]
	if n%2 == 0 {
		f.median = (fees[n/2-1] + fees[n/2]) / 2
	}
	f.leastRate, f.mostRate = rates[0].rate, rates[n-1].rate
	passed, at := uint64(0), 0
	for _, r := range rates {
		passed += r.weight
		for ; at < len(percentiles) && 20*passed >= percentiles[at]*uint64(f.weight); at++ {
			f.rates[at] = r.rate
		}
	}
	return &f, nil
}

func (f *blockFees) set(a *blockInfoValue) {
	a.AverageFee, a.AverageFeeRate, a.TotalFee, a.FeeRatePercentiles = f.average, f.averageRate, f.total, f.rates
	a.MinFee, a.MaxFee, a.MedianFee, a.MinFeeRate, a.MaxFeeRate = f.least, f.most, f.median, f.leastRate, f.mostRate
	a.TotalSize, a.TotalWeight, a.MaxTxSize = f.size, f.weight, uint32(f.largestTx)
}

// txsPerRead is the number of transactions of a block that are read at once.
const txsPerRead = 250

// txsOf yields the transactions of a block.
func (v *view) txsOf(b *wallet.Block) iter.Seq2[*wallet.Tx, error] {
	return func(yield func(*wallet.Tx, error) bool) {
		for from := 0; from < b.TxCount; from += txsPerRead {
			txs, err := v.BlockTxs(uint32(b.Height), from, txsPerRead)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range txs {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}
