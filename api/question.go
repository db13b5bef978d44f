package api

import (
	"encoding/json"
	"fmt"
	"strconv"
)

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
	return fmt.Sprintf("%s %q %d %d %q %t %s %s %q %q %q %t %q %s %q %t %t %s", q.op.OperationID, q.args, q.gap, q.page.Limit, q.page.After,
		q.page.Descending, q.within, q.at, q.unit, q.terms.And, q.terms.Or, q.terms.Unspent, q.asset, prefix, q.text, q.mempool, q.byRate, body), nil
}
