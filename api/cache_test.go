package api_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// counted serves a database of blocks and counts the snapshots that are opened.
func counted(t *testing.T, kept int) (h *site, db *core.DB, views *atomic.Int64, g *modeltest.Generator) {
	t.Helper()
	v := modeltest.Variants()[0]
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Raw: v.Raw})
	if err != nil {
		t.Fatal(err)
	}
	g = v.NewGenerator(7)
	if err := db.Append(t.Context(), g.Blocks(6)); err != nil {
		t.Fatal(err)
	}
	views = new(atomic.Int64)
	chain := of("one", db)
	chain.View = func(ctx context.Context, fn func(*query.View) error) error {
		views.Add(1)
		return db.View(ctx, fn)
	}
	return newAPI(t, api.Options{Chains: []*served.Chain{chain}, CacheBytes: kept}), db, views, g
}

// A repeated request is served from the cache until the tip changes.
func TestAnswersAreCachedUntilTheTipChanges(t *testing.T) {
	h, db, views, g := counted(t, 0)
	const path = "/v1/one/blocks?order=desc&limit=2"
	first := ask(h, "GET", path, "")
	if first.Code != 200 || views.Load() != 1 {
		t.Fatalf("%d, %d snapshots: %s", first.Code, views.Load(), first.Body)
	}
	again := ask(h, "GET", path, "")
	if again.Body.String() != first.Body.String() || fmt.Sprint(again.Header()) != fmt.Sprint(first.Header()) {
		t.Errorf("second request: %v %s, expected %v %s", again.Header(), again.Body, first.Header(), first.Body)
	}
	if head := ask(h, "HEAD", path, ""); head.Body.Len() > 0 || head.Header().Get("Content-Length") != first.Header().Get("Content-Length") {
		t.Errorf("HEAD: %v, %d bytes", head.Header(), head.Body.Len())
	}
	if same := ask(h, "GET", path, "", "If-None-Match", first.Header().Get("Etag")); same.Code != 304 || same.Body.Len() > 0 {
		t.Errorf("If-None-Match: %d, %d bytes", same.Code, same.Body.Len())
	}
	if n := views.Load(); n != 1 {
		t.Errorf("%d snapshots for one answer", n)
	}
	if other := ask(h, "GET", "/v1/one/blocks?order=desc&limit=1", ""); other.Body.String() == first.Body.String() {
		t.Errorf("another request has the same answer: %s", other.Body)
	}
	for _, path := range []string{"/v1/one/status", "/v1/one/block/999", "/v1/one/blocks?colour=red"} {
		before := views.Load()
		one, two := ask(h, "GET", path, ""), ask(h, "GET", path, "")
		if one.Code != two.Code || one.Code == 200 && views.Load() != before+2 {
			t.Errorf("%s, which must not be cached: %d, %d", path, one.Code, two.Code)
		}
	}

	tip := db.Tip()
	if err := db.Append(t.Context(), g.Fork(1).Blocks(1)); err != nil {
		t.Fatal(err)
	}
	if moved := ask(h, "GET", path, ""); moved.Body.String() == first.Body.String() || moved.Header().Get("X-Tip") == first.Header().Get("X-Tip") {
		t.Errorf("the answer after a new block is %s", moved.Body)
	}
	if err := db.Rollback(t.Context(), tip); err != nil {
		t.Fatal(err)
	}
	if back := ask(h, "GET", path, ""); back.Body.String() != first.Body.String() {
		t.Errorf("the answer after the rollback is %s, expected %s", back.Body, first.Body)
	}
}

// The cache stays within its limit, and does not store answers above a fraction of the limit.
func TestCacheSizeIsBounded(t *testing.T) {
	const most = 64 << 10
	h, _, views, _ := counted(t, most)
	page := func(limit int) string { return fmt.Sprintf("/v1/one/values/address?limit=%d", limit) }
	for limit := range 200 {
		if w := ask(h, "GET", page(limit+1), ""); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	small, before := ask(h, "GET", "/v1/one/blocks?limit=1", ""), views.Load()
	if ask(h, "GET", "/v1/one/blocks?limit=1", ""); views.Load() != before {
		t.Errorf("an answer of %d bytes is not cached, the limit is %d", small.Body.Len(), most)
	}
	if large := ask(h, "GET", page(100), ""); large.Body.Len() <= most/16 {
		t.Fatalf("the page has only %d bytes", large.Body.Len())
	}
	if before = views.Load(); ask(h, "GET", page(100), "").Code != 200 || views.Load() != before+1 {
		t.Error("an answer above a sixteenth of the limit is cached")
	}
	if n := h.CachedBytes(); n == 0 || n > most {
		t.Errorf("the cache has %d bytes, expected at most %d", n, most)
	}
	none, _, views, _ := counted(t, -1)
	ask(none, "GET", "/v1/one/block/1", "")
	if ask(none, "GET", "/v1/one/block/1", ""); views.Load() != 2 || none.CachedBytes() != 0 {
		t.Errorf("%d snapshots, %d bytes in a disabled cache", views.Load(), none.CachedBytes())
	}
}

// A cached block stays valid when the tip changes, until the block is orphaned.
func TestBlocksStayCachedWhileOnTheChain(t *testing.T) {
	h, db, _, g := counted(t, 0)
	under := db.Tip()
	if err := db.Append(t.Context(), g.Fork(1).Blocks(1)); err != nil {
		t.Fatal(err)
	}
	hash := db.Chain().FormatHash(db.Tip().Hash)
	first := ask(h, "GET", "/v1/one/block/"+hash, "")
	if first.Code != 200 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	kept := h.CachedBytes()
	for _, ref := range []string{"tip", "6"} {
		if w := ask(h, "GET", "/v1/one/block/"+ref, ""); w.Body.String() != first.Body.String() {
			t.Errorf("block %s is %s, expected %s", ref, w.Body, first.Body)
		}
	}
	if h.CachedBytes() != kept || kept < first.Body.Len() || kept > 2*first.Body.Len()+1000 {
		t.Errorf("the cache has %d, then %d bytes for a document of %d", kept, h.CachedBytes(), first.Body.Len())
	}
	if err := db.Rollback(t.Context(), under); err != nil {
		t.Fatal(err)
	}
	wantProblem(t, ask(h, "GET", "/v1/one/block/"+hash, ""), 404, "unknown_block", hash)
	if err := db.Append(t.Context(), g.Fork(2).Blocks(1)); err != nil {
		t.Fatal(err)
	}
	if other := ask(h, "GET", "/v1/one/block/6", ""); other.Code != 200 || other.Body.String() == first.Body.String() {
		t.Errorf("the answer after another block at its height is %d %s", other.Code, other.Body)
	}
	if err := db.Append(t.Context(), g.Fork(2).Blocks(2)[1:]); err != nil {
		t.Fatal(err)
	}
	if w := ask(h, "GET", "/v1/one/block/6", ""); w.Code != 200 || w.Header().Get("X-Tip-Height") != "7" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
