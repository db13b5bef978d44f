package onesat

import (
	"encoding/binary"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// beefVersion begins transactions in the form of BRC-62.
const beefVersion = 4_022_206_465

// Flags of the leaves of a Merkle path (BRC-74).
const (
	leafIsHash      = 0
	leafIsDuplicate = 1
	leafIsTx        = 2
)

// txAt returns a transaction; its error is that of a missing one.
func (v *view) txAt(id model.Hash) (*wallet.Tx, error) {
	tx, err := v.Tx(id)
	if is(err, "unknown_tx") {
		return nil, missing("not found")
	}
	return tx, err
}

func rawTx(r *request) answer {
	id := txidArg(r)
	return func(v *view) (any, error) {
		tx, err := v.txAt(id)
		if err != nil {
			return nil, err
		}
		return exchange.Bytes(tx.Raw), nil
	}
}

func proof(r *request) answer {
	id := txidArg(r)
	return func(v *view) (any, error) {
		tx, err := v.txAt(id)
		if err != nil {
			return nil, err
		}
		if !tx.Place.Confirmed {
			return nil, missing("not found")
		}
		path, err := v.merklePath(id, tx.Place)
		return exchange.Bytes(path), err
	}
}

func beef(r *request) answer {
	id := txidArg(r)
	return func(v *view) (any, error) {
		b, err := v.beefOf(id)
		return exchange.Bytes(b), err
	}
}

// merklePath returns the path of a confirmed transaction to the root of its block (BRC-74).
func (v *view) merklePath(id model.Hash, at wallet.Place) ([]byte, error) {
	b, err := v.Block(at.Height)
	if err != nil {
		return nil, err
	}
	branch, err := v.MerkleBranch(at.Height, at.Position)
	if err != nil {
		return nil, err
	}
	path := block.AppendCompactSize(nil, uint64(at.Height))
	path = append(path, byte(max(1, len(branch))))
	if len(branch) == 0 {
		return append(append(path, 1, 0, leafIsTx), id[:]...), nil
	}
	offset, nodes := at.Position, b.TxCount
	for level, sibling := range branch {
		leaf := func(offset int, flag byte, hash model.Hash) {
			if path = append(block.AppendCompactSize(path, uint64(offset)), flag); flag != leafIsDuplicate {
				path = append(path, hash[:]...)
			}
		}
		other, flag := offset^1, byte(leafIsHash)
		if other >= nodes {
			flag = leafIsDuplicate
		}
		switch {
		case level > 0:
			path = append(path, 1)
			leaf(other, flag, sibling)
		case other < offset:
			path = append(path, 2)
			leaf(other, flag, sibling)
			leaf(offset, leafIsTx, id)
		default:
			path = append(path, 2)
			leaf(offset, leafIsTx, id)
			leaf(other, flag, sibling)
		}
		offset, nodes = offset/2, (nodes+1)/2
	}
	return path, nil
}

// maxAncestors is the number of unconfirmed ancestors of a transaction that an answer can have.
const maxAncestors = 1000

// beefOf returns a transaction with its Merkle path, or with its ancestors down to confirmed ones (BRC-62).
func (v *view) beefOf(id model.Hash) ([]byte, error) {
	var paths, txs [][]byte
	done := map[model.Hash]bool{}
	var add func(id model.Hash) error
	add = func(id model.Hash) error {
		if done[id] {
			return nil
		}
		if done[id] = true; len(done) > maxAncestors {
			return errorf(422, "the transaction has more than %d unconfirmed ancestors", maxAncestors)
		}
		tx, err := v.txAt(id)
		if err != nil {
			return err
		}
		if tx.Place.Confirmed {
			path, err := v.merklePath(id, tx.Place)
			if err != nil {
				return err
			}
			entry := append(append([]byte(nil), tx.Raw...), 1)
			txs = append(txs, block.AppendCompactSize(entry, uint64(len(paths))))
			paths = append(paths, path)
			return nil
		}
		for _, in := range tx.Msg.TxIn {
			if err := add(model.Hash(in.PreviousOutPoint.Hash)); err != nil {
				return err
			}
		}
		txs = append(txs, append(append([]byte(nil), tx.Raw...), 0))
		return nil
	}
	if err := add(id); err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(nil, beefVersion)
	for _, list := range [][][]byte{paths, txs} {
		b = block.AppendCompactSize(b, uint64(len(list)))
		for _, item := range list {
			b = append(b, item...)
		}
	}
	return b, nil
}
