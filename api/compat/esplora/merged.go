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

// manyTxs returns the transactions of several scripts as one list, newest first. Addresses and script hashes that are
// not valid are left out.
func manyTxs(q *request) error {
	var texts []string
	if len(q.body) > maxScripts*(idDigits+8) {
		return errorf(http.StatusUnprocessableEntity, "body too long")
	}
	if err := json.Unmarshal(q.body, &texts); err != nil {
		return errorf(http.StatusBadRequest, "Expected a JSON array of strings: %s", err)
	}
	if len(texts) > maxScripts {
		return errorf(http.StatusUnprocessableEntity, "body too long")
	}
	p, err := q.page()
	if err != nil {
		return err
	}
	kind := q.kind()
	var scripts []*wallet.Script
	seen := map[wallet.Key]bool{}
	for _, text := range texts {
		k, err := q.key(kind, text)
		if err != nil || seen[k] {
			continue
		}
		seen[k] = true
		s, err := q.view.Script(k)
		if err != nil {
			return err
		}
		scripts = append(scripts, s)
	}
	ids, err := q.merged(scripts, p)
	if err != nil {
		return err
	}
	q.maxAge = shortly
	return q.txsOf(ids)
}

// merged returns a page of the transactions of scripts: unconfirmed ones, then confirmed ones, newest first.
func (q *request) merged(scripts []*wallet.Script, p page) ([]model.Hash, error) {
	most, left := mempoolTxs, txsPerPage
	if p.max > 0 {
		most = p.max
	}
	var ids []model.Hash
	if p.after == nil || p.unconfirmed {
		ids = q.mergedMempool(scripts)
		if p.after != nil {
			ids = ids[slices.Index(ids, *p.after)+1:]
		}
		ids = ids[:min(most, len(ids))]
		p.after = nil
	}
	if p.max > 0 {
		left = p.max - len(ids)
	}
	return q.mergedChain(ids, scripts, p.after, left)
}

// mergedMempool returns the unconfirmed transactions of scripts, the latest first.
func (q *request) mergedMempool(scripts []*wallet.Script) (ids []model.Hash) {
	wanted := map[model.Hash]bool{}
	for _, s := range scripts {
		for _, e := range s.Mempool() {
			wanted[e.Tx] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, id := range q.view.MempoolIDs() {
		if wanted[id] {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids
}

// mergedChain appends up to n confirmed transactions of scripts, newest first, after one that is excluded and may be of
// any of them.
func (q *request) mergedChain(ids []model.Hash, scripts []*wallet.Script, after *model.Hash, n int) ([]model.Hash, error) {
	history := func(s *wallet.Script) iter.Seq2[wallet.Entry, error] { return s.History(nil, true) }
	if after != nil {
		start, err := q.view.Place(*after)
		if err != nil {
			return nil, err
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
	for ; n > 0 && len(heads) > 0 && err == nil; n-- {
		newest := slices.MaxFunc(heads, func(a, b *head) int {
			return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.Position, b.Position))
		}).Tx
		ids = append(ids, newest)
		heads = slices.DeleteFunc(heads, func(h *head) bool { return h.Tx == newest && refill(h) })
	}
	return ids, err
}
