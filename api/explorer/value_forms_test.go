package explorer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/storage/memory"
)

// The page of an address has the types of its outputs, and the number of outputs that pay to the public key. Indexes or raw
// transactions tell them apart.
func TestPageHasTheTypesOfOutputs(t *testing.T) {
	const (
		keys   = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S" // 6 outputs, all P2PK
		hashes = "1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu" // 2, all P2PKH
		both   = "1AbHNFdKJeVL8FRZyRZoiTzG9VCmzLrtvm" // 16, 5 of them P2PKH
		miner  = "198aMn6ZYAczwrE5NvNTUMyJ5qkfy4g3Hi" // 19 P2PKH
		unused = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
	)
	exact := map[string]string{keys: "P2PK: 6 outputs pay", hashes: "P2PKH:", both: "P2PKH P2PK: 11 outputs pay", miner: "P2PKH:", unused: "P2PKH:"}
	counted := map[string][]query.OutputTypeAnswer{
		keys: {{Type: "P2PK", OutputCount: 6}}, hashes: {{Type: "P2PKH", OutputCount: 2}},
		both: {{Type: "P2PKH", OutputCount: 5}, {Type: "P2PK", OutputCount: 11}}, miner: {{Type: "P2PKH", OutputCount: 19}},
	}
	totals := model.IndexOptions{Balance: true}
	for name, c := range map[string]struct {
		keep map[string]model.IndexOptions
		raw  bool
		want map[string]string
	}{
		"totals":       {map[string]model.IndexOptions{"address": totals, "script_hash": totals}, false, exact},
		"script types": {map[string]model.IndexOptions{"address": totals, "script_type": {}}, false, exact},
		"hashes":       {map[string]model.IndexOptions{"address": {}, "script_hash": {}}, false, exact},
		"raw":          {map[string]model.IndexOptions{"address": {}}, true, exact},
		"nothing": {map[string]model.IndexOptions{"address": {}}, false, map[string]string{keys: "P2PKH or P2PK:", hashes: "P2PKH or P2PK:",
			both: "P2PKH or P2PK:", miner: "P2PKH or P2PK:", unused: "P2PKH:"}},
	} {
		db := kept(t, c.keep, c.raw)
		h := explorerOf(t, chainOf("bitcoin", db, nil))
		for address, want := range c.want {
			b, err := db.Balance(t.Context(), "address", address)
			if types := counted[address]; err != nil || fmt.Sprint(b.OutputTypes) != fmt.Sprint(types) && name == "totals" ||
				len(b.OutputTypes) > 0 && name != "totals" {
				t.Errorf("%s: %s has outputs of the types %v, expected %v: %v", name, address, b.OutputTypes, types, err)
			}
			d := read(t, h, "/bitcoin/address/"+address, http.StatusOK)
			if got := formsOf(d); !strings.HasPrefix(got, want) || strings.HasSuffix(want, ":") && got != want {
				t.Errorf("%s: %s: %q, expected %q", name, address, got, want)
			}
		}
	}
}

// Of an address with many outputs, a page reads the newest and the oldest ones.
func TestTypesOfManyOutputsAreSampled(t *testing.T) {
	defer func(n int) { valueRows = n }(valueRows)
	valueRows = 2
	h := explorerOf(t, chainOf("bitcoin", kept(t, map[string]model.IndexOptions{"address": {}, "script_type": {}}, false), nil))
	for address, want := range map[string]string{
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S": "P2PK: At least 4 outputs pay", "1AbHNFdKJeVL8FRZyRZoiTzG9VCmzLrtvm": "P2PKH P2PK: At least 1 output pays",
		"1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu": "P2PKH:",
	} {
		if got := formsOf(read(t, h, "/bitcoin/address/"+address, http.StatusOK)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, expected %q", address, got, want)
		}
	}
}

// formsOf returns the types of a page, and the note about them.
func formsOf(d *document) string {
	var badges []string
	note := ""
	for _, n := range d.each("span") {
		if class, _ := attr(n, "class"); class == "badge" && n.Parent.Data == "h1" {
			badges = append(badges, textOf(n))
		}
	}
	for _, n := range d.each("p") {
		if text := textOf(n); strings.Contains(text, "public key") {
			note = " " + text
		}
	}
	return strings.Join(badges, " ") + ":" + note
}

// kept returns a database of the first 14,132 blocks of Bitcoin with indexes.
func kept(t *testing.T, keep map[string]model.IndexOptions, raw bool) *core.DB {
	t.Helper()
	chain, err := chains.New("bitcoin", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range keep {
		names = append(names, name)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: names, Keep: keep, Raw: raw, CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	source, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + blocksFile(t), Indexes: db.Indexes(), Raw: raw})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if err := core.Sync(t.Context(), db, source, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return db
}
