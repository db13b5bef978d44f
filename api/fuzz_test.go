package api_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/core"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Every request results in an answer or a client error, never in a server error. JSON matches the OpenAPI document.
func FuzzRequests(f *testing.F) {
	v := modeltest.Variants()[1]
	db, err := core.Open(context.Background(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed})
	if err != nil {
		f.Fatal(err)
	}
	if err := db.Append(context.Background(), v.NewGenerator(904).Blocks(8)); err != nil {
		f.Fatal(err)
	}
	h, log := handler(f, api.Options{Events: noEvents}, map[string]*core.DB{"one": db})
	for _, seed := range [][5]string{
		{"GET", "/v1/one/find/tag/%2F%FF", "unspent=true&or=tag%3Dx&limit=3&after=AAAA", "", ""},
		{"GET", "/v1/one/values/label", "prefix=%00&order=desc", "", "application/x-ndjson;q=0.3, */*"},
		{"HEAD", "/v1/one/block/tip", "", "", "application/json;q=1e9"},
		{"POST", "/v1/one/outputs", "", `{"outputs":["00:1",":",""]}`, ""},
		{"POST", "/v1/one/balances", "", `{"index":"tag","values":["\u0000"]}`, ""},
		{"POST", "/v1/one/txs", "", `[[[[[[`, ""},
		{"PATCH", "/v1/%zz/..//", "=&&=%", "\xff", "/;;q=,"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, method, path, query, body, accept string) {
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		if method == "" || strings.ContainsFunc(method, func(c rune) bool { return c <= ' ' || c > '~' }) {
			method = "GET"
		}
		unescaped, err := url.PathUnescape(path)
		if err != nil {
			return // net/http rejects it
		}
		r.Method, r.URL.Path, r.URL.RawPath, r.URL.RawQuery = method, unescaped, path, query
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || log.Len() > 0 {
			t.Fatalf("%s %s?%s: %d %s\n%s", method, path, query, w.Code, w.Body, log)
		}
		if kind := w.Header().Get("Content-Type"); strings.HasSuffix(kind, "json") && method != "HEAD" && !bytes.HasSuffix(w.Body.Bytes(), []byte("}\n")) {
			t.Errorf("%s %s?%s: %d %s %q", method, path, query, w.Code, kind, w.Body)
		}
	})
}
