package ergo

import (
	"path/filepath"
	"reflect"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

// fork returns two chains that fork at height 5: mainnet's first 7 blocks, and 10 blocks. In the data, the second
// branch consists of blocks of mainnet with changed digits in their ids, so its hashes are invalid. Here it consists of
// blocks of mainnet with new headers.
func fork(t *testing.T) (shorter, longer []ergotest.Block) {
	t.Helper()
	shorter = byHand(t, "forks_shorter.txt")
	_, real := firstBlocks(t)
	if len(shorter) != 7 || shorter[6].ID != real[6].ID {
		t.Fatalf("%d blocks, expected mainnet's first 7", len(shorter))
	}
	longer = append(longer, shorter[:4]...)
	for _, b := range real[4:10] {
		b, err := ergotest.Rehead(b, longer[len(longer)-1].ID)
		if err != nil {
			t.Fatal(err)
		}
		longer = append(longer, b)
	}
	return shorter, longer
}

func byHand(t *testing.T, name string) []ergotest.Block {
	t.Helper()
	blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", name))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func TestRealForksAreFollowed(t *testing.T) {
	leaks(t)
	shorter, longer := fork(t)
	dir := t.TempDir()
	paths := map[string][]ergotest.Block{filepath.Join(dir, "shorter"): shorter, filepath.Join(dir, "longer.gz"): longer}
	for path, blocks := range paths {
		if err := ergotest.WriteFile(path, blocks); err != nil {
			t.Fatal(err)
		}
		all := pointsOf(blocks)
		for _, known := range [][]ergotest.Block{nil, shorter, longer} {
			events, err := allOf(t, openAt(t, "mainnet", path), newestFirst(pointsOf(known))...)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			forked := known != nil && known[4].ID != blocks[4].ID
			if back := len(events) > 0 && events[0].Rollback != nil; back != forked || back && *events[0].Rollback != all[3] {
				t.Errorf("%s, %d known: %d events, rollbacks: %v", path, len(known), len(events), back)
			}
			if got := apply(t, pointsOf(known), events...); !reflect.DeepEqual(got, all) {
				t.Errorf("%s, %d known: %d blocks, expected %d", path, len(known), len(got), len(all))
			}
		}
	}
	n := ergotest.New(ergotest.Options{})
	n.Extend(shorter...)
	url := n.Start(t)
	for _, to := range [][]ergotest.Block{longer, shorter, longer} {
		before := pointsOf(shorter)
		if n.Tip() == longer[9].Point() {
			before = pointsOf(longer)
		}
		n.Switch(4, to[4:]...)
		events, err := allOf(t, openAt(t, "mainnet", url), newestFirst(before)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(t, before, events...); !reflect.DeepEqual(got, pointsOf(to)) || events[0].Rollback == nil || *events[0].Rollback != shorter[3].Point() {
			t.Errorf("switch to %d blocks: %d events, %d blocks", len(to), len(events), len(got))
		}
	}
	// The ids with changed digits are rejected.
	raw := byHand(t, "forks_longer.txt")
	path := fileOf(t, texts(raw...)...)
	events, err := allOf(t, openAt(t, "mainnet", path))
	failsWith(t, "ids made by hand", events, err, 4, "bad_block", "line 5", raw[4].ID.String())
}
