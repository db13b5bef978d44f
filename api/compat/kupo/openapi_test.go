package kupo_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Answers over real blocks of two eras conform to the OpenAPI document of Kupo 2.12, if the test has it.
func TestResponsesMatchKupoOpenAPI(t *testing.T) {
	file := os.Getenv("BIRTHMARK_KUPO_OPENAPI")
	if file == "" {
		t.Skip("no OpenAPI document of Kupo: set BIRTHMARK_KUPO_OPENAPI to docs/api/v2.12.0.yaml of github.com/CardanoSolutions/kupo")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The alternatives of the document overlap: an address in bech32 is also a string as one in base16 is.
	text = bytes.ReplaceAll(text, []byte("oneOf:"), []byte("anyOf:"))
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	d.Servers = openapi3.Servers{{URL: path}}
	router, err := gorillamux.NewRouter(d)
	if err != nil {
		t.Fatal(err)
	}
	w := preview(t, true, 50_939)
	checked := map[string]int{}
	check := func(method, endpoint string, status int, headers ...string) {
		t.Helper()
		a := w.ask(t, method, endpoint, headers...)
		if a.status != status {
			t.Fatalf("%s %s: %d %.300s", method, endpoint, a.status, a.body)
		}
		r := httptest.NewRequestWithContext(t.Context(), method, path+endpoint, strings.NewReader(""))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		route, args, err := router.FindRoute(r)
		if err != nil {
			t.Fatalf("%s %s: %v", method, endpoint, err)
		}
		checked[method+" "+route.Path]++
		in := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: args, Route: route},
			Status:                 a.status, Header: a.header, Options: &openapi3filter.Options{IncludeResponseStatus: true},
		}
		in.SetBodyBytes([]byte(a.body))
		if err := openapi3filter.ValidateResponse(t.Context(), in); err != nil {
			t.Errorf("%s %s: %.1000v", method, endpoint, err)
		}
	}
	matches := w.get(t, "/matches/*?created_after=0&order=oldest_first").([]any)
	seen := map[string]bool{}
	once := func(endpoint string) {
		if !seen[endpoint] {
			seen[endpoint] = true
			check("GET", endpoint, 200)
		}
	}
	for i, m := range matches {
		match := m.(map[string]any)
		tx := match["transaction_id"].(string)
		if hash, ok := match["datum_hash"].(string); ok && len(seen) < 150 {
			once("/datums/" + hash)
		}
		if hash, ok := match["script_hash"].(string); ok {
			once("/scripts/" + hash)
			once("/matches/*@" + tx + "?resolve_hashes")
		}
		if i%(1+len(matches)/100) != 0 {
			continue
		}
		once("/matches/" + match["address"].(string))
		once("/matches/" + match["address"].(string) + "?unspent&order=oldest_first")
		once("/matches/*@" + tx)
		once("/metadata/" + match["created_at"].(map[string]any)["slot_no"].(interface{ String() string }).String())
		for unit := range match["value"].(map[string]any)["assets"].(map[string]any) {
			once("/matches/" + unit[:56] + ".*?unspent")
		}
	}
	for _, endpoint := range []string{"/matches/*?spent&spent_after=100000&spent_before=200000", "/matches", "/datums/" + strings.Repeat("ab", 32),
		"/scripts/" + strings.Repeat("ab", 28), "/checkpoints", "/checkpoints/100000", "/checkpoints/100001?strict", "/health", "/metrics", "/patterns", "/patterns/*"} {
		once(endpoint)
	}
	check("GET", "/matches/*?unspent&spent", 400)
	check("GET", "/matches/nothing", 400)
	check("PUT", "/patterns/*", 200)
	check("DELETE", "/patterns/*", 400)
	check("DELETE", "/matches/*", 400)
	t.Logf("%d answers: %v", len(seen)+5, checked)
	for _, route := range []string{"GET /matches", "GET /matches/{pattern}", "GET /datums/{datum-hash}", "GET /scripts/{script-hash}", "GET /metadata/{slot-no}"} {
		if checked[route] == 0 {
			t.Errorf("no answer of %s", route)
		}
	}
}
