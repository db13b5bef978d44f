package api

import (
	"encoding/json"
	"fmt"
	"strconv"

	"birthmark/api/ratelimit"
)

// freeRows is how many rows beside its page a plain request may go through: more make it an expensive one. They take
// about as long as a page of the size that costs as much.
var freeRows = 1000

// cost is what a question costs by what was parsed of it. That it goes through many rows turns out when it is answered.
func (q *request) cost() int64 {
	cost := int64(ratelimit.Plain)
	if q.body != nil {
		cost = ratelimit.Batch(q.body.questions())
	}
	cost += ratelimit.Page(q.page.Limit) + int64(len(q.terms.And)+len(q.terms.Or))*ratelimit.Term
	return min(cost, ratelimit.Most)
}

// batch is the body of a request for many things.
type batch interface{ questions() int }

func (b *OutputRefs) questions() int  { return len(b.Outputs) }
func (b *TxHashes) questions() int    { return len(b.Txs) }
func (b *IndexValues) questions() int { return len(b.Values) }

// question is what is asked in one form, however the request was written.
func (q *request) question() (string, error) {
	body, err := json.Marshal(q.body)
	if err != nil {
		return "", err
	}
	prefix := "none"
	if q.prefix != nil {
		prefix = strconv.Quote(*q.prefix)
	}
	return fmt.Sprintf("%s %q %d %q %t %s %q %q %t %q %s %s", q.op.id, q.args, q.page.Limit, q.page.After,
		q.page.Descending, q.within, q.terms.And, q.terms.Or, q.terms.Unspent, q.asset, prefix, body), nil
}
