package boxes

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Node is a source that passes requests on to its node.
type Node interface {
	// Ask sends a request to a path of the node: by POST with a body, else by GET. It returns answers with any status.
	Ask(ctx context.Context, path []string, query url.Values, body []byte) (ergo.NodeAnswer, error)
}

// Node returns the node of the chain; nil if the settings have none.
func (c *Chain) Node() Node {
	n, _ := c.Submitter.(Node)
	return n
}

// Ask is [Node.Ask]. The error is a problem if the settings have no node.
func (c *Chain) Ask(ctx context.Context, path []string, query url.Values, body []byte) (ergo.NodeAnswer, error) {
	if n := c.Node(); n != nil {
		return n.Ask(ctx, path, query, body)
	}
	return ergo.NodeAnswer{}, problem.New(http.StatusNotFound, "not_found",
		"this needs a node, and this server has none: its setting node is the URL of one")
}

// Submit sends a transaction in JSON to the node, or has the node check it only, and returns its id. refused is why the
// node refuses it; empty: it does not.
func (c *Chain) Submit(ctx context.Context, w http.ResponseWriter, tx []byte, check bool) (id sigma.ID, refused string, err error) {
	if err := ratelimit.Submission(w); err != nil {
		return id, "", err
	}
	path := []string{"transactions", "check"}
	if !check {
		path = path[:1]
	}
	a, err := c.Ask(ctx, path, nil, tx)
	if err != nil {
		return id, "", err
	}
	var ok bool
	if id, ok = AcceptedID(a); !ok {
		var why struct{ Reason, Detail string }
		_ = json.Unmarshal(a.Body, &why) // else both are empty
		return id, cmp.Or(why.Detail, why.Reason, "the node gives no reason"), nil
	}
	if !check {
		c.Enter(ctx, model.Hash(id))
	}
	return id, "", nil
}

// AcceptedID returns the id of a transaction that the node accepted; ok is false if it did not.
func AcceptedID(a ergo.NodeAnswer) (id sigma.ID, ok bool) {
	var text string
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &text) != nil {
		return id, false
	}
	return ParseID(text)
}

// Enter adds transactions that the node accepted to the unconfirmed ones. The next list of the node has them if this
// fails.
func (c *Chain) Enter(ctx context.Context, ids ...model.Hash) {
	if c.Mempool != nil {
		_ = c.Mempool.Enter(ctx, ids...)
	}
}
