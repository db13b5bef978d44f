package api_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"birthmark/api"
	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// While the chain grows and forks, every answer matches the tip that it names: the tip block is that tip, and equal
// ETags imply equal answers.
func TestAnswersMatchTheTipThatTheyName(t *testing.T) {
	n := testseed.Of(t, 902)
	v := modeltest.Variants()[0]
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Raw: v.Raw})
	if err != nil {
		t.Fatal(err)
	}
	g := v.NewGenerator(n)
	blocks := g.Blocks(10)
	if err := db.Append(t.Context(), blocks); err != nil {
		t.Fatal(err)
	}
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"one": db})
	paths := []string{"block/tip", "status", "blocks?order=desc&limit=1", "richest/address?limit=3", "values/tag?limit=4&order=desc"}
	var values query.ValuesAnswer
	if w := ask(h, "GET", "/v1/one/values/address?limit=15", ""); json.Unmarshal(w.Body.Bytes(), &values) != nil || len(values.Values) == 0 {
		t.Fatalf("no addresses: %d %s", w.Code, w.Body)
	}
	for i := range values.Values {
		x := &values.Values[i]
		of := "/address/" + x.Value
		paths = append(paths, "balance"+of, "find"+of, "find"+of+"?unspent=true", "history"+of+"?order=desc", "tx/"+x.FirstSeen.Tx)
	}
	done := make(chan struct{})
	var askers sync.WaitGroup
	for i := range 4 {
		askers.Go(func() {
			rng := rand.New(rand.NewPCG(n, uint64(i)))
			kept := map[string]string{} // answers by path and ETag
			for {
				select {
				case <-done:
					return
				default:
				}
				path := paths[rng.IntN(len(paths))]
				w := ask(h, "GET", "/v1/one/"+path, "")
				if !strings.HasPrefix(path, "tx/") { // its hash is not that of a block
					consistent(t, path, w)
				}
				etag := w.Header().Get("Etag")
				if before, ok := kept[path+etag]; ok && before != w.Body.String() {
					t.Errorf("%s: one ETag, two answers:\n%s%s", path, before, w.Body)
				}
				kept[path+etag] = w.Body.String()
			}
		})
	}
	rng := rand.New(rand.NewPCG(n, 9))
	at := []*modeltest.Generator{} // after each block from the tenth
	at = append(at, g)
	for i := range uint64(60) {
		next := at[len(at)-1].Fork(1 + i)
		if err := db.Append(t.Context(), next.Blocks(1)); err != nil {
			t.Fatal(err)
		}
		if at = append(at, next); rng.IntN(3) == 0 {
			keep := 1 + rng.IntN(len(at)-1)
			at = at[:max(keep, len(at)-3)]
			to, err := db.PointAt(t.Context(), blocks[9].Height+model.HeightPk(len(at)-1))
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Rollback(t.Context(), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	askers.Wait()
}

// consistent checks that the tip in an answer equals that in its headers.
func consistent(t *testing.T, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	var a struct {
		Hash   string
		Tip    struct{ Hash string }
		Blocks []struct{ Hash string }
	}
	if w.Code != 200 || json.Unmarshal(w.Body.Bytes(), &a) != nil {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
		return
	}
	tip := w.Header().Get("X-Tip")
	for _, said := range []string{a.Hash, a.Tip.Hash} {
		if said != "" && said != tip {
			t.Errorf("%s at tip %s has %s", path, tip, w.Body)
		}
	}
	if len(a.Blocks) > 0 && a.Blocks[0].Hash != tip {
		t.Errorf("%s at tip %s has %s", path, tip, w.Body)
	}
}

func TestEmptyDatabaseHasNoTip(t *testing.T) {
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: modeltest.Variants()[0].Chain("one")})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"one": db})
	w := ask(h, "GET", "/v1/one/assets", "", "If-None-Match", "*")
	if w.Code != 200 || w.Header().Get("X-Tip") != "" || w.Header().Get("Etag") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	wantProblem(t, ask(h, "GET", "/v1/one/block/tip", ""), 404, "unknown_block", "no tip")
	if w := ask(h, "GET", "/v1", ""); !strings.Contains(w.Body.String(), `"tip":null`) {
		t.Errorf("/v1: %s", w.Body)
	}
}

// ETags also depend on the indexes: a new index changes the ETag at the same tip.
func TestETagDependsOnIndexes(t *testing.T) {
	if realBlocks() == "" {
		t.Skip("real blocks are missing: run make blocks")
	}
	to := model.HeightPk(200)
	db, err := openBitcoin(t.Context(), nil, &to)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"bitcoin": db})
	const path = "/v1/bitcoin/output/" + firstPayment + ":1"
	before := ask(h, "GET", path, "")
	if err := db.AddIndex(t.Context(), "script_hash", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	if during := ask(h, "GET", path, "", "If-None-Match", before.Header().Get("Etag")); during.Code != 304 {
		t.Errorf("while it is being added: %d %v", during.Code, during.Header())
	}
	wantProblem(t, ask(h, "GET", "/v1/bitcoin/values/script_hash", ""), 503, "index_building", "script_hash")
	open := func(ctx context.Context, x *schema.Index, known []model.Point) (model.Source, error) {
		return db.Chain().Open(ctx, model.SourceOptions{URI: "file://" + realBlocks(), Indexes: []string{x.Name}, Known: known, To: &to})
	}
	if err := db.Build(t.Context(), open, backfill.Options{}); err != nil {
		t.Fatal(err)
	}
	after := ask(h, "GET", path, "", "If-None-Match", before.Header().Get("Etag"))
	if after.Code != 200 || after.Header().Get("X-Tip") != before.Header().Get("X-Tip") || !strings.Contains(after.Body.String(), "script_hash") {
		t.Errorf("%d %v %s", after.Code, after.Header(), after.Body)
	}
	if same := ask(h, "GET", path, "", "If-None-Match", after.Header().Get("Etag")); same.Code != 304 {
		t.Errorf("%d %v", same.Code, same.Header())
	}
}
