package rpc

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/internal/signet"
	"birthmark/model"
)

// chainInfo is the response of getblockchaininfo and of REST's chaininfo.
type chainInfo struct {
	Chain       string `json:"chain"`
	Blocks      int64  `json:"blocks"`
	Headers     int64  `json:"headers"`
	BestHash    string `json:"bestblockhash"`
	Initial     bool   `json:"initialblockdownload"`
	Pruned      bool   `json:"pruned"`
	PruneHeight int64  `json:"pruneheight"`      // of the first available block; btcd omits it
	Challenge   string `json:"signet_challenge"` // of a signet in hex, since Bitcoin Core 28

	tip model.Point // of Blocks and BestHash
}

// check sets the tip. A response without one is not a chain state.
func (i *chainInfo) check() (err error) {
	if i.Blocks < 0 {
		return fmt.Errorf("a height of %d", i.Blocks)
	}
	if i.tip.Height, err = model.NewHeightPk(uint64(i.Blocks)); err != nil {
		return err
	}
	i.tip.Hash, err = parseHash(i.BestHash)
	return err
}

// network returns the name of the node's network as in settings.
func (c *Client) network(i chainInfo) string {
	if script, err := hex.DecodeString(i.Challenge); err == nil && len(script) > 0 && len(script) <= signet.MaxChallenge {
		return signet.Name(script)
	}
	return cmp.Or(c.options.Network.ByNode(i.Chain), c.http.Excerpt(i.Chain, 20))
}

// parseHash reads a hash in a node's answer.
func parseHash(text string) (model.Hash, error) {
	h, ok := block.ParseHash(text)
	if !ok {
		return h, errors.New("a hash that is not 64 hex digits")
	}
	return h, nil
}

func (c *Client) format() *block.Format { return c.options.Network.Coin.Format }

// checkBlock returns an error if raw is not the block of p.
func (c *Client) checkBlock(p model.Point, raw []byte) error {
	if len(raw) < block.HeaderSize {
		return c.badBlock(p, "%d bytes, less than the %d of a header", len(raw), block.HeaderSize)
	}
	if most := c.format().MaxSize; len(raw) > most {
		return c.badBlock(p, "more than the %d bytes a block can have", most)
	}
	if got := c.format().HashOf(raw); got != p.Hash {
		return c.badBlock(p, "block %s", block.FormatHash(got))
	}
	return nil
}

func (c *Client) badBlock(p model.Point, format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_answer", "requested block %d %s, but %s returned %s", p.Height, block.FormatHash(p.Hash), c.Host(), fmt.Sprintf(format, args...))
}

// missing is the error of a block that the node does not return; Client.explain converts it.
type missing struct{ said string }

func (m *missing) Error() string { return m.said }

// explain returns the reason why the node does not return a block: its chain has changed, the block is pruned, or it is
// not available yet, as in Core for some time after a start from a snapshot.
func (c *Client) explain(ctx context.Context, n node, p model.Point, why *missing) error {
	info, err := n.info(ctx)
	if err != nil {
		return err
	}
	hashes, err := n.hashes(ctx, p.Height, 1)
	if err != nil {
		return err
	}
	if len(hashes) == 0 || hashes[0] != p.Hash {
		return blocksource.ErrMoved
	}
	if info.Pruned {
		first := model.HeightPk(info.PruneHeight)
		if first == 0 {
			if first, err = c.firstBlock(ctx, n, p.Height, info.tip.Height); err != nil {
				return err
			}
		}
		if p.Height < first {
			return model.Errorf(model.BadSource, "pruned",
				"%s is pruned: it has deleted the blocks below %s, but block %s is needed: use a node that has it",
				c.Host(), adapter.Thousands(first), adapter.Thousands(p.Height))
		}
	}
	return blocksource.Temporary(model.Errorf(model.BadSource, "block_missing",
		"%s does not return block %d %s of its own chain: %s", c.Host(), p.Height, block.FormatHash(p.Hash), why.said))
}

// firstBlock returns the height of the first block of a pruned node, which lacks the block at lacks and has the one at
// has.
func (c *Client) firstBlock(ctx context.Context, n node, lacks, has model.HeightPk) (model.HeightPk, error) {
	return adapter.FirstBlock(lacks, has, func(h model.HeightPk) (bool, error) {
		hashes, err := n.hashes(ctx, h, 1)
		if err != nil {
			return false, err
		}
		if len(hashes) == 0 {
			return false, blocksource.ErrMoved
		}
		blocks, err := n.raw(ctx, []model.Point{{Height: h, Hash: hashes[0]}}, 0)
		for _, raw := range blocks {
			c.Release(raw)
		}
		if _, ok := errors.AsType[*missing](err); ok {
			return false, nil
		}
		return err == nil, err
	})
}
