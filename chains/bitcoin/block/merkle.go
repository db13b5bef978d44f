package block

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"birthmark/model"
)

var errRepeats = errors.New("its transactions repeat: another list of transactions has the same merkle root (CVE-2012-2459)")

// checkRoots compares the merkle root of the transactions' ids with that of the header, and that of the hashes of all
// bytes if the format has two.
func (d *Decoder) checkRoots(txs []model.Tx, raw []byte) error {
	h := Header(raw)
	d.nodes = d.nodes[:0]
	for i := range txs {
		d.nodes = append(d.nodes, txs[i].Hash)
	}
	if err := d.checkRoot(d.format.root(h)); err != nil || d.format.AppendHashed == nil {
		return err
	}
	d.nodes = d.nodes[:0]
	for i, start := 0, d.start; i < len(d.ends); i++ {
		d.nodes = append(d.nodes, DoubleHash(raw[start:d.ends[i]]))
		start = d.ends[i]
	}
	return d.checkRoot(h.MerkleRoot())
}

// checkRoot compares the merkle root of d.nodes with that of the header.
func (d *Decoder) checkRoot(want model.Hash) error {
	root, repeats := MerkleRoot(d.nodes)
	if repeats {
		return errRepeats
	}
	if root != want {
		return fmt.Errorf("its transactions have the merkle root %s, its header has %s", FormatHash(root), FormatHash(want))
	}
	return nil
}

// MerkleRoot hashes the ids of a block's transactions in pairs until one is left; the last of an odd number is paired
// with itself. repeats reports a pair of equal ids: the list without the second one has the same root (CVE-2012-2459).
// ids must not be empty and is overwritten.
func MerkleRoot[Hash ~[32]byte](ids []Hash) (root Hash, repeats bool) {
	var pair [64]byte
	for len(ids) > 1 {
		above := ids[:0]
		for i := 0; i < len(ids); i += 2 {
			left, right := ids[i], ids[min(i+1, len(ids)-1)]
			repeats = repeats || i+1 < len(ids) && left == right
			copy(pair[:32], left[:])
			copy(pair[32:], right[:])
			once := sha256.Sum256(pair[:])
			above = append(above, sha256.Sum256(once[:]))
		}
		ids = above
	}
	return ids[0], repeats
}
