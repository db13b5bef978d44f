package explorer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/internal/testblocks"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"

	"golang.org/x/net/html"
)

// chainOf returns a database as a served chain; state may be nil.
func chainOf(name string, db *core.DB, state *served.State) *served.Chain {
	return &served.Chain{Name: name, Model: db.Chain(), View: db.View, Moved: db.Moved, State: func() served.State {
		if state == nil {
			return served.State{}
		}
		return *state
	}}
}

// variant returns a database with blocks of a generated chain.
func variant(t testing.TB, v modeltest.Variant, blocks []*model.Block) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw})
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) > 0 {
		if err := db.Append(t.Context(), blocks); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// everything enables all options of an index.
var everything = model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true}

// real are the databases of real chains by name. Tests do not write to them.
var real = map[string]*core.DB{}

// synced returns a database of a real chain, up to the tip of the source at uri. Its addresses have all options.
func synced(t testing.TB, name, network, uri string, indexes ...string) *core.DB {
	t.Helper()
	if real[name] == nil {
		chain, err := chains.New(name, network)
		if err != nil {
			t.Fatal(err)
		}
		real[name] = followed(t, chain, uri, indexes...)
	}
	return real[name]
}

func followed(t testing.TB, chain model.Chain, uri string, indexes ...string) *core.DB {
	t.Helper()
	keep := everything
	keep.Statistics = slices.Contains(indexes, model.StatisticsIndex)
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: indexes, Keep: map[string]model.IndexOptions{"address": keep}, CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	source, err := chain.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if err := core.Sync(t.Context(), db, source, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return db
}

// blocksFile returns the path of the first 14,132 blocks of Bitcoin.
func blocksFile(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	path := filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat")
	if _, absent := os.Stat(path); err != nil || absent != nil {
		t.Skip("real blocks are missing: run make blocks")
	}
	return path
}

// bitcoin returns a database of the first 14,132 blocks of Bitcoin.
func bitcoin(t testing.TB) *core.DB {
	t.Helper()
	return synced(t, "bitcoin", "mainnet", "file://"+blocksFile(t), "address", "script_hash", "script_type", "statistics")
}

// cardano returns a database of the first 50,940 blocks of Cardano's preview network.
func cardano(t testing.TB) *core.DB {
	t.Helper()
	return synced(t, "cardano", "preview", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), "address", "stake_credential", "policy")
}

// ergo returns a database of the first 2,000 blocks of Ergo.
func ergo(t testing.TB) *core.DB {
	t.Helper()
	return synced(t, "ergo", "mainnet", "file://"+testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), "address", "ergo_tree_template_hash")
}

// testNow is the current time of the explorer in tests, a whole minute.
var testNow = time.Unix(1_700_000_040, 0)

