package p2p

import (
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// extend adds the headers of a message to the tree. Each must be the child of the header before it. last is the newest
// of them that is in the tree, or nil, and fresh is the number of headers that were added.
//
// The error is a badHeader, or wraps errFuture, errOrphan or errForkTooDeep. The headers before the invalid one are
// added.
func (t *tree) extend(headers []*wire.BlockHeader) (last *node, fresh int, err error) {
	parent := t.find(&headers[0].PrevBlock)
	if parent == nil {
		return nil, 0, errOrphan
	}
	for _, h := range headers {
		hash := h.BlockHash()
		if h.PrevBlock != parent.hash {
			return last, fresh, badHeaderf("header %s does not extend the previous header of the same message", &hash)
		}
		n := t.find(&hash)
		if n == nil {
			if err := t.check(parent, h, &hash); err != nil {
				return last, fresh, err
			}
			n = t.add(h, &hash, parent)
			fresh++
		}
		last, parent = n, n
	}
	return last, fresh, nil
}

// check returns an error if a header must not be added to the tree as a child of parent.
func (t *tree) check(parent *node, h *wire.BlockHeader, hash *chainhash.Hash) error {
	if t.count >= t.maxHeaders() {
		return badHeaderf("header %s exceeds the maximum number of headers of a chain", hash)
	}
	if err := t.checkSanity(h, hash); err != nil {
		return err
	}
	if t.base.height > 0 && parent.height-t.base.height < t.BlocksPerRetarget() {
		return errForkTooDeep
	}
	return t.checkContext(parent, h, hash)
}
