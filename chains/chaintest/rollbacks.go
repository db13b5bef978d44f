package chaintest

import (
	"fmt"
	"testing"

	"birthmark/model"
)

// rollbacks checks a source whose chain has forked from the known points at any depth: it yields one rollback to the
// fork and then its blocks, and returns each of them by height or parent. Raw transactions hash to their ids.
func (f *Fixture) rollbacks(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 5, 9} {
		network, ours, theirs := f.Branches(t, depth)
		c := f.chain(t, network)
		old, _ := follow(t, c, ours, nil)
		want, _ := follow(t, c, theirs, nil)
		if depth >= len(old) {
			t.Fatalf("%d blocks, expected more than %d", len(old), depth)
		}
		known := make([]model.Point, len(old))
		for i, b := range old {
			known[len(old)-1-i] = b.Point()
		}
		got, rollbacks := follow(t, c, theirs, known)
		kept := len(old) - depth
		if depth == 0 && len(rollbacks) != 0 || depth > 0 && (len(rollbacks) != 1 || rollbacks[0] != known[depth]) {
			t.Errorf("%d blocks orphaned: rollbacks %v, expected one to %v", depth, rollbacks, known[depth])
		}
		if len(got) != len(want)-kept {
			t.Fatalf("%d blocks orphaned: %d new blocks, expected %d", depth, len(got), len(want)-kept)
		}
		for i, b := range got {
			if fmt.Sprint(*b) != fmt.Sprint(*want[kept+i]) {
				t.Errorf("%d blocks orphaned: block %d differs from that of a first sync", depth, b.Height)
			}
		}
	}
}

// follow reads a source from the known points to its end.
func follow(t *testing.T, c model.Chain, uri string, known []model.Point) (blocks []*model.Block, rollbacks []model.Point) {
	t.Helper()
	src, err := c.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: names(c), Known: known, Workers: 3, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range src.Follow(t.Context(), known) {
		switch {
		case err != nil:
			t.Fatalf("%s: %v", uri, err)
		case e.Rollback != nil:
			rollbacks = append(rollbacks, *e.Rollback)
		default:
			blocks = append(blocks, e.Block)
		}
	}
	hasher, hashes := c.(model.TxHasher)
	reader, reads := src.(model.BlockReader)
	parents, readsChildren := src.(model.ChildReader)
	for n, b := range blocks {
		for i := range b.Txs {
			if len(b.Txs[i].Raw) == 0 {
				t.Fatalf("%s: transaction %d of block %d has no bytes", uri, i, b.Height)
			}
			if hashes {
				if h, err := hasher.HashTx(b.Txs[i].Raw); err != nil || h != b.Txs[i].Hash {
					t.Fatalf("%s: transaction %d of block %d hashes to %s, %v", uri, i, b.Height, c.FormatHash(h), err)
				}
			}
		}
		if reads {
			if at, err := reader.BlockAt(t.Context(), b.Height); err != nil || fmt.Sprint(at.Txs) != fmt.Sprint(b.Txs) || at.Hash != b.Hash {
				t.Fatalf("%s: block %d by height differs: %v", uri, b.Height, err)
			}
		}
		if readsChildren && (n > 0 || b.Height == 0) {
			var parent model.Point
			if n > 0 {
				parent = blocks[n-1].Point()
			}
			if child, err := parents.Child(t.Context(), parent); err != nil || fmt.Sprint(*child) != fmt.Sprint(*b) {
				t.Fatalf("%s: block %d differs as the child of its parent: %v", uri, b.Height, err)
			}
		}
	}
	return blocks, rollbacks
}
