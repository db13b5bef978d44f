package explorer

import (
	"context"
	"net/url"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// filterBatch is how many transactions a page with a filter reads at once, and filterMost how many in total.
var filterBatch, filterMost = 100, 2000

// filter is the transactions of a history that a visitor selected, in addition to the period.
type filter struct {
	query.HistoryFilter
	Text string // of the form: an id, a fingerprint or a name of an asset
}

// filter returns the filter in the query of the page of a value.
func (v *visit) filter(index, value string) (f filter, err error) {
	f.Direction, f.Text = v.query("direction"), search.Clean(v.query("asset"))
	if f.Direction != "" && f.Direction != query.Received && f.Direction != query.Sent {
		return f, model.Errorf(model.Usage, "bad_value", "direction %q: expected %s or %s", f.Direction, query.Received, query.Sent)
	}
	if f.Text == "" {
		return f, nil
	}
	a, err := v.Asset(v.ctx, f.Text)
	if err == nil {
		f.Asset, f.Text = a.Asset, a.Asset
		return f, nil
	}
	if kind, _ := model.KindOf(err); kind != model.NotFound && kind != model.Usage {
		return f, err
	}
	f.Asset, err = v.assetNamed(f.Text, index, value)
	return f, err
}

// assetNamed returns the id of the asset with a name. If there are several, it is the one that the value holds or held.
func (v *visit) assetNamed(name, index, value string) (string, error) {
	found, err := search.Of(v.ctx, v.Queries, v.chain.Model, name, nil)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, r := range found.Results {
		if r.Type == search.Asset {
			ids = append(ids, r.Value)
		}
	}
	if len(ids) == 0 {
		return "", model.Errorf(model.NotFound, "unknown_asset", "no asset has the id or name %q", name)
	}
	if len(ids) > 1 {
		var held []string
		_, err := v.patiently(func(ctx context.Context) error {
			b, err := v.Balance(ctx, index, value)
			if err != nil {
				return err
			}
			for _, a := range b.Assets {
				if slices.Contains(ids, a.Asset) {
					held = append(held, a.Asset)
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		if len(held) != 1 {
			return "", model.Errorf(model.Usage, "bad_value", "asset %q: %d assets have this name: expected an id", name, len(ids))
		}
		ids = held
	}
	return ids[0], nil
}

// addTo adds the filter to the query of a URL.
func (f filter) addTo(q url.Values) {
	if f.Direction != "" {
		q.Set("direction", f.Direction)
	}
	if f.Asset != "" {
		q.Set("asset", f.Asset)
	}
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

	partyMarkup = 60 // characters of markup of a party
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
	room := r.assetsRoom()
	for i := range rows {
		p := parties{To: rows[i].Change.Sign == "-"}
		values, more := all[i].Spent, all[i].MoreSpent
		if p.To {
			values, more = all[i].Created, all[i].MoreCreated
		}
		own := []string{r.value, r.chain.Model.Traits().FeeAddress}
		values = slices.DeleteFunc(values, func(value string) bool { return slices.Contains(own, value) })
		p.Also = more
		for _, o := range r.listed(r.owners(r.index.Name, values[:min(len(values), partyShown)]), "") {
			if room -= len(o.URL) + len(o.Text) + partyMarkup; room < 0 {
				break
			}
			p.Shown = append(p.Shown, o)
		}
		p.More = len(values) - len(p.Shown)
		rows[i].Parties = p
	}
	return nil
}
