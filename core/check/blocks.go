package check

import (
	"bytes"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// blocks checks that heights have no gap, that each block is the parent of the next, that hashes and heights map to
// each other, and that the last block is the tip.
func (c *checker) blocks() error {
	hashes := c.join(schema.FamilyHeight)
	last := model.Point{}
	hasher, _ := c.Chain.(model.HeaderHasher)
	err := c.scan(schema.FamilyBlock, func(k, v []byte) error {
		h, err := model.ParseHeightPk(k)
		if err != nil {
			return err
		}
		row, err := schema.ParseBlockRow(v)
		if err != nil {
			return err
		}
		c.checksum += row.Checksum()
		if hasher != nil {
			if hash, err := hasher.HashHeader(row.Header); err != nil || hash != row.Hash {
				c.problem(schema.FamilyBlock, k, "the header does not hash to the block's hash")
			}
		}
		switch {
		case len(c.txCount) == 0:
			c.first = h
			if h > 1 {
				c.problem(schema.FamilyBlock, k, "the height of the first block is %d, expected 0 or 1", h)
			}
		case h != last.Height+1:
			return fmt.Errorf("follows block %d", last.Height)
		case row.Parent != last.Hash:
			c.problem(schema.FamilyBlock, k, "its parent is not block %d", last.Height)
		}
		c.txCount = append(c.txCount, int32(row.TxCount))
		last = model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}
		hashes.expect(row.Hash[:], equal(schema.AppendHeightRow(nil, h, row.Time)), schema.FamilyBlock, bytes.Clone(k),
			"the row of its hash does not point back to it")
		return nil
	})
	if err != nil {
		return err
	}
	c.result.Blocks = uint64(len(c.txCount))
	if last != c.Tip {
		c.problem(schema.FamilyMeta, schema.MetaTip, "the tip is %d %s, the last block %d %s",
			c.Tip.Height, c.Tip.Hash, last.Height, last.Hash)
	}
	return c.count(schema.FamilyHeight, uint64(len(c.txCount)), "blocks", anyLayout)
}

// blockValues checks that the rows of block indexes match the headers.
func (c *checker) blockValues() error {
	for _, x := range c.All {
		if x.Kind != model.PerBlock || x.Dropped() || c.only != nil && c.only != x {
			continue
		}
		rows, want := c.join(x.Family(schema.IndexBlocks)), uint64(0)
		err := c.scan(schema.FamilyBlock, func(k, v []byte) error {
			h, err := model.ParseHeightPk(k)
			if err != nil || !c.featuresAt(x, h).Has(schema.FeatureValues) {
				return err
			}
			row, err := schema.ParseBlockRow(v)
			if err != nil {
				return err
			}
			key, err := x.BlocksKey(row.Header, h)
			if key != nil {
				want++
				rows.expect(key, presentAndEmpty, schema.FamilyBlock, bytes.Clone(k), "the row of its "+x.Name+" is missing")
			}
			return err
		})
		if err == nil {
			err = c.count(x.Family(schema.IndexBlocks), want, "blocks with a value", func(k, v []byte) error {
				_, err := schema.ParseBlocksRow(k, v)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// txs checks that the transactions of a block have no gap and the number in the block's row, and that hashes and
// pointers map to each other.
func (c *checker) txs() error {
	hashes := c.join(schema.FamilyTxPk)
	seen := make([]int32, len(c.txCount))
	next := model.TxPk(0)
	err := c.scan(schema.FamilyTxHash, func(k, v []byte) error {
		pk, err := model.ParseTxPk(k)
		if err != nil {
			return err
		}
		hash, fee, err := schema.ParseTxHashRow(v)
		if err != nil {
			return err
		}
		c.checksum += schema.HashChecksum(&hash) + fee.Amount
		height, index := pk.Height(), pk.TxIndex()
		if index > 0 && pk != next {
			c.problem(schema.FamilyTxHash, k, "the transaction before it is missing")
		}
		next, _ = c.NewTxPk(height, index+1)
		switch at := int64(height) - int64(c.first); {
		case height == 0 && uint64(index) < c.Totals.GenesisTxs:
			c.genesisTxs++
		case at < 0 || at >= int64(len(seen)):
			c.problem(schema.FamilyTxHash, k, "there is no block at its height")
		default:
			seen[at]++
		}
		hashes.expect(schema.AppendTxPkKey(nil, &hash, pk), presentAndEmpty, schema.FamilyTxHash, bytes.Clone(k),
			"the row of its hash does not point back to it")
		return nil
	})
	if err != nil {
		return err
	}
	for i, n := range seen {
		if h := c.first + model.HeightPk(i); n != c.txCount[i] {
			c.problem(schema.FamilyBlock, h.AppendTo(nil), "the row counts %d transactions, there are %d", c.txCount[i], n)
		}
	}
	return c.count(schema.FamilyTxPk, c.rows[schema.FamilyTxHash], "transactions", anyLayout)
}
