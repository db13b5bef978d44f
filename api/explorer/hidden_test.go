package explorer

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The form of the search leads to the same pages as its URL. Neither the URL of the page of a wallet, nor those of its
// links, have the text of the wallet, and these links work.
func TestSearchFormKeepsWalletsOutOfURLs(t *testing.T) {
	v := modeltest.Variants()[3]
	db := variant(t, v, v.NewGenerator(7).Blocks(60))
	page, err := db.Values(t.Context(), "address", query.Page{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	wallet := "wallet:" + page.Values[0].Value[1:] + "," + page.Values[1].Value[1:] + ";" + page.Values[2].Value[1:]
	defer func(n int) { valueRows = n }(valueRows)
	valueRows = 1 // several pages of each list
	h := explorerOf(t, chainOf("test", db, nil))
	for _, form := range []string{"/test/search", "/search"} {
		res := searchFor(t, h, form, wallet)
		if form == "/search" { // the only chain
			if form = res.Header.Get("Location"); res.StatusCode != http.StatusTemporaryRedirect || form != "/test/search" {
				t.Fatalf("status %d, to %q", res.StatusCode, form)
			}
			res = searchFor(t, h, form, wallet)
		}
		at := res.Header.Get("Location")
		if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "/test/address/"+hiddenMark) {
			t.Fatalf("%s: status %d, to %q", form, res.StatusCode, at)
		}
		d := read(t, h, at, http.StatusOK)
		d.has(t, "Wallet", wallet, "3 used addresses", "History")
		followed := 0
		for _, name := range []string{"a", "link", "form", "p"} {
			for _, n := range d.each(name) {
				for _, a := range n.Attr {
					if a.Key == "class" || a.Key == "content" {
						continue
					}
					if strings.Contains(a.Val, wallet) || strings.Contains(a.Val, url.PathEscape(wallet)) || strings.Contains(a.Val, url.QueryEscape(wallet)) {
						t.Errorf("<%s %s=%q> shows the wallet", name, a.Key, a.Val)
					}
					if to, _, _ := strings.Cut(a.Val, "#"); strings.HasPrefix(to, at) {
						followed++
						res := ask(t, h, to)
						body, err := io.ReadAll(res.Body)
						if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), page.Values[0].Value) &&
							!strings.Contains(to, "?") && !strings.Contains(to, ".csv") {
							t.Errorf("%s: status %d, %v\n%s", to, res.StatusCode, err, body)
						}
					}
				}
			}
		}
		if followed < 6 { // JSON, CSV, the next pages of both lists, all outputs, a period
			t.Errorf("%d links are about the wallet", followed)
		}
		if again := explorerOf(t, chainOf("test", db, nil)); ask(t, again, at).StatusCode != http.StatusNotFound {
			t.Error("another process reads the path")
		}
		read(t, h, at+"x", http.StatusNotFound)
	}
}

// Other texts of the form lead to pages with an URL, unless the text can be private.
func TestSearchFormLeadsToURLs(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(5).Blocks(10)
	chain, err := chains.New("bitcoin", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	coin, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	h := explorerOf(t, chainOf("one", variant(t, v, blocks), nil), chainOf("two", variant(t, v, blocks), nil), chainOf("bitcoin", coin, nil))
	const (
		key   = "xpub6CUGRUonZSQ4TWtTMmzXdrXDtypWKiKrhko4egpiMZbpiaQL2jkwSB1icqYh2cfDfVxdx4df189oLKnC5fSwqPfgyP3hooxujYzAu3fDVmz"
		typo  = key + "z"
		multi = "wsh(multi(1," + key + "/0/*))"
		wif   = "KwDiBf89QgGbjEhKnhXJuH7LrciVrXi3qYjgd9M7rFU73sVHnoWn"
	)
	for _, c := range []struct{ form, text, to string }{
		{"/one/search", "3", "/one/block/" + blocks[3].Hash.String()},
		{"/one/search", "nothing at all", "/one/search?q=nothing+at+all"},
		{"/search", "nothing at all", "/search?q=nothing+at+all"},
		{"/search", "3", "/search?q=3"},
		{"/search", key, "/bitcoin/address/" + hiddenMark}, {"/bitcoin/search", key, "/bitcoin/address/" + hiddenMark},
		{"/bitcoin/search", multi, "/bitcoin/address/" + hiddenMark},
		{"/search", typo, ""}, {"/bitcoin/search", typo, ""}, {"/bitcoin/search", multi + ")", ""}, {"/one/search", key, ""},
		{"/bitcoin/search", wif, ""}, {"/search", wif, ""},
	} {
		res := searchFor(t, h, c.form, c.text)
		to := res.Header.Get("Location")
		if strings.HasSuffix(c.to, hiddenMark) && strings.HasPrefix(to, c.to) {
			to = c.to
		}
		if status := map[bool]int{true: http.StatusSeeOther, false: res.StatusCode}[c.to != ""]; to != c.to || res.StatusCode != status {
			t.Errorf("%s %q: status %d, to %q, expected %q", c.form, c.text, res.StatusCode, to, c.to)
		}
		if tag := res.Header.Get("ETag"); tag != "" {
			t.Errorf("%s %q: the answer to a form has the tag %s", c.form, c.text, tag)
		}
	}
}
