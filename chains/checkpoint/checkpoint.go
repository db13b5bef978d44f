// Package checkpoint refuses blocks that are not those a network is known to have at a height. A source of another
// chain, or of a forged one, does not get past it.
package checkpoint

import "birthmark/model"

// Table is the known blocks of a network: the hash of each, as people write it, by its height.
type Table map[model.HeightPk]string

// Check returns an error of kind [model.BadSource], code wrong_network, if the chain has another block at b's height.
func (t Table) Check(c model.Chain, b *model.Block) error { return Check(c, b, t[b.Height]) }

// Check is [Table.Check] for the one block that is known at b's height; empty: none is.
func Check(c model.Chain, b *model.Block, known string) error {
	hash := c.FormatHash(b.Hash)
	if known == "" || known == hash {
		return nil
	}
	return model.Errorf(model.BadSource, "wrong_network",
		"block %d %s: %s %s has %s at this height: the source has another chain, expected one of %s %s",
		b.Height, hash, c.Name(), c.Network(), known, c.Name(), c.Network())
}
