package explorer

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// /richest redirects to the rich list of addresses, which has the share of the supply and the last activity of each.
func TestRichListOfAddresses(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	if to := ask(t, h, "/bitcoin/richest").Header.Get("Location"); to != "/bitcoin/richest/address" {
		t.Errorf("/richest redirects to %q", to)
	}
	d := read(t, h, "/bitcoin/richest/address", http.StatusOK)
	d.has(t, "Share of supply", "Last active", "1"+"12higDjoCCNXSA95xZMWUdPvXNmkAduhWv"+"23,175.33000000 BTC3.28%", "Other rich lists: script hash")
	if !slices.Contains(d.links(), "/bitcoin/richest") || !slices.Contains(d.links(), "/bitcoin/richest/script_hash") {
		t.Errorf("the list links to %v", d.links())
	}
	if text := read(t, h, "/bitcoin/richest/script_hash", http.StatusOK).main(); strings.Contains(text, "Last active") {
		t.Errorf("an index without histories has a last activity: %s", text)
	}
}

// The rich list of an index with balances is a kept list, of a chain of any size. Without it the page names the rows.
func TestRichListsOfLargeIndexes(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	defer func(rows uint64) { richestRead = rows }(richestRead)
	richestRead = 200 // fewer than the chain has addresses
	read(t, h, "/bitcoin/richest/address", http.StatusOK).has(t, "Share of supply", "23,175.33000000 BTC")
	read(t, h, "/bitcoin/richest/script_hash", http.StatusOK).has(t, "too many for a page")
}
