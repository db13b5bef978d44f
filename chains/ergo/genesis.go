package ergo

import "birthmark/model"

// hasGenesis reports whether the genesis boxes of a network are built in.
func (n *network) hasGenesis() bool { return true }

// genesisTxs are the genesis boxes that are built in, with the values d makes.
func (n *network) genesisTxs(d *decoder) ([]model.Tx, error) {
	return nil, model.Errorf(model.BadSource, "no_genesis", "the genesis of ergo %s is not built in yet", n.name)
}

// genesis decodes the JSON array of boxes that /utxo/genesis gives.
func (d *decoder) genesis(boxes []byte) ([]model.Tx, error) {
	return nil, model.Errorf(model.BadSource, "no_genesis", "genesis boxes are not read yet")
}
