package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/core/query"
	"birthmark/core/verify"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/storage"
)

func cardanoStatus(t *testing.T, db string) (a query.StatusAnswer) {
	t.Helper()
	ask(t, &a, "status", "--db", db)
	if a.Tip == nil {
		t.Fatalf("%s has no tip", db)
	}
	return a
}

// following runs `birthmark sync --follow` until stop is called.
func following(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"birthmark", "sync", "--follow"}, args...), strings.NewReader(""), io.Discard, io.Discard)
	}()
	stop = func() {
		cancel()
		if status := <-ended; status != exitDone {
			t.Errorf("birthmark sync --follow %s: status %d", strings.Join(args, " "), status)
		}
		ended <- exitDone
	}
	t.Cleanup(stop)
	return stop
}

// preview contains blocks of preview, from its first, and a folder for databases of them.
type preview struct {
	files  string // URI
	blocks []ouroborostest.Block
	dir    string
}

func openPreview(t *testing.T) *preview {
	t.Helper()
	return &preview{"file://" + testblocks.Path(t, "cardano", "dingo-immutable"), previewBlocks(t), t.TempDir()}
}

func (p *preview) args(db, source string, more ...string) []string {
	return append([]string{"--chain", "cardano", "--network", "preview", "--db", filepath.Join(p.dir, db), "--source", source, "--index", everyCardanoIndex}, more...)
}

// sync syncs a database up to the tip of a source and returns its path.
func (p *preview) sync(t *testing.T, db, source string, more ...string) string {
	t.Helper()
	ask(t, nil, append([]string{"sync"}, p.args(db, source, more...)...)...)
	return filepath.Join(p.dir, db)
}

// A node of preview rolls back by any depth, right after an intersection or while it is followed. The database rolls
// back to the same block.
func TestRollbacksOfPreviewAreFollowed(t *testing.T) {
	slow(t)
	t.Parallel()
	p := openPreview(t)
	blocks := p.blocks[:4000]
	last := len(blocks) - 1
	n := ouroborostest.Start(t, 2, blocks)
	// The chain without its last depth blocks, from files.
	before := map[int]string{}
	for _, depth := range slices.Backward(append([]int{0}, forkDepths...)) {
		before[depth] = digestOf(t, p.sync(t, "files", p.files, "--to-height", strconv.Itoa(last-depth)))
	}
	for side, source := range sides(n) {
		n.CutAfter(1234) // the sync resumes by itself
		db := p.sync(t, side, source)
		same(t, db, before[0])
		lost := func(depth int) {
			t.Helper()
			var a query.ForksAnswer
			ask(t, &a, "forks", "--db", db, "--limit", "1")
			if len(a.Forks) != 1 || a.Forks[0].Depth != depth || a.Forks[0].Height != uint32(last+1-depth) {
				t.Errorf("%s, %d blocks deep: %+v", side, depth, a.Forks)
			}
		}
		for _, depth := range forkDepths {
			n.AfterIntersection(func() { n.Rollback(last + 1 - depth) })
			p.sync(t, side, source)
			same(t, db, before[depth])
			lost(depth)
			n.Extend(blocks[last+1-depth:]...)
			p.sync(t, side, source)
		}
		same(t, db, before[0])

		stop := following(t, p.args(side, source)...)
		reaches := func(height int) {
			t.Helper()
			until(t, "block "+strconv.Itoa(height), func() bool { return n.Waiting() == 1 && cardanoStatus(t, db).Tip.Height == uint32(height) })
		}
		for _, depth := range forkDepths {
			reaches(last)
			n.Rollback(last + 1 - depth)
			reaches(last - depth)
			lost(depth)
			n.Extend(blocks[last+1-depth:]...)
		}
		reaches(last)
		stop()
		same(t, db, before[0])
		consistent(t, db)
	}
}

// Nodes find blocks by slot and hash: verify compares each block with the node, and reports a damaged row.
func TestVerifyComparesCardanoWithANode(t *testing.T) {
	slow(t)
	b := newBranch()
	b.mine(t, 250)
	other := b.fork(1)
	other.mine(t, 40)
	b.mine(t, 50)
	t.Setenv("BIRTHMARK_NETWORK", b.network(t))
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, b.blocks[:280])
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--db", db, "--source", n.TCP())
	n.Extend(b.blocks[280:]...)
	totals := cardanoStatus(t, db).Totals
	for side, source := range sides(n) {
		var a verify.Result
		ask(t, &a, "verify", "--db", db, "--source", source, "--sample", "1000")
		if !a.OK || a.Blocks != 280 || a.Inputs != totals.Inputs || a.Outputs != totals.Outputs+totals.GenesisOutputs || a.Behind != 20 {
			t.Errorf("%s: %+v of %+v", side, a, totals)
		}
	}
	switchTo(n, other, 250)
	for side, source := range sides(n) {
		if a := differing(t, "--db", db, "--source", source, "--sample", "1000"); a.PartsAt == nil || *a.PartsAt != 250 {
			t.Errorf("%s: %+v", side, a)
		}
	}
	switchTo(n, b, 250)
	blocks := storage.Declaration{Family: 1, Name: "block_by_height_pk", Access: storage.Ordered}
	harm(t, db, blocks, []byte{0, 0, 0, 100}, func(v []byte) []byte { v[0] ^= 1; return v })
	for side, source := range sides(n) {
		a := differing(t, "--db", db, "--source", source, "--sample", "1000")
		if d := a.Differences[0]; d.Height != 100 || d.Tx != "" {
			t.Errorf("%s: %+v", side, a.Differences)
		}
	}
}
