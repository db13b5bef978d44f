package api_test

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/docs"
	"birthmark/core"
)

// withoutAnswer are the operations without an example of an answer: it depends on the program or the disk, or the chain
// of the examples has no data for it.
var withoutAnswer = []string{"status", "rawTx", "schema", "fields", "asset", "assetEvents", "assetHolders", "events", "watch", "mempool", "mempoolBlocks", "mempoolTransactions", "blockComparison", "submit", "testTxs", "submitPackage", "fees"}

var (
	articles = regexp.MustCompile(`(?s)<article id="(\w+)">(.*?)</article>`)
	asked    = regexp.MustCompile(`(?s)<pre class="ask"><code>(.*?)</code></pre>`)
	answered = regexp.MustCompile(`(?s)<pre tabindex="0"><code>(.*?)</code></pre>`)
	curl     = regexp.MustCompile(`^curl (?:-N )?'?http://127\.0\.0\.1:8080([^' ]+)'?(?: -H 'Content-Type: (?:application/json|text/plain)' -d '([^']*)')?$`)
)

// documentation returns the content of the documentation page.
func documentation(t *testing.T, h *site, target string) string {
	t.Helper()
	text, err := h.Documents.Page(httptest.NewRequest("GET", target, nil))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The answer of every example on the page equals the server's.
func TestExamplesOfTheDocumentationPage(t *testing.T) {
	h, _ := handler(t, api.Options{Events: noEvents, Watch: noEvents}, map[string]*core.DB{"bitcoin": real(t)})
	page := documentation(t, h, "/docs")
	found := articles.FindAllStringSubmatch(page, -1)
	if len(found) < 20 {
		t.Fatalf("%d operations on the page", len(found))
	}
	for _, article := range found {
		id, text := article[1], article[2]
		command := curl.FindStringSubmatch(html.UnescapeString(asked.FindStringSubmatch(text)[1]))
		if command == nil {
			t.Errorf("%s: no curl command in %s", id, text)
			continue
		}
		if slices.Contains(withoutAnswer, id) {
			continue
		}
		method := "GET"
		if command[2] != "" {
			method = "POST"
		}
		w := ask(h, method, command[1], command[2])
		if w.Code != 200 {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
		golden(t, filepath.Join("docs", "examples", id+".json"), w.Body.Bytes())
		shown := answered.FindStringSubmatch(text)
		var want bytes.Buffer
		if err := json.Indent(&want, w.Body.Bytes(), "", "  "); err != nil || !*update && (shown == nil || html.UnescapeString(shown[1]) != strings.TrimSpace(want.String())) {
			t.Errorf("%s: the page does not show %s", id, w.Body)
		}
	}
	files, err := os.ReadDir(filepath.Join("docs", "examples"))
	if err != nil || !*update && len(files) != len(found)-len(withoutAnswer) {
		t.Errorf("%d examples for %d operations, %v", len(files), len(found), err)
	}
}

// The page loads nothing from other servers, and the targets of all links exist.
func TestDocumentationPageIsSelfContained(t *testing.T) {
	h := bitcoinAPI(t)
	page := documentation(t, h, "/docs")
	if strings.Contains(page, "<script") {
		t.Error("the documentation has scripts")
	}
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 30 {
		t.Errorf("%d links", len(links))
	}
	for _, link := range links {
		switch target := link[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(page, `id="`+target[1:]+`"`) {
				t.Errorf("the target of %s is missing", target)
			}
		case strings.HasPrefix(target, "/docs"): // a page of the explorer
		case strings.HasPrefix(target, "/"):
			if w := ask(h, "GET", target, ""); w.Code != 200 {
				t.Errorf("%s: %d", target, w.Code)
			}
		default:
			t.Errorf("%s is outside of the server", target)
		}
	}
}

// The filter selects operations by text, including the texts of parameters.
func TestDocumentationIsFiltered(t *testing.T) {
	h := bitcoinAPI(t)
	ids := func(target string) (ids []string) {
		for _, article := range articles.FindAllStringSubmatch(documentation(t, h, target), -1) {
			ids = append(ids, article[1])
		}
		return ids
	}
	all := ids("/docs")
	for filter, want := range map[string]string{"BALANCE": "balance", "max_fee_rate": "submit", "holders": "assetHolders", "": "tx"} {
		found := ids("/docs?q=" + filter)
		if !slices.Contains(found, want) || filter != "" && len(found) >= len(all) {
			t.Errorf("%q: %v of %v", filter, found, all)
		}
	}
	page := documentation(t, h, "/docs?q=%3Cb%3Enothing")
	if found := articles.FindAllString(page, -1); len(found) > 0 || !strings.Contains(page, "No operation matches “&lt;b&gt;nothing”.") {
		t.Errorf("%d operations: %.500s", len(found), page)
	}
}

// Documents and examples contain the address of the server as the client reaches it.
func TestDocumentsHaveTheAddressOfTheServer(t *testing.T) {
	o := api.Options{BasePath: "/explorer", Address: func(r *http.Request) string { return "https://" + r.Host }}
	h, _ := handler(t, o, map[string]*core.DB{"bitcoin": real(t)})
	r := httptest.NewRequest("GET", "/docs", nil)
	r.Host = "chains.example.org:8443"
	page, err := h.Documents.Page(r)
	const address = "https://chains.example.org:8443/explorer"
	if n := strings.Count(string(page), address+"/v1/bitcoin/"); err != nil || n < 20 || strings.Contains(string(page), "127.0.0.1") {
		t.Errorf("%d examples have the address: %v", n, err)
	}
	for _, name := range []string{"/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/openapi-3.0.yaml"} {
		r := httptest.NewRequest("GET", name, nil)
		r.Host = "chains.example.org:8443"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), address) || strings.Contains(w.Body.String(), "127.0.0.1") {
			t.Errorf("%s lacks the server %s", name, address)
		}
	}
}

// The documents have security schemes if the server has keys; the empty one allows requests without a key.
func TestDocumentsHaveTheKeysOfTheServer(t *testing.T) {
	for keys, want := range map[docs.Keys]int{docs.NoKeys: 0, docs.KeysRequired: 3, docs.KeysOptional: 4} {
		h, _ := handler(t, api.Options{Keys: keys}, nil)
		for _, name := range []string{"/openapi.json", "/openapi-3.0.json"} {
			d := load(t, ask(h, "GET", name, "").Body.Bytes())
			empty := 0
			for _, s := range d.Security {
				if len(s) == 0 {
					empty++
				}
			}
			if len(d.Security) != want || len(d.Components.SecuritySchemes) != min(want, 3) || (empty == 1) != (keys == docs.KeysOptional) {
				t.Errorf("%s: %v, %d schemes", name, d.Security, len(d.Components.SecuritySchemes))
			}
		}
		if page := documentation(t, h, "/docs"); strings.Contains(page, "X-API-Key") != (keys != docs.NoKeys) {
			t.Errorf("keys %d: the documentation mentions keys: %t", keys, keys == docs.NoKeys)
		}
	}
}
