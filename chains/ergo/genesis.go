package ergo

import (
	"embed"
	"fmt"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// builtIn are the genesis boxes of the networks that are known, as a node's /utxo/genesis gives them: what miners are
// paid out of, the proof that nothing was mined before, and what the foundation was given. Their ids prove them.
//
//go:embed genesis/*.json
var builtIn embed.FS

// hasGenesis reports whether the genesis boxes of a network are built in.
func (n *network) hasGenesis() bool {
	f, err := builtIn.Open("genesis/" + n.name + ".json")
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// genesisTxs are the genesis boxes that are built in, with the values d makes.
func (n *network) genesisTxs(d *decoder) ([]model.Tx, error) {
	boxes, err := builtIn.ReadFile("genesis/" + n.name + ".json")
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_genesis", "the genesis boxes of ergo %s are not built in: %w", n.name, err)
	}
	return d.genesis(boxes)
}

// genesis decodes the JSON array of boxes that /utxo/genesis gives. No transaction made them: they name one of zeros,
// and each says that it is its output 0. Here they are the outputs of that one, in their order.
func (d *decoder) genesis(boxes []byte) ([]model.Tx, error) {
	d.reset(boxes)
	s := &d.s
	var t transaction
	t.Outputs, t.claims = d.readOutputs()
	if s.err == nil && (s.next() != 0 || s.at < len(s.b)) {
		s.unexpected("the end of the boxes")
	}
	err := s.err
	if err == nil && len(t.Outputs) == 0 {
		err = fmt.Errorf("there are none")
	}
	for i := range t.claims {
		c := &t.claims[i]
		c.index = max(c.index, 0)
		if err == nil && c.tx != (sigma.ID{}) {
			err = fmt.Errorf("box %d is of transaction %x: expected zeros", i, c.tx)
		}
		if err == nil {
			if err = d.verifyBox(&t.Outputs[i], c, &t.id, c.index); err != nil {
				err = fmt.Errorf("box %d: %w", i, err)
			}
		}
	}
	if err != nil {
		return nil, model.Errorf(model.BadSource, "bad_genesis", "genesis boxes: %w", err)
	}
	d.txs = append(d.txs, t)
	return d.transactions(nil), nil
}
