package bitcoin

import (
	"errors"

	"birthmark/chains/bitcoin/proof"
	"birthmark/model"
)

// errMutated is a list of transactions whose merkle root another list has as well (CVE-2012-2459).
var errMutated = errors.New("its transactions repeat: another list of them has the same merkle root")

// merkleRoot is the root of the ids of transactions.
func (d *decoder) merkleRoot(txs []model.Tx) (model.Hash, error) {
	ids := d.nodes[:0]
	for i := range txs {
		ids = append(ids, txs[i].Hash)
	}
	d.nodes = ids
	root, repeats := proof.MerkleRoot(ids)
	if repeats {
		return model.Hash{}, errMutated
	}
	return root, nil
}
