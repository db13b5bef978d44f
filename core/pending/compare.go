package pending

import (
	"cmp"
	"slices"
	"time"

	"birthmark/model"
)

// compare returns the ids that the overlay lacks, and its transactions that are not among ids and arrived up to number
// mark.
func compare(o *tables, ids []model.Hash, mark uint64) (missing []model.Hash, gone []*Tx) {
	type item struct {
		prefix uint64
		at     int
	}
	list := make([]item, len(ids))
	for i := range ids {
		list[i] = item{prefixOf(&ids[i]), i}
	}
	slices.SortFunc(list, func(a, b item) int { return cmp.Compare(a.prefix, b.prefix) })
	next := 0
	var same []*Tx // of the overlay, with the prefix of the next items
	var found []bool
	flush := func(prefix uint64) {
		found = append(found[:0], make([]bool, len(same))...)
		for ; next < len(list) && list[next].prefix <= prefix; next++ {
			id := &ids[list[next].at]
			i := slices.IndexFunc(same, func(t *Tx) bool { return t.ID == *id })
			if i < 0 {
				missing = append(missing, *id)
			} else {
				found[i] = true
			}
		}
		for i, t := range same {
			if !found[i] && t.Arrival <= mark {
				gone = append(gone, t)
			}
		}
		same = same[:0]
	}
	o.txs.Scan(func(row txRow) bool {
		if len(same) > 0 && prefixOf(&same[0].ID) != row.prefix {
			flush(prefixOf(&same[0].ID))
		}
		same = append(same, row.tx)
		return true
	})
	flush(^uint64(0))
	return missing, gone
}

// wanting returns the ids of the transactions to fetch: ids are listed by the source, and the overlay lacks them.
// Transactions that were skipped or are kept aside are not fetched again. A skipped transaction is forgotten when the
// source no longer lists it; so is one that was kept aside before the list was requested, which is the time asked.
func (p *Pool) wanting(ids []model.Hash, asked time.Time) (wanted []model.Hash) {
	if p.memory < p.limit/100*85 {
		p.unskip(evicted)
	}
	listed, skipped := map[model.Hash]bool{}, map[model.Hash]skipped{}
	for _, id := range ids {
		why, skip := p.skipped[id]
		switch {
		case skip:
			skipped[id] = why
		case p.aside.txs[id] == nil:
			wanted = append(wanted, id)
		default:
			listed[id] = true
		}
	}
	p.skipped = skipped
	for id, w := range p.aside.txs {
		if !listed[id] && w.since.Before(asked) {
			p.aside.drop(id)
		}
	}
	return wanted
}

// Drop removes transactions that the source no longer has, with their descendants.
func (p *Pool) Drop(txs []*Tx) {
	var left []*Tx
	for _, t := range txs {
		left = append(left, p.leave(t, Fate{Reason: Dropped})...)
	}
	p.deleteRows(left)
}
