package ergo

import (
	"embed"
	"fmt"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// builtIn has the genesis boxes of the known networks, as a node's /utxo/genesis returns them: the miners' emission,
// the proof of no premine, and the foundation's treasury. Their ids verify them.
//
//go:embed genesis/*.json
var builtIn embed.FS

// genesisBoxes returns the built-in genesis boxes of a network, nil if it has none.
func (n *network) genesisBoxes() []byte {
	boxes, _ := builtIn.ReadFile("genesis/" + n.name + ".json")
	return boxes
}

// genesis decodes the JSON array of boxes that /utxo/genesis returns. Each box names a transaction of zeros and output
// 0, and its id depends on that. Here they become outputs 0, 1 and 2 of that transaction, in their order, because
// pointers need distinct positions.
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
			err = fmt.Errorf("box %d has the transaction id %x: expected zeros", i, c.tx)
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
