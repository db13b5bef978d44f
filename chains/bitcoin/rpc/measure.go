package rpc

import (
	"context"
	"encoding/json"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Measure implements [model.Measurer] with the number of transactions, which getchaintxstats of Core returns. It is
// unknown if the node has REST only, is not Core, or does not have the block.
func (c *Client) Measure(ctx context.Context, after model.Point, to model.HeightPk) (model.Extent, error) {
	return ask(ctx, c, func(n node) (e model.Extent, err error) {
		auth, err := c.secret.Get()
		if err != nil {
			return e, c.passwordError(err)
		}
		if _, byREST := n.(restNode); byREST && auth == (credentials{}) {
			return e, nil
		}
		last, err := n.hashes(ctx, to, 1)
		if err != nil || len(last) == 0 {
			return e, err
		}
		total, err := c.txCount(ctx, last[0])
		if err != nil || total == 0 {
			return e, err
		}
		if !after.IsOrigin() {
			if e.Done, err = c.txCount(ctx, after.Hash); err != nil || e.Done == 0 || e.Done > total {
				return model.Extent{}, err
			}
		}
		return model.Extent{Txs: true, Done: e.Done, Total: total}, nil
	})
}

// txCount returns the number of transactions up to a block, 0 if the node does not return it.
func (c *Client) txCount(ctx context.Context, at model.Hash) (uint64, error) {
	results, errs, err := c.batch(ctx, false, call{"getchaintxstats", []any{0, block.FormatHash(at)}})
	if err != nil || errs[0] != nil {
		return 0, err
	}
	var stats struct {
		Txs uint64 `json:"txcount"`
	}
	_ = json.Unmarshal(results[0], &stats) // the time left is then unknown, which does not stop a sync
	return stats.Txs, nil
}
