package explorer

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// The target of every link exists and is a valid page.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 1)).Blocks(40))
		kinds := crawl(t, explorerOf(t, chainOf("made-up", db, nil)), "/made-up", 200)
		for _, kind := range []string{"", "block", "blocks", "tx", "output", "address", "index", "asset", "assets", "richest", "values", "forks", "status"} {
			if kinds[kind] == 0 {
				t.Errorf("no page of kind %q was read: %v", kind, kinds)
			}
		}
	})
}

func TestRealChainsHaveAllTheirPages(t *testing.T) {
	testrun.Slow(t)
	for name, open := range map[string]func(testing.TB) *core.DB{"bitcoin": bitcoin, "cardano": cardano, "ergo": ergo} {
		t.Run(name, func(t *testing.T) {
			crawl(t, explorerOf(t, chainOf(name, open(t), nil)), "/"+name, 150)
		})
	}
}

// Pages of a database without blocks are valid and explain the state.
func TestPagesOfAnEmptyChain(t *testing.T) {
	v := modeltest.Variants()[0]
	state := &served.State{Sync: &core.Progress{Target: 1000, BlocksPerSecond: 10, Left: 100 * time.Second}}
	h := explorerOf(t, chainOf("made-up", variant(t, v, nil), state))
	crawl(t, h, "/made-up", 50)
	read(t, h, "/made-up", http.StatusOK).has(t, "No blocks yet", "The sync is running", "Syncing: block 0 of 1,000", "10 blocks/s", "1 minute left")
	read(t, h, "/made-up/block/0", http.StatusNotFound).has(t, "it may be in a block that is not indexed yet")
}

// The footer has the version of a release, or the commit of another build.
func TestVersionInTheFooter(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                                   "Birthmark v1.2.3",
		"v1.2.3-rc.1":                              "Birthmark v1.2.3-rc.1",
		"v0.0.0-20261122044141-3610863631cb":       "Birthmark 3610863631cb",
		"v1.2.4-0.20261122044141-3610863631cb":     "Birthmark 3610863631cb",
		"v0.0.0-20261122044141-3610863631cb+dirty": "Birthmark 3610863631cb+dirty",
		"(devel)": "Birthmark (devel)",
		"":        "Birthmark",
	} {
		h, err := New(Options{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		if foot := textOf(read(t, h, "/", http.StatusOK).each("footer")[0]); !strings.HasSuffix(foot, want) {
			t.Errorf("version %q: the footer is %q, expected %q at its end", version, foot, want)
		}
	}
}
