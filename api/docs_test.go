package api_test

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/core"
)

// withoutAnswer are the operations whose examples show none: what depends on the program or the disk, or what the chain
// of the examples does not have.
var withoutAnswer = []string{"status", "rawTx", "schema", "fields", "asset", "assetEvents", "assetHolders", "events", "mempool", "mempoolTransactions", "submit", "testTxs", "submitPackage", "fees"}

var (
	articles = regexp.MustCompile(`(?s)<article id="(\w+)">(.*?)</article>`)
	asked    = regexp.MustCompile(`(?s)<pre class="ask"><code>(.*?)</code></pre>`)
	answered = regexp.MustCompile(`(?s)<pre tabindex="0"><code>(.*?)</code></pre>`)
	curl     = regexp.MustCompile(`^curl (?:-N )?'?http://127\.0\.0\.1:8080([^' ]+)'?(?: -H 'Content-Type: (?:application/json|text/plain)' -d '([^']*)')?$`)
)

// Every example on the page has the answer that the page shows.
func TestExamplesOfTheDocumentationPage(t *testing.T) {
	h, _ := handler(t, api.Options{Events: noEvents}, map[string]*core.DB{"bitcoin": real(t)})
	page := ask(h, "GET", "/docs", "").Body.String()
	found := articles.FindAllStringSubmatch(page, -1)
	if len(found) < 20 {
		t.Fatalf("%d operations on the page", len(found))
	}
	for _, article := range found {
		id, text := article[1], article[2]
		command := curl.FindStringSubmatch(html.UnescapeString(asked.FindStringSubmatch(text)[1]))
		if command == nil {
			t.Errorf("%s: no curl in %s", id, text)
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
		golden(t, filepath.Join("examples", id+".json"), w.Body.Bytes())
		shown := answered.FindStringSubmatch(text)
		var want bytes.Buffer
		if err := json.Indent(&want, w.Body.Bytes(), "", "  "); err != nil || !*update && (shown == nil || html.UnescapeString(shown[1]) != strings.TrimSpace(want.String())) {
			t.Errorf("%s: the page does not show %s", id, w.Body)
		}
	}
	files, err := os.ReadDir("examples")
	if err != nil || !*update && len(files) != len(found)-len(withoutAnswer) {
		t.Errorf("%d examples for %d operations, %v", len(files), len(found), err)
	}
}

// The page needs nothing from elsewhere, and every link in it leads somewhere.
func TestDocumentationPageIsSelfContained(t *testing.T) {
	h := bitcoinAPI(t)
	page := ask(h, "GET", "/docs", "")
	if page.Code != 200 || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") || strings.Contains(page.Body.String(), "<script") {
		t.Errorf("%d %v", page.Code, page.Header())
	}
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(links) < 30 {
		t.Errorf("%d links", len(links))
	}
	for _, link := range links {
		switch target := link[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(page.Body.String(), `id="`+target[1:]+`"`) {
				t.Errorf("%s leads nowhere", target)
			}
		case strings.HasPrefix(target, "/"):
			if w := ask(h, "GET", target, ""); w.Code != 200 {
				t.Errorf("%s: %d", target, w.Code)
			}
		default:
			t.Errorf("%s leads elsewhere", target)
		}
	}
}
