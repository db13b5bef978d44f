package explorer

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// found returns the redirect of a search, or "" if the answer is a page.
func found(t *testing.T, h http.Handler, chain, q string) string {
	t.Helper()
	res := ask(t, h, "/"+chain+"/search?q="+url.QueryEscape(q))
	return res.Header.Get("Location")
}

func TestSearchBoxFindsBitcoin(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	const (
		block170 = "/bitcoin/block/00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee"
		tx       = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
		tip      = "/bitcoin/block/00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c"
	)
	for q, want := range map[string]string{
		"170": block170, " #170 ": block170, "00000000D1145790A8694403D4063F323D499E655C83426834D4CE2F8DD4A2EE": block170,
		"tip": tip, "latest": tip, "14,131": tip, "14132": "",
		tx: "/bitcoin/tx/" + tx, strings.ToUpper(tx): "/bitcoin/tx/" + tx,
		tx + ":1": "/bitcoin/output/" + tx + ":1", tx + "#0": "/bitcoin/output/" + tx + ":0", tx + ":2": "",
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S": "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
		"pubkey":                             "/bitcoin/index/script_type/pubkey",
		"12cbQLTFMX":                         "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3T": "", "": "", "nothing at all": "", "-1": "",
	} {
		if got := found(t, h, "bitcoin", q); got != want {
			t.Errorf("%q leads to %q, expected %q", q, got, want)
		}
	}
	several := read(t, h, "/bitcoin/search?q=12c", http.StatusOK)
	several.has(t, "Results for 12c", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S", "first seen in block")
	if len(several.each("li")) < 3 {
		t.Errorf("a search with several hits: %s", several.main())
	}
	read(t, h, "/bitcoin/search?q=nothing", http.StatusNotFound).has(t, "No results for nothing", "an address", "a transaction: its hash")
	if text := read(t, h, "/bitcoin/search?q=nothing", http.StatusNotFound).main(); strings.Contains(text, "an asset") {
		t.Errorf("Bitcoin was searched for an asset: %s", text)
	}
}

func TestSearchBoxFindsAssets(t *testing.T) {
	db := cardano(t)
	h := explorerOf(t, chainOf("cardano", db, nil))
	assets, err := db.Assets(t.Context(), query.Page{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range assets.Assets {
		for _, q := range []string{a.Asset, a.Fingerprint} {
			if got := found(t, h, "cardano", q); got != "/cardano/asset/"+a.Asset {
				t.Errorf("%s redirects to %q, expected asset %s", q, got, a.Asset)
			}
		}
	}
}

func TestSearchBoxFindsBoxes(t *testing.T) {
	db := ergo(t)
	h := explorerOf(t, chainOf("ergo", db, nil))
	b, err := db.Block(t.Context(), "700")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Tx(t.Context(), b.Txs[0])
	if err != nil {
		t.Fatal(err)
	}
	box := tx.Outputs[0].Keys["box_id"].(string)
	if got, want := found(t, h, "ergo", box), "/ergo/output/"+tx.Hash+":0"; got != want {
		t.Errorf("box %s redirects to %q, expected %s", box, got, want)
	}
}

// On the front page the search box searches all chains.
func TestSearchBoxSearchesAllChains(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 5)).Blocks(10)
	one, two := blocks, blocks[:8]
	h := explorerOf(t, chainOf("one", variant(t, v, one), nil), chainOf("two", variant(t, v, two), nil))
	last := blocks[9].Hash.String()
	if to := ask(t, h, "/search?q="+last).Header.Get("Location"); to != "/one/block/"+last {
		t.Errorf("the hash of a block redirects to %q", to)
	}
	read(t, h, "/search?q=3", http.StatusOK).has(t, "Results for 3", "Testchain one, height 3")
	read(t, h, "/search?q=zzz", http.StatusNotFound).has(t, "No results for zzz")
	read(t, h, "/", http.StatusOK).has(t, "Chains", "Newest block")
	alone := explorerOf(t, chainOf("one", variant(t, v, one), nil))
	if to := ask(t, alone, "/search?q=3").Header.Get("Location"); to != "/one/search?q=3" {
		t.Errorf("with one chain the search redirects to %q", to)
	}
	if to := ask(t, alone, "/").Header.Get("Location"); to != "/one" {
		t.Errorf("with one chain / redirects to %q", to)
	}
}
