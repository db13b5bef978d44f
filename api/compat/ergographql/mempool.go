package ergographql

import (
	"cmp"
	"context"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/core/pending"
)

// mempool resolves the fields of the type Mempool.
type mempool struct{}

// Mempool resolves a field of the schema.
func (*root) Mempool() *mempool { return &mempool{} }

// Boxes resolves a field of the schema.
func (*mempool) Boxes(ctx context.Context, a boxArgs) ([]box, error) {
	return read(ctx, func(q *request) ([]box, error) {
		c, err := q.conditions(&a)
		if err != nil {
			return nil, err
		}
		all, err := q.pending(&c)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(b boxes.Box) bool { return !c.meets(&b) })
		return q.boxes(page(all, c.offset, c.limit))
	})
}

// pending returns the unconfirmed boxes that meet one of the conditions, or all.
func (q *request) pending(c *conditions) ([]boxes.Box, error) {
	switch {
	case len(c.ids) == 0 && len(c.trees) == 1:
		return q.v.PendingBoxes(c.trees[0].Index.Name, c.trees[0].Value)
	case c.token != nil:
		return q.v.PendingBoxesWith(*c.token)
	}
	return q.v.AllPendingBoxes()
}

// Size resolves a field of the schema.
func (*mempool) Size(ctx context.Context) (int32, error) {
	return read(ctx, func(q *request) (int32, error) {
		sum := 0
		for t := range q.v.Pending() {
			sum += t.Size
		}
		return int32(min(sum, math.MaxInt32)), nil
	})
}

// TransactionsCount resolves a field of the schema.
func (*mempool) TransactionsCount(ctx context.Context) (int32, error) {
	return read(ctx, func(q *request) (int32, error) { return int32(q.v.PendingCount()), nil })
}

// Transactions resolves a field of the schema.
func (*mempool) Transactions(ctx context.Context, a txArgs) ([]unconfirmedTx, error) {
	return read(ctx, func(q *request) ([]unconfirmedTx, error) {
		offset, limit, err := window(a.Skip, a.Take)
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(a.TransactionIDs, a.TransactionID)
		if err != nil {
			return nil, err
		}
		parsed, err := q.trees(&boxArgs{Address: a.Address, Addresses: a.Addresses})
		if err != nil {
			return nil, err
		}
		trees, err := q.holders(parsed)
		if err != nil {
			return nil, err
		}
		var all []*pending.Tx
		if len(trees) == 0 {
			all = slices.Collect(q.v.Pending())
		}
		for _, h := range trees {
			all = slices.AppendSeq(all, q.v.PendingOf(h.Index.Name, h.Value))
		}
		slices.SortFunc(all, func(a, b *pending.Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
		all = slices.DeleteFunc(slices.Compact(all), func(t *pending.Tx) bool {
			return len(ids) > 0 && !slices.Contains(ids, [32]byte(t.ID))
		})
		var out []unconfirmedTx
		for _, t := range page(all, offset, limit) {
			parsed, err := q.v.Parsed(t)
			if pending.HasLeft(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, unconfirmedTx{t.ID.String(), strconv.FormatInt(t.Seen().UnixMilli(), 10), int32(parsed.Size)})
		}
		return out, nil
	})
}

// CheckTransaction resolves a field of the schema.
func (*root) CheckTransaction(ctx context.Context, a submission) (string, error) {
	return send(ctx, a, true)
}

// SubmitTransaction resolves a field of the schema.
func (*root) SubmitTransaction(ctx context.Context, a submission) (string, error) {
	return send(ctx, a, false)
}

func send(ctx context.Context, a submission, check bool) (string, error) {
	return read(ctx, func(q *request) (string, error) {
		id, refused, err := q.Chain.Submit(q.ctx, q.w, a.SignedTransaction.raw, check)
		if refused != "" {
			err = bad("%s", refused)
		}
		return hex.EncodeToString(id[:]), err
	})
}
