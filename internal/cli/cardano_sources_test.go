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

// following runs a sync that follows, until it is stopped.
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

// preview is blocks of preview from its first on, and databases of them in a folder.
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

// sync brings a database to the tip of a source and returns its path.
func (p *preview) sync(t *testing.T, db, source string, more ...string) string {
	t.Helper()
	ask(t, nil, append([]string{"sync"}, p.args(db, source, more...)...)...)
	return filepath.Join(p.dir, db)
}

// A node of preview goes back by any depth, right after an intersection or while it is followed: the database goes with
// it, as deep as the node does and no deeper.
func TestRollbacksOfPreview(t *testing.T) {
	slow(t)
	t.Parallel()
	p := openPreview(t)
	blocks := p.blocks[:4000]
	last := len(blocks) - 1
	n := ouroborostest.Start(t, 2, blocks)
	// What the chain is so many blocks before its end, from files.
	before := map[int]string{}
	for _, depth := range slices.Backward(append([]int{0}, forkDepths...)) {
		before[depth] = digestOf(t, p.sync(t, "files", p.files, "--to-height", strconv.Itoa(last-depth)))
	}
	for side, source := range sides(n) {
		n.CutAfter(1234) // and it goes on by itself
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

// Byron, with a boundary block before everything, over both protocols.
func TestMainnetsFirstChunkFromANode(t *testing.T) {
	slow(t)
	t.Parallel()
	chunk := testblocks.Path(t, "cardano", "daedalus-turbo", "chunk-registry", "compressed", "chunk", "526D*.zstd")
	genesis := testblocks.Path(t, "cardano", "genesis", "mainnet")
	blocks, err := ouroborostest.Chunks(chunk)
	if err != nil {
		t.Fatal(err)
	}
	n := ouroborostest.Start(t, 764824073, blocks)
	dir := t.TempDir()
	digest := ""
	for _, source := range []string{"file://" + chunk, n.TCP(), n.Unix()} {
		db := filepath.Join(dir, source[:4])
		ask(t, nil, "sync", "--chain", "cardano", "--network", genesis, "--source", source, "--db", db)
		if digest == "" {
			digest = digestOf(t, db)
		}
		same(t, db, digest)
	}
}

// A node knows blocks by slot and hash: a database is compared with it from block to block, and a row that is harmed is
// named.
func TestVerifyOfCardanoWithANode(t *testing.T) {
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
