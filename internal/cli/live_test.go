package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/testnode/btcdtest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// liveSync is a database in memory that follows a source.
type liveSync struct {
	*core.DB
	stop func() error
}

func openRegtest(t testing.TB) *core.DB {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return openInMemory(t, chain, "address", "script_hash")
}

func openInMemory(t testing.TB, chain model.Chain, indexes ...string) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: indexes, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func follow(t *testing.T, source string, weight int) *liveSync {
	t.Helper()
	return followInto(t, openRegtest(t), source, weight)
}

// followInto makes a database follow a source in batches of the given weight, until stop is called or the test ends.
func followInto(t *testing.T, db *core.DB, source string, weight int) *liveSync {
	t.Helper()
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: source, Indexes: db.Indexes(), Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- core.Sync(ctx, db, src, core.SyncOptions{BatchWeight: weight}) }()
	stopped := false
	f := &liveSync{db, func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, src.Close())
	}}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// reaches waits until the tip of the database is the tip of the node.
func (f *liveSync) reaches(t *testing.T, node *btcdtest.Node) {
	t.Helper()
	until(t, "the node's tip", func() bool { return f.Tip().Hash == node.Tip(t).Hash })
}

// isFresh checks that the database equals a new one that is synced from the node.
func (f *liveSync) isFresh(t *testing.T, node *btcdtest.Node) {
	t.Helper()
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	fresh := openRegtest(t)
	syncInMemory(t, fresh, node.URL())
	equal(t, f.DB, fresh)
}

// syncInMemory syncs a database up to the tip of a source.
func syncInMemory(t testing.TB, db *core.DB, source string) {
	t.Helper()
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: source, Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
}

// equal checks that a database is consistent and equals a new one.
func equal(t *testing.T, db, fresh *core.DB) {
	t.Helper()
	if string(dumpOf(t, db)) != string(dumpOf(t, fresh)) {
		t.Error("the database differs from a new one")
	}
	checkDB(t, db)
}

// checkDB fails the test if check finds an inconsistency.
func checkDB(t *testing.T, db *core.DB) {
	t.Helper()
	a, err := db.Check(t.Context(), check.Options{})
	if err != nil || !a.OK {
		t.Errorf("check: %+v, %v", a, err)
	}
}

// Forks of any depth on a real node, over RPC and from a peer. First the node switches to a branch that is
// shorter at first, then directly to a longer one. The branches spend different outputs.
func TestForksOfANodeAreFollowed(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, depth := range []int{1, 101} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			t.Parallel()
			node := btcdtest.Start(t)
			miner := node.MineEveryScript(t, 140+depth)
			followers := []*liveSync{follow(t, node.URL(), 0), follow(t, "p2p://"+node.P2P, 0)}
			lost := 0
			for _, fork := range []func(){
				func() { miner.Fork(t, depth, depth+3) },
				func() { miner.Overtake(t, depth) },
			} {
				for _, f := range followers {
					f.reaches(t, node)
				}
				old := node.Tip(t)
				fork()
				lost += depth
				for _, f := range followers {
					f.reaches(t, node)
					// The list begins with the newest fork, from its lowest block up to the former tip.
					forks, err := f.Forks(t.Context(), query.Page{Limit: query.MaxLimit})
					if err != nil {
						t.Fatal(err)
					}
					if len(forks.Forks) != lost || forks.Forks[depth-1].Hash != f.Chain().FormatHash(old.Hash) {
						t.Errorf("%d orphaned blocks are listed, expected %d, the last of them %s", len(forks.Forks), lost, f.Chain().FormatHash(old.Hash))
					}
				}
			}
			for _, f := range followers {
				f.isFresh(t, node)
			}
		})
	}
}

// The node forks during the first sync, with small batches.
func TestForksDuringTheFirstSyncAreFollowed(t *testing.T) {
	slow(t)
	t.Parallel()
	node := btcdtest.Start(t)
	node.Generate(t, 2000)
	followers := []*liveSync{follow(t, node.URL(), 40), follow(t, "p2p://"+node.P2P, 40)}
	for range 4 {
		node.Fork(t, 300, 310)
	}
	for _, f := range followers {
		f.reaches(t, node)
		f.isFresh(t, node)
	}
}

