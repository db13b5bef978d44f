package esplora

import (
	"bytes"
	"slices"
	"strconv"

	"birthmark/model"
)

// binSize is the number of virtual bytes above which a bin of the fee histogram is closed.
const binSize = 50_000

// mempool returns totals and the fee histogram: pairs of the lowest fee rate of a bin and its virtual bytes, highest
// rate first. Transactions of one rate are in one bin.
func mempool(q *request) error {
	info := q.view.MempoolInfo()
	q.maxAge = shortly
	q.num(`{"count":`, uint64(info.Count))
	q.num(`,"vsize":`, info.VSize)
	q.num(`,"total_fee":`, info.Fees)
	q.str(`,"fee_histogram":[`)
	separator, size, rate := "[", uint64(0), 0.0
	bin := func() {
		q.str(separator)
		q.float(rate)
		q.num(",", size)
		q.str("]")
		separator, size = ",[", 0
	}
	for r := range q.view.MempoolRates() {
		if size > binSize && r.PerVByte != rate {
			bin()
		}
		size, rate = size+r.VSize, r.PerVByte
	}
	if size > 0 {
		bin()
	}
	q.str("]}")
	return nil
}

func mempoolIDs(q *request) error {
	q.maxAge = shortly
	q.ids(q.view.MempoolIDs())
	return nil
}

// idsPerPage is the default number of ids of a page of the mempool.
const idsPerPage = 10_000

// mempoolPage returns ids in the order of their bytes after the given one, which need not exist.
func mempoolPage(q *request) error {
	n := idsPerPage
	if m, err := strconv.Atoi(q.param("max_txs")); err == nil && m > 0 {
		n = min(m, idsPerPage)
	}
	ids := q.view.MempoolIDs()
	if len(q.args) > 0 {
		if last, ok := parseHash(q.args[0]); ok {
			ids = slices.DeleteFunc(slices.Clone(ids), func(id model.Hash) bool { return bytes.Compare(id[:], last[:]) <= 0 })
		}
	}
	ids = slices.SortedFunc(slices.Values(ids), func(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) })
	q.maxAge = shortly
	q.ids(ids[:min(n, len(ids))])
	return nil
}

const recentTxs = 10

func mempoolRecent(q *request) error {
	all := q.view.MempoolRecent(recentTxs)
	q.maxAge = recent
	q.list(len(all), func(i int) {
		q.id(`{"txid":`, all[i].ID)
		q.num(`,"fee":`, all[i].Fee)
		q.num(`,"vsize":`, uint64(all[i].VSize))
		q.num(`,"value":`, all[i].Inputs)
		q.str("}")
	})
	return nil
}
