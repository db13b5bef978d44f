package explorer

import (
	"net/http"
	"strings"
	"testing"
)

// The page of a valid unused value shows zeros and no empty lists.
func TestPageOfAnUnusedValue(t *testing.T) {
	const (
		unused = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
		policy = "0000000000000000000000000000000000000000000000000000000b"
		box    = "000000000000000000000000000000000000000000000000000000000000000b"
	)
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil), chainOf("cardano", cardano(t), nil),
		chainOf("ergo", ergo(t), nil))
	for path, name := range map[string]string{
		"/bitcoin/address/" + unused:               "address",
		"/bitcoin/address/" + unused + "?show=all": "address",
		"/bitcoin/index/script_hash/" + box:        "script hash",
		"/cardano/index/stake_credential/stake_vkh1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqk3uu0jz": "stake credential",
		"/ergo/index/box_id/" + box: "box id",
	} {
		d := read(t, h, path, http.StatusOK)
		d.has(t, "This "+name+" has never been used.", "Balance0", "Transactions0")
		if strings.Contains(d.main(), "None so far") || len(d.each("table"))+len(d.each("section")) > 0 {
			t.Errorf("%s: %s", path, d.main())
		}
	}
	if got := found(t, h, "bitcoin", unused); got != "/bitcoin/address/"+unused {
		t.Errorf("the search for an unused address redirects to %q", got)
	}
	if got := ask(t, h, "/search?q="+unused).Header.Get("Location"); got != "/bitcoin/address/"+unused {
		t.Errorf("the search in all chains for an unused address redirects to %q", got)
	}
	for _, q := range []string{box, policy} { // any hash is valid in some index; unused ones are not found
		read(t, h, "/search?q="+q, http.StatusNotFound)
	}
	read(t, h, "/bitcoin/address/"+unused[:33]+"3", http.StatusBadRequest)
	read(t, h, "/bitcoin/tx/"+box, http.StatusNotFound)
	read(t, h, "/ergo/output/"+box, http.StatusNotFound)
}
