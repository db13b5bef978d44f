package explorer

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query/pointers"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// Each page that has details only with raw transactions has a sentence without them, which names the command that adds
// them. Pages of other kinds do not have it, and no page has it with them.
func TestPagesThatLackDetailsNameRawTransactions(t *testing.T) {
	const sentence = "Details need raw transactions, which this database does not have: run birthmark index add raw."
	lack, say := map[string]bool{}, map[string]bool{} // kinds of pages
	for _, name := range []string{"bitcoin", "cardano", "ergo"} {
		t.Run(name, func(t *testing.T) {
			made, err := generate.Write(t.Context(), name, t.TempDir(), generate.Options{Seed: testseed.Of(t, 1),
				Txs: 400, AllParts: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := chains.New(name, made.Network)
			if err != nil {
				t.Fatal(err)
			}
			served := func(raw bool) http.Handler {
				db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: raw,
					CacheBytes: 8 << 20})
				if err != nil {
					t.Fatal(err)
				}
				src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + made.Path,
					Indexes: db.Indexes(), Raw: raw})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
					t.Fatal(err)
				}
				return explorerOf(t, chainOf(name, db, nil))
			}
			bare := served(false)
			crawled(t, served(true), "/"+name, 80, func(d *document) {
				kind := kindOf(d.path)
				if kind == "status" || strings.Contains(d.path, "sort=") { // of the storage; orders that need sizes
					return
				}
				other := read(t, bare, d.path, http.StatusOK).main()
				text, says := strings.CutSuffix(other, " "+sentence)
				if strings.Contains(d.main(), sentence) || strings.Contains(text, sentence) {
					t.Errorf("%s has the sentence", d.path)
				}
				say[kind] = say[kind] || says
				if text == d.main() {
					return
				}
				if lack[kind] = true; !says {
					t.Errorf("%s lacks details, and has no sentence:\n%s\nwith raw transactions:\n%s", d.path, text,
						d.main())
				}
			})
		})
	}
	lack["asset"] = true     // generated assets have no metadata
	lack["producers"] = true // generated coinbases name no mining pool
	maps.DeleteFunc(say, func(_ string, says bool) bool { return !says })
	if !maps.Equal(say, lack) || len(say) != 7 {
		t.Errorf("pages of the kinds %v have the sentence, pages of the kinds %v lack details", say, lack)
	}
}

// silentNode does not answer.
type silentNode struct{}

func (silentNode) RawTx(context.Context, model.Point, int, model.Hash) ([]byte, error) {
	return nil, model.Errorf(model.BadSource, "unreachable", "the node does not answer")
}

func (silentNode) Close() error { return nil }

// Every page can be read if raw transactions are in the files of a node, which no longer has them or does not answer. It
// lacks details. Orders of transactions that need sizes are errors that name the file or the block.
func TestPagesWithoutTheFilesOfANode(t *testing.T) {
	made, err := generate.Write(t.Context(), "bitcoin", t.TempDir(), generate.Options{Seed: testseed.Of(t, 2), Txs: 400, AllParts: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New("bitcoin", made.Network)
	if err != nil {
		t.Fatal(err)
	}
	synced := func(places bool) *core.DB {
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, RawFiles: true, CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + made.Path, Indexes: db.Indexes(), Places: places})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
		return db
	}
	whole, placeless, silent := synced(true), synced(false), synced(false)
	silent.SetRawAccess(pointers.RawAccess{Node: silentNode{}})
	before := map[string]string{} // by path
	crawled(t, explorerOf(t, chainOf("bitcoin", whole, nil)), "/bitcoin", 120, func(d *document) { before[d.path] = d.main() })
	files, err := filepath.Glob(filepath.Join(made.Path, "blk*.dat"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, f := range files {
		if err := os.Truncate(f, 0); err != nil { // the reader can have it open
			t.Fatal(err)
		}
	}
	for db, want := range map[*core.DB]struct {
		status int
		text   string
	}{whole: {404, "blk"}, placeless: {404, "the place of block"}, silent: {502, "does not answer"}} {
		h, lack := explorerOf(t, chainOf("bitcoin", db, nil)), 0
		for path, text := range before {
			if strings.Contains(path, "sort=feerate") || strings.Contains(path, "sort=size") {
				read(t, h, path, want.status).has(t, want.text)
				continue
			}
			if read(t, h, path, http.StatusOK).main() != text {
				lack++
			}
		}
		if lack < 3 {
			t.Errorf("%d of %d pages lack details", lack, len(before))
		}
	}
}
