package electrum

import (
	"math"
	"sync"
	"time"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
)

// estimateFee answers the fee rate with which a transaction is expected to confirm within a number of blocks, in BTC
// per 1,000 virtual bytes; -1 if the node has no estimate or there is no node.
func (m *moment) estimateFee(a *args) error {
	target, err := a.number(0, 0)
	if err != nil {
		return err
	}
	mode, _, err := a.text(1)
	if err != nil {
		return err
	}
	if target < 1 || target > maxTarget {
		return badRequest("number should be from 1 to %d", maxTarget)
	}
	var fees map[int]float64
	if m.chain.HasNode() {
		fees, err = m.chain.Fees(m.ctx, []int{int(target)}, mode)
	}
	if err != nil {
		return nodeError(err)
	}
	if rate, ok := fees[int(target)]; ok {
		m.appendRate(rate)
	} else {
		m.out = append(m.out, "-1"...)
	}
	return nil
}

// maxTarget is the largest number of blocks that nodes estimate for.
const maxTarget = 1008

// appendRate appends a rate in satoshi per 1,000 virtual bytes as BTC per 1,000 virtual bytes.
func (m *moment) appendRate(rate float64) { m.out = script.AppendBTC(m.out, int64(math.Round(rate))) }

// defaultRelayFee is Bitcoin Core's default of -minrelaytxfee in satoshi per 1,000 virtual bytes.
const defaultRelayFee = 1000

// relayFee answers the fee rate below which the node does not relay; the default of Core if there is no node, because
// wallets end the connection if the answer is an error.
func (m *moment) relayFee(*args) error {
	if !m.chain.HasNode() {
		m.appendRate(defaultRelayFee)
		return nil
	}
	fees, err := m.chain.MinimumFees(m.ctx)
	if err != nil {
		return nodeError(err)
	}
	m.appendRate(fees.Relay)
	return nil
}

// mempoolInfo answers the limits of the node's mempool.
func (m *moment) mempoolInfo(*args) error {
	fees, err := m.chain.MinimumFees(m.ctx)
	if err != nil {
		return nodeError(err)
	}
	m.out = append(m.out, `{"mempoolminfee":`...)
	m.appendRate(fees.Mempool)
	m.out = append(m.out, `,"minrelaytxfee":`...)
	m.appendRate(fees.Relay)
	m.out = append(m.out, `,"incrementalrelayfee":`...)
	m.appendRate(fees.Increment)
	m.out = append(m.out, '}')
	return nil
}

// The histogram of fee rates has bins of firstBin virtual bytes, each next one binGrowth times larger. It is made at
// most every histogramTime.
const (
	firstBin      = 100_000
	binGrowth     = 1.1
	histogramTime = 2 * time.Second
)

// histogram is the last histogram, as JSON.
type histogram struct {
	mu   sync.Mutex
	made time.Time
	json []byte
}

// feeHistogram answers [[rate, virtual size]…], highest rate first. Rates are in satoshi per virtual byte with one
// decimal, rounded down, and strictly fall.
func (m *moment) feeHistogram(*args) error {
	h := &m.feeRates
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); h.json == nil || now.Sub(h.made) >= histogramTime {
		rates := appendHistogram(nil, m.view.MempoolRates())
		if err := m.meter.Err(); err != nil { // a part of the mempool was read
			return err
		}
		h.made, h.json = now, rates
	}
	m.out = append(m.out, h.json...)
	return nil
}

// appendHistogram appends the histogram of transactions, which come with the highest rate first.
func appendHistogram(b []byte, rates func(yield func(wallet.Rate) bool)) []byte {
	b = append(b, '[')
	bin, size, last, lowest := float64(firstBin), uint64(0), int64(-1), int64(0)
	closeBin := func() {
		if last >= 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendInt(b, lowest/10)
		b = append(b, '.', byte('0'+lowest%10), ',')
		b = appendUint(b, size)
		b = append(b, ']')
		bin, size, last = bin*binGrowth, 0, lowest
	}
	for r := range rates {
		tenths := int64(r.PerVByte * 10)
		if float64(size) > bin && tenths < lowest { // transactions of one rate are in one bin
			closeBin()
		}
		lowest = tenths
		size += r.VSize
	}
	if size > 0 {
		closeBin()
	}
	return append(b, ']')
}
