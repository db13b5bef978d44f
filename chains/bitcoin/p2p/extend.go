package p2p

import (
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// pending is headers of one peer that follow on parent and cannot be judged yet: see [tree]. There are no more than
// lead to the next known point.
type pending struct {
	parent  *node
	headers []*wire.BlockHeader
	hashes  []chainhash.Hash
}

// extend takes headers of a message, each the child of the one before, into the tree. last is the newest of the chain
// they make that is in the tree, nil where that is none of them, and fresh how many were new.
//
// An error is a badHeader, or one that wraps errFuture, errLoose or errDeep. What came before the header at fault stays.
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
			return nil, 0, errLoose
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
		if err := t.alone(h, &hashes[i]); err != nil {
			return last, 0, err
		}
	}
	p.headers, p.hashes = append(p.headers, headers...), append(p.hashes, hashes...)
	return t.judge(p, last)
}

// judge moves what can be judged of the pending headers into the tree.
func (t *tree) judge(p *pending, last *node) (*node, int, error) {
	before := t.count
	for range t.proven(p) {
		last = t.take(p)
	}
	if !t.judges(p.parent) {
		if t.parted(p) {
			return last, t.count - before, errDeep
		}
		return last, t.count - before, nil
	}
	for len(p.headers) > 0 {
		if t.find(&p.hashes[0]) == nil {
			if err := t.after(p.parent, p.headers[0], &p.hashes[0]); err != nil {
				return last, t.count - before, err
			}
			if t.count >= t.most() {
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

// proven is how many of the pending headers lead to the newest known point among them.
func (t *tree) proven(p *pending) int {
	for _, k := range t.known {
		i := int64(k.Height) - int64(p.parent.height)
		if 1 <= i && i <= int64(len(p.hashes)) && p.hashes[i-1] == chainhash.Hash(k.Hash) {
			return int(i)
		}
	}
	return 0
}

// parted reports whether the pending headers have come to the height of the next known point without going through it.
func (t *tree) parted(p *pending) bool {
	for _, k := range slices.Backward(t.known) {
		if int64(k.Height) > int64(p.parent.height) {
			return int64(k.Height) <= int64(p.parent.height)+int64(len(p.hashes))
		}
	}
	return true
}
