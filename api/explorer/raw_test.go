package explorer

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core"
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
