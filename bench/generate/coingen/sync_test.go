package coingen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/params"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage/memory"
)

// open opens a database of a coin with every index and option.
func open(t *testing.T, c *coingen.Coin) *core.DB {
	t.Helper()
	chain, err := bitcoin.Open(c.Spec, c.Network)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	keep := map[string]model.IndexOptions{}
	for _, x := range chain.Indexes() {
		names = append(names, x.Name)
		keep[x.Name] = model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true}
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: names, Keep: keep, Raw: true, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// follow syncs a database from a source, in batches of at most the given weight.
func follow(t *testing.T, db *core.DB, uri string, weight int) {
	t.Helper()
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes(), Raw: true, Wait: testrun.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{BatchWeight: weight}); err != nil {
		t.Fatal(err)
	}
}

// Databases from files, JSON-RPC, REST and peers are equal and consistent, also after a fork.
func TestGeneratedChainsOfEveryCoin(t *testing.T) {
	for _, c := range coingen.Coins {
		t.Run(c.Spec.Name, func(t *testing.T) { syncs(t, c) })
	}
}

func syncs(t *testing.T, c *coingen.Coin) {
	o := coingen.Options{Seed: 11, TxsPerBlock: 8}
	blocks, depth := testrun.Amount(120, 30), 17
	made, other := coingen.New(c, o), coingen.Replay(c, o, blocks-depth)
	for range blocks {
		made.Next()
	}
	for range depth + 2 {
		other.Next()
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "blk00000.dat")
	put := func(file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(made.File())
	files := open(t, c)
	follow(t, files, "file://"+dir, 300)
	coretest.Consistent(t, files)
	check(t, files, made)
	put(append(made.File(), other.File()...))
	follow(t, files, "file://"+dir, 0)
	coretest.Consistent(t, files)
	check(t, files, other)

	fresh := open(t, c)
	put(other.File())
	follow(t, fresh, "file://"+dir, 0)
	want := coretest.Dump(t, fresh)
	for _, name := range []string{"JSON-RPC", "REST", "peer"} {
		db, served := open(t, c), made
		blocks := func() [][]byte { return served.Blocks() }
		url := ""
		switch network := networkOf(c); {
		case name != "peer":
			url = cointest.Node(t, c.Spec.Format, name == "REST", blocks)
		case network.Peers == nil:
			continue
		default:
			url = (&cointest.Peer{Network: network, Blocks: blocks}).Start(t)
		}
		follow(t, db, url, 500)
		served = other
		follow(t, db, url, 0)
		coretest.Same(t, name, coretest.Dump(t, db), want)
	}
}

// networkOf returns the generated network of a coin.
func networkOf(c *coingen.Coin) *params.Network {
	i := slices.IndexFunc(c.Spec.Networks, func(n *params.Network) bool { return n.Name == c.Network })
	return c.Spec.Networks[i]
}

// check compares the totals of a database with the generated chain.
func check(t *testing.T, db *core.DB, made *coingen.Chain) {
	t.Helper()
	status, err := db.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkAssets(t, db, made)
	want, got := made.Made(), status.Totals
	if db.Tip() != made.Tip() || got.Blocks != uint64(want.Blocks) || got.Txs != uint64(want.Txs) ||
		got.Inputs != uint64(want.Inputs) || got.Outputs != uint64(want.Outputs) || got.Assets != uint64(want.Assets) {
		t.Errorf("tip %v, totals %+v; made %v, %+v", db.Tip(), got, made.Tip(), want)
	}
}

// checkAssets compares the supply of every asset: issued − burned = held, and equal to the sum of the holders.
func checkAssets(t *testing.T, db *core.DB, made *coingen.Chain) {
	t.Helper()
	for id, want := range made.Assets() {
		text := db.Chain().FormatAsset([]byte(id))
		got, err := db.Asset(t.Context(), text)
		held := fmt.Sprint(made.Held(id))
		if err != nil || got.Minted != fmt.Sprint(want.Issued) || got.Burned != fmt.Sprint(want.Burned) || got.Supply != held {
			t.Fatalf("%s: %+v, %v, expected %+v and %s held", text, got, err, want, held)
		}
		holders, err := db.AssetHolders(t.Context(), text, query.Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for _, h := range holders.Holders {
			amount, err := strconv.ParseUint(h.Amount, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += amount
		}
		if fmt.Sprint(sum) != held {
			t.Fatalf("%s: the holders have %d, expected %s", text, sum, held)
		}
	}
}

// Supply, issued, burned and held amounts agree after every block and after every rollback.
func TestAssetsAddUpAfterEveryBlock(t *testing.T) {
	testrun.Slow(t)
	for _, c := range coingen.Coins {
		if !c.Spec.Assets {
			continue
		}
		t.Run(c.Spec.Name, func(t *testing.T) {
			o := coingen.Options{Seed: 23, TxsPerBlock: 20}
			made, db := coingen.New(c, o), open(t, c)
			url := cointest.Node(t, c.Spec.Format, false, func() [][]byte { return made.Blocks() })
			var dumps []coretest.Dumped
			var tips []model.Point
			for range 40 {
				made.Next()
				follow(t, db, url, 0)
				checkAssets(t, db, made)
				dumps, tips = append(dumps, coretest.Dump(t, db)), append(tips, db.Tip())
			}
			if len(made.Assets()) < 10 {
				t.Errorf("only %d assets", len(made.Assets()))
			}
			for i := len(tips) - 2; i >= 0; i-- {
				coretest.Rollback(t, db, tips[i])
				coretest.Same(t, "rolled back", coretest.Dump(t, db), dumps[i])
			}
			coretest.Consistent(t, db)
		})
	}
}
