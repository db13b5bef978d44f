package pending

import (
	"time"

	"birthmark/model"
)

// shrink frees memory above the limit, down to 95% of it: first the serialized bytes of the largest transactions, then
// the transactions with the lowest fee rates and their descendants.
func (p *Pool) shrink() {
	if p.memory <= p.limit {
		return
	}
	for target := p.limit / 100 * 95; p.memory > target; {
		if t, ok := p.bySize.Min(); ok {
			p.dropRaw(t)
			t.raw.Store(nil)
			continue
		}
		row, ok := p.rates.Max() // the order is from high to low
		if !ok {
			return
		}
		left := p.leave(row.tx, Fate{Reason: Evicted})
		for _, t := range left {
			p.skip(t.ID, evicted)
		}
		p.deleteRows(left)
	}
}

// skip records why a transaction of the source is not in the overlay.
func (p *Pool) skip(id model.Hash, why skipped) { p.skipped[id] = why }

// unskip permits transactions to enter again.
func (p *Pool) unskip(why skipped) {
	for id, w := range p.skipped {
		if w == why {
			delete(p.skipped, id)
		}
	}
}

const (
	maxFates = 200_000
	fateTime = 24 * time.Hour
)

// fateQueue are the fates in the order in which transactions left.
type fateQueue []*Fate

// record keeps how a transaction left. It deletes records that are older than a day, and the oldest above 200,000.
func (p *Pool) record(f Fate) {
	old := p.now().Add(-fateTime).Unix()
	for len(p.left) > 0 && (len(p.left) >= maxFates || p.left[0].At < old) {
		first := p.left[0]
		p.left = p.left[1:]
		if row, ok := p.fates.Get(fateRow{prefixOf(&first.ID), first}); ok && row.Fate == first {
			p.forget(first.ID)
		}
	}
	p.forget(f.ID)
	p.left = append(p.left, &f)
	p.fates.Set(fateRow{prefixOf(&f.ID), &f})
	if f.Reason == Replaced {
		p.replaced.Set(replacedRow{prefixOf(&f.By), &f})
	}
}

// forget removes the fate of a transaction that is back.
func (p *Pool) forget(id model.Hash) {
	if row, ok := p.fates.Delete(fateRow{prefixOf(&id), &Fate{ID: id}}); ok && row.Reason == Replaced {
		p.replaced.Delete(replacedRow{prefixOf(&row.By), row.Fate})
	}
}
