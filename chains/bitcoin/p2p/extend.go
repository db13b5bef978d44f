package p2p

import (
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// pending are headers of one peer that follow parent and cannot be checked yet: see [tree]. At most as many as lead to
// the next known point.
type pending struct {
	parent  *node
	headers []*wire.BlockHeader
	hashes  []chainhash.Hash
}

// extend adds headers of a message, each the child of the one before, to the tree. last is the newest one that is in
// the tree, nil if none is, and fresh the number of new ones.
//
// The error is a badHeader, or wraps errFuture, errOrphan or errForkTooDeep. Headers before the invalid one are kept.
func (t *tree) extend(p *pending, headers []*wire.BlockHeader) (last *node, fresh int, err error) {
	hashes := make([]chainhash.Hash, len(headers))
	for i, h := range headers {
		hashes[i] = h.BlockHash()
		if i > 0 && h.PrevBlock != hashes[i-1] {
			return nil, 0, badHeaderf("header %s does not follow on the one before it in the same message", &hashes[i])
		}
	}
	if n := len(p.hashes); n == 0 || headers[0].PrevBlock != p.hashes[n-1] {
		*p = pending{parent: t.find(&headers[0].PrevBlock)}
		if p.parent == nil {
			return nil, 0, errOrphan
		}
		for len(headers) > 0 {
			n := t.find(&hashes[0])
			if n == nil {
				break
			}
			p.parent, last = n, n
			headers, hashes = headers[1:], hashes[1:]
		}
	}
	for i, h := range headers {
		if err := t.checkAlone(h, &hashes[i]); err != nil {
			return last, 0, err
		}
	}
	p.headers, p.hashes = append(p.headers, headers...), append(p.hashes, hashes...)
	return t.validate(p, last)
}

// validate moves pending headers that can be checked into the tree.
func (t *tree) validate(p *pending, last *node) (*node, int, error) {
	before := t.count
	for range t.provenByKnown(p) {
		last = t.take(p)
	}
	if !t.canValidate(p.parent) {
		if t.divergedFromKnown(p) {
			return last, t.count - before, errForkTooDeep
		}
		return last, t.count - before, nil
	}
	for len(p.headers) > 0 {
		if t.find(&p.hashes[0]) == nil {
			if err := t.checkAfter(p.parent, p.headers[0], &p.hashes[0]); err != nil {
				return last, t.count - before, err
			}
			if t.count >= t.maxHeaders() {
				return last, t.count - before, badHeaderf("header %s is one of more than any chain has", &p.hashes[0])
			}
		}
		last = t.take(p)
	}
	*p = pending{}
	return last, t.count - before, nil
}

// take moves the first pending header into the tree.
func (t *tree) take(p *pending) *node {
	n := t.find(&p.hashes[0])
	if n == nil {
		n = t.add(p.headers[0], &p.hashes[0], p.parent)
	}
	p.parent, p.headers, p.hashes = n, p.headers[1:], p.hashes[1:]
	return n
}

// provenByKnown returns the number of pending headers up to the newest known point among them.
func (t *tree) provenByKnown(p *pending) int {
	for _, k := range t.known {
		i := int64(k.Height) - int64(p.parent.height)
		if 1 <= i && i <= int64(len(p.hashes)) && p.hashes[i-1] == chainhash.Hash(k.Hash) {
			return int(i)
		}
	}
	return 0
}

// divergedFromKnown reports whether the pending headers have reached the height of the next known point on another chain.
func (t *tree) divergedFromKnown(p *pending) bool {
	for _, k := range slices.Backward(t.known) {
		if int64(k.Height) > int64(p.parent.height) {
			return int64(k.Height) <= int64(p.parent.height)+int64(len(p.hashes))
		}
	}
	return true
}
