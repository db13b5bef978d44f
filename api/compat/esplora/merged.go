package esplora

import (
	"cmp"
	"encoding/json"
	"iter"
	"net/http"
	"slices"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// addressesTxs and scriptHashesTxs return the transactions of several scripts as one list, newest first. Addresses and
// script hashes that are not valid are left out.
func (p *protocol) addressesTxs(r *request) answer { return p.manyTxs(r, p.addressKey) }

func (p *protocol) scriptHashesTxs(r *request) answer { return p.manyTxs(r, scriptHashKey) }

func (p *protocol) manyTxs(r *request, key func(string) (scriptKey, error)) answer {
	keys, page := keysOf(r, key), pageParams(r)
	return func(v *view) (any, error) {
		if err := page.place(v); err != nil {
			return nil, err
		}
		scripts, err := v.scripts(keys)
		if err != nil {
			return nil, err
		}
		ids, err := v.merged(scripts, page)
		if err != nil {
			return nil, err
		}
		r.CacheFor(shortly)
		return p.txs(v, ids)
	}
}

// addressesSummary and scriptHashesSummary return the net change that each confirmed transaction makes to several scripts.
func (p *protocol) addressesSummary(r *request) answer { return p.manySummary(r, p.addressKey) }

func (p *protocol) scriptHashesSummary(r *request) answer { return p.manySummary(r, scriptHashKey) }

func (p *protocol) manySummary(r *request, key func(string) (scriptKey, error)) answer {
	keys, page := keysOf(r, key), summaryParams(r)
	return func(v *view) (any, error) {
		if err := page.place(v); err != nil {
			return nil, err
		}
		scripts, err := v.scripts(keys)
		if err != nil {
			return nil, err
		}
		r.CacheFor(shortly)
		if page.unconfirmed {
			return []changeValue{}, nil
		}
		return v.changes(v.merge(scripts, page.after), page.max), nil
	}
}

func (v *view) scripts(keys []scriptKey) ([]*wallet.Script, error) {
	all := make([]*wallet.Script, len(keys))
	for i, k := range keys {
		s, err := v.script(k)
		if err != nil {
			return nil, err
		}
		all[i] = s
	}
	return all, nil
}

// keysOf reads the distinct scripts of a body.
func keysOf(r *request, key func(string) (scriptKey, error)) (keys []scriptKey) {
	tooLong := errorf(http.StatusUnprocessableEntity, "body too long")
	var texts []string
	if len(r.Content()) > maxScripts*(idDigits+8) {
		r.Refuse(tooLong)
	} else if err := json.Unmarshal(r.Content(), &texts); err != nil {
		r.Refuse(errorf(http.StatusBadRequest, "Expected a JSON array of strings: %s", err))
	} else if len(texts) > maxScripts {
		r.Refuse(tooLong)
		return nil
	}
	seen := map[scriptKey]bool{}
	for _, text := range texts {
		if k, err := key(text); err == nil && !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// merged returns a page of the transactions of scripts: unconfirmed ones, then confirmed ones, newest first.
func (v *view) merged(scripts []*wallet.Script, p page) ([]model.Hash, error) {
	most, left := mempoolTxs, txsPerPage
	if p.max > 0 {
		most = p.max
	}
	var ids []model.Hash
	if p.after == nil || p.unconfirmed {
		var err error
		if ids, err = v.mergedMempool(scripts); err != nil {
			return nil, err
		}
		if p.after != nil {
			ids = ids[slices.Index(ids, *p.after)+1:]
		}
		ids = ids[:min(most, len(ids))]
		p.after = nil
	}
	if p.max > 0 {
		left = p.max - len(ids)
	}
	return v.mergedChain(ids, scripts, p.after, left)
}

// mergedMempool returns the unconfirmed transactions of scripts, the latest first.
func (v *view) mergedMempool(scripts []*wallet.Script) (ids []model.Hash, err error) {
	wanted := map[model.Hash]bool{}
	for _, s := range scripts {
		for _, e := range s.Mempool() {
			wanted[e.Tx] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	for id, err := range v.MempoolIDs() {
		if err != nil {
			return nil, err
		}
		if wanted[id] {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids, nil
}

// mergedChain appends up to n confirmed transactions of scripts, newest first, after one that is excluded and may be of
// any of them.
func (v *view) mergedChain(ids []model.Hash, scripts []*wallet.Script, after *model.Hash, n int) ([]model.Hash, error) {
	if n <= 0 {
		return ids, nil
	}
	for e, err := range v.merge(scripts, after) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, e.Tx)
		if n--; n == 0 {
			break
		}
	}
	return ids, nil
}

// merge yields the confirmed transactions of scripts, newest first, with the amounts of all of them. See [view.mergedChain].
func (v *view) merge(scripts []*wallet.Script, after *model.Hash) iter.Seq2[wallet.Entry, error] {
	return func(yield func(wallet.Entry, error) bool) {
		history := func(s *wallet.Script) iter.Seq2[wallet.Entry, error] { return s.History(nil, true) }
		if after != nil {
			start, err := v.Place(*after)
			if err != nil {
				yield(wallet.Entry{}, err)
				return
			}
			history = func(s *wallet.Script) iter.Seq2[wallet.Entry, error] {
				return s.HistoryBefore(start.Height, start.Position)
			}
		}
		type head struct {
			wallet.Entry
			next func() (wallet.Entry, error, bool)
		}
		var heads []*head
		for _, s := range scripts {
			next, stop := iter.Pull2(history(s))
			defer stop()
			heads = append(heads, &head{next: next})
		}
		var err error
		refill := func(h *head) bool { // reports whether h is exhausted
			entry, failed, ok := h.next()
			h.Entry, err = entry, cmp.Or(err, failed)
			return !ok || failed != nil
		}
		heads = slices.DeleteFunc(heads, refill)
		for len(heads) > 0 && err == nil {
			newest := slices.MaxFunc(heads, func(a, b *head) int {
				return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.Position, b.Position))
			}).Entry
			newest.Received, newest.Sent = 0, 0
			heads = slices.DeleteFunc(heads, func(h *head) bool {
				if h.Tx != newest.Tx {
					return false
				}
				newest.Received, newest.Sent = newest.Received+h.Received, newest.Sent+h.Sent
				return refill(h)
			})
			if err == nil && !yield(newest, nil) {
				return
			}
		}
		if err != nil {
			yield(wallet.Entry{}, err)
		}
	}
}
