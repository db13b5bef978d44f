package explorer

import (
	"iter"
	"math/big"
	"strconv"
	"strings"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// unconfirmedBody is an unconfirmed transaction.
type unconfirmedBody struct {
	*query.PendingTxAnswer
	Value    amount // of all outputs
	FeePaid  *amount
	Rate     string // empty: the fee is unknown
	Package  string // totals of the transaction and its unconfirmed ancestors; empty: it has none
	Place    string // projected block; empty: the chain has none
	Families []family
	Replaced *replacements // nil: none
	Flow     *charts.Flow
	Ins      []outputRow
	Outs     []outputRow
	MoreIns  int
	MoreOuts int
}

// family is the unconfirmed ancestors or descendants of a transaction.
type family struct {
	ID, Title string
	Members   []relative
	More      bool
}

// unconfirmedTx is the page of a transaction of the mempool; unknown is the error of the database, which does not have it.
func (v *visit) unconfirmedTx(unknown error) (*page, error) {
	if _, code := model.KindOf(unknown); code != "unknown_tx" || v.chain.Mempool == nil {
		return nil, unknown
	}
	id, err := v.chain.Model.ParseHash(v.req.PathValue("hash"))
	if err != nil {
		return nil, unknown
	}
	hash, t := v.chain.Model.FormatHash(id), v.overlay.Tx(id)
	if t == nil {
		err := v.gone(v.overlay.Gone(id), hash, unknown)
		p := v.site.errorPage(v.req, err)
		p.Volatile = true
		if f := p.Body.(*failure); v.overlay.Gone(id) != nil {
			f.Replaced, f.Try = v.replacements(id), nil // it exists
		}
		return p, nil
	}
	b := &unconfirmedBody{}
	err = v.From(v.ctx, func(q *query.Query) error {
		r := answers.NewReader(q, v.overlay)
		b.PendingTxAnswer = r.Tx(t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b.Fee != "" {
		fee := v.Amount(b.Fee)
		b.FeePaid, b.Rate = &fee, v.rateOf(t.Rate())
	}
	if a := b.Ancestors; a.Count > 1 {
		b.Package = humanize.Plural(a.Count, "transaction") + ", " + v.virtualSize(a.VSize) + ", " + v.brief(format.Integer(a.Fee))
	}
	template := v.chain.Mempool.Template()
	if b.Place = v.place(template, t); b.Place != "" {
		interval, err := v.blockInterval()
		if err != nil {
			return nil, err
		}
		if block, _, ok := template.Place(t); ok && interval > 0 {
			b.Place += ", " + waitOf(block, interval)
		}
	}
	for _, f := range []struct {
		id, title string
		walk      iter.Seq[*pending.Tx]
	}{
		{"ancestors", "Unconfirmed ancestors", v.overlay.AncestorsOf(t)},
		{"descendants", "Unconfirmed descendants", v.overlay.DescendantsOf(t)},
	} {
		if list, more := v.relatives(template, f.walk); len(list) > 0 {
			b.Families = append(b.Families, family{f.id, f.title, list, more})
		}
	}
	b.Replaced = v.replacements(id)
	if err := v.pendingParts(b, v.overlay); err != nil {
		return nil, err
	}
	return &page{Kind: "unconfirmed", Title: "Transaction " + hash, JSON: v.api("tx", hash), Section: "mempool", Body: b, Volatile: true,
		Follow: pendingEvents, Description: "Unconfirmed " + titleOf(v.chain.Model) + " transaction.",
		Crumbs: []link{{v.URL("mempool"), "Mempool"}, {Text: "Transaction"}}}, nil
}

// replacements is the transactions that a transaction replaced, or that replaced it.
type replacements struct {
	List []replacement // oldest first
	More bool
}

// replacement is a transaction that left because another one replaced it.
type replacement struct {
	Hash link
	At   moment
	Fee  *amount // nil: unknown
	Rate string
	By   link
}

const mostReplacements = 25

// replacements returns the replacements of a transaction within the last day; nil if there are none.
func (v *visit) replacements(id model.Hash) *replacements {
	all, more := v.overlay.Replacements(id, mostReplacements)
	if len(all) == 0 {
		return nil
	}
	r := &replacements{More: more}
	for _, f := range all {
		row := replacement{Hash: v.TxLink(v.chain.Model.FormatHash(f.ID)), At: v.Moment(f.At), By: v.TxLink(v.chain.Model.FormatHash(f.By))}
		if f.FeeKnown {
			fee := v.Amount(strconv.FormatUint(f.Fee, 10))
			row.Fee, row.Rate = &fee, v.rateOf(f.Rate)
		}
		r.List = append(r.List, row)
	}
	return r
}

// Replaced returns the replacements of a transaction; nil if there are none, or the chain has no mempool.
func (v *visit) Replaced(hash string) *replacements {
	id, err := v.chain.Model.ParseHash(hash)
	if err != nil || v.overlay == nil {
		return nil
	}
	return v.replacements(id)
}

// gone returns the error of a transaction that left the mempool.
func (v *visit) gone(how *pending.Fate, hash string, unknown error) error {
	switch {
	case how == nil:
		return unknown
	case how.Reason == pending.Replaced:
		return model.Errorf(model.NotFound, "unknown_tx", "transaction %s left the mempool: transaction %s replaced it", hash, v.chain.Model.FormatHash(how.By))
	}
	return model.Errorf(model.NotFound, "unknown_tx", "transaction %s left the mempool: %s", hash, how.Reason)
}

// pendingParts adds the first inputs and outputs, and the flow of amounts.
func (v *visit) pendingParts(b *unconfirmedBody, o *pending.Overlay) error {
	a := &query.TxAnswer{Hash: b.Hash, Fee: b.Fee, BlockHash: "none yet"}
	for _, in := range b.Inputs {
		a.Inputs = append(a.Inputs, query.InputAnswer{Index: in.Index, Output: confirmedForm(&in.Output)})
	}
	for i := range b.Outputs {
		a.Outputs = append(a.Outputs, confirmedForm(&b.Outputs[i]))
	}
	b.Value, b.Flow = v.Amount(formatTotal(a.Outputs)), v.flow(a)
	at := func(tx string) string { // of an output: it has a page when it is confirmed
		id, err := v.chain.Model.ParseHash(tx)
		if err != nil || o.Tx(id) == nil {
			return ""
		}
		return v.URL("tx", tx)
	}
	for i := range b.Flow.Ribbons() {
		s := &b.Flow.Streams[i]
		if ref, ok := strings.CutPrefix(s.URL, v.URL("output")+"/"); ok {
			tx, _, _ := strings.Cut(ref, ":")
			if to := at(tx); tx == b.Hash {
				s.URL = ""
			} else if to != "" {
				s.URL = to
			}
		}
	}
	n := v.naming()
	row := func(out *query.OutputAnswer) (outputRow, error) {
		r, err := v.outputRow(out, n)
		if to := at(out.Tx); to != "" {
			r.Ref.URL = to
		}
		return r, err
	}
	for i := range a.Inputs[:min(len(a.Inputs), rowsPage)] {
		r, err := row(&a.Inputs[i].Output)
		if err != nil {
			return err
		}
		r.Index = a.Inputs[i].Index
		b.Ins = append(b.Ins, r)
	}
	for i := range a.Outputs[:min(len(a.Outputs), rowsPage)] {
		r, err := row(&a.Outputs[i])
		if err != nil {
			return err
		}
		if by := b.Outputs[i].SpentBy; by != nil && by.Value != nil {
			spent := v.TxLink(by.Value.Tx)
			r.Spent = &spent
		}
		b.Outs = append(b.Outs, r)
	}
	b.MoreIns, b.MoreOuts = len(a.Inputs)-len(b.Ins), len(a.Outputs)-len(b.Outs)
	return nil
}

// confirmedForm returns an unconfirmed output in the form of a confirmed one, without its spend.
func confirmedForm(o *query.PendingOutputAnswer) query.OutputAnswer {
	a := query.OutputAnswer{Tx: o.Tx, Index: o.Index, Value: o.Value, Keys: o.Keys}
	for _, x := range o.Assets {
		a.Assets = append(a.Assets, query.AssetEntryAnswer{Asset: x.Asset, Amount: x.Amount})
	}
	return a
}

// unconfirmedOf returns the newest unconfirmed transactions that pay to a value or spend from it, and their total number.
func (v *visit) unconfirmedOf(index, value string) (rows []pendingRow, total int, err error) {
	if v.chain.Mempool == nil {
		return nil, 0, nil
	}
	var a *query.PendingHistoryAnswer
	err = v.From(v.ctx, func(q *query.Query) (err error) {
		a, err = answers.NewReader(q, v.overlay).History(index, value)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	for _, t := range a.Txs[max(0, len(a.Txs)-valueRows):] {
		change := new(big.Int).Sub(format.Integer(t.Received), format.Integer(t.Sent))
		row := pendingRow{t, v.Amount(change.String())}
		if change.Sign() > 0 {
			row.Change.Sign = "+"
		}
		rows = append(rows, row)
	}
	return rows, a.TxCount, nil
}
