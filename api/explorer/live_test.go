package explorer

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// The script is small. Pages contain its parameters: the URL of the events, the tip, and the parts that change.
func TestPagesNameTheirEvents(t *testing.T) {
	v := modeltest.Variants()[1]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 31)).Blocks(20))
	h := explorerOf(t, chainOf("made-up", db, nil))
	b := mostUsed(t, db, "tag")
	assets, err := db.Assets(t.Context(), query.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	asset := assets.Assets[0].Asset
	for path, events := range map[string]string{
		"/made-up": "/v1/made-up/events", "/made-up/blocks": "/v1/made-up/events", "/made-up/nowhere": "/v1/made-up/events",
		"/made-up/index/tag/" + b.Value: "/v1/made-up/events?follow=tag%3D" + b.Value + "&spends=true",
		"/made-up/asset/" + asset:       "/v1/made-up/events?follow=asset%3D" + asset + "&spends=true",
	} {
		status := http.StatusOK
		if path == "/made-up/nowhere" {
			status = http.StatusNotFound
		}
		d := read(t, h, path, status)
		live := map[string]string{}
		for _, n := range d.each("") {
			if kind, ok := attr(n, "data-live"); ok {
				id, _ := attr(n, "id")
				live[id] = kind
			}
			if id, _ := attr(n, "id"); id == "tip" {
				for name, want := range map[string]string{"data-events": events, "data-chain": "/made-up", "data-height": "19", "data-hash": db.Tip().Hash.String()} {
					if got, _ := attr(n, name); got != want {
						t.Errorf("%s: %s is %q, expected %q", path, name, got, want)
					}
				}
			}
		}
		if _, ok := live["tip"]; !ok || live["page"] == "page" != (path == "/made-up") {
			t.Errorf("%s: the live parts are %v", path, live)
		}
		var names []string
		for _, n := range d.each("script") {
			src, _ := attr(n, "src")
			text, err := io.ReadAll(ask(t, h, src).Body)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, src[strings.LastIndex(src, "/")+1:])
			if len(text) == 0 || len(text) >= 10_000 || bytes.Contains(text, []byte("://")) || strings.Contains(string(text), "innerHTML") {
				t.Errorf("%s has %d bytes, or uses a forbidden function", src, len(text))
			}
			if _, late := attr(n, "defer"); late == strings.HasSuffix(src, "/theme.js") {
				t.Errorf("%s: deferred is %t, expected true except for the theme", src, late)
			}
		}
		if want := []string{"theme.js", "display.js", "search.js", "live.js"}; !slices.Equal(names, want) {
			t.Fatalf("%s: the scripts are %v, expected %v", path, names, want)
		}
	}
}
