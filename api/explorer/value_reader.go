package explorer

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// valueReader reads the data of the page of a value, within its limits.
type valueReader struct {
	*visit
	page   *page
	body   *valueBody
	index  *query.IndexState
	value  string
	newest *query.FindAnswer
	count  uint64               // of outputs; 0: unknown
	many   bool                 // too many outputs to read
	recent *query.HistoryAnswer // newest transactions; nil: unknown
}

// rows is the number of rows of a list.
func (r *valueReader) rows() int {
	if r.body.Part == "" {
		return min(valueRows, overviewRows)
	}
	return valueRows
}

// assetsRoom is the number of characters of the assets of a list.
func (r *valueReader) assetsRoom() int {
	if r.body.Part == "" {
		return rowAssetsRoom / 2
	}
	return wholeAssetsRoom
}

func (r *valueReader) keeps(option string) bool { return slices.Contains(r.index.Keeps, option) }

// patience is the time limit for a part of a page.
var patience = 250 * time.Millisecond

// patiently reads with the time limit for a part of a page; late: it was exceeded.
func (v *visit) patiently(ask func(ctx context.Context) error) (late bool, err error) {
	return v.within(patience, ask)
}

// within reads with a time limit; late: it was exceeded.
func (v *visit) within(limit time.Duration, ask func(ctx context.Context) error) (late bool, err error) {
	ctx, cancel := context.WithTimeout(v.ctx, limit)
	defer cancel()
	err = ask(ctx)
	if errors.Is(err, context.DeadlineExceeded) && v.ctx.Err() == nil {
		v.late = true
		return true, nil
	}
	return false, err
}

// kept reads without the time limit if the index has the option.
func (r *valueReader) kept(option string, ask func(ctx context.Context) error) (late bool, err error) {
	if r.keeps(option) {
		return false, ask(r.ctx)
	}
	return r.patiently(ask)
}

// all reads the first page of everything.
func (r *valueReader) all() error {
	if err := cmp.Or(r.balance(), r.forms()); err != nil {
		return err
	}
	if err := r.outputs(""); err != nil {
		return err
	}
	if err := r.history(""); err != nil {
		return err
	}
	r.lastSeen()
	return cmp.Or(r.events(), r.withdrawals(), r.account(), r.chart())
}

// lastSeen sets the newest transaction, or else the newest output.
func (r *valueReader) lastSeen() {
	if r.recent != nil && len(r.recent.Txs) > 0 {
		t := r.recent.Txs[0]
		r.body.Last = &lastSeen{"Last active", r.TxLink(t.Hash), t.Height}
	} else if len(r.newest.Outputs) > 0 {
		o := r.newest.Outputs[0]
		r.body.Last = &lastSeen{"Last received", r.TxLink(o.Tx), o.Height}
	}
}

// balance reads the balance, within the time limit if the index lacks the option.
func (r *valueReader) balance() error {
	var a *query.BalanceAnswer
	late, err := r.kept("balance", func(ctx context.Context) (err error) {
		a, err = r.Balance(ctx, r.index.Name, r.value)
		return err
	})
	if err != nil {
		return err
	}
	if late {
		r.many = true
		r.body.Uncounted = "Balance not available: there are too many outputs to add up."
		return nil
	}
	r.body.Wallet = r.walletPart(a.Derived)
	r.count, r.many = a.OutputCount, a.OutputCount > valueOutputs
	r.body.Holds = a
	n := r.naming()
	if assets := r.grouped(a.Assets); len(assets) > 0 {
		a.Assets, r.body.Grouped = assets, true
	}
	for i, held := range a.Assets {
		if i == valueAssets {
			r.body.MoreAssets = len(a.Assets) - i
			break
		}
		entry, err := n.entry(held.Asset, held.Balance)
		if err != nil {
			return err
		}
		r.body.Held = append(r.body.Held, entry)
	}
	return nil
}

// grouped returns the assets of the group that the value is, such as a minting policy. Outputs with them have others too.
func (r *valueReader) grouped(assets []query.AssetBalanceAnswer) (group []query.AssetBalanceAnswer) {
	for _, a := range assets {
		if named := r.named(a.Asset); named.GroupIndex == r.index.Name && named.Group == r.value {
			group = append(group, a)
		}
	}
	return group
}

