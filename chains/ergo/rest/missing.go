package rest

import (
	"context"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Missing returns the reason why the node does not return a full block whose id it returned: [blocksource.ErrMoved] if
// its best chain now has another block at that height; a temporary error if it has the header and not the block yet;
// otherwise an error which reports that it has pruned blocks of that age.
func (c *Client) Missing(ctx context.Context, p model.Point) error {
	i, err := c.info(ctx)
	if err != nil {
		return err
	}
	here, err := c.ids(ctx, uint64(p.Height), 1)
	if err != nil {
		return err
	}
	if len(here) == 0 || here[0] != p.Hash {
		return blocksource.ErrMoved
	}
	if p.Height > i.tip.Height {
		return c.notYet(p)
	}
	// Headers of a better chain arrive before its blocks: then the requested block is not on the chain of full blocks.
	last, err := c.ids(ctx, uint64(i.tip.Height), 1)
	if err != nil {
		return err
	}
	if len(last) == 0 || last[0] != i.tip.Hash {
		return c.notYet(p)
	}
	found, err := c.has(ctx, p.Hash)
	if err != nil {
		return err
	}
	if found {
		return c.notYet(p)
	}
	first, err := adapter.FirstBlock(p.Height, i.tip.Height, func(h model.HeightPk) (bool, error) { return c.hasAt(ctx, h) })
	if err != nil {
		return err
	}
	return model.Errorf(model.BadSource, "pruned",
		"%s does not have the blocks below %s (it is pruned, or was started from a snapshot), but block %s %s is needed: use a node that has it",
		c.Host(), adapter.Thousands(first), adapter.Thousands(p.Height), p.Hash)
}

// notYet is the error of a block that has not arrived yet.
func (c *Client) notYet(p model.Point) error {
	return blocksource.Temporary(model.Errorf(model.BadSource, "block_missing", "%s has the header of block %d %s, but not the block yet", c.Host(), p.Height, p.Hash))
}

// has reports whether the node has a block.
func (c *Client) has(ctx context.Context, id model.Hash) (bool, error) {
	return c.block(ctx, id, func([]byte) error { return nil })
}

// hasAt reports whether the node has the block at a height of its best chain.
func (c *Client) hasAt(ctx context.Context, h model.HeightPk) (bool, error) {
	ids, err := c.ids(ctx, uint64(h), 1)
	if err != nil {
		return false, err
	}
	if len(ids) == 0 {
		return false, blocksource.ErrMoved
	}
	return c.has(ctx, ids[0])
}
