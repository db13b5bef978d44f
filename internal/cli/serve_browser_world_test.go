package cli

import (
	"context"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/testblocks"
	"birthmark/model"
	"birthmark/storage/memory"
)

// everyOption enables all options of an index, so that pages show everything.
var everyOption = model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true}

// synced returns a database in memory of a source up to a block; o has its indexes.
func synced(t *testing.T, name, network, uri string, to model.HeightPk, o core.Options) *core.DB {
	t.Helper()
	chain, err := testProgram(nil, nil, nil).NewChain(name, network)
	if err != nil {
		t.Fatal(err)
	}
	o.Chain, o.CacheBytes = chain, 16<<20
	db, err := core.Open(t.Context(), memory.New(), o)
	if err != nil {
		t.Fatal(err)
	}
	syncOn(t, db, uri, to)
	return db
}

// syncOn syncs a database up to a later block.
func syncOn(t *testing.T, db *core.DB, uri string, to model.HeightPk) {
	t.Helper()
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes(), Raw: db.KeepsRaw(), To: &to})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
}

func syncedBitcoin(t *testing.T, to model.HeightPk) *core.DB {
	return synced(t, "bitcoin", "mainnet", "file://"+realBlocks(t), to, core.Options{
		Indexes: []string{"address", "script_hash"}, Keep: map[string]model.IndexOptions{"address": everyOption},
	})
}

// syncedRaw returns a database in memory with raw transactions.
func syncedRaw(t *testing.T, name, network, uri string, to model.HeightPk) *core.DB {
	t.Helper()
	return synced(t, name, network, uri, to, core.Options{Raw: true})
}

// syncedPreset returns a database in memory with the indexes of the preset explorer and raw transactions, so that pages
// show everything. Addresses can be searched by prefix too.
func syncedPreset(t *testing.T, name, network, uri string, to model.HeightPk) *core.DB {
	t.Helper()
	s, err := config.Parse("birthmark.yaml", []byte("chain: "+name+"\nindexes: explorer\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	chain, err := testProgram(nil, nil, nil).NewChain(name, network)
	if err != nil {
		t.Fatal(err)
	}
	names, err := daemon.IndexesOf(set, chain)
	if err != nil {
		t.Fatal(err)
	}
	keep := set.IndexOptions()
	keep["address"] = everyOption
	return synced(t, name, network, uri, to, core.Options{Indexes: names, Keep: keep, Raw: true})
}

// explored returns databases of real blocks of every chain: Bitcoin, and Cardano and Ergo if their blocks are present. It
// starts no subtests, so that a selected subtest of the caller has all databases.
func explored(t *testing.T) []*core.DB {
	t.Helper()
	dbs := []*core.DB{syncedPreset(t, "bitcoin", "mainnet", "file://"+realBlocks(t), 14_131)}
	if path, ok := testblocks.Find(t, "cardano", "dingo-immutable"); ok {
		dbs = append(dbs, syncedPreset(t, "cardano", "preview", "file://"+path, 50_939))
	}
	if path, ok := testblocks.Find(t, "ergo", "ergo-uexplorer", "blocks_first.gz"); ok && len(dbs) == 2 {
		dbs = append(dbs, syncedPreset(t, "ergo", "mainnet", "file://"+path, 2000))
	}
	return dbs
}

// shownIn starts a server of databases and returns its URL. The test may write to the databases.
func shownIn(t *testing.T, dbs ...*core.DB) (url string) {
	t.Helper()
	return shownWith(t, config.Default(), dbs...)
}

func shownWith(t *testing.T, set *config.Settings, dbs ...*core.DB) (url string) {
	t.Helper()
	p := testProgram(strings.NewReader(""), t.Output(), t.Output())
	p.Settings = set
	server, err := p.Host(nil).Listen(p.Settings, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	began, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- server.ServeDatabases(ctx, dbs, func(ctx context.Context) error {
			close(began)
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-began
	return strings.TrimSuffix(server.URL(), "/")
}