// explorerOf returns the explorer of chains at testNow.
func explorerOf(t testing.TB, chains ...*served.Chain) http.Handler {
	t.Helper()
	v1, err := api.New(api.Options{Chains: chains})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{Chains: chains, API: v1, Version: "1.2.3", now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	return answertest.Recorded(t, h)
}

// ask requests a path as it is written in a link. headers are alternating names and values.
func ask(t testing.TB, h http.Handler, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// searchFor sends a text in the form of the search.
func searchFor(t testing.TB, h http.Handler, path, text string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(url.Values{"q": {text}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// document is a parsed page.
type document struct {
	path string
	text string // the body
	root *html.Node
}

// read requests a page with an expected status, and checks that it is valid.
func read(t testing.TB, h http.Handler, path string, status int) *document {
	t.Helper()
	res := ask(t, h, path)
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Fatalf("%s: status %d, expected %d\n%s", path, res.StatusCode, status, b)
	}
	root, err := html.Parse(strings.NewReader(string(b)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	d := &document{path, string(b), root}
	for _, fault := range d.faults() {
		t.Errorf("%s: %s", path, fault)
	}
	return d
}

// each yields the elements with a name, or all elements if the name is "".
func (d *document) each(name string) (found []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// words returns the text of an element with its white space joined.
func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// main returns the text of the page without its header and footer.
func (d *document) main() string { return textOf(d.each("main")[0]) }

// has checks that the page contains every text, apart from its header and footer.
func (d *document) has(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.main(), text) {
			t.Errorf("%s does not contain %q:\n%s", d.path, text, d.main())
		}
	}
}

// links returns the paths of the explorer that the page links to, without fragments.
func (d *document) links() (paths []string) {
	for _, n := range d.each("a") {
		href, _ := attr(n, "href")
		path, _, _ := strings.Cut(href, "#")
		if strings.HasPrefix(path, "?") { // of another part of the page
			here, _, _ := strings.Cut(d.path, "?")
			path = here + path
		}
		_, file := attr(n, "download")
		if file || path == "" || path == "/docs" || path == "/v1" || strings.HasPrefix(path, "/v1/") || slices.Contains(paths, path) {
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// maxPage is the maximum size of a page in bytes.
const maxPage = 60_000

// ago matches a time relative to now.
var ago = regexp.MustCompile(`^(just now|in .*|.* ago)$`)

// void are the elements without an end tag.
var void = []string{"meta", "link", "input", "br", "hr", "img", "wbr"}

// faults returns the errors in the page.
func (d *document) faults() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(d.text) > maxPage {
		fault("%d bytes, expected at most %d", len(d.text), maxPage)
	}
	for _, f := range unbalanced(d.text) {
		fault("%s", f)
	}
	for name, want := range map[string]int{"h1": 1, "main": 1, "header": 1, "footer": 1, "title": 1} {
		n := 0
		for _, e := range d.each(name) {
			if e.Namespace == "" { // titles of SVG elements do not count
				n++
			}
		}
		if n != want {
			fault("%d elements %s, expected %d", n, name, want)
		}
	}
	ids, labels := map[string]bool{}, map[string]bool{}
	for _, n := range d.each("") {
		if id, ok := attr(n, "id"); ok {
			if ids[id] {
				fault("two elements have the id %s", id)
			}
			ids[id] = true
		}
		if n.Data == "label" {
			id, _ := attr(n, "for")
			labels[id] = true
		}
	}
	for _, n := range d.each("") {
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				fault("<%s> has the attribute %s, which the policy forbids", n.Data, a.Key)
			}
			if a.Key == "href" || a.Key == "src" || a.Key == "action" {
				if u, err := url.Parse(a.Val); err != nil || u.IsAbs() || u.Host != "" {
					fault("<%s %s=%q> leads away", n.Data, a.Key, a.Val)
				}
			}
			if a.Key == "aria-labelledby" && !ids[a.Val] {
				fault("<%s> is labelled by %s, which is not there", n.Data, a.Val)
			}
		}
		switch n.Data {
		case "style":
			fault("the page has an inline style")
		case "script":
			if src, _ := attr(n, "src"); src == "" || textOf(n) != "" {
				fault("the page has an inline script")
			}
		case "time":
			if text := textOf(n); !strings.HasSuffix(text, "UTC") && !ago.MatchString(text) {
				fault("the time %q has no zone", text)
			}
		case "input", "select":
			id, _ := attr(n, "id")
			if value, _ := attr(n, "value"); id == "q" && value != "" && !strings.Contains(d.path, "/search?") {
				fault("the search box holds %q", value)
			}
			if _, labelled := attr(n, "aria-label"); !labelled && !labels[id] {
				fault("<%s id=%q> has no label", n.Data, id)
			}
		case "th":
			if scope, _ := attr(n, "scope"); scope != "col" && scope != "row" {
				fault("a th has the scope %q", scope)
			}
		case "a", "button":
			if label, _ := attr(n, "aria-label"); textOf(n) == "" && label == "" {
				fault("a <%s> says nothing", n.Data)
			}
		case "nav", "svg", "progress":
			_, label := attr(n, "aria-label")
			_, by := attr(n, "aria-labelledby")
			if _, hidden := attr(n, "aria-hidden"); !label && !by && !hidden {
				fault("a <%s> has no label", n.Data)
			}
		}
	}
	return faults
}

// unbalanced returns the tags of a text that are not closed, or not open.
func unbalanced(text string) (faults []string) {
	var open []string
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				faults = append(faults, fmt.Sprintf("%v are not closed", open))
			}
			return faults
		case html.StartTagToken:
			if name, _ := z.TagName(); !slices.Contains(void, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				return append(faults, fmt.Sprintf("</%s> within %v", name, open))
			}
			open = open[:len(open)-1]
		}
	}
}

// crawl follows links from a page, up to a number of pages. It prefers the kind of page that it has read least often,
// and returns the number of pages by kind, the second part of their path.
func crawl(t testing.TB, h http.Handler, from string, most int) map[string]int {
	t.Helper()
	return crawled(t, h, from, most, func(*document) {})
}

// crawled is crawl with a function that is called with each page.
func crawled(t testing.TB, h http.Handler, from string, most int, look func(*document)) map[string]int {
	t.Helper()
	kinds, seen, wait := map[string]int{}, map[string]bool{"/": true, from: true}, []string{from}
	for len(wait) > 0 && most > 0 {
		next := 0
		for i := range wait {
			if kinds[kindOf(wait[i])] < kinds[kindOf(wait[next])] {
				next = i
			}
		}
		path := wait[next]
		wait = slices.Delete(wait, next, next+1)
		most--
		kinds[kindOf(path)]++
		if to := ask(t, h, path).Header.Get("Location"); to != "" {
			path = to
		}
		d := read(t, h, path, http.StatusOK)
		look(d)
		for _, link := range d.links() {
			if !seen[link] {
				seen[link] = true
				wait = append(wait, link)
			}
		}
	}
	return kinds
}

func kindOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	return strings.Join(parts[2:min(3, len(parts))], "")
}

// rollback rolls a database back to a point.
func rollback(t testing.TB, db *core.DB, to model.Point) {
	t.Helper()
	if err := db.Rollback(context.Background(), to); err != nil {
		t.Fatal(err)
	}
}

// stateOf returns the state of a sync; failed is its error.
func stateOf(p *core.Progress, failed string) *served.State {
	return &served.State{Sync: p, Failed: failed, Since: testNow}
}
