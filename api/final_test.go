package api_test

import (
	"fmt"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// An answer that caches may store for ever stays the same, byte for byte, after any number of blocks and after any
// reorganization that is not deeper than the setting.
func TestImmutableAnswersNeverChange(t *testing.T) {
	testrun.Slow(t)
	const deep = 4
	for _, variant := range modeltest.Variants()[:2] { // the variants with raw transactions
		t.Run(variant.Name, func(t *testing.T) {
			rng := testseed.Rand(t)
			db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: variant.Chain("one"), Raw: variant.Raw})
			if err != nil {
				t.Fatal(err)
			}
			h := newAPI(t, api.Options{Chains: []*served.Chain{of("one", db)}, ImmutableDepth: deep})
			const immutable = "public, max-age=31536000, immutable"
			kept := map[string]string{}
			kinds := map[string]int{}
			request := func(path string) {
				w := ask(h, "GET", "/v1/one/"+path, "")
				before, known := kept[path]
				if known && (w.Code != 200 || w.Body.String() != before) {
					t.Fatalf("%s: %d %s\nbefore: %s", path, w.Code, w.Body, before)
				}
				if w.Header().Get("Cache-Control") != immutable {
					return
				}
				kept[path] = w.Body.String()
				kind := strings.Split(path, "/")[0]
				if strings.HasSuffix(path, "/raw") {
					kind = "raw"
				}
				kinds[kind]++
				etag := w.Header().Get("Etag")
				if same := ask(h, "GET", "/v1/one/"+path, "", "If-None-Match", etag); same.Code != 304 || same.Header().Get("Cache-Control") != immutable {
					t.Errorf("%s: %d %v, expected 304", path, same.Code, same.Header())
				}
			}
			type state struct {
				point model.Point
				next  *modeltest.Generator
			}
			states := []state{{db.Tip(), variant.NewGenerator(rng.Uint64())}}
			hashes, longest := map[string]bool{}, 0
			for range 40 {
				// Blocks below the depth of immutability stay, even if several reorganizations follow each other.
				if keep := len(states) - rng.IntN(deep+1); rng.IntN(3) == 0 && keep >= max(2, longest-deep) {
					states = states[:keep]
					if err := db.Rollback(t.Context(), states[len(states)-1].point); err != nil {
						t.Fatal(err)
					}
				}
				for range 1 + rng.IntN(3) {
					g := states[len(states)-1].next.Fork(rng.Uint64())
					blocks := g.Blocks(1)
					if err := db.Append(t.Context(), blocks); err != nil {
						t.Fatal(err)
					}
					states = append(states, state{db.Tip(), g})
					for i := range blocks[0].Txs {
						hashes[db.Chain().FormatHash(blocks[0].Txs[i].Hash)] = true
					}
				}
				longest = max(longest, len(states))
				for _, s := range states[1:] {
					hash := db.Chain().FormatHash(s.point.Hash)
					for _, ref := range []string{hash, fmt.Sprint(s.point.Height)} {
						if rng.IntN(4) == 0 {
							request("block/" + ref)
							request("block/" + ref + "/totals")
						}
					}
				}
				for hash := range hashes {
					if rng.IntN(8) == 0 {
						request("tx/" + hash + "/raw")
						request("tx/" + hash)
						request("output/" + hash + ":0")
					}
				}
				for _, path := range []string{"block/tip", "block/latest", "status", "blocks?height_to=1", "indexes", "forks", "values/address"} {
					request(path)
				}
			}
			for path := range kept {
				request(path)
			}
			if len(kinds) != 2 || kinds["block"] < 20 || kinds["raw"] < 20 {
				t.Errorf("immutable answers by kind: %v", kinds)
			}
			coretest.Consistent(t, db)
		})
	}
}
