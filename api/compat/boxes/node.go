package boxes

import (
	"context"
	"net/url"

	"birthmark/chains/ergo"
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

// Enter adds transactions that the node accepted to the unconfirmed ones. The next list of the node has them if this
// fails.
func (c *Chain) Enter(ctx context.Context, ids ...model.Hash) {
	if c.Mempool != nil {
		_ = c.Mempool.Enter(ctx, ids...)
	}
}
