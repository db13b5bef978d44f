package esplora

import (
	"bytes"
	"slices"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/model"
)

// binSize is the number of virtual bytes above which a bin of the fee histogram is closed.
const binSize = 50_000

// mempool returns totals and the fee histogram, highest rate first. Transactions of one rate are in one bin.
func mempool(r *request) answer {
	return func(v *view) (any, error) {
		info := v.MempoolInfo()
		r.CacheFor(shortly)
		bins, last := []bin{}, bin{}
		for rate := range v.MempoolRates() {
			if last.size > binSize && script.Float(rate.PerVByte) != last.rate {
				bins, last = append(bins, last), bin{}
			}
			last.size, last.rate = last.size+rate.VSize, script.Float(rate.PerVByte)
		}
		if last.size > 0 {
			bins = append(bins, last)
		}
		return &mempoolValue{info.Count, info.VSize, info.Fees, bins}, nil
	}
}

func mempoolIDs(r *request) answer {
	return func(v *view) (any, error) {
		r.CacheFor(shortly)
		return exchange.List(func(yield func(script.Hash, error) bool) {
			for id, err := range v.MempoolIDs() {
				if !yield(script.Hash(id), err) {
					return
				}
			}
		}), nil
	}
}

// idsPerPage is the default number of ids of a page of the mempool.
const idsPerPage = 10_000

// mempoolPage returns ids in the order of their bytes after the given one, which need not exist.
func mempoolPage(r *request) answer {
	last, n := lastArg(r), limitParam(r, "max_txs", idsPerPage, idsPerPage)
	return func(v *view) (any, error) {
		var ids []model.Hash
		for id, err := range v.MempoolIDs() {
			if err != nil {
				return nil, err
			}
			if last == nil || bytes.Compare(id[:], last[:]) > 0 {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) })
		r.CacheFor(shortly)
		return script.Hashes(ids[:min(n, len(ids))]), nil
	}
}

const recentTxs = 10

func (p *protocol) mempoolRecent(r *request) answer {
	return func(v *view) (any, error) {
		r.CacheFor(recent)
		return p.recentOf(v.MempoolRecent(recentTxs)), nil
	}
}

func (p *protocol) recentOf(txs []wallet.Recent) []recentValue {
	all := make([]recentValue, len(txs))
	for i, tx := range txs {
		all[i] = recentValue{Tx: script.Hash(tx.ID), Fee: tx.Fee, VSize: tx.VSize, Value: tx.Inputs}
		if p.tapyrus {
			seen := tx.Seen.Unix()
			all[i].Time = &seen
		}
	}
	return all
}
