package explorer

import (
	"net/http"
	"testing"
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/seeded"
	"birthmark/model/modeltest"
)

// Every page that a link of another page leads to is there, and keeps the laws of pages.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	for _, v := range modeltest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			db := variant(t, v, v.NewGenerator(seeded.Of(t, 1)).Blocks(40))
			kinds := crawl(t, explorerOf(t, chainOf("made-up", db, nil)), "/made-up", 200)
			for _, kind := range []string{"", "block", "blocks", "tx", "output", "address", "index", "asset", "assets", "richest", "values", "forks", "status"} {
				if kinds[kind] == 0 {
					t.Errorf("no page of kind %q was read: %v", kind, kinds)
				}
			}
		})
	}
}

func TestRealChainsHaveAllTheirPages(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *core.DB{"bitcoin": bitcoin, "cardano": cardano, "ergo": ergo} {
		t.Run(name, func(t *testing.T) {
			crawl(t, explorerOf(t, chainOf(name, open(t), nil)), "/"+name, 150)
		})
	}
}

// Pages of a database without blocks help, and fail in nothing.
func TestAnEmptyChainHasPages(t *testing.T) {
	v := modeltest.Variants()[0]
	state := &served.State{Sync: &core.Progress{Target: 1000, BlocksPerSecond: 10, Left: 100 * time.Second}}
	h := explorerOf(t, chainOf("made-up", variant(t, v, nil), state))
	crawl(t, h, "/made-up", 50)
	read(t, h, "/made-up", http.StatusOK).has(t, "No block yet", "The sync is under way", "Syncing: block 0 of 1,000", "10 blocks a second", "1 minute left")
	read(t, h, "/made-up/block/0", http.StatusNotFound).has(t, "it may be in a block that is not here yet")
}
