package daemon

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"birthmark/api/served"
	"birthmark/core/coretest"
	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// No page, no metric and no check of a monitor reads more rows the more blocks the chain has, apart from the steps of
// binary searches. The rich list of the coin is the exception: it compares all values.
func TestRowsReadByRequestsDoNotGrowWithTheChain(t *testing.T) {
	const few, many, searches = 600, 3000, 256 // a step of a search by time reads 64 blocks
	chain := coretest.UniformChain.Chain("one")
	blocks := coretest.Uniform(2)
	block, tx := chain.FormatHash(blocks[1].Hash), chain.FormatHash(blocks[1].Txs[0].Hash)
	out := blocks[1].Txs[0].Outputs[0]
	asset := chain.FormatAsset(out.Assets[0].ID)
	index, value := modeltest.IndexNames[out.Keys[0].Index], chain.Indexes()[out.Keys[0].Index].Format(out.Keys[0].Value)
	paths := []string{
		"/metrics", "/healthz", "/readyz", "/", "/one", "/one/status", "/one/blocks", "/one/block/1", "/one/block/" + block,
		"/one/tx/" + tx, "/one/" + index + "/" + value, "/one/asset/" + asset, "/one/assets", "/one/values/" + index,
		"/one/forks", "/one/search?q=" + block, "/v1", "/v1/search?q=" + block, "/v1/one", "/v1/one/status", "/v1/one/tip",
		"/v1/one/indexes", "/v1/one/blocks", "/v1/one/block/tip", "/v1/one/block/1", "/v1/one/tx/" + tx,
		"/v1/one/output/" + tx + ":0", "/v1/one/find/" + index + "/" + value, "/v1/one/history/" + index + "/" + value,
		"/v1/one/balance/" + index + "/" + value, "/v1/one/asset/" + asset, "/v1/one/asset/" + asset + "/holders",
		"/v1/one/asset/" + asset + "/events", "/v1/one/assets", "/v1/one/values/" + index, "/v1/one/forks",
		"/v1/one/search?q=" + value,
	}
	read := map[string]int64{}
	for _, n := range []int{few, many} {
		store := &coretest.RowCounter{Store: memory.New()}
		db := coretest.Open(t, store, coretest.UniformChain, 1<<20)
		coretest.AppendAll(t, db, coretest.Uniform(n), 300)
		host := &Host{Log: slog.New(slog.DiscardHandler), Console: &progress.Console{}, Now: time.Now, Version: "v1"}
		s, err := host.Listen(config.Default(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		c := newHandle(host, db).chain(db.Chain())
		c.Name = "one"
		if err := s.wire(t.Context(), []*served.Chain{c}); err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			before := store.Rows.Load()
			if w := get(s, path); w.Code >= 400 {
				t.Errorf("%s: %d %s", path, w.Code, strings.TrimSpace(w.Body.String()))
			}
			rows := store.Rows.Load() - before
			if n == few {
				read[path] = rows
			} else if rows > read[path]+searches {
				t.Errorf("%s reads %d rows of %d blocks and %d rows of %d", path, read[path], few, rows, many)
			}
		}
		if read["/metrics"] == 0 || read["/one"] == 0 {
			t.Error("no rows are counted")
		}
	}
}
