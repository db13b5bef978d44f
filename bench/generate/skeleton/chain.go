// Package skeleton has the parts of a chain generator that are the same for every chain: totals and tip, spending of
// unspent outputs, the assets of a transaction, and the loop that writes a chain.
package skeleton

import (
	"context"

	"birthmark/bench/generate/distribution"
	"birthmark/model"
)

// Counts are totals of a block or chain. Transactions with failed scripts count with their effects only.
type Counts struct {
	Blocks, Txs, Outputs int
	Inputs               int // without those of coinbases
	Assets               int // entries of outputs
	Mints, Burns         int // asset changes; Cardano's Mints include burns
	Registers            int // of Ergo's boxes
	Failed               int // transactions with failed scripts
	Bytes                int // of blocks, as they are in files without the heads of records
}

// Chain has the totals and the tip of a chain that is generated block by block.
type Chain struct {
	tip  model.Point
	made Counts
}

// Tip returns the newest block; the origin before the first.
func (c *Chain) Tip() model.Point { return c.tip }

// Made returns the totals of the blocks so far.
func (c *Chain) Made() Counts { return c.made }

// Add adds a block.
func (c *Chain) Add(tip model.Point, n Counts) {
	c.tip = tip
	c.made.Blocks += n.Blocks
	c.made.Txs += n.Txs
	c.made.Inputs += n.Inputs
	c.made.Outputs += n.Outputs
	c.made.Assets += n.Assets
	c.made.Mints += n.Mints
	c.made.Burns += n.Burns
	c.made.Registers += n.Registers
	c.made.Failed += n.Failed
	c.made.Bytes += n.Bytes
}

// Write calls next, which makes a block of at most that many transactions and writes it, until the chain has txs
// transactions and at least one block. progress, which may be nil, is called after each block.
func (c *Chain) Write(ctx context.Context, txs int, next func(most int) error, progress func(Counts)) error {
	for c.made.Txs < txs || c.made.Blocks == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := next(txs - c.made.Txs); err != nil {
			return err
		}
		if progress != nil {
			progress(c.made)
		}
	}
	return nil
}

// Spend appends n coins, and at most more of them while their total value is below enough. It stops when take has none.
func Spend[C interface{ Worth() uint64 }](coins []C, n, more int, enough uint64, take func() (C, bool)) (spent []C, total uint64) {
	for i := 0; i < n || i < n+more && total < enough; i++ {
		taken, ok := take()
		if !ok {
			break
		}
		total += taken.Worth()
		coins = append(coins, taken)
	}
	return coins, total
}

// TakeOf returns a function for [Spend] that takes outputs of drawn ages.
func TakeOf[C any](u *distribution.Unspent[C], r distribution.Random, age func(distribution.Random) int) func() (C, bool) {
	return func() (taken C, ok bool) {
		p, ok := u.Find(r, age)
		if ok {
			taken = u.Take(p)
		}
		return taken, ok
	}
}
