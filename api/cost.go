package api

import (
	"encoding/json"
	"fmt"
	"strconv"

	"birthmark/api/ratelimit"
)

// freeRows is how many rows a plain request may read in addition to its page; a request that needs more is expensive.
var freeRows = 1000

// cost returns the cost of a request by its parameters. Reading many rows can add to it later.
func (q *request) cost() int64 {
	cost := int64(ratelimit.Plain)
	if q.body != nil {
		cost = ratelimit.Batch(q.body.questions())
	}
	cost += ratelimit.Page(q.page.Limit) + int64(len(q.terms.And)+len(q.terms.Or))*ratelimit.Term
	return min(cost, ratelimit.Most)
}

// batch is the body of a request with many questions.
type batch interface{ questions() int }

func (b *OutputRefs) questions() int  { return len(b.Outputs) }
func (b *TxHashes) questions() int    { return len(b.Txs) }
func (b *IndexValues) questions() int { return len(b.Values) }

// question returns a canonical form of the request.
func (q *request) question() (string, error) {
	body, err := json.Marshal(q.body)
	if err != nil {
		return "", err
	}
	prefix := "none"
	if q.prefix != nil {
		prefix = strconv.Quote(*q.prefix)
	}
	return fmt.Sprintf("%s %q %d %q %t %s %s %q %q %q %t %q %s %q %t %t %s", q.op.OperationID, q.args, q.page.Limit, q.page.After,
		q.page.Descending, q.within, q.at, q.unit, q.terms.And, q.terms.Or, q.terms.Unspent, q.asset, prefix, q.text, q.mempool, q.byRate, body), nil
}
