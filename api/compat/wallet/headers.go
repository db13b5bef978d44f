package wallet

import (
	"sync"

	"birthmark/chains/bitcoin/block"
	"birthmark/core/schema"
	"birthmark/model"
)

// Header proofs (Electrum, cp_height) need the hashes of all headers up to the checkpoint. The roots of groups of
// 2^headerLevels headers are kept in memory, 32 bytes each; a proof reads the group of its header and the last one.
const (
	headerLevels = 10
	headerGroup  = 1 << headerLevels
)

// headerHashes are the roots of the first complete groups of headers of a chain. A reorganization makes the last ones
// invalid: they are valid up to a group whose last block is in the chain.
type headerHashes struct {
	mu     sync.Mutex
	groups []headerRoot
}

// headerRoot is the root over a complete group of headers, the hash of the last one, and the work of all headers up to
// it.
type headerRoot struct {
	root, last model.Hash
	work       block.Work
}

// headerRoots returns the roots of the first n groups of headers, which are complete.
func (v *View) headerRoots(n int) ([]headerRoot, error) {
	c := &v.chain.headers
	c.mu.Lock()
	groups := c.groups[:min(n, len(c.groups)):min(n, len(c.groups))]
	c.mu.Unlock()
	for ; len(groups) > 0; groups = groups[:len(groups)-1] {
		row, err := v.q.BlockRow(model.HeightPk(len(groups)*headerGroup - 1))
		if err != nil {
			return nil, err
		}
		if row.Hash == groups[len(groups)-1].last {
			break
		}
	}
	if len(groups) == n {
		return groups, nil
	}
	groups = groups[:len(groups):len(groups)] // others read the array
	for len(groups) < n {
		from := len(groups) * headerGroup
		hashes, work, err := v.readHeaders(from, from+headerGroup)
		if err != nil {
			return nil, err
		}
		if len(groups) > 0 {
			work = work.Add(groups[len(groups)-1].work)
		}
		_, top := climb(nil, hashes, 0, headerLevels)
		groups = append(groups, headerRoot{top[0], hashes[headerGroup-1], work})
	}
	c.mu.Lock()
	c.groups = groups
	c.mu.Unlock()
	return groups, nil
}

// readHeaders returns the hashes of the headers from <= height < to, and their work: 0 of headers that do not have
// Bitcoin's form.
func (v *View) readHeaders(from, to int) (hashes []model.Hash, work block.Work, err error) {
	hashes = make([]model.Hash, 0, to-from)
	var bits uint32 // of the header before, which has this work
	var each block.Work
	err = v.q.EachBlock(model.HeightPk(from), model.HeightPk(to), func(_ model.HeightPk, row *schema.BlockRow) error {
		hashes = append(hashes, row.Hash)
		if len(row.Header) == headerSize {
			if of := block.Header(row.Header).Bits(); of != bits {
				bits, each = of, block.WorkOf(of)
			}
			work = work.Add(each)
		}
		return nil
	})
	if err == nil && len(hashes) != to-from {
		err = model.Errorf(model.Internal, "internal", "%d blocks from height %d: expected %d: run check",
			len(hashes), from, to-from)
	}
	return hashes, work, err
}

// ChainWork returns the work of the headers up to a height, which is not above the tip. The headers have Bitcoin's form.
func (v *View) ChainWork(height uint32) (block.Work, error) {
	complete := (int(height) + 1) / headerGroup
	groups, err := v.headerRoots(complete)
	if err != nil {
		return block.Work{}, err
	}
	_, work, err := v.readHeaders(complete*headerGroup, int(height)+1)
	if complete > 0 {
		work = work.Add(groups[complete-1].work)
	}
	return work, err
}

// HeaderProof returns the Merkle branch of the header at height, bottom-up, and the root of the tree over the hashes of
// the headers 0 to checkpoint, inclusive. The error is of kind Usage unless height <= checkpoint <= tip.
func (v *View) HeaderProof(height, checkpoint uint32) (branch []model.Hash, root model.Hash, err error) {
	if v.Tip.IsOrigin() || height > checkpoint || checkpoint > uint32(v.Tip.Height) {
		return nil, root, model.Errorf(model.Usage, "bad_value",
			"header height %d with checkpoint %d: expected height <= checkpoint <= %d", height, checkpoint, v.Tip.Height)
	}
	count := int(checkpoint) + 1
	complete := count / headerGroup
	groups, err := v.headerRoots(complete)
	if err != nil {
		return nil, root, err
	}
	levels := headerLevels
	if complete == 0 {
		levels = wholeTree
	}
	var tops []model.Hash
	for _, g := range groups {
		tops = append(tops, g.root)
	}
	at := int(height) / headerGroup
	climbGroup := func(group int) (siblings, top []model.Hash, err error) {
		from := group * headerGroup
		hashes, _, err := v.readHeaders(from, min(from+headerGroup, count))
		if err != nil {
			return nil, nil, err
		}
		siblings, top = climb(nil, hashes, int(height)%headerGroup, levels)
		return siblings, top, nil
	}
	if count%headerGroup != 0 {
		siblings, top, err := climbGroup(complete)
		if err != nil {
			return nil, root, err
		}
		tops = append(tops, top...)
		if at == complete {
			branch = siblings
		}
	}
	if at < complete {
		if branch, _, err = climbGroup(at); err != nil {
			return nil, root, err
		}
	}
	branch, tops = climb(branch, tops, at, wholeTree)
	return branch, tops[0], nil
}
