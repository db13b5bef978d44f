package explorer

import (
	"context"
	"net/url"
	"slices"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Directions of transactions in a filter.
const (
	received = "received"
	sent     = "sent"
)

// filterBatch is how many transactions a page with a filter reads at once, and filterMost how many in total.
var filterBatch, filterMost = 100, 2000

// filter is the transactions of a history that a visitor selected, in addition to the period.
type filter struct {
	Direction string // received or sent; empty: both
	Asset     string // an id; empty: all
}

// filter returns the filter in the query of the page.
func (v *visit) filter() (f filter, err error) {
	f = filter{v.query("direction"), v.query("asset")}
	if f.Direction != "" && f.Direction != received && f.Direction != sent {
		return f, model.Errorf(model.Usage, "bad_value", "direction %q: expected %s or %s", f.Direction, received, sent)
	}
	if f.Asset == "" {
		return f, nil
	}
	a, err := v.Asset(v.ctx, f.Asset)
	if err != nil {
		return f, err
	}
	f.Asset = a.Asset
	return f, nil
}

// Set reports whether the filter leaves out transactions.
func (f filter) Set() bool { return f != filter{} }

// addTo adds the filter to the query of a URL.
func (f filter) addTo(q url.Values) {
	if f.Direction != "" {
		q.Set("direction", f.Direction)
	}
	if f.Asset != "" {
		q.Set("asset", f.Asset)
	}
}

// Has reports whether a transaction is selected: whether it changed the balance of the coin, or of the asset, in the
// direction of the filter.
func (f filter) Has(t *query.HistoryTxAnswer) bool {
	in, out := t.Received, t.Sent
	if f.Asset != "" {
		i := slices.IndexFunc(t.Assets, func(a query.HistoryAssetAnswer) bool { return a.Asset == f.Asset })
		if i < 0 {
			return false
		}
		in, out = t.Assets[i].Received, t.Assets[i].Sent
	}
	change := format.Integer(in).Cmp(format.Integer(out))
	return f.Direction == "" || f.Direction == received && change > 0 || f.Direction == sent && change < 0
}

// listQuery returns the period and the filter as the query of a URL.
func (b *valueBody) listQuery() string {
	q := b.Period.values()
	b.Filter.addTo(q)
	return q.Encode()
}

// filtered reads a page of the transactions that the filter selects, newest first. It ends after [filterMost] transactions,
// and states how many it read. It returns nil if no transaction can be read within the time limit.
func (r *valueReader) filtered(after string) (*query.HistoryAnswer, error) {
	found := &query.HistoryAnswer{Txs: []query.HistoryTxAnswer{}}
	for read := 0; ; {
		a, err := r.movements(query.Page{Limit: filterBatch, After: after, Descending: true})
		if err != nil || a == nil && read == 0 {
			return nil, err
		}
		if a == nil {
			found.Next = &after
			break
		}
		for i := range a.Txs {
			if !r.body.Filter.Has(&a.Txs[i]) {
				continue
			}
			if len(found.Txs) >= valueRows {
				if i == 0 {
					found.Next = &after
					return found, nil
				}
				shorter, err := r.movements(query.Page{Limit: i, After: after, Descending: true})
				if err != nil {
					return nil, err
				}
				if shorter != nil && shorter.Next != nil {
					found.Next = shorter.Next
					return found, nil
				}
			}
			found.Txs = append(found.Txs, a.Txs[i])
		}
		read += len(a.Txs)
		if found.Next = a.Next; a.Next == nil || len(found.Txs) >= valueRows {
			break
		}
		if after = *a.Next; read >= filterMost {
			r.body.Searched = humanize.Count(read)
			break
		}
	}
	return found, nil
}

const (
	partyReads = 30 // inputs and outputs of a transaction in which a page looks for its parties
	partyShown = 2
)

// parties are the other values in a transaction that a value received from or sent to.
type parties struct {
	To    bool // else from
	Shown []ownerLink
	More  int  // others in the inputs or outputs that were read
	Also  bool // there are inputs or outputs that were not read
}

// addParties adds the parties to the rows of a history, unless that exceeds the time limit.
func (r *valueReader) addParties(rows []movementRow) error {
	x := r.modelIndex()
	if x.Name == "" || x.Kind != model.OneToMany || r.newest.Derived != nil || len(rows) == 0 {
		return nil
	}
	hashes := make([]string, len(rows))
	for i := range rows {
		hashes[i] = rows[i].Hash
	}
	var all []query.Parties
	late, err := r.patiently(func(ctx context.Context) (err error) {
		all, err = r.Parties(ctx, r.index.Name, hashes, partyReads)
		return err
	})
	if late || err != nil {
		return err
	}
	for i := range rows {
		p := parties{To: rows[i].Change.Sign == "-"}
		values, more := all[i].Spent, all[i].MoreSpent
		if p.To {
			values, more = all[i].Created, all[i].MoreCreated
		}
		own := []string{r.value, r.chain.Model.Traits().FeeAddress}
		values = slices.DeleteFunc(values, func(value string) bool { return slices.Contains(own, value) })
		p.More, p.Also = max(0, len(values)-partyShown), more
		p.Shown = r.owners(r.index.Name, values[:len(values)-p.More])
		rows[i].Parties = p
	}
	return nil
}
