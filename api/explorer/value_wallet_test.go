package explorer

import (
	"net/http"
	"net/url"
	"testing"

	"birthmark/core/query"
	"birthmark/model/modeltest"
)

// The page of a wallet has the sums, the used addresses with their paths, the next unused ones, and the history of all. The
// search finds it. A value of another index leads to its page.
func TestPageOfAWallet(t *testing.T) {
	v := modeltest.Variants()[3]
	db := variant(t, v, v.NewGenerator(7).Blocks(30))
	page, err := db.Values(t.Context(), "address", query.Page{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	text := "wallet:-," + page.Values[0].Value[1:] + "," + page.Values[1].Value[1:] + ";" + page.Values[2].Value[1:]
	balance, err := db.Balance(t.Context(), "address", text)
	if err != nil {
		t.Fatal(err)
	}
	h := explorerOf(t, chainOf("test", db, nil))
	d := read(t, h, "/test/address/"+url.PathEscape(text), http.StatusOK)
	d.has(t, "Wallet", "3 used addresses", page.Values[0].Value, page.Values[1].Value, page.Values[2].Value, "m/0/1", "m/0/2", "m/1/0", "m/0/3", "m/1/1",
		"Next unused", "History", balance.Derived.Next[0].Value, balance.Derived.Next[1].Value)
	if to, err := url.PathUnescape(found(t, h, "test", text)); err != nil || to != "/test/address/"+text {
		t.Errorf("the search leads to %q: %v", to, err)
	}
	read(t, h, "/test/address/wallet:secret", http.StatusBadRequest)
	read(t, h, "/test/address/"+url.PathEscape(text)+"?history=all", http.StatusOK).has(t, "History")
	unused := read(t, h, "/test/address/wallet:-", http.StatusOK)
	unused.has(t, "This wallet has never been used", "m/0/0")
	tags, err := db.Values(t.Context(), "tag", query.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	tag := tags.Values[0].Value
	if to := ask(t, h, "/test/address/"+tag).Header.Get("Location"); to != "/test/index/tag/"+tag {
		t.Errorf("the page of a value of another index is %q", to)
	}
}
