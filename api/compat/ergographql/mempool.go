package ergographql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/pending"
	"birthmark/model"
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

// TransactionsCount resolves a field of the schema.
func (*mempool) TransactionsCount(ctx context.Context) (int32, error) {
	return read(ctx, func(q *request) (int32, error) { return int32(q.v.PendingCount()), nil })
}

// txArgs are the conditions on unconfirmed transactions.
type txArgs struct {
	TransactionID, Address    *string
	TransactionIDs, Addresses *[]string
	Skip, Take                int32
}

// unconfirmedTx is an UnconfirmedTransaction.
type unconfirmedTx struct {
	TransactionID, Timestamp string
	Size                     int32
}

// Transactions resolves a field of the schema.
func (*mempool) Transactions(ctx context.Context, a txArgs) ([]unconfirmedTx, error) {
	return read(ctx, func(q *request) ([]unconfirmedTx, error) {
		offset, limit, err := window(a.Skip, a.Take)
		if err != nil {
			return nil, err
		}
		texts, err := merged(a.TransactionIDs, a.TransactionID)
		if err != nil {
			return nil, err
		}
		ids, err := parseIDs(texts)
		if err != nil {
			return nil, err
		}
		trees, err := q.trees(&boxArgs{Address: a.Address, Addresses: a.Addresses})
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
			if err != nil {
				return nil, err
			}
			out = append(out, unconfirmedTx{t.ID.String(), strconv.FormatInt(t.Seen().UnixMilli(), 10), int32(parsed.Size)})
		}
		return out, nil
	})
}

// signed is the scalar SignedTransaction.
type signed struct{ raw []byte }

// ImplementsGraphQLType reports whether the type is that of the schema.
func (signed) ImplementsGraphQLType(name string) bool { return name == "SignedTransaction" }

// UnmarshalGraphQL reads a variable, or an object in the query.
func (s *signed) UnmarshalGraphQL(input any) (err error) {
	if s.raw, err = json.Marshal(input); err == nil && s.raw[0] != '{' {
		err = errors.New("the transaction is not a JSON object")
	}
	return err
}

type submission struct{ SignedTransaction signed }

// CheckTransaction resolves a field of the schema.
func (*root) CheckTransaction(ctx context.Context, a submission) (string, error) {
	return read(ctx, func(q *request) (string, error) {
		id, err := q.send([]string{"transactions", "check"}, a)
		return id.String(), err
	})
}

// SubmitTransaction resolves a field of the schema.
func (*root) SubmitTransaction(ctx context.Context, a submission) (string, error) {
	return read(ctx, func(q *request) (string, error) {
		id, err := q.send([]string{"transactions"}, a)
		if err == nil {
			q.Chain.Enter(q.ctx, id)
		}
		return id.String(), err
	})
}

// send sends a transaction to the node, which returns its id. The detail of a refusal is the error.
func (q *request) send(path []string, a submission) (id model.Hash, err error) {
	if err := ratelimit.Submission(q.w); err != nil {
		return id, err
	}
	node := q.Chain.Node()
	if node == nil {
		return id, problem.New(http.StatusNotFound, "not_found",
			"this needs a node, and this server has none: its setting node is the URL of one")
	}
	answer, err := node.Ask(q.ctx, path, nil, a.SignedTransaction.raw)
	if err != nil {
		return id, err
	}
	var text string
	if answer.Status == http.StatusOK && json.Unmarshal(answer.Body, &text) == nil {
		if found, ok := boxes.ParseID(text); ok {
			return model.Hash(found), nil
		}
	}
	var refused struct{ Reason, Detail string }
	_ = json.Unmarshal(answer.Body, &refused) // else both are empty
	return id, bad("%s", cmp.Or(refused.Detail, refused.Reason, "the node refuses the transaction without a reason"))
}
