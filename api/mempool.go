package api

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/model"
)

// view calls fn with a snapshot of the database. With mempool=include, the overlay of the request belongs to the same
// tip.
func (q *request) view(ctx context.Context, fn func(*query.View) error) error {
	if !q.mempool {
		return q.chain.View(ctx, fn)
	}
	mempool, err := q.chain.Unconfirmed()
	if err != nil {
		return err
	}
	return mempool.View(ctx, func(v *query.View, o *pending.Overlay) error {
		q.overlay = o
		return fn(v)
	})
}

// volatile reports whether the tip does not determine the answer.
func (q *request) volatile() bool { return q.op.volatile || q.mempool }

// fixed reports whether the tip and the indexes determine the answer.
func (q *request) fixed() bool { return q.op.body == nil && !q.volatile() }

// pendingReader makes answers from an overlay.
type pendingReader struct{ *answers.Reader }

// fromOverlay calls fn with a reader of the overlay of the request.
func (q *request) fromOverlay(
	ctx context.Context, v *query.View, o *pending.Overlay, fn func(*pendingReader) error,
) error {
	return v.From(ctx, func(at *query.Query) error { return fn(&pendingReader{answers.NewReader(at, o)}) })
}

// maxPending is the maximum number of unconfirmed entries in an answer about a value.
const maxPending = query.MaxLimit

func (r *pendingReader) balance(index, text string) (*query.PendingBalanceAnswer, error) {
	values, err := r.Values(index, text)
	if err != nil {
		return nil, err
	}
	a := &query.PendingBalanceAnswer{State: r.State().String()}
	received, sent, n := new(big.Int), new(big.Int), new(big.Int)
	type sums struct {
		id             []byte
		received, sent big.Int
	}
	var assets []*sums
	byID := map[string]*sums{}
	of := func(id []byte) *sums {
		s := byID[string(id)]
		if s == nil {
			s = &sums{id: id}
			byID[string(id)], assets = s, append(assets, s)
		}
		return s
	}
	for t := range r.TxsOf(values, 0) {
		if err := r.Pass(1); err != nil {
			return nil, err
		}
		a.TxCount++
		for o := range outputs(t) {
			if values.Has(o) {
				a.OutputCount++
				received.Add(received, n.SetUint64(o.Value))
				for _, e := range o.Assets() {
					s := of(e.ID)
					s.received.Add(&s.received, e.Amount.Big())
				}
			}
		}
		for i := range t.Inputs() {
			if o := t.Inputs()[i].Spends(); values.Has(o) {
				a.SpentCount++
				sent.Add(sent, n.SetUint64(o.Value))
				for _, e := range o.Assets() {
					s := of(e.ID)
					s.sent.Add(&s.sent, e.Amount.Big())
				}
			}
		}
	}
	a.Received, a.Sent, a.Balance = received.String(), sent.String(), n.Sub(received, sent).String()
	for _, s := range assets {
		a.Assets = append(a.Assets, query.PendingAssetBalanceAnswer{
			Asset: r.Chain.FormatAsset(s.id), Received: s.received.String(), Sent: s.sent.String(),
			Balance: n.Sub(&s.received, &s.sent).String(),
		})
	}
	return a, nil
}

// outputs yields the outputs of a transaction.
func outputs(t *pending.Tx) func(func(pending.Output) bool) {
	return func(yield func(pending.Output) bool) {
		for i := range t.NumOutputs() {
			if !yield(t.Output(i)) {
				return
			}
		}
	}
}

