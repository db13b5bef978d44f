package explorer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"birthmark/api/explorer/details"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/model"
)

// eventTxs is the number of the newest transactions in which a page looks for the certificates, votes and withdrawals of a value.
const eventTxs = 20

// eventRows is the maximum number of certificates, votes and withdrawals on the page of a value.
const eventRows = 10

// eventRow is a certificate, a vote or a withdrawal that names a value.
type eventRow struct {
	What   string
	Fields []details.Field
	Tx     link
	Height uint32
	Time   int64
}

// events reads the newest certificates, votes and withdrawals that name the value, from the custom indexes that have it as one of
// several values of a transaction. An account, a pool and a representative are such values. The pages of these indexes
// become links of the page.
func (r *valueReader) events() error {
	states, err := r.IndexStates(r.ctx)
	if err != nil {
		return err
	}
	var hashes []string
	for _, name := range ofTransactions(states) {
		found := r.newest
		if name != r.index.Name {
			found, err = r.Find(r.ctx, name, r.value, query.Terms{}, query.Page{Limit: eventTxs, Descending: true})
			if kind, _ := model.KindOf(err); kind == model.Usage {
				continue // not a value of this index
			}
			if err != nil {
				return err
			}
			if found.FirstSeen != nil {
				r.body.Also = append(r.body.Also, ownerLink{Index: name, link: r.ValueLink(name, r.value)})
			}
		}
		for i := range found.Outputs {
			if hash := found.Outputs[i].Tx; len(hashes) < eventTxs && !slices.Contains(hashes, hash) {
				hashes = append(hashes, hash)
			}
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	var txs []*query.TxAnswer
	late, err := r.patiently(func(ctx context.Context) (err error) {
		txs, err = r.Txs(ctx, hashes)
		return err
	})
	if _, code := model.KindOf(err); late || code == "too_many" {
		return nil
	}
	if err != nil {
		return err
	}
	r.addEvents(txs)
	r.body.Events = r.body.Events[:min(len(r.body.Events), eventRows)]
	return nil
}

// ofTransactions returns the custom indexes that can have several values of a transaction.
func ofTransactions(states []query.IndexState) (names []string) {
	for _, x := range states {
		if x.Kind == model.ManyValued.String() && x.Value != "" && !x.Dropping && x.AddedTo == nil {
			names = append(names, x.Name)
		}
	}
	return names
}

// namesShown is the number of names for which a page looks for their pages.
const namesShown = 20

// namedIn returns a function of the path of the page of a name, such as a pool, that the first custom index that has it
// as one of the values of a transaction has.
func (v *visit) namedIn() func(name string) string {
	paths := map[string]string{}
	var indexes []string
	return func(name string) string {
		if path := v.governanceURL(name); path != "" {
			return path
		}
		path, known := paths[name]
		if known || len(paths) == namesShown {
			return path
		}
		if len(paths) == 0 {
			states, err := v.IndexStates(v.ctx)
			if err != nil {
				v.fault = cmp.Or(v.fault, err)
			}
			indexes = ofTransactions(states)
		}
		for _, index := range indexes {
			found, err := v.Find(v.ctx, index, name, query.Terms{}, query.Page{Limit: 1})
			if kind, _ := model.KindOf(err); err != nil && kind != model.Usage {
				v.fault = cmp.Or(v.fault, err)
			}
			if err == nil && found.FirstSeen != nil {
				path = v.ValueLink(index, found.Value).URL
				break
			}
		}
		paths[name] = path
		return path
	}
}

// addEvents adds the certificates, votes and withdrawals of transactions that name the value.
func (r *valueReader) addEvents(txs []*query.TxAnswer) {
	d := r.detailer()
	for _, tx := range txs {
		if tx == nil {
			continue
		}
		row := eventRow{Tx: r.TxLink(tx.Hash), Height: tx.Height, Time: tx.Time}
		for i := range tx.Certificates {
			c := &tx.Certificates[i]
			if names(c, r.value) {
				row.What, row.Fields = format.Words(c.Type), d.Certificate(c)
				r.body.Events = append(r.body.Events, row)
			}
		}
		for i := range tx.Votes {
			if v := &tx.Votes[i]; v.Voter == r.value || v.Action == r.value {
				row.What, row.Fields = "vote", d.Vote(v)
				r.body.Events = append(r.body.Events, row)
			}
		}
		for _, w := range tx.Withdrawals {
			if w.Address == r.value {
				row.What, row.Fields = "withdrawal", d.Field(nil, "amount", d.Amount(w.Amount))
				r.body.Events = append(r.body.Events, row)
			}
		}
	}
}

// nodePatience is the time limit for the answer of a node in a page.
const nodePatience = time.Second

// account reads the state of an account from the node, if it has accounts. Without an answer in time the page has none.
func (r *valueReader) account() error {
	node, ok := r.chain.Node.(model.AccountReader)
	if !ok {
		return nil
	}
	var a *model.AccountState
	_, err := r.within(nodePatience, func(ctx context.Context) (err error) {
		a, err = node.AccountState(ctx, r.index.Name, r.value)
		return err
	})
	if err != nil {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		return nil // a node that restarts, or cannot do this
	}
	if a != nil {
		rewards := r.Amount(a.Rewards)
		r.body.Account = &accountPart{AccountState: a, Rewards: rewards}
		if a.Pool != "" {
			r.body.Account.PoolURL = r.namedIn()(a.Pool)
		}
		r.body.Account.DRepURL = r.governanceURL(a.DRep)
	}
	return nil
}

// accountPart is the state of an account.
type accountPart struct {
	*model.AccountState
	Rewards amount
	PoolURL string // empty: it has no page
	DRepURL string
}
