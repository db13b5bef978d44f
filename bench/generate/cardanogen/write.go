package cardanogen

import (
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
// immutable, which must be empty. It returns the chain. made, which may be nil, is called after each block.
func Write(ctx context.Context, dir string, o Options, txs int, made func(Counts)) (c *Chain, err error) {
	folder, err := immutabledb.Create(filepath.Join(dir, ImmutableFolder), slotsInChunk)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	c = New(o)
	if err := c.Genesis().Write(filepath.Join(dir, GenesisFolder)); err != nil {
		return nil, err
	}
	for c.made.Txs < txs || c.made.Blocks == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b := c.next(txs - c.made.Txs)
		if err := folder.Append(&b.Block); err != nil {
			return nil, err
		}
		if made != nil {
			made(c.made)
		}
	}
	return c, nil
}

// next makes the next block with at most n transactions.
func (c *Chain) next(most int) Block {
	return c.NextOf(min(blockTxs(c.rng, c.options.TxsPerBlock), most))
}
