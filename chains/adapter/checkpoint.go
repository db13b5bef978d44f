package adapter

import "birthmark/model"

// Checkpoints maps heights to the hashes of a network's known blocks, in display form.
type Checkpoints map[model.HeightPk]string

// Check returns an error of kind [model.BadSource], code wrong_network, if the chain has another block at b's height.
// It detects sources of another chain and forged chains.
func (t Checkpoints) Check(c model.Chain, b *model.Block) error {
	return CheckKnown(c, b, t[b.Height])
}

// CheckKnown is [Checkpoints.Check] for one known hash at b's height; "" if the height has none.
func CheckKnown(c model.Chain, b *model.Block, known string) error {
	hash := c.FormatHash(b.Hash)
	if known == "" || known == hash {
		return nil
	}
	return model.Errorf(model.BadSource, "wrong_network",
		"block %d %s: %s %s has %s at this height: the source has another chain, expected one of %s %s",
		b.Height, hash, c.Name(), c.Network(), known, c.Name(), c.Network())
}
