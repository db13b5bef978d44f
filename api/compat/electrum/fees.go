package electrum

import (
	"iter"
	"sync"
	"time"

	"birthmark/api/compat/wallet"
)

// maxTarget is the largest number of blocks that nodes estimate for.
const maxTarget = 1008

// estimateFee returns the fee rate with which a transaction is expected to confirm within a number of blocks; -1 if the
// node has no estimate or there is no node.
func estimateFee(a *args) answer {
	target, mode := int(a.number(0, 0)), a.text(1)
	if target < 1 || target > maxTarget {
		a.refuse("number should be from 1 to %d", maxTarget)
	}
	return func(m *moment) (_ any, err error) {
		var fees map[int]float64
		if m.chain.HasNode() {
			fees, err = m.chain.Fees(m.ctx, []int{target}, mode)
		}
		if err != nil {
			return nil, nodeError(err)
		}
		if rate, ok := fees[target]; ok {
			return feeRate(rate), nil
		}
		return -1, nil
	}
}

// defaultRelayFee is Bitcoin Core's default of -minrelaytxfee in satoshi per 1,000 virtual bytes.
const defaultRelayFee = 1000

// relayFee returns the fee rate below which the node does not relay; the default of Core if there is no node, because
// wallets end the connection if the answer is an error.
func relayFee(m *moment) (any, error) {
	if !m.chain.HasNode() {
		return feeRate(defaultRelayFee), nil
	}
	fees, err := m.chain.MinimumFees(m.ctx)
	if err != nil {
		return nil, nodeError(err)
	}
	return feeRate(fees.Relay), nil
}

// mempoolInfo returns the limits of the node's mempool.
func mempoolInfo(m *moment) (any, error) {
	fees, err := m.chain.MinimumFees(m.ctx)
	if err != nil {
		return nil, nodeError(err)
	}
	return &mempoolInfoValue{feeRate(fees.Mempool), feeRate(fees.Relay), feeRate(fees.Increment)}, nil
}

// The histogram of fee rates has bins of firstBin virtual bytes, each next one binGrowth times larger. It is made at
// most every histogramTime.
const (
	firstBin      = 100_000
	binGrowth     = 1.1
	histogramTime = 2 * time.Second
)

// histogram is the last histogram.
type histogram struct {
	mu   sync.Mutex
	made time.Time
	bins []feeBin // nil: none was made
}

// feeHistogram returns [[rate, virtual size]…], highest rate first. Rates strictly fall.
func feeHistogram(m *moment) (any, error) {
	h := &m.feeRates
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); h.bins == nil || now.Sub(h.made) >= histogramTime {
		bins := histogramOf(m.view.MempoolRates())
		if err := m.meter.Err(); err != nil { // a part of the mempool was read
			return nil, err
		}
		h.made, h.bins = now, bins
	}
	return h.bins, nil
}

// histogramOf returns the histogram of transactions, which come with the highest rate first.
func histogramOf(rates iter.Seq[wallet.Rate]) []feeBin {
	bins := []feeBin{}
	last, most := feeBin{}, float64(firstBin)
	for r := range rates {
		tenths := int64(r.PerVByte * 10)
		if float64(last.size) > most && tenths < last.tenths { // transactions of one rate are in one bin
			bins = append(bins, last)
			last.size, most = 0, most*binGrowth
		}
		last.tenths = tenths
		last.size += r.VSize
	}
	if last.size > 0 {
		bins = append(bins, last)
	}
	return bins
}