// A sync waits for a node that is killed and restarts.
func TestASyncSurvivesARestartOfItsNode(t *testing.T) {
	slow(t)
	for _, way := range []string{"rpc", "p2p"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			node := btcdtest.Start(t)
			node.Generate(t, 1500)
			source := node.URL()
			if way == "p2p" {
				source = "p2p://" + node.P2P
			}
			f := follow(t, source, 40)
			until(t, "the first blocks", func() bool { return f.Tip().Height > 0 })
			node.Kill(t)
			node.Restart(t)
			node.Generate(t, 5)
			f.reaches(t, node)
			f.isFresh(t, node)
		})
	}
}

// Blocks from a peer, by JSON-RPC in batches, and by single calls. bench/RESULTS.md has figures.
func BenchmarkSourcesOfANode(b *testing.B) {
	node := btcdtest.Start(b)
	node.MineEveryScript(b, 300)
	node.Generate(b, 1700)
	tip := node.Tip(b)
	from := func(source string) func(*core.DB) { return func(db *core.DB) { syncInMemory(b, db, source) } }
	singly := func(db *core.DB) {
		for h := range int64(tip.Height) + 1 {
			hash, err := node.Client.GetBlockHash(h)
			if err != nil {
				b.Fatal(err)
			}
			raw := node.Block(b, model.Hash(*hash))
			for block, err := range db.Chain().Decode(b.Context(), bytes.NewReader(raw), db.Indexes(), model.HeightPk(h)) {
				if err == nil {
					err = db.Append(b.Context(), []*model.Block{block})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for _, way := range []struct {
		name string
		sync func(*core.DB)
	}{{"peer", from("p2p://" + node.P2P)}, {"batches", from(node.URL())}, {"single", singly}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				db := openRegtest(b)
				if way.sync(db); db.Tip() != tip {
					b.Errorf("the tip is %d, expected %d", db.Tip().Height, tip.Height)
				}
			}
		})
	}
}

// babbler is a peer that sends endless garbage.
func babbler(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for garbage := bytes.Repeat([]byte("garbage "), 8<<10); err == nil; {
					_, err = conn.Write(garbage)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// sourceFails runs a sync that must fail because of its source. The code and the last line of the log must match the
// patterns. Earlier lines may have messages about peers.
func sourceFails(t *testing.T, code, pattern string, args ...string) {
	t.Helper()
	r := birthmark(append([]string{"--json", "sync", "--source-wait", "0"}, args...)...)
	var f failure
	if err := json.Unmarshal([]byte(r.stdout), &f); err != nil || r.status != exitSource || !regexp.MustCompile("^("+code+")$").MatchString(f.Error.Code) ||
		!regexp.MustCompile(pattern).MatchString(f.Error.Message) || !strings.HasSuffix(r.stderr, "birthmark: "+f.Error.Message+"\n") {
		t.Errorf("sync %s: %+v, expected %s: %s (%v)", strings.Join(args, " "), r, code, pattern, err)
	}
}

// The log names a peer that sends invalid data. Other peers replace it. If there are none, the sync fails.
func TestPeersThatLieAreReplaced(t *testing.T) {
	slow(t)
	t.Parallel()
	node, liar := btcdtest.Start(t), babbler(t)
	node.Generate(t, 300)
	dir := t.TempDir()
	sourceFails(t, "bad_peer", regexp.QuoteMeta(liar), "--chain", "bitcoin", "--network", "regtest", "--db", filepath.Join(dir, "none"), "--source", "p2p://"+liar)
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a source that never responded created a database: %v", err)
	}

	db := filepath.Join(dir, "db")
	syncTo(t, db, "p2p://"+liar+","+node.P2P, "--network", "regtest")
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	if status.Tip == nil || status.Tip.Height != 300 {
		t.Errorf("the tip is %+v", status.Tip)
	}
	consistent(t, db)

	// The database keeps its blocks, also if a later sync has another source.
	digest := digestOf(t, db)
	sourceFails(t, "bad_peer", regexp.QuoteMeta(liar), "--db", db, "--source", "p2p://"+liar)
	sourceFails(t, "unauthorized", "wrong password", "--db", db, "--source", "http://user:guess@"+node.RPC)
	sourceFails(t, "wrong_network", "node of bitcoin regtest", "--chain", "bitcoin", "--db", filepath.Join(dir, "main"), "--source", node.URL())
	sourceFails(t, "unreachable", "mainnet", "--chain", "bitcoin", "--db", filepath.Join(dir, "main"), "--source", "p2p://"+node.P2P)
	same(t, db, digest)
}