// outputs reads a page of unspent outputs, or of all outputs if requested or if unspent ones are too rare.
func (r *valueReader) outputs(after string) error {
	b, base := r.body, r.body.Whole.URL
	all := r.query("show") == "all"
	answer := r.newest
	b.Unspent = !all && !(r.many && !r.keeps("unspent"))
	b.Unsifted = !all && !b.Unspent
	if b.Unspent {
		late, err := r.kept("unspent", func(ctx context.Context) (err error) {
			answer, err = r.Find(ctx, r.index.Name, r.value, query.Terms{Unspent: true}, query.Page{Limit: r.rows(), After: after, Descending: true})
			return err
		})
		if err != nil {
			return err
		}
		if late {
			if after != "" {
				return context.DeadlineExceeded
			}
			b.Unspent, b.Unsifted, answer = false, true, r.newest
		}
	}
	if !b.Unspent && (after != "" || len(answer.Outputs) > r.rows()) {
		var err error
		if answer, err = r.Find(r.ctx, r.index.Name, r.value, query.Terms{}, query.Page{Limit: r.rows(), After: after, Descending: true}); err != nil {
			return err
		}
	}
	query := ""
	if b.Unspent {
		b.OtherView = link{base + "?show=all#outputs", "Show all outputs"}
	} else {
		query = "show=all"
		if !b.Unsifted {
			b.OtherView = link{base + "#outputs", "Show unspent outputs only"}
		}
	}
	b.OutPager = partPager(base, query, "outputs", after, answer.Next)
	n := r.naming()
	n.room = r.assetsRoom()
	for i := range answer.Outputs {
		row, err := r.outputRow(&answer.Outputs[i], n)
		if err != nil {
			return err
		}
		b.WithAssets = b.WithAssets || len(row.Assets) > 0
		b.Outputs = append(b.Outputs, row)
	}
	return nil
}

// history reads a page of transactions, newest first.
func (r *valueReader) history(after string) error {
	b := r.body
	read := func(after string) (*query.HistoryAnswer, error) {
		return r.movements(query.Page{Limit: r.rows(), After: after, Descending: true})
	}
	if b.Filter.Set() {
		read = r.filtered
	}
	a, err := read(after)
	if err != nil {
		return err
	}
	if a == nil {
		b.Unlisted = "History not available: there are too many outputs."
		return nil
	}
	b.Pager = partPager(b.Whole.URL, b.listQuery(), "history", after, a.Next)
	if r.site.API != nil { // the file is the whole list, not the page
		b.CSV = b.Whole.URL + "/history.csv"
		if q := b.listQuery(); q != "" {
			b.CSV += "?" + q
		}
		if err := r.countRows(a, after); err != nil {
			return err
		}
	}
	n := r.naming()
	n.room = r.assetsRoom()
	b.Running = len(a.Txs) > 0 && a.Txs[0].Balance != ""
	for _, t := range a.Txs {
		received, sent := format.Integer(t.Received), format.Integer(t.Sent)
		change := new(big.Int).Sub(received, sent)
		row := movementRow{HistoryTxAnswer: t, Change: r.Amount(change.String()), Both: received.Sign() > 0 && sent.Sign() > 0}
		if change.Sign() > 0 {
			row.Change.Sign = "+"
		}
		if b.Running {
			after := r.Amount(t.Balance)
			row.After = &after
		}
		for _, moved := range t.Assets {
			change := new(big.Int).Sub(format.Integer(moved.Received), format.Integer(moved.Sent))
			if change.Sign() == 0 {
				continue
			}
			if len(row.Moved) == movedAssets || n.room <= 0 {
				row.More++
				continue
			}
			entry, err := n.entry(moved.Asset, change.String())
			if err != nil {
				return err
			}
			n.room -= entry.taken()
			if change.Sign() > 0 {
				entry.Amount.Sign = "+"
			}
			row.Moved = append(row.Moved, entry)
		}
		b.History = append(b.History, row)
	}
	r.recent = a
	return r.addParties(b.History)
}

// countRows sets the number of transactions of the history, if it is known by now. That of a period is known with the chart.
func (r *valueReader) countRows(first *query.HistoryAnswer, after string) error {
	b := r.body
	switch all := b.Holds; {
	case after == "" && first.Next == nil && b.Searched == "":
		b.CSVRows = humanize.Plural(len(first.Txs), "transaction")
	case b.Period.Set() || b.Filter.Set():
	case all == nil && r.keeps("balance"):
		var err error
		if all, err = r.Balance(r.ctx, r.index.Name, r.value); err != nil {
			return err
		}
		fallthrough
	case all != nil:
		b.CSVRows = humanize.Plural(all.TxCount, "transaction")
	}
	return nil
}

// movements reads a page of the history; nil if that exceeds the time limit.
func (r *valueReader) movements(p query.Page) (a *query.HistoryAnswer, err error) {
	if r.many && !r.keeps("history") {
		return nil, nil
	}
	late, err := r.kept("history", func(ctx context.Context) (err error) {
		a, err = r.History(ctx, r.index.Name, r.value, r.body.Period.Range, p)
		if _, code := model.KindOf(err); code == "empty_range" { // the chain has no block in the period
			a, err = &query.HistoryAnswer{}, nil
		}
		return err
	})
	if late {
		r.many, a = true, nil
	}
	return a, err
}

// integer parses a decimal number of an answer.
