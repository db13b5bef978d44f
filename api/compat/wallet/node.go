package wallet

import (
	"context"
	"time"

	"birthmark/model"
)

// Submit sends a transaction to the node and enters it into the mempool before it returns. The error of a refusal is of
// kind [model.Usage], code rejected, with the node's message.
func (c *Chain) Submit(ctx context.Context, raw []byte, o model.SubmitOptions) (model.Hash, error) {
	node := c.served.Submitter
	if node == nil {
		return model.Hash{}, c.noNode("transactions cannot be submitted")
	}
	id, err := node.Submit(ctx, raw, o)
	if err == nil {
		c.enter(ctx, id)
	}
	return id, err
}

// TestAccept returns the node's JSON: see [model.Submitter].
func (c *Chain) TestAccept(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	node := c.served.Submitter
	if node == nil {
		return nil, c.noNode("transactions cannot be tested")
	}
	return node.TestAccept(ctx, raws, o)
}

// SubmitPackage returns the node's JSON: see [model.Submitter]. It enters the transactions that the node accepted into
// the mempool before it returns.
func (c *Chain) SubmitPackage(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	node := c.served.Submitter
	if node == nil {
		return nil, c.noNode("packages cannot be submitted")
	}
	answer, err := node.SubmitPackage(ctx, raws, o)
	if err != nil {
		return nil, err
	}
	var ids []model.Hash
	for _, raw := range raws {
		if id, err := c.served.Model.(model.TxHasher).HashTx(raw); err == nil { // the node's answer names the others
			ids = append(ids, id)
		}
	}
	c.enter(ctx, ids...)
	return answer, nil
}

// enter enters transactions that the node accepted into the mempool. The next list of the node has them if this fails.
func (c *Chain) enter(ctx context.Context, ids ...model.Hash) {
	if f := c.served.Mempool; f != nil {
		_ = f.Enter(ctx, ids...)
	}
}

// Fees returns the node's estimates in satoshi per 1,000 virtual bytes by confirmation target; targets without an
// estimate are absent. A longer target is never dearer. They are cached for a minute.
func (c *Chain) Fees(ctx context.Context, targets []int, mode string) (map[int]float64, error) {
	if c.served.Fees == nil {
		return nil, c.noNode("fees cannot be estimated")
	}
	return c.served.Fees.EstimateFees(ctx, targets, mode)
}

// MinimumFees returns the limits of the node.
func (c *Chain) MinimumFees(ctx context.Context) (model.MinimumFees, error) {
	if c.served.Fees == nil {
		return model.MinimumFees{}, c.noNode("its fee limits are unknown")
	}
	return c.served.Fees.MinimumFees(ctx)
}

// NodeInfo returns the description of the node; nil: there is no node, or it does not describe itself.
func (c *Chain) NodeInfo(ctx context.Context) (*model.NodeInfo, error) {
	if node, ok := c.served.Node.(model.NodeDescriber); ok {
		return node.NodeInfo(ctx)
	}
	return nil, nil
}

// DatabaseSize estimates the bytes of the database on disk: its tables, and the rows in its log, which are also in
// memory. 0: unknown.
func (c *Chain) DatabaseSize() (size int64, err error) {
	if c.served.Measures == nil {
		return 0, nil
	}
	stats, err := c.served.Measures()
	for _, m := range stats.Store {
		if m.Name == "table_bytes" || m.Name == "memtable_bytes" {
			size += int64(m.Value)
		}
	}
	return size, err
}

// MempoolTime returns the time of the last answer of the node about its mempool; zero: no answer or no mempool.
func (c *Chain) MempoolTime() time.Time {
	if c.served.Mempool == nil {
		return time.Time{}
	}
	return c.served.Mempool.Answered()
}

// HasNode reports whether a node answers questions about fees.
func (c *Chain) HasNode() bool { return c.served.Fees != nil }

func (c *Chain) noNode(what string) error {
	return model.Errorf(model.NotFound, "unsupported", "%s: %s: there is no node: set node in the settings", c.served.Name, what)
}
