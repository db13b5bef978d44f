package cardanogen

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"birthmark/bench/generate/immutabledb"
)

// The folders that [Write] makes, and the files in the first.
const (
	GenesisFolder   = "genesis"
	ImmutableFolder = "immutable"

	byronGenesisFile   = "byron-genesis.json"
	shelleyGenesisFile = "shelley-genesis.json"
)

// Write writes the files into a folder, which it creates.
func (g Genesis) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, byronGenesisFile), g.Byron, 0o644),
		os.WriteFile(filepath.Join(dir, shelleyGenesisFile), g.Shelley, 0o644))
}

// Write makes a chain with n transactions and writes it into a folder: its genesis files into genesis, its blocks into
// immutable, which must be empty. It returns the chain. progress, which may be nil, is called after each
// block.
func Write(ctx context.Context, dir string, o Options, txs int, progress func(Counts)) (c *Chain, err error) {
	folder, err := immutabledb.Create(filepath.Join(dir, ImmutableFolder), slotsInChunk)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	c = New(o)
	if err := c.Genesis().Write(filepath.Join(dir, GenesisFolder)); err != nil {
		return nil, err
	}
	err = c.Write(ctx, txs, func(most int) error {
		b := c.next(most)
		return folder.Append(&b.Block)
	}, progress)
	for err == nil && c.holders > 0 {
		b := c.NextOf(0)
		err = cmp.Or(ctx.Err(), folder.Append(&b.Block))
	}
	return c, err
}

// next makes the next block with at most n transactions.
func (c *Chain) next(most int) Block {
	return c.NextOf(min(blockTxs(c.rng, c.options.TxsPerBlock), most))
}