// find lists the outputs that have the value or one of or, and all of and.
func (r *pendingReader) find(index, text string, terms *query.Terms) (*query.PendingFindAnswer, error) {
	found, err := r.Select(slices.Concat([]query.Term{{Index: index, Value: text}}, terms.Or), terms.And)
	if err != nil {
		return nil, err
	}
	a := &query.PendingFindAnswer{
		State: r.State().String(), Outputs: []query.PendingOutputAnswer{}, Spends: []query.PendingSpendAnswer{},
	}
	for t := range found.Txs(0) {
		if err := r.Pass(1); err != nil {
			return nil, err
		}
		if a.More && len(a.Outputs) == maxPending && len(a.Spends) == maxPending {
			break
		}
		for i := range t.NumOutputs() {
			o := t.Output(i)
			at := pending.Outpoint{Tx: t.ID, Index: t.FirstOutput + uint32(i)}
			if !found.Has(o) || terms.Unspent && r.Spender(at) != nil {
				continue
			}
			if len(a.Outputs) == maxPending {
				a.More = true
				break
			}
			a.Outputs = append(a.Outputs, r.Output(at, o, true))
		}
		for i := range t.Inputs() {
			in := &t.Inputs()[i]
			if !found.Has(in.Spends()) {
				continue
			}
			if len(a.Spends) == maxPending {
				a.More = true
				break
			}
			a.Spends = append(a.Spends, r.Spend(in))
		}
	}
	return a, nil
}

// pendingTx returns an unconfirmed transaction that the database does not have. unknown is the error of the database.
// If the mempool does not have the transaction either, pendingTx returns this error, with the reason why it left if
// known. If the snapshot has no overlay, it returns errLookAgain: a block may have moved the transaction meanwhile.
func pendingTx(ctx context.Context, v *query.View, q *request, unknown error) (any, error) {
	if kind, code := model.KindOf(unknown); kind != model.NotFound || code != "unknown_tx" || q.chain.Mempool == nil {
		return nil, unknown
	}
	id, err := q.chain.Model.ParseHash(q.args[0])
	if err != nil {
		return nil, unknown
	}
	o := q.overlay
	if o == nil {
		q.mempool = true // the tip does not determine the answer
		return nil, errLookAgain
	}
	if gone := o.Gone(id); gone != nil {
		how := gone.Reason.String()
		if gone.Reason == pending.Replaced {
			how += " by " + q.chain.Model.FormatHash(gone.By)
		}
		return nil, model.Errorf(model.NotFound, "unknown_tx", "no transaction %s: it left the mempool: %s", q.args[0], how)
	}
	t := o.Tx(id)
	if t == nil {
		return nil, unknown
	}
	var a *query.PendingTxAnswer
	err = q.fromOverlay(ctx, v, o, func(r *pendingReader) error {
		a = r.Tx(t)
		return nil
	})
	return a, err
}

// errLookAgain is returned for an answer that needs the overlay of the snapshot.
var errLookAgain = errors.New("the answer may be unconfirmed")

// page returns a page of the unconfirmed transactions.
func (r *pendingReader) page(byRate bool, p query.Page) (*query.MempoolTxsAnswer, error) {
	limit := p.Limit
	if limit == 0 {
		limit = query.DefaultLimit
	}
	a := &query.MempoolTxsAnswer{State: r.State().String(), Count: r.Count(), Txs: []query.PendingTxSummaryAnswer{}}
	var after *pending.Tx
	if p.After != "" {
		after = new(pending.Tx)
		n, err := fmt.Sscanf(p.After, "%d-%d-%d", &after.Fee, &after.VSize, &after.Arrival)
		if n != 3 || err != nil || cursorOf(after) != p.After {
			return nil, model.Errorf(model.Usage, "bad_cursor",
				"invalid cursor %q: pass the value of next from the previous page", p.After)
		}
	}
	txs := r.ByRate(after)
	if !byRate {
		from := uint64(0)
		if after != nil {
			from = after.Arrival
		}
		txs = r.Arrivals(from)
	}
	var last *pending.Tx
	for t := range txs {
		if len(a.Txs) == limit {
			next := cursorOf(last)
			a.Next = &next
			break
		}
		a.Txs, last = append(a.Txs, r.Summary(t)), t
	}
	return a, nil
}

// cursorOf returns the cursor after a transaction. A later page has the transactions that follow it at the time of the
// request, including transactions that arrived after the first page.
func cursorOf(t *pending.Tx) string { return fmt.Sprintf("%d-%d-%d", t.Fee, t.VSize, t.Arrival) }
